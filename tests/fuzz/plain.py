"""What a generated protocol means, in plain Python: its states, what happens in them, and all that can be reached.

It shares nothing with the kernel, nor with the terms that are made of the same description. A state is a tuple of values in
the order of the variables.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tests.fuzz.syntax import Deed, Sort, Spec, Term
from tests.fuzz.writing import names

State = tuple[int, ...]
Meaning = Callable[[State, State], int]
Names = Mapping[str, int]


class Escape(Exception):
    """An action takes a variable out of its domain."""


@dataclass(frozen=True)
class Event:
    """A grounded action: its label, and what it does."""

    label: str
    deed: Deed
    guard: Meaning
    effects: tuple[tuple[int, Meaning], ...]


@dataclass
class World:
    """What can be reached, level by level. ``whole`` is whether that is everything; if not, the states of the last level were
    not expanded. ``steps`` has for each expanded state the events that can happen, by number, and where they lead."""

    levels: list[list[State]]
    depth: dict[State, int]
    steps: dict[State, list[tuple[int, State]]] = field(default_factory=dict)
    whole: bool = True

    @property
    def transitions(self) -> int:
        return sum(map(len, self.steps.values()))


class Reading:
    """A generated protocol, ready to be run."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.places = {variable: place for place, variable in enumerate(spec.variables)}
        self.sorts = [family.sort for family in spec.families for _ in spec.indices(family)]
        self.sorts += [Sort("number", 0, limit) for _, limit in spec.budgets]
        self._of_family = {family.name: family.sort for family in spec.families}
        self.work = 0
        self.events = [event for deed in spec.deeds for event in self._events(deed)]

    @cached_property
    def initial(self) -> list[State]:
        """The initial states, each once."""
        options = [several for family in self.spec.families for several in family.initial]
        return list(dict.fromkeys(itertools.product(*options, *([(0,)] * len(self.spec.budgets)))))

    def _events(self, deed: Deed) -> Iterator[Event]:
        limits = dict(self.spec.budgets)
        if deed.spends and not limits[deed.spends]:
            return
        for values in itertools.product(*(range(self.spec.size(over)) for _, over in deed.parameters)):
            if deed.apart and values[0] == values[1]:
                continue
            bound = {name: value for (name, _), value in zip(deed.parameters, values, strict=True)}
            guard, effects = self.meaning(deed.guard, bound), dict[int, Meaning]()
            for update in deed.updates:
                for inner in itertools.product(*(range(self.spec.size(universe)) for _, universe in update.bound)):
                    within = {**bound, **{name: value for (name, _), value in zip(update.bound, inner, strict=True)}}
                    place = self.places[update.family, tuple(_at(i, within) for i in update.index)]
                    effects[place] = self.meaning(update.value, within)
            if deed.spends:
                guard = self._spending(guard, effects, self.places[deed.spends, ()], limits[deed.spends])
            shown = [
                f"{over[0]}{value}" if isinstance(over, str) else str(value)
                for (_, over), value in zip(deed.parameters, values, strict=True)
            ]
            yield Event(f"{deed.name}({', '.join(shown)})" if shown else deed.name, deed, guard, tuple(effects.items()))

    @staticmethod
    def _spending(guard: Meaning, effects: dict[int, Meaning], place: int, limit: int) -> Meaning:
        effects[place] = lambda state, after: state[place] + 1
        return lambda state, after: bool(guard(state, after)) and state[place] < limit

    def take(self, event: Event, state: State) -> State:
        """The state after an event whose guard holds; Escape if a variable leaves its domain."""
        after = list(state)
        for place, value in event.effects:
            number = int(value(state, state))
            sort = self.sorts[place]
            if not sort.low <= number <= sort.high:
                raise Escape(f"{event.label} takes {self.spec.variables[place]} to {number} from {state}")
            after[place] = number
        return tuple(after)

    def steps(self, state: State) -> list[tuple[int, State]]:
        """What can happen in a state: events by number, and where they lead."""
        enabled = [number for number, event in enumerate(self.events) if event.guard(state, state)]
        return [(number, self.take(self.events[number], state)) for number in enabled]

    def explore(self, most: int) -> World:
        """All that can be reached, up to the level with which there are more than ``most`` states."""
        world = World([self.initial], dict.fromkeys(self.initial, 0))
        while world.levels[-1] and len(world.depth) <= most:
            beyond: list[State] = []
            for state in world.levels[-1]:
                world.steps[state] = self.steps(state)
                for _, after in world.steps[state]:
                    if after not in world.depth:
                        world.depth[after] = len(world.levels)
                        beyond.append(after)
            world.levels.append(beyond)
        world.whole = not world.levels[-1]
        if world.whole:
            world.levels.pop()
        return world

    # --- terms

    def meaning(self, term: Term, bound: Names) -> Meaning:
        """What a term's value is in a state and, for next values, in the one after it. Every node read adds to ``work``."""
        self.work += 1
        if term.op in LEAVES:
            return LEAVES[term.op](self, term, bound)
        if term.op in OVER_MEMBERS:
            name, universe = term.detail[-2:]
            parts = [self.meaning(term.args[0], {**bound, name: m}) for m in range(self.spec.size(universe))]
            fold = OVER_MEMBERS[term.op](term.detail)
        else:
            parts = [self.meaning(arg, bound) for arg in term.args]
            fold = FOLDS[term.op](self._detail(term))
        return lambda state, after: fold([part(state, after) for part in parts])

    def _detail(self, term: Term) -> Any:
        """What an operator needs besides its arguments: the size of its universe, the places of names."""
        if term.op in ("complement", "has", "plus", "minus"):
            return self.sort_of(term.args[0]).high.bit_length()
        if term.op == "among":
            return [names(self.sort_of(term.args[0])).index(name) for name in term.detail]
        return term.detail

    def sort_of(self, term: Term) -> Sort:
        """The sort of a subset or a choice: that of the variable in it."""
        return self._of_family[term.detail[0]] if term.op == "var" else self.sort_of(term.args[-1 if term.op == "ite" else 0])


def _at(index: int | str, bound: Names) -> int:
    return index if isinstance(index, int) else bound[index]


def _variable(reading: Reading, term: Term, bound: Names) -> Meaning:
    family, index, primed = term.detail
    place = reading.places[family, tuple(_at(i, bound) for i in index)]
    return (lambda state, after: after[place]) if primed else (lambda state, after: state[place])


def _known(value: int) -> Meaning:
    return lambda state, after: value


LEAVES: dict[str, Callable[[Reading, Term, Names], Meaning]] = {
    "var": _variable,
    "const": lambda reading, term, bound: _known(term.detail[1]),
    "member": lambda reading, term, bound: _known(bound[term.detail]),
    "same": lambda reading, term, bound: _known(_at(term.detail[0], bound) == _at(term.detail[1], bound)),
}

Fold = Callable[[list[int]], int]


def _of_two(rule: Callable[[int, int], int]) -> Callable[[Any], Fold]:
    return lambda detail: lambda values: rule(*values)


def _of_all(rule: Fold) -> Callable[[Any], Fold]:
    return lambda detail: rule


def _has(size: int) -> Fold:
    return lambda values: 0 <= values[1] < size and values[0] >> values[1] & 1 == 1


def _with(size: int) -> Fold:
    return lambda values: values[0] | 1 << values[1] if 0 <= values[1] < size else values[0]


def _without(size: int) -> Fold:
    return lambda values: values[0] & ~(1 << values[1]) if 0 <= values[1] < size else values[0]


FOLDS: dict[str, Callable[[Any], Fold]] = {
    "and": _of_all(all),
    "or": _of_all(any),
    "not": _of_all(lambda values: not values[0]),
    "implies": _of_all(lambda values: not values[0] or values[1]),
    "xor": _of_two(operator.ne),
    "eq": _of_two(operator.eq),
    "ne": _of_two(operator.ne),
    "lt": _of_two(operator.lt),
    "le": _of_two(operator.le),
    "gt": _of_two(operator.gt),
    "ge": _of_two(operator.ge),
    "distinct": _of_all(lambda values: len(set(values)) == len(values)),
    "ite": _of_all(lambda values: values[1] if values[0] else values[2]),
    "at_least": lambda count: lambda values: sum(map(bool, values)) >= count,
    "how_many": _of_all(lambda values: sum(map(bool, values))),
    "add": _of_all(sum),
    "sub": _of_two(operator.sub),
    "mul": _of_all(math.prod),
    "neg": _of_all(lambda values: -values[0]),
    "max": _of_all(max),
    "min": _of_all(min),
    "select": _of_all(lambda values: values[1 + values[0]] if 0 <= values[0] < len(values) - 1 else values[-1]),
    "among": lambda places: lambda values: values[0] in places,
    "empty": _of_all(lambda values: values[0] == 0),
    "union": _of_two(operator.or_),
    "inter": _of_two(operator.and_),
    "complement": lambda size: lambda values: values[0] ^ (1 << size) - 1,
    "has": _has,
    "plus": _with,
    "minus": _without,
}

OVER_MEMBERS: dict[str, Callable[[Any], Fold]] = {
    "all": _of_all(all),
    "any": _of_all(any),
    "at_least_of": lambda detail: lambda values: sum(map(bool, values)) >= detail[0],
    "how_many_of": _of_all(lambda values: sum(map(bool, values))),
}
