"""Which engine establishes what of an instance, and what is known of it when they are done."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fencepost.checks.console.progress import UNWATCHED, Watch
from fencepost.checks.engines.results.findings import Checked, Findings, chosen_of
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.engines.search.exhaustive import GIB, Budget, exhaust
from fencepost.checks.engines.search.reduction import Reduction
from fencepost.checks.engines.search.sampling import Walks, sample
from fencepost.model.counts import count_of
from fencepost.model.language import Protocol
from fencepost.model.language.circumstances import wanting
from fencepost.properties.observed import Observed
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.slices import slice_for
from fencepost.properties.small_instances import changed_by_more
from fencepost.properties.suspicions import Suspicion, empty
from fencepost.properties.vocabulary import Property, Suite

STRENGTH = ("violated", "proved for any size", "proved", "exhausted", "sampled", "inconclusive")
"""Verdicts, the most telling first."""

SHOWN_FAILURES = 5

PATIENCE = GIB
"""Bytes of states at which a search that was not asked for gives way to a proof, where there is one."""

MANY = 1 << 20
"""States with more than which comparing them by every order of interchangeable members takes less time than it saves."""

FEW_ORDERS = 24
"""Orders of interchangeable members up to which that is so."""


@dataclass(frozen=True)
class Approach:
    """How to check: the engine (None: the strongest), its limits, and which properties (none named: all).

    ``checkpoint`` is a folder that has one of its own for each instance. ``symmetry`` has exhaustive searches visit one state
    for all that differ only in which member of a universe is which, where that is proved to make no difference;
    ``symmetry_of_many`` has those do so that come to ``MANY`` states. ``slice`` has
    them search, for properties that are named, only what these can see. ``strict`` also asks which lemmas a proof needs, and
    what makes success suspicious, which takes the whole protocol; without ``doubting`` nothing of it is asked. With
    ``only_failures`` nobody sees more of what is as it should be than how much that is.
    """

    by: str | None = None
    properties: tuple[str, ...] = ()
    workers: int | None = None
    memory: int = 4 * GIB
    seconds: float | None = None
    walks: Walks = field(default_factory=Walks)
    second_solver: bool = False
    checkpoint: Path | None = None
    resume: bool = False
    symmetry: bool = False
    symmetry_of_many: bool = False
    slice: bool = True
    strict: bool = False
    doubting: bool = True
    only_failures: bool = False


@dataclass(frozen=True)
class Task:
    """What is checked: an instance of a protocol, with these bugs, and how."""

    entry: Entry
    instance: Instance
    bugs: Sequence[str] = ()
    approach: Approach = field(default_factory=Approach)

    def with_approach(self, approach: Approach) -> Task:
        """The same, checked in another way."""
        return replace(self, approach=approach)

    def protocol(self) -> Protocol:
        """The protocol of the instance. Raises what ``build`` raises."""
        return self.entry.build(self.instance.parameters, self.bugs)

    def suite(self) -> Suite:
        """The protocol with its properties, as ``check`` makes them. Raises what ``build`` raises."""
        return self.suite_of(self.protocol())

    def suite_of(self, protocol: Protocol) -> Suite:
        """The properties of the protocol, those that are asked for. Raises ModelError."""
        is_of_named = self.approach.by == "exhaustive" and not self.approach.strict
        with wanting(self.approach.properties if is_of_named else ()):
            return self.entry.suite(protocol)


def check(task: Task, watch: Watch = UNWATCHED, suite_of: Callable[[Task], Suite] = Task.suite) -> Checked:
    """Checks one instance; ``suite_of`` makes its properties.

    Raises PropertyError, ModelError for parameters that do not fit each other or an action that leaves the domain of a
    variable, RegistryError for a parameter that does not exist, CheckpointError for a folder of another search.
    """
    if task.instance.any:
        return _for_any_size(task, watch)
    suite = suite_of(task)
    protocol = suite.protocol
    watch.reporter.begin(f"{task.entry.name}, {task.instance.name}")
    engine = task.approach.by or task.instance.by
    run = _Run(suite, task, watch)
    findings = run.by(engine) if engine else run.by_the_strongest()
    watch.reporter.end()
    suspicions: Sequence[Suspicion] = ()
    if task.approach.doubting:
        succeeded = [v.property for v in findings.verdicts if v.verdict not in ("violated", "inconclusive")]
        suspicions = (*_unexplained(task, protocol, findings.suspicions, watch), *empty(protocol, succeeded))
    return Checked.of(task.entry, task.instance, protocol, replace(findings, suspicions=tuple(suspicions)))


def _unexplained(task: Task, protocol: Protocol, suspicions: Sequence[Suspicion], watch: Watch) -> list[Suspicion]:
    """The suspicions without those of variables that do not change because the instance is small."""
    still = {suspicion.subject for suspicion in suspicions if suspicion.kind == "never-changes"}
    parameters = task.instance.parameters
    small = changed_by_more(task.entry, protocol, parameters, task.bugs, still, watch.should_stop) if still else set()
    return [s for s in suspicions if s.kind != "never-changes" or s.subject not in small]


def _for_any_size(task: Task, watch: Watch) -> Checked:
    from fencepost.checks.engines.any_size.verdicts import findings_for_any_size

    instance, approach = task.instance, task.approach
    started = time.monotonic()
    watch.reporter.begin(f"{task.entry.name}, {instance.name}, any number of {' and '.join(instance.any)}")
    protocol, findings = findings_for_any_size(
        task.entry,
        instance,
        task.bugs,
        lambda suite: chosen_of(suite, approach.properties),
        workers=approach.workers,
        seconds=approach.seconds,
        second_solver=approach.second_solver,
        progress=watch.reporter.proving,
        telling=watch.reporter.telling,
        should_stop=watch.should_stop,
    )
    watch.reporter.end()
    return Checked.of(task.entry, instance, protocol, replace(findings, seconds=time.monotonic() - started))


class _Run:
    """The engines, ready to be run on one instance."""

    def __init__(self, suite: Suite, task: Task, watch: Watch) -> None:
        self.suite, self.instance, self.approach = suite, task.instance.name, task.approach
        self.chosen = chosen_of(suite, task.approach.properties)
        self.reporter, self.should_stop, self.started = watch.reporter, watch.should_stop, time.monotonic()

    def by(self, engine: str) -> Findings:
        started = time.monotonic()
        findings = {
            "exhaustive": self.exhaustive,
            "walks": self.walks,
            "induction": self.induction,
        }[engine]()
        return replace(findings, seconds=time.monotonic() - started)

    def by_the_strongest(self) -> Findings:
        """Exhaustive search, and where that ends without a verdict, induction if the protocol has lemmas; then walks, for what
        must be reached. Together they take no longer than one of them may."""
        may_prove = self.suite.has_lemmas and not self.suite.protocol.active
        findings = [self.exhaustive(min(self.approach.memory, PATIENCE) if may_prove else self.approach.memory)]
        open_still = [v.property for v in findings[0].verdicts if v.verdict == "inconclusive" and v.property.kind != "leads_to"]
        if not may_prove:
            return findings[0]
        for engine, is_for_it in (("induction", _is_proved), ("walks", _is_reached)):
            self.chosen = [p for p in open_still if is_for_it(p)]
            if self.chosen and not self.should_stop() and not self._is_out_of_time():
                findings.append(self.by(engine))
        return _best(*findings)

    def _seconds(self) -> float | None:
        """What is left of the time."""
        return None if self.approach.seconds is None else max(self.approach.seconds - (time.monotonic() - self.started), 0.0)

    def _is_out_of_time(self) -> bool:
        return self._seconds() == 0.0

    def exhaustive(self, memory: int | None = None) -> Findings:
        approach, protocol = self.approach, self.suite.protocol
        seen = slice_for(protocol, self.chosen) if approach.slice and approach.properties and not approach.strict else protocol
        if approach.symmetry:
            return self._searched(seen, memory, Reduction.of(seen, self.chosen, self.reporter))
        if not approach.symmetry_of_many or any(p.kind == "leads_to" for p in self.chosen):
            return self._searched(seen, memory)
        findings = self._searched(seen, memory, states=MANY)
        if not is_cut_short(findings) or self.should_stop() or self._is_out_of_time():
            return findings
        reduction = Reduction.of(seen, self.chosen, self.reporter)
        is_worth_it = reduction.orbits is not None and reduction.orbits.order <= FEW_ORDERS
        return self._searched(seen, memory, reduction if is_worth_it else None)

    def _searched(
        self, seen: Protocol, memory: int | None, reduction: Reduction | None = None, states: int | None = None
    ) -> Findings:
        approach = self.approach
        return exhaust(
            Observed.of(self.suite, reduction.observed if reduction else self.chosen, closely=not reduction, within=seen),
            Budget(memory or approach.memory, self._seconds(), approach.workers, approach.memory, states),
            reduction=reduction,
            progress=self.reporter.searching,
            telling=self.reporter.telling,
            should_stop=self.should_stop,
            checkpoint=approach.checkpoint and approach.checkpoint / re.sub(r"\W+", "-", self.instance),
            resume=approach.resume,
            doubting=approach.doubting,
            only_failures=approach.only_failures,
        )

    def walks(self) -> Findings:
        walks = self.approach.walks
        finite, left = _finite(self.chosen)
        findings = sample(
            Observed.of(self.suite, finite),
            walks,
            workers=self.approach.workers,
            seconds=self._seconds(),
            progress=lambda at: self.reporter.walking(at, walks.count),
            shrinking=self.reporter.searching,
            should_stop=self.should_stop,
        )
        return self._leaving(findings, "walks", left)

    def induction(self) -> Findings:
        from fencepost.checks.engines.induction.necessity import unneeded  # most checks prove nothing
        from fencepost.checks.engines.induction.proof import prove

        approach = self.approach
        wanted = {p.name for p in self.chosen}
        proof = prove(
            self.suite,
            workers=approach.workers,
            budget=self._seconds(),
            second_solver=approach.second_solver,
            progress=self.reporter.proving,
            should_stop=self.should_stop,
        )
        verdicts = tuple(v for v in proof.verdicts if v.property.name in wanted)
        note = (
            f"induction: {count_of(proof.discharged, 'obligation')} discharged, {proof.frame:,} by frame, "
            f"{proof.domains:,} updates proved to stay in their domain"
        )
        actions = {action.label: action for action in self.suite.protocol.actions}
        impossible = tuple(
            Suspicion("never-happens", label, f"action {label} can never happen", actions[label].location)
            for label in proof.impossible
        )
        failures = [str(f) for f in proof.failures[:SHOWN_FAILURES]]
        if len(proof.failures) > SHOWN_FAILURES:
            failures.append(f"and {len(proof.failures) - SHOWN_FAILURES} more obligations that were not discharged")
        asked = approach.strict and not proof.failures
        spare = unneeded(self.suite, budget=self._seconds(), should_stop=self.should_stop) if asked else None
        findings = Findings(verdicts, (note,), impossible, tuple(failures), spare)
        return self._leaving(findings, "induction", [p for p in self.chosen if not _is_proved(p)])

    def _leaving(self, findings: Findings, engine: str, left: Sequence[Property]) -> Findings:
        """What an engine found, and what it can say nothing of. That leaves a property open that was asked for by name; if
        there is none but such, nothing was checked."""
        if not left:
            return findings
        why = f"not judged by {engine}"
        named = [p for p in left if p.name in self.approach.properties and findings.verdicts]
        return replace(
            findings,
            verdicts=(*findings.verdicts, *(Verdict(p, "inconclusive", engine, {}, why) for p in named)),
            notes=(*findings.notes, f"{why}: {', '.join(p.name for p in left)}"),
            left=tuple(p for p in left if p not in named),
        )


def is_whole(findings: Findings) -> bool:
    """Whether all states were searched, and nothing violated."""
    return bool(findings.verdicts) and all(v.verdict in ("exhausted", "proved") for v in findings.verdicts)


def is_cut_short(findings: Findings) -> bool:
    """Whether a search ended before it had seen all, and without a violation that ends it."""
    ends = any(v.verdict == "violated" and not v.expected and v.trace is not None for v in findings.verdicts)
    return not ends and any(v.verdict == "inconclusive" for v in findings.verdicts)


def _finite(properties: Sequence[Property]) -> tuple[list[Property], list[Property]]:
    """The properties that finite runs can violate or reach, and the others."""
    return [p for p in properties if p.kind != "leads_to"], [p for p in properties if p.kind == "leads_to"]


def _is_proved(prop: Property) -> bool:
    """Whether it is for induction to show the property."""
    return not prop.strict and prop.kind not in ("sometimes", "leads_to")


def _is_reached(prop: Property) -> bool:
    """Whether one finite run settles the property: it is a situation, or a negative control."""
    return prop.kind != "leads_to" and not _is_proved(prop)


def _best(*several: Findings) -> Findings:
    """The most telling verdict on each property, in the order of the first findings, and all notes."""
    verdicts = []
    for first in several[0].verdicts:
        rivals = [v for findings in several for v in findings.verdicts if v.property is first.property]
        verdicts.append(min(rivals, key=lambda v: STRENGTH.index(v.verdict)))
    return Findings(
        tuple(verdicts),
        tuple(note for findings in several for note in findings.notes),
        tuple(s for findings in several for s in findings.suspicions),
        tuple(f for findings in several for f in findings.failures),
        next((findings.unneeded for findings in several if findings.unneeded is not None), None),
        seconds=sum(findings.seconds for findings in several),
    )
