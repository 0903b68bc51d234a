"""The mutants of a protocol against its properties, instance by instance, the smallest first: which of them go unnoticed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.search.exhaustive import GIB, Budget
from fencepost.checks.teeth.equivalence import Reasoner
from fencepost.checks.teeth.mutation import Mistake
from fencepost.checks.teeth.switched_mutants import claims
from fencepost.checks.teeth.trial import Kill, Trial
from fencepost.model.counts import count_of
from fencepost.properties.registry import Entry, Instance

Fate = Literal["killed", "survived", "proved equivalent", "same graph", "not tried"]

MEMORY = GIB // 4

STATES = 50_000
"""States of an instance that is not too large for hundreds of searches."""


@dataclass(frozen=True)
class Sample:
    """So many of the mutants, each as likely as any other: the same ones for the same ``seed``."""

    size: int
    seed: int

    def of(self, names: Mapping[Mistake, str]) -> dict[Mistake, str]:
        """The sample of these mutants, in their order; all of them if there are no more."""
        chosen = set(random.Random(self.seed).sample(list(names), min(self.size, len(names))))
        return {mistake: name for mistake, name in names.items() if mistake in chosen}


@dataclass(frozen=True)
class Mutant:
    """A mutant and what became of it.

    ``name`` is short, ``instances`` those in which it does something else than the protocol. It never does so, by proof, if it
    is ``proved equivalent``, and in no reachable state of any instance, except for which action takes which step, if its fate
    is ``same graph``. Of one that survived, ``safe`` says that induction proves every safety property of it, and ``cut_short``
    that not all of it was searched.
    """

    name: str
    mistake: Mistake
    fate: Fate
    kill: Kill | None = None
    instances: tuple[str, ...] = ()
    safe: bool = False
    cut_short: bool = False


@dataclass(frozen=True)
class Teeth:
    """The mutants of one protocol, in the order of its actions, in the instances that are small enough; others are
    ``left_out``. ``noticed`` has for each property how many of them it was the first to notice, or among the first (nothing of
    that if only some mutants were asked for). ``sampled_of`` is of how many mutants they are a sample; None if they are all."""

    protocol: str
    instances: tuple[str, ...]
    left_out: tuple[str, ...]
    mutants: tuple[Mutant, ...]
    noticed: dict[str, int]
    finished: bool
    sampled_of: int | None = None
    seconds: float = field(default=0.0, compare=False)

    def count(self, fate: Fate) -> int:
        """How many mutants have that fate."""
        return sum(mutant.fate == fate for mutant in self.mutants)

    @property
    def score(self) -> float | None:
        """The share of mutants that were noticed among those that make a difference; None if none does, or none was tried."""
        killed, survived = self.count("killed"), self.count("survived")
        return killed / (killed + survived) if killed + survived else None

    @property
    def idle(self) -> tuple[str, ...]:
        """The properties that no mutant breaks."""
        return tuple(name for name, count in self.noticed.items() if not count)


def searched(entry: Entry, size: str | None = None) -> list[Instance]:
    """The instances of a size that mutants are searched in; without a size those that the protocol has for that, or ``ci``."""
    every = entry.instances(size) if size else entry.mutated or entry.instances("ci")
    return [instance for instance in every if not instance.by]


def bite(
    entry: Entry,
    instances: Sequence[Instance],
    *,
    only: Collection[str] = (),
    properties: Collection[str] = (),
    sample: Sample | None = None,
    states: int = STATES,
    memory: int = MEMORY,
    workers: int | None = None,
    reporter: Reporter,
    should_stop: Callable[[], bool] = lambda: False,
) -> Teeth:
    """Makes the mutants of the instances and has each of them checked until it is noticed.

    ``only`` names mutants, or actions all of whose mutants are meant; none named are all. With ``properties`` only these count
    as noticing. With a ``sample`` only that many are tried. Instances with more than ``states`` are left out. ``memory``
    bounds each search, in bytes; ``workers`` is the number of processes (None: one for each core), and changes nothing but the
    time. Raises ModelError for parameters that do not fit each other.
    """
    return _Run(entry, instances, only, properties, sample, states, memory, workers, reporter, should_stop).result()


class _Run:
    def __init__(
        self,
        entry: Entry,
        instances: Sequence[Instance],
        only: Collection[str],
        properties: Collection[str],
        sample: Sample | None,
        states: int,
        memory: int,
        workers: int | None,
        reporter: Reporter,
        should_stop: Callable[[], bool],
    ) -> None:
        self.entry, self.workers, self.reporter, self.should_stop = entry, workers, reporter, should_stop
        self.started, self.properties = time.monotonic(), frozenset(properties)
        budget = Budget(memory=memory, workers=1, with_graph=2 * memory)
        reporter.begin(f"teeth of {entry.name}")
        every = [Trial(entry, instance, budget) for instance in instances]
        for trial in every:
            trial.count(should_stop)
        self.trials = sorted((t for t in every if t.states <= states), key=lambda trial: trial.states)
        self.left_out = tuple(trial.instance.name for trial in every if trial not in self.trials)
        self.names = _names(self.trials)
        if only:
            self.names = {mistake: name for mistake, name in self.names.items() if name in only or mistake.action in only}
        self.of = len(self.names) if sample else None
        if sample:
            self.names = sample.of(self.names)
        for trial in self.trials:
            trial.explore(self.names.keys(), should_stop)
        self.whole = not (only or sample or properties)
        self.reasoners: dict[Trial, Reasoner] = {}
        self.kills: dict[Mistake, Kill] = {}
        self.cut_short: set[Mistake] = set()
        self.noticed = {p.name: 0 for trial in self.trials for p in entry.suite(trial.protocol).properties}

    def result(self) -> Teeth:
        for trial in self.trials:
            trial.check(self.should_stop)
        for trial in self.trials:
            self._put_to_the_test(trial)
        for trial in self.trials if self.whole else ():
            self._give_a_chance(trial)
        self.rearranging = frozenset[Mistake]().union(*(self._rearranging(trial) for trial in self.trials))
        finished = not self.should_stop()
        mutants = tuple(self._mutant(mistake, name) for mistake, name in self.names.items())
        self.reporter.end()
        instances = tuple(trial.instance.name for trial in self.trials)
        spent = time.monotonic() - self.started
        noticed = self.noticed if self.whole else {}
        return Teeth(self.entry.name, instances, self.left_out, mutants, noticed, finished, self.of, spent)

    def _put_to_the_test(self, trial: Trial) -> None:
        """Checks the mutants that are still alive and do something else here."""
        mine = self.properties & {p.name for p in claims(self.entry.suite(trial.protocol))}
        if self.properties and not mine:
            return
        alive = [m for m in self.names if m in trial.met and m not in self.kills]
        tried = trial.try_all(alive, mine or None, self.workers, self._tell(trial, len(alive)), self.should_stop)
        for mistake, came in tried.items():
            if came.kill is not None and mine and not mine & set(came.kill.properties):
                continue  # a value beyond its domain, or a suspicion
            if came.kill is not None:
                self.kills[mistake] = came.kill
                self._count(came.kill)
            elif came.cut_short:
                self.cut_short.add(mistake)

    def _give_a_chance(self, trial: Trial) -> None:
        """Has properties that noticed nothing yet, because others were quicker, look at the mutants by themselves."""
        names = {p.name for p in self.entry.suite(trial.protocol).properties}
        idle = [name for name, count in self.noticed.items() if not count and name in names]
        if not idle or self.should_stop():
            return
        dead = [m for m in self.names if m in trial.met and m in self.kills]
        tried = trial.try_all(dead, idle, self.workers, self._tell(trial, len(dead)), self.should_stop)
        for came in tried.values():
            if came.kill is not None:
                self._count(came.kill)

    def _rearranging(self, trial: Trial) -> frozenset[Mistake]:
        """The survivors that have other steps than the protocol here."""
        return trial.rearranging([m for m in self.names if m in trial.met and m not in self.kills], self.should_stop)

    def _count(self, kill: Kill) -> None:
        for name in self.noticed.keys() & kill.properties:
            self.noticed[name] += 1

    def _tell(self, trial: Trial, count: int) -> Callable[[int], None]:
        return lambda done: self.reporter.telling(f"{done} of {count_of(count, 'mutant')} of {trial.instance.name}")

    def _mutant(self, mistake: Mistake, name: str) -> Mutant:
        having = [trial for trial in self.trials if mistake in trial.mutants]
        differing = [trial for trial in having if mistake in trial.met]
        where = tuple(trial.instance.name for trial in differing)
        if mistake in self.kills:
            return Mutant(name, mistake, "killed", self.kills[mistake], where)
        if self.should_stop():
            return Mutant(name, mistake, "not tried", None, where)
        if differing and mistake not in self.rearranging:
            return Mutant(name, mistake, "same graph")
        if differing:
            safe = all(self._reasoner(trial).is_safe(mistake) for trial in differing)
            return Mutant(name, mistake, "survived", None, where, safe, mistake in self.cut_short)
        proved = all(self._reasoner(trial).never_differs(mistake) for trial in having)
        return Mutant(name, mistake, "proved equivalent" if proved else "same graph")

    def _reasoner(self, trial: Trial) -> Reasoner:
        if trial not in self.reasoners:
            self.reasoners[trial] = Reasoner(trial)
        return self.reasoners[trial]


def _names(trials: Sequence[Trial]) -> dict[Mistake, str]:
    """A short name for each mutant: its action and a number."""
    every = dict.fromkeys(mistake for trial in trials for mistake in trial.mutants)
    counts: dict[str, int] = {}
    names = {}
    for mistake in every:
        counts[mistake.action] = counts.get(mistake.action, 0) + 1
        names[mistake] = f"{mistake.action}.{counts[mistake.action]}"
    return names
