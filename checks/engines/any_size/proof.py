"""Proof for any size: an inductive invariant over first-order formulas of the protocol's own text.

What has to be shown is what induction has to show of an instance, with unbounded universes: the lemmas and domains hold
initially, every action preserves them, and they imply the properties. Each obligation is put to the solvers without
quantifiers, said of the terms that its action, and the denial of its conclusion, speak of. What fails that way is looked for in
instances: a counterexample there refutes it, since an instance is the protocol of any size at one size, which the link checks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.checks.engines.any_size.link import Link, link
from fencepost.checks.engines.any_size.obligations import Plan, Unproved, is_provable
from fencepost.checks.engines.induction.proof import Failure, Proof, prove
from fencepost.checks.engines.solvers.obligations import Outcome
from fencepost.checks.engines.solvers.workers import spread
from fencepost.model.any_size.first_order import AnySize
from fencepost.model.any_size.unbounded import Scheme
from fencepost.properties.any_size import Part
from fencepost.properties.vocabulary import Property, Suite

Progress = Callable[[int, int], None]

COMPARED = 2
"""Sizes, from the least on, at which the formulas are compared with those of an instance."""


@dataclass(frozen=True)
class GeneralProof:
    """What was established for any size.

    ``suite`` is that of the first part, ``proved`` are its properties that hold in all parts; ``unproved`` says what was not
    discharged, ``refuted`` what fails in an instance, with its counterexample. ``links`` are the comparisons with instances,
    by their sizes. Counts are as in a ``Proof``.
    """

    suite: Suite
    proved: tuple[Property, ...]
    unproved: tuple[Unproved, ...]
    refuted: tuple[Failure, ...]
    links: Mapping[str, Link]
    discharged: int
    frame: int
    confirmed: int
    instances: int
    doubt: str = ""
    """Why nothing is proved, whatever was discharged: the formulas are not the instances', or nothing satisfies them."""
    impossible: tuple[Scheme, ...] = ()
    """The actions that the invariant excludes in all instances of a part that were compared, unless those of that name can
    happen in another part."""


def prove_for_any_size(
    parts: Sequence[Part],
    *,
    workers: int | None = 1,
    seconds: float = 10.0,
    budget: float | None = None,
    second_solver: bool = True,
    progress: Progress | None = None,
    telling: Callable[[str], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> GeneralProof:
    """Proves the properties of states and of steps of a protocol of any size, which is of any in the first part.

    The formulas of each part are compared with those of its least instance and of the next; a part that is an instance is
    proved as such. ``second_solver`` has cvc5 confirm what Z3 discharges; Disagreement is raised if it refutes it. A solver
    that gives up leaves an obligation unproved.
    """
    deadline = time.monotonic() + (float("inf") if budget is None else budget)
    asked = _Asked(seconds, deadline, second_solver, workers, progress, telling, should_stop)
    proofs = [_proved_instance(part, asked) if part.is_an_instance else _proved_part(part, asked) for part in parts]
    suite = proofs[0].suite
    provable = [prop for prop in suite.properties if is_provable(prop)]
    open_ = frozenset[str]().union(*(one.open_ for one in proofs))
    counts = [one.counts for one in proofs]
    return GeneralProof(
        suite=suite,
        proved=tuple(prop for prop in provable if prop.name not in open_),
        unproved=tuple(failure for one in proofs for failure in one.unproved),
        refuted=tuple(failure for one in proofs for failure in one.refuted),
        links={size: compared for one in proofs for size, compared in one.links.items()},
        discharged=sum(count.discharged for count in counts),
        frame=sum(count.frame for count in counts),
        confirmed=sum(count.confirmed for count in counts),
        instances=sum(part.is_an_instance for part in parts),
        doubt=next((doubt for part, one in zip(parts, proofs, strict=True) if (doubt := _doubt(part, one))), ""),
        impossible=_impossible_in_all(proofs),
    )


@dataclass(frozen=True)
class _Asked:
    """How a proof is asked for, as ``prove_for_any_size`` has it."""

    seconds: float
    deadline: float
    second_solver: bool
    workers: int | None
    progress: Progress | None
    telling: Callable[[str], None]
    should_stop: Callable[[], bool]


@dataclass(frozen=True)
class _PartProof:
    """What was established of a part: ``open_`` are the properties that are not proved."""

    suite: Suite
    open_: frozenset[str]
    unproved: tuple[Unproved, ...] = ()
    refuted: tuple[Failure, ...] = ()
    links: Mapping[str, Link] = field(default_factory=dict)
    counts: Outcome = field(default_factory=Outcome)


def _proved_instance(part: Part, asked: _Asked) -> _PartProof:
    proof = _proof_at(part, 0, asked)
    open_ = frozenset(verdict.property.name for verdict in proof.verdicts if verdict.verdict != "proved")
    return _PartProof(part.instance(), open_, refuted=tuple(proof.failures))


def _proved_part(part: Part, asked: _Asked) -> _PartProof:
    suite = part.general()
    plan = Plan(suite, asked.seconds, asked.deadline, asked.second_solver)
    asked.telling(f"proves it for {_sizes_text(part)}")
    # in processes of their own, so that a solver that crashes takes nothing else with it
    processes = max(2, asked.workers or os.cpu_count() or 1)
    results = spread(plan.count, processes, lambda: plan.outcome, progress=asked.progress, should_stop=asked.should_stop)
    unproved = tuple(failure for task, result in enumerate(results) for failure in plan.unproved(task, result))
    links: dict[str, Link] = {}
    for larger in range(COMPARED):
        sizes = part.sizes(larger)
        if not asked.should_stop():
            asked.telling(f"compares the formulas with those of the instance with {_written(sizes)}")
            links[_written(sizes)] = link(suite, part.instance(larger), sizes)
    refuted: list[Failure] = []
    if unproved:
        refuted = [failure for failure in _proof_at(part, 0, asked).failures if not failure.undecided]
    missed = {failure.statement for failure in unproved}
    broken = not missed.isdisjoint(plan.invariants)
    open_ = frozenset(prop.name for prop in suite.properties if not is_provable(prop) or broken or prop.name in missed)
    counts = Outcome()
    for result in results:
        if result is not None:
            counts.discharged += result.discharged
            counts.frame += result.frame
            counts.confirmed += result.confirmed
    return _PartProof(suite, open_, unproved, tuple(refuted), links, counts)


def _proof_at(part: Part, larger: int, asked: _Asked) -> Proof:
    asked.telling(f"proves the instance with {_written(part.sizes(larger))}")
    return prove(
        part.instance(larger),
        workers=asked.workers,
        seconds=asked.seconds,
        budget=max(asked.deadline - time.monotonic(), 0.0),
        second_solver=asked.second_solver,
        should_stop=asked.should_stop,
    )


def _written(sizes: Mapping[str, int]) -> str:
    return " ".join(f"{name}={size}" for name, size in sizes.items())


def _sizes_text(part: Part) -> str:
    sizes = part.sizes()
    return " ".join(f"{name}={sizes[name]}{'' if case.alone else ' or more'}" for name, (_, case) in part.cases.items())


def _impossible(proof: _PartProof) -> list[Scheme]:
    if not proof.links:
        return []
    assert isinstance(proof.suite.protocol, AnySize)
    excluded = frozenset.intersection(*(frozenset(one.impossible) for one in proof.links.values()))
    return [scheme for scheme in proof.suite.protocol.schemes if scheme.label in excluded]


def _impossible_in_all(proofs: Sequence[_PartProof]) -> tuple[Scheme, ...]:
    schemes: dict[str, Scheme] = {}
    for one in proofs:
        possible = {name for other in proofs if other is not one for name in _possible(other)}
        schemes |= {scheme.label: scheme for scheme in _impossible(one) if scheme.name not in possible}
    return tuple(schemes.values())


def _possible(proof: _PartProof) -> set[str]:
    if not proof.links:
        return set()
    assert isinstance(proof.suite.protocol, AnySize)
    impossible = {scheme.label for scheme in _impossible(proof)}
    return {scheme.name for scheme in proof.suite.protocol.schemes if scheme.label not in impossible}


def _doubt(part: Part, proof: _PartProof) -> str:
    if part.is_an_instance:
        return ""
    for size, one in proof.links.items():
        if one.differing:
            return f"the formulas for any size are not those of the instance with {size}: {one.differing[0]}"
    if len(proof.links) < COMPARED:
        return "the formulas for any size were not compared with those of instances"
    assert isinstance(proof.suite.protocol, AnySize)
    if len(_impossible(proof)) == len(proof.suite.protocol.schemes):
        return "no state satisfies the invariant and lets anything happen"
    return ""
