"""Protocols as state machines for Hypothesis: a rule for each action, the properties as an invariant.

A machine finds what walks find, at sizes that no search exhausts, and Hypothesis shrinks it. One rule stands for one action
and draws its arguments among those with which it is enabled; an action that is not enabled is never drawn. A rule takes
Hypothesis some hundred microseconds and a step the kernel a tenth of one: so there is one more rule, ``wander``, which takes
many steps, chosen by the bytes of one string. A byte of zero takes none: as Hypothesis shrinks the string, steps disappear
from it. Chance comes seldom to where the rarer branches of actions are taken, so half of the runs are first led to one, by a
shortest way. Where to is drawn and does not depend on earlier runs: Hypothesis takes a run again and again. How long it shrinks
depends on how many rules it draws for a run (``stateful_step_count``): a few are enough.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fencepost.model.analysis.branches import branches
from fencepost.model.counts import count_of
from fencepost.model.kernel.search.paths import Path, plain
from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import shortest_ways
from fencepost.model.kernel.walks.steered import Steered
from fencepost.model.language import And, Or
from fencepost.model.terms.values import Condition
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Value, find
from fencepost.properties.vocabulary import Property

STRETCH = 256
"""Bytes of one ``wander``."""

SEARCHED = Limits(memory=256 << 20, states=50_000)
"""What the search for ways to branches may take: some tenths of a second."""


class Run:
    """A run of a protocol that is taken step by step, and what it violates.

    ``violated`` names the properties that the last state, or the last step, violates; those that are expected to be violated,
    and ``leads_to``, do not count.
    """

    def __init__(self, observed: Observed) -> None:
        self.observed = observed
        alarm, step_alarm = observed.alarms()
        may_end = next(iter(observed.may_end), None)
        self.steered = Steered(observed.kernel, alarm=alarm, step_alarm=step_alarm, may_end=may_end)
        self._numbers = {action.label: number for number, action in enumerate(observed.kernel.actions)}

    def take(self, label: str) -> None:
        """Takes the action of that label, e.g. ``add(b0, e1)``; ValueError if it is not enabled, or there is none."""
        if label not in self._numbers:
            raise ValueError(f"{self.observed.kernel.protocol.name} has no action {label}")
        self.steered.take(self._numbers[label])

    def begin(self, start: int) -> None:
        """Begins again, in the initial state of that number; IndexError if there is none."""
        self.steered.begin(start)

    @cached_property
    def ways(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The ways to the branches of actions, each the number of an initial state and the actions from there.

        For each action, and for each branch of it whatever its arguments are, it is a shortest way to where it can be taken, as
        far as a small search comes there.
        """
        kernel = self.observed.kernel
        goals: dict[tuple[str, int], list[Condition]] = {}
        for action in kernel.protocol.actions:
            goals.setdefault((action.name, -1), []).append(And(action.guard))
            for number, (taken, _) in enumerate(branches(action)):
                goals.setdefault((action.name, number), []).append(And(action.guard, taken))
        paths = shortest_ways(kernel.protocol, [Or(goal) for goal in goals.values()], SEARCHED)
        starts = {plain(state): number for number, state in enumerate(self.steered.initials)}
        return tuple(dict.fromkeys((starts[path.states[0]], path.actions) for path in paths.values() if path.actions))

    def lead(self, way: int) -> None:
        """Goes the way of that number, from 1, up to a violation, if the run has not begun; with 0 it goes nowhere."""
        if way and not self.steered.actions:
            start, actions = self.ways[way - 1]
            self.begin(start)
            for action in actions:
                if self.steered.is_violated:
                    break
                self.steered.take(action)

    @property
    def breaks(self) -> list[Property]:
        """The properties that are violated."""
        states, steps, ends = self.steered.violated
        broken = [self.observed.states[number] for number in states] + [self.observed.steps[number] for number in steps]
        return broken + (list(self.observed.may_end.values()) if ends else [])

    @property
    def violated(self) -> list[str]:
        """The names of the properties that are violated."""
        return [prop.name for prop in self.breaks]

    @property
    def labels(self) -> list[str]:
        """The actions that were taken."""
        return [self.observed.kernel.actions[number].label for number in self.steered.actions]


class Violation(AssertionError):
    """A run of a machine that violates a property. Prints the steps as a test that takes them again."""

    def __init__(self, observed: Observed, prop: Property, path: Path, start: int, made_by: str) -> None:
        self.observed, self.property, self.path = observed, prop, path
        actions = observed.kernel.actions
        lines = [
            f"{prop.name} is violated in {count_of(len(path.actions), 'step')}: {' '.join(prop.doc.split())}",
            "",
            f"from fencepost import {made_by.partition('(')[0]}",
            "",
            "",
            f"def test_{prop.name}_is_violated() -> None:",
            f"    run = {made_by}",
            *([f"    run.begin({start})"] if start else []),
            *(f'    run.take("{actions[number].label}")' for number in path.actions),
            f'    assert "{prop.name}" in run.violated',
        ]
        super().__init__("\n".join(lines))


def run_of(protocol: str | Entry, parameters: Mapping[str, Value], bugs: Iterable[str] = (), only: Iterable[str] = ()) -> Run:
    """A run of an instance, of a protocol by its name or as it is, watched by all of its properties or by those named.

    Raises RegistryError or ModelError if there is no such instance, KeyError if it has no such property.
    """
    entry = protocol if isinstance(protocol, Entry) else find(protocol, PROTOCOLS)
    suite = entry.suite(entry.build(parameters, bugs))
    finite = [prop for prop in suite.properties if prop.kind != "leads_to"]
    return Run(Observed.of(suite, [suite.named(name) for name in only] or finite))


def program_of(protocol: str | Entry, parameters: Mapping[str, Value], bugs: Iterable[str] = ()) -> str:
    """The call of ``run_of`` for an instance, as it is written; an entry goes by its protocol's name, in capitals."""
    subject = protocol.name.upper() if isinstance(protocol, Entry) else json.dumps(protocol)
    settings = ", ".join(f"{json.dumps(name)}: {_literal(value)}" for name, value in parameters.items())
    switched = ", ".join(json.dumps(bug) for bug in bugs)
    return f"run_of({subject}, {{{settings}}}{f', [{switched}]' if switched else ''})"


def _literal(value: Value) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


class Machine(RuleBasedStateMachine):
    """What the machines of all protocols have in common; ``machine`` makes that of one."""

    run: ClassVar[Run]
    made_by: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self.run.begin(0)

    def is_over(self) -> bool:
        """Whether no action is enabled."""
        return not self.run.steered.enabled

    @invariant()
    def holds(self) -> None:
        """Raises Violation if a property is violated."""
        steered = self.run.steered
        if steered.is_violated:
            raise self.violation(Violation(self.run.observed, self.run.breaks[0], steered.path, steered.start, self.made_by))

    def violation(self, violation: Violation) -> Violation:
        """What is raised for a violation: a place to add to it."""
        return violation


def machine(observed: Observed, *, stretch: int = STRETCH, made_by: str = "Run(observed)") -> type[Machine]:
    """The machine of a compiled protocol.

    ``stretch`` is how many steps a ``wander`` takes at most; with 0 there is no such rule. ``made_by`` is the expression that
    makes its Run in the tests that it prints. Its runs share one kernel, so that no two may be made at the same time, which
    Hypothesis never does.
    """
    run = Run(observed)
    places: dict[str, list[int]] = {}
    for number, action in enumerate(observed.kernel.actions):
        places.setdefault(action.name, []).append(number)
    members: dict[str, Any] = {f"take_{name}": _taking(run, name, numbers) for name, numbers in places.items()}
    members |= {"run": run, "made_by": made_by, "begin": _beginning(len(run.steered.initials))}
    if stretch:
        members["wander"] = _wandering(run, stretch)
    protocol = observed.kernel.protocol
    return type(f"{protocol.name.title().replace('_', '')}Machine", (Machine,), {"__doc__": protocol.doc, **members})


def _taking(run: Run, name: str, numbers: Sequence[int]) -> Callable[..., None]:
    """The rule of an action: one of the arguments with which it is enabled is drawn, and it is taken with them."""
    actions = run.observed.kernel.actions
    by_arguments = {tuple(actions[number].arguments.values()): number for number in numbers}
    mine = sum(1 << number for number in numbers)

    def is_enabled(machine: Machine) -> bool:
        return bool(machine.run.steered.enabled & mine)

    def enabled(machine: Machine) -> st.SearchStrategy[tuple[str, ...]]:
        bits = machine.run.steered.enabled
        return st.sampled_from([arguments for arguments, number in by_arguments.items() if bits >> number & 1])

    def take(self: Machine, arguments: tuple[str, ...] = ()) -> None:
        self.run.steered.take(by_arguments[arguments])

    take.__name__, take.__doc__ = f"take_{name}", actions[numbers[0]].doc
    drawing = rule() if () in by_arguments else rule(arguments=st.runner().flatmap(enabled))
    return precondition(is_enabled)(drawing(take))


def _wandering(run: Run, stretch: int) -> Callable[..., None]:
    """The rule that takes many steps."""

    def wander(self: Machine, way: int, choices: bytes) -> None:
        """Goes that way to a branch of an action first, if the run has not begun; then it takes up to as many steps as there
        are bytes, and begins again where a run is over."""
        self.run.lead(way)
        if not self.run.steered.is_violated:
            self.run.steered.follow(choices)

    ways = st.just(0) | st.deferred(lambda: st.integers(0, len(run.ways)))
    return rule(way=ways, choices=st.binary(min_size=stretch, max_size=stretch))(wander)


def _beginning(initials: int) -> Callable[..., None]:
    """The rule that begins a run again where one is over, or before the first step if there is more than one way to begin."""

    def is_due(machine: Machine) -> bool:
        return machine.is_over() or (initials > 1 and not machine.run.steered.actions)

    def begin(self: Machine, start: int) -> None:
        """Begins in one of the initial states."""
        self.run.begin(start)

    return precondition(is_due)(rule(start=st.integers(0, initials - 1))(begin))
