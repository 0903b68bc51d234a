"""A state of a protocol as plain Python values, by the names of its variables."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import Any, Generic, TypeVar

from fencepost.model.language import Protocol, Variable
from fencepost.model.language.domains import Choice, Domain, Flag, Subset
from fencepost.traces.trace import State

Value = TypeVar("Value")

REMEMBERED = 10_000
"""Values of a function of views that are kept: some megabytes."""


class Views:
    """Makes views of the states of one instance."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self.places = {variable.name: place for place, variable in enumerate(protocol.variables)}
        self.families: dict[str, list[Variable]] = {}
        for variable in protocol.variables:
            self.families.setdefault(variable.family, []).append(variable)
        readers = {variable.domain: _reader(variable.domain) for variable in protocol.variables}
        self._readers = {v.name: (place, readers[v.domain]) for place, v in enumerate(protocol.variables)}
        self._members = {
            name: tuple(universe.label(member) for member in universe) for name, universe in protocol.universes.items()
        }

    def of(self, state: State) -> View:
        """The state, to be read."""
        return View(self, state)


class View:
    """One state: ``view["stored[b0]"]`` is a truth value, a number, a name, or a frozen set of labels, as its domain has it."""

    def __init__(self, views: Views, state: State) -> None:
        self.state = state
        self._views = views

    @property
    def protocol(self) -> Protocol:
        """The instance whose state it is."""
        return self._views.protocol

    def __getitem__(self, name: str) -> Any:
        place, read = self._views._readers[name]
        return read(self.state[place])

    def __contains__(self, name: str) -> bool:
        return name in self._views.places

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a variable that the instance may not have."""
        reader = self._views._readers.get(name)
        return default if reader is None else reader[1](self.state[reader[0]])

    def family(self, name: str) -> dict[tuple[str, ...], Any]:
        """The values of all variables of a family by the labels of their indices."""
        return {labels(v): self[v.name] for v in self._views.families[name]}

    def members(self, universe: str) -> tuple[str, ...]:
        """The labels of a universe."""
        return self._views._members[universe]


class _Reading(View):
    """A view that keeps the places that were read."""

    def __init__(self, views: Views, state: State) -> None:
        super().__init__(views, state)
        self.places: set[int] = set()

    def __getitem__(self, name: str) -> Any:
        self.places.add(self._views.places[name])
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a variable that the instance may not have."""
        if name in self:
            self.places.add(self._views.places[name])
        return super().get(name, default)


class Remembered(Generic[Value]):
    """A pure function of views, called once for all states that agree in what it reads: a step changes few variables.

    Where it has read the same of another state, it would read the same again, and return the same. A function that looks at
    ``View.state`` itself cannot be remembered.
    """

    def __init__(self, views: Views, function: Callable[[View], Value]) -> None:
        self._views, self._function = views, function
        self._places: frozenset[int] = frozenset()
        self._part: Callable[[State], object] = lambda _: ()
        self._known: dict[object, Value] = {}

    def __call__(self, state: State) -> Value:
        """The function's value of the view of that state."""
        part = self._part(state)
        try:
            return self._known[part]  # one lookup: to hash the part takes longer than the rest
        except KeyError:
            pass
        reading = _Reading(self._views, state)
        value = self._function(reading)
        if not reading.places <= self._places:
            self._places |= reading.places
            self._part = itemgetter(*sorted(self._places))
            self._known.clear()
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[self._part(state)] = value
        return value


def labels(variable: Variable) -> tuple[str, ...]:
    """The labels of a variable's place in its family."""
    return tuple(universe.label(member) for universe, member in zip(variable.universes, variable.index, strict=True))


def plain(domain: Domain, raw: int) -> Any:
    """A raw value as Python has it."""
    match domain:
        case Flag():
            return bool(raw)
        case Subset(universe):
            return frozenset(universe.label(member) for member in universe if raw >> member & 1)
        case Choice():
            return domain.show(raw)
        case _:
            return raw


def _reader(domain: Domain) -> Callable[[int], Any]:
    """What reads the raw values of a domain, each of which it makes once."""
    return cache(lambda raw: plain(domain, raw))
