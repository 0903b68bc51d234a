"""``fencepost lemmas``: looks for lemmas of a property, prints and keeps them."""

from __future__ import annotations

import time
from pathlib import Path

from fencepost.checks.commands.lemmas.request import LemmasRequest
from fencepost.checks.console.formats import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.unread import chosen_aloud
from fencepost.checks.engines.lemmas.finding import Lemmas, Means, Telling, find
from fencepost.checks.engines.results.verdicts import ExitStatus, severest
from fencepost.checks.engines.search.exhaustive import GIB
from fencepost.checks.questions.planning import Wanted, planned
from fencepost.checks.reports.lemmas import as_json, as_python, as_text
from fencepost.checks.settings.own_protocols import is_own, own_protocols
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, RegistryError
from fencepost.properties.registry import find as find_entry


def run(asked: LemmasRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status.

    Raises RegistryError, ModelError or ReleaseError for what there is not, InputError for a file of one's own that cannot be
    read, OSError if the lemmas cannot be written.
    """
    entry, instances = _instances(asked)
    reporter, everything = Reporter(quiet=asked.quiet), list[Lemmas]()
    ends = None if asked.budget is None else time.monotonic() + asked.budget
    with interruptible() as interrupt:

        def should_stop() -> bool:
            return interrupt() or (ends is not None and time.monotonic() > ends)

        for instance in instances:
            if everything and should_stop():
                break
            reporter.begin(f"{entry.name}, {asked.property}, {instance.name}")
            telling = Telling(reporter.searching, reporter.telling, reporter.proving, should_stop)
            means = Means(asked.literals, asked.seed, int(asked.memory * GIB), asked.workers)
            everything.append(find(entry, instance, asked.property, asked.bug, means, telling))
            reporter.end()
            print(in_format(asked.format, text=lambda: f"{as_text(everything[-1])}\n", json=str), end="", flush=True)
    print(in_format(asked.format, text=str, json=lambda: as_json(everything)), end="")
    if asked.out is not None:
        asked.out.write_text(as_python(everything), encoding="utf-8")
    whole = len(everything) == len(instances)
    return severest({*map(_status, everything), *(() if whole else (ExitStatus.INCONCLUSIVE,))})


def _instances(asked: LemmasRequest) -> tuple[Entry, list[Instance]]:
    """The protocol, and the instances of it that are asked about."""
    releases = chosen_aloud(asked)
    if not (asked.set or asked.size or asked.bug):
        entry = _entry(asked.protocol)
        return entry, entry.as_of(releases, [Instance("as usual", {})])
    wanted = Wanted([asked.protocol], asked.set, asked.size, asked.bug, property=(), by=None, any=())
    plan = planned(wanted, None, releases)
    entries = {entry.name: entry for entry, _ in plan if isinstance(entry, Entry)}
    if len(entries) != 1:
        raise RegistryError(f"{asked.protocol} is not one protocol: name one to find lemmas for")
    return next(iter(entries.values())), [instance for _, instance in plan]


def _entry(name: str) -> Entry:
    if not is_own(name):
        return find_entry(name, PROTOCOLS)
    entries = own_protocols(Path(name), PROTOCOLS)
    if len(entries) != 1:
        names = ", ".join(entry.name for entry in entries)
        raise RegistryError(f"{name} has {len(entries)} protocols: {names}; lemmas are of one")
    return entries[0]


def _status(lemmas: Lemmas) -> ExitStatus:
    if lemmas.is_reached:
        return ExitStatus.SAFETY
    return ExitStatus.HOLDS if lemmas.is_proved else ExitStatus.INCONCLUSIVE
