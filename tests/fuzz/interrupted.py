"""Searches that end early, go on or die, against those that nothing ends.

A comparison tells whether there was something to compare.
"""

from __future__ import annotations

import itertools
import os
import signal
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.model.kernel.search.results import Kept, Limits
from fencepost.model.kernel.search.search import least_memory
from tests.fuzz.case import Case, in_small
from tests.fuzz.judging import never_wrong

MEMORY = 1 << 23


def cut_short(case: Case) -> bool:
    """Searches that end in the middle of a level, for want of time or because they are told to: open or right, never wrong."""
    looks, most = itertools.count(), case.chance.choice((0, 1, 3, 10, 40))
    seconds = case.chance.choice((0.0, 0.0005, 0.003, None))
    memory, workers = max(1 << 24, least_memory(case.observed.kernel, 2)), case.chance.choice((1, 2))
    with in_small():
        findings = exhaust(
            case.observed,
            Budget(memory=memory, seconds=seconds, workers=workers),
            should_stop=lambda: next(looks) >= most,
        )
    never_wrong(case, "cut short", findings)
    return True


def resumed(case: Case, folder: Path) -> bool:
    """A search that is stopped, goes on, is stopped again and goes on, against one that was not."""
    looks = itertools.count()
    most = case.chance.randrange(1, 4 + len(case.world.levels))
    kept = Kept(folder / "search", case.chance.choice((0.0, 60.0)))
    again = replace(kept, resume=True)
    with in_small():
        case.searched(workers=case.chance.choice((1, 2)), should_stop=lambda: next(looks) >= most, kept=kept)
        case.searched(workers=2, should_stop=lambda: next(looks) >= 2 * most, kept=again)
    case.same("resumed", case.searched(workers=1, kept=again), case.result)
    return True


def killed(case: Case, folder: Path) -> bool:
    """A search in a process that is killed while it writes, and that goes on from what is on disk."""
    place, fatal = folder / "search", case.chance.randrange(1, 2 * len(case.world.levels) + 3)
    process = os.fork()
    if not process:
        _search_and_die(case, place, fatal)
    os.waitpid(process, 0)
    if not (place / "search.json").exists():
        return False
    case.same("killed and resumed", case.searched(workers=1, kept=Kept(place, resume=True)), case.result)
    return True


def _search_and_die(case: Case, place: Path, fatal: int) -> None:
    """In a process of its own: searches until it has flushed a file so often, and is killed there; does not return."""
    flushed = itertools.count(1)
    honest = os.fsync

    def fsync(file: int) -> None:
        count = next(flushed)
        if count == fatal and fatal % 3 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        honest(file)
        if count == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        with patch.object(os, "fsync", fsync):
            case.searched(workers=1, kept=Kept(place, 0.0))
    finally:
        os._exit(0)


def large(case: Case, folder: Path) -> bool:
    """More states than plain Python looks at: the kernel against itself, on two threads and where memory ends a level."""
    if case.world.whole:
        return False
    room = Limits(memory=max(MEMORY, least_memory(case.observed.kernel, 2)), seconds=0.05)
    first = case.searched(workers=1, limits=room)
    known = replace(room, seconds=None, depth=None if first.outcome == "exhausted" else first.depth)
    result = first if known.depth is None else case.searched(workers=1, limits=known)
    case.same("large: outcome", result.outcome, "exhausted" if known.depth is None else "depth")
    case.same("large: on two threads", case.searched(workers=2, limits=known), result)
    with in_small():
        least = least_memory(case.observed.kernel, 2)
        half = replace(known, memory=max(least, int(result.bytes_in_use * case.chance.uniform(0.2, 1.0))))
        cut = case.searched(workers=case.chance.choice((1, 2)), limits=half, kept=Kept(folder / "search"))
        count = len(cut.level_sizes)
        case.same("large: levels before memory ended it", cut.level_sizes, result.level_sizes[:count])
        case.same("large: seen before memory ended it", set(cut.seen) <= set(result.seen), True)
        if cut.outcome != "memory":
            case.same("large: within less memory", cut, result)
        again = case.searched(workers=2, limits=known, kept=Kept(folder / "search", resume=True))
        case.same("large: resumed with more memory", again, result)
    return True
