"""The checks of one command, each made once: what was checked is not checked again, and of two processes that share them each
takes from the other what that has checked."""

from __future__ import annotations

import io
import itertools
import multiprocessing
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from types import FunctionType
from typing import NamedTuple

from fencepost.checks.console.progress import UNWATCHED, Watch
from fencepost.checks.console.termination import end_with, not_passed_on
from fencepost.checks.engines.plan import Approach, Task, check, is_cut_short, is_whole
from fencepost.checks.engines.results.findings import Checked, Findings, chosen_of
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.engines.shared_protocols import SharedProtocols
from fencepost.model.language.circumstances import in_outline
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Property, Suite

MOST = 1 << 12
"""Checks that two processes can share; what comes after is made by whoever asks."""

SECONDS = 0.2
"""How often a process that waits for the other looks whether it is to stop."""


Check = Callable[[Task, Watch], Checked]
"""What makes a check: ``plan.check``, or what takes it from another process."""

Work = Callable[[Check], object]
"""What makes checks that will be asked for, by the function that it is given."""


LITTLE = 1 << 27
"""Bytes for a search that is a bonus: for a remedy."""

LEAST = 1 << 24
"""Bytes for a search for a run that is shorter than one that is known."""


NO_TIME = "there was no time to look"
"""Why nothing is known of a question that comes when time is over."""
INTERRUPTED = "the run was interrupted before it could look"
"""The same where whoever waits has enough."""


@dataclass(frozen=True)
class Means:
    """With what questions are asked: the engine's limits, who watches, when time is up (None: never), what makes a check,
    what searches for bugs have come to, by what they were asked: that is not searched again; and whether questions are parts of
    the run, so that its progress counts them (``counts``)."""

    approach: Approach
    watch: Watch = UNWATCHED
    ends: float | None = None
    check: Check = check
    found: dict[object, Checked] = field(default_factory=dict, compare=False, repr=False)
    counts: bool = True

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be asked: time is up, or whoever waits has enough."""
        return self.watch.should_stop() or (self.ends is not None and time.monotonic() >= self.ends)

    @property
    def why_over(self) -> str:
        """Why nothing more is to be asked; nothing while it is."""
        return "" if not self.is_over else INTERRUPTED if self.watch.should_stop() else NO_TIME

    @property
    def left(self) -> Approach:
        """The limits, with the seconds that are left."""
        return self.approach if self.ends is None else replace(self.approach, seconds=max(self.ends - time.monotonic(), 0.0))

    def passed(self) -> None:
        """One more question is answered."""
        if self.counts:
            self.watch.reporter.passed()

    def apart(self) -> Means:
        """The same for questions that are together a part of the run."""
        return replace(self, counts=False)

    def with_little(self) -> Means:
        """The same with little memory."""
        return replace(self, approach=replace(self.approach, memory=min(self.approach.memory, LITTLE)))

    def for_a_shorter_run(self) -> Means:
        """The same with the least memory, which is not worth a reduction."""
        least = replace(self.approach, memory=min(self.approach.memory, LEAST), symmetry_of_many=False)
        return replace(self, approach=least)

    def checked(self, entry: Entry, instance: Instance, bugs: Sequence[str]) -> Checked:
        """What one search comes to. Raises what ``check`` raises."""
        return self.check(Task(entry, instance, bugs, replace(self.left, doubting=False)), self.watch)


class _Elsewhere(Exception):
    """What the other process is at, so that the work goes on there."""


class _Sent(NamedTuple):
    """What the second process has established, with how much memory, and whether more would make no difference."""

    memory: int
    was_enough: bool
    carried: bytes

    def serves(self, approach: Approach) -> bool:
        """Whether the first would establish the same with this approach, which differs in memory at most."""
        return self.memory == approach.memory or (self.was_enough and self.memory < approach.memory)


class Ahead:
    """A second process that does pieces of work, one after the other, and makes the checks that the first is going to ask for.

    Each check is made by the process that comes to it first. The first takes from the second what is established; the protocol
    and its properties it builds itself, since terms belong to their process. So what is found does not depend on
    whether there is a second process, and it may end at any time. Each of the two keeps within the memory of the approach.
    Without work or a core for it (``workers`` is 1), and where processes are not forked (outside Linux), there is none.

    What the first has checked serves whoever asks the same with other memory or time, as far as that makes no difference. Only
    what the first has asked for decides that, so what is found does not depend on the second. Of that it takes what was
    checked with as much memory, or with less that was enough; anything else it checks itself.
    """

    def __init__(self, works: Iterable[Work], workers: int) -> None:
        self._protocols = SharedProtocols()
        self._own: dict[int, list[tuple[Approach, Checked]]] = {}
        self._whole: dict[int, list[Checked]] = {}
        self._results: dict[int, _Sent | None] = {}
        self._here = set[int]()
        self._second: multiprocessing.process.BaseProcess | None = None
        works = iter(works)
        if workers > 1 and sys.platform == "linux" and (first := next(works, None)) is not None:
            context = multiprocessing.get_context("fork")
            self._taken = context.Array("Q", MOST)
            self._count = context.Value("i", 0)
            self._sent = context.Queue()
            self._second = context.Process(target=self._do, args=(os.getpid(), itertools.chain([first], works)), daemon=True)
            self._second.start()

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *error: object) -> None:
        if self._second is not None:
            self._second.kill()
            self._second.join()

    def check(self, task: Task, watch: Watch) -> Checked:
        """What ``plan.check`` returns, made here, once for each that is asked for, or by the second process. Raises what
        ``plan.check`` raises."""
        entry, instance, approach = task.entry, task.instance, task.approach
        what = _key(_of_any_memory(task.with_approach(replace(approach, seconds=None))))
        if not what:
            return self._made(task, watch)
        known = self._own.setdefault(what, [])
        for made, checked in known:
            if made == approach or _serves(made, checked, approach):
                is_same = checked.entry is entry and checked.instance == instance
                return checked if is_same else replace(checked, entry=entry, instance=instance)
        checked = self._known(task) or self._shared(task, watch)
        if approach.by == "exhaustive" and is_whole(checked):
            self._whole.setdefault(_of_states(task), []).append(checked)
        known.append((approach, checked))
        return checked

    def _known(self, task: Task) -> Checked | None:
        """What a search of the same states shows of the named properties: it went to its end, and had the same formulas."""
        earlier = self._whole.get(_of_states(task), []) if task.approach.properties else []
        if not earlier:
            return None
        suite = self._protocols.suite(task)
        for checked in earlier:
            shown = {v.property.formula.digest: v for v in checked.verdicts if v.property.kind == "always"}
            wanted = chosen_of(suite, task.approach.properties)
            verdicts = [shown.get(p.formula.digest) if p.kind == "always" else None for p in wanted]
            known = [replace(v, property=p) for p, v in zip(wanted, verdicts, strict=True) if v is not None]
            if len(known) == len(wanted):
                findings = replace(checked.findings, verdicts=tuple(known), suspicions=())
                return Checked.of(task.entry, task.instance, suite.protocol, findings)
        return None

    def _shared(self, task: Task, watch: Watch) -> Checked:
        """What this process checks, or takes from the second."""
        key = _key(_of_any_memory(task))
        if key and self._second is not None and key not in self._here:
            self._here.add(key)
            if not self._takes(key):
                watch.reporter.begin(f"{task.entry.name}, {task.instance.name}")
                sent = self._received(key, watch)
                watch.reporter.end()
                if sent is not None and sent.serves(task.approach):
                    return self._taken_over(task, sent.carried)
        return self._made(task, watch)

    def _made(self, task: Task, watch: Watch) -> Checked:
        return check(task, watch, self._protocols.suite)

    def _taken_over(self, task: Task, carried: bytes) -> Checked:
        """What the other process has established, of a protocol that is built here: in outline, if only failures are shown and
        there is none."""
        if task.approach.only_failures:
            with in_outline():
                checked = _of_suite(task, self._protocols.suite(task), carried)
            if all(verdict.failure == ExitStatus.HOLDS for verdict in checked.verdicts):
                return checked
        return _of_suite(task, self._protocols.suite(task), carried)

    def _takes(self, key: int) -> bool:
        """Whether the check is for this process to make: the other has not begun it."""
        with self._count.get_lock():
            count = self._count.value
            if key in self._taken[:count]:
                return False
            if count < MOST:
                self._taken[count] = key
                self._count.value += 1
            return True

    def _received(self, key: int, watch: Watch) -> _Sent | None:
        """What the second process found; None if it found nothing that can be passed on, or is no more."""
        import queue  # loaded with the second process

        while key not in self._results and not watch.should_stop():
            is_alive = self._second is not None and self._second.is_alive()
            try:
                done, sent = self._sent.get(timeout=SECONDS)
                self._results[done] = sent
            except queue.Empty:
                if not is_alive:
                    break
                watch.reporter.telling("in the second process")
        return self._results.pop(key, None)

    def _do(self, parent: int, works: Iterable[Work]) -> None:
        """The second process: a failure is left to the first, which comes to it, too, and tells of it."""
        end_with(parent)
        not_passed_on()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        known = dict[int, Checked]()

        def checked(task: Task, watch: Watch) -> Checked:
            key = _key(_of_any_memory(task))
            if not key:
                raise _Elsewhere
            if key not in known:
                if not self._takes(key):
                    raise _Elsewhere
                sent = None
                try:
                    known[key] = made = self._made(task, UNWATCHED)
                    was_enough = task.approach.by == "exhaustive" and not is_cut_short(made)
                    sent = _Sent(task.approach.memory, was_enough, _carried(made.findings))
                finally:
                    self._sent.put((key, sent))
            return known[key]

        for work in works:
            with suppress(Exception):
                work(checked)


def _serves(made: Approach, checked: Checked, asked: Approach) -> bool:
    """Whether a search would find the same with the other limits: it was not cut short by its own, or had more of both."""
    if made.by == "exhaustive" and not is_cut_short(checked):
        return True
    return made.seconds is None and asked.seconds is None and made.memory >= asked.memory


def _of_any_memory(task: Task) -> Task:
    return task.with_approach(replace(task.approach, memory=0))


def _of_states(task: Task) -> int:
    """A number for the states that a check is about, whatever it asks of them."""
    return _key(task.with_approach(replace(task.approach, memory=0, seconds=None, properties=())), of_suite=False)


def _key(task: Task, *, of_suite: bool = True) -> int:
    """A number for a check, the same in both processes; 0 for one that has none: its functions are of no module, or its limits
    are of time.

    What an instance is called makes no difference, nor whether it names a parameter that has its usual value.
    """
    entry, instance, approach = task.entry, task.instance, task.approach
    functions = _named(entry.function), _named(entry.suite) if of_suite else ""
    if any("<" in each for each in functions) or approach.seconds is not None or approach.checkpoint is not None:
        return 0
    usual = {parameter.name: parameter.default for parameter in entry.parameters}
    parameters = sorted((usual | dict(instance.parameters)).items())
    what = repr((entry.name, functions, parameters, instance.by, instance.any, tuple(task.bugs), approach))
    return int.from_bytes(blake2b(what.encode(), digest_size=8).digest(), "big")


def _named(function: object) -> str:
    """A function by the file and the name of its own code, with what is filled in of it. What it calls itself may be the name
    of a function that it wraps, which makes another protocol."""
    if isinstance(function, partial):
        filled = [_named(each) if callable(each) else repr(each) for each in (*function.args, *function.keywords.items())]
        return f"{_named(function.func)}({', '.join(filled)})"
    if not isinstance(function, FunctionType) or function.__closure__:
        return "<"
    return f"{function.__code__.co_filename}:{function.__code__.co_qualname}"


class _Pickler(pickle.Pickler):
    def persistent_id(self, value: object) -> str | None:
        return value.name if isinstance(value, Property) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, suite: Suite) -> None:
        super().__init__(file)
        self._suite = suite

    def persistent_load(self, name: str) -> Property:
        return self._suite.named(name)


def _of_suite(task: Task, suite: Suite, carried: bytes) -> Checked:
    findings: Findings = _Unpickler(io.BytesIO(carried), suite).load()
    return Checked.of(task.entry, task.instance, suite.protocol, findings)


def _carried(findings: Findings) -> bytes:
    """What was established, with the names of properties for these."""
    file = io.BytesIO()
    _Pickler(file).dump(findings)
    return file.getvalue()
