"""The names of actors in a protocol: each is written the same wherever it is written."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fencepost.model.language.declarations import STORE
from fencepost.model.language.domains import Universe
from fencepost.model.language.locations import Location
from fencepost.model.language.mistakes import ModelError, guess

_ALIKE = 0.85


class Message(NamedTuple):
    """What names a sender or a receiver: of which action, as which of its arguments, and where it is written."""

    action: str
    role: str
    location: Location


class Actors:
    """The actors that the actions of a protocol name so far."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self._of: set[str] = set()  # universes of which an actor is a member
        self._named: list[tuple[Message, str, Universe | None]] = []

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

    def name(self, of: Message, who: object, parameters: Mapping[str, object]) -> None:
        """Takes note of who is named as the sender or the receiver of a message, if somebody is."""
        if who == "":
            return
        if not isinstance(who, str):
            said = f"{of.action}: {of.role} names an actor or a parameter that is one, and {who!r} is no name"
            raise ModelError(said, of.location)
        domain = parameters.get(who)
        self._named.append((of, who, domain if isinstance(domain, Universe) else None))

    def check(self) -> None:
        """Raises ModelError if somebody is named who does nothing in any instance, and is not the store."""
        for of, who, universe in self._named:
            if who != STORE and (who not in self._known if universe is None else universe.name not in self._of):
                meant = guess(who, [*self._known, STORE])
                raise ModelError(f"{of.action}: {of.role}={who!r} is neither an actor nor the {STORE}{meant}", of.location)


def _misspells(one: str, other: str) -> bool:
    """Whether two names differ, and by more than an ending that tells one of several from another, but by little more."""
    return one[:-1] != other[:-1] and difflib.SequenceMatcher(None, one, other).ratio() >= _ALIKE
