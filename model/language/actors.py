"""The names of actors in a protocol: each is written the same wherever it is written."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from fencepost.model.language.mistakes import ModelError

_ALIKE = 0.85


class Actors:
    """The actors that the actions of a protocol name so far."""

    def __init__(self) -> None:
        self._known: dict[str, None] = {}

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


def _misspells(one: str, other: str) -> bool:
    """Whether two names differ, and by more than an ending that tells one of several from another, but by little more."""
    return one[:-1] != other[:-1] and difflib.SequenceMatcher(None, one, other).ratio() >= _ALIKE
