"""The names of actors in a protocol: each is written the same wherever it is written."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from fencepost.model.language.declarations import STORE, Family, Variable
from fencepost.model.language.domains import Universe
from fencepost.model.language.locations import Location
from fencepost.model.language.mistakes import ModelError, guess

_ALIKE = 0.85


class Talk(NamedTuple):
    """With whom a step speaks, as ``Protocol.step`` has it."""

    hears: str = ""
    to: str = ""
    posts: Family[Any] | None = None


class _Named(NamedTuple):
    """Who is named as a sender or a receiver: in which action, as which of its arguments, and where it is written."""

    action: str
    role: str
    who: str
    universe: Universe | None
    location: Location


class Actors:
    """The actors that the actions of a protocol name so far."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self._names: set[str] = set()  # of actors that are no members of a universe
        self._of: set[str] = set()  # universes whose members are actors
        self._named: list[_Named] = []

    def claim(self, where: str, by: object, parameters: Mapping[str, object], universes: Iterable[str]) -> None:
        """Takes note of who does an action: a parameter of it, or a name.

        Raises ModelError, beginning with ``where``, for a name that is so like another, a parameter's, a universe's or an
        actor's, that it is that one misspelt.
        """
        if not isinstance(by, str) or not by:
            raise ModelError(f"{where}: by names the actor or the parameter that is the actor, and {by!r} is no name")
        for name in [*parameters, *universes, *self._known]:
            if by not in parameters and _misspells(by, name):
                raise ModelError(f"{where}: by={by!r} is neither a parameter nor an actor so far (did you mean {name}?)")
        self._known.setdefault(by)
        domain = parameters.get(by)
        if isinstance(domain, Universe):
            self._of.add(domain.name)
        elif domain is None:
            self._names.add(by)

    def name(
        self,
        where: str,
        location: Location,
        parameters: Mapping[str, object],
        talk: Talk,
        variable: Callable[[str], Variable],
    ) -> dict[str, Variable]:
        """Takes note of whom an action speaks with; returns for each who may be sent something the variable that holds it.

        Raises ModelError, beginning with ``where``, if that are no names, or is no family of variables for receivers.
        """
        for role, who in (("hears", talk.hears), ("to", talk.to)):
            if not isinstance(who, str):
                raise ModelError(f"{where}: {role} names an actor or a parameter that is one, and {who!r} is no name", location)
            domain = parameters.get(who)
            if who:
                self._named.append(_Named(where, role, who, domain if isinstance(domain, Universe) else None, location))
        if talk.posts is None:
            return {}
        held = dict(talk.posts.items()) if isinstance(talk.posts, Family) else {}
        if not held or any(len(index) != 1 for index in held):
            raise ModelError(f"{where}: posts is a family of variables, one for each receiver, not {talk.posts!r}", location)
        by_member = {index: variable(term.detail) for (index,), term in held.items()}
        universe = next(iter(by_member.values())).universes[-1]
        self._named.append(_Named(where, "posts", universe.name, universe, location))
        return {universe.label(member): posted for member, posted in by_member.items()}

    def check(self) -> None:
        """Raises ModelError if somebody is named who does nothing in any instance, and is not the store."""
        for where, role, who, universe, location in self._named:
            if who != STORE and (who not in self._names if universe is None else universe.name not in self._of):
                meant = guess(who, [*sorted(self._names), STORE])
                raise ModelError(f"{where}: {role}={who!r} is neither an actor nor the {STORE}{meant}", location)


@lru_cache(1 << 12)
def _misspells(one: str, other: str) -> bool:
    """Whether two names differ, and by more than an ending that tells one of several from another, but by little more."""
    return one[:-1] != other[:-1] and difflib.SequenceMatcher(None, one, other).ratio() >= _ALIKE
