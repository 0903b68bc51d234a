"""Who acts, hears and is sent to, and how an action happens: fair or a fault, what it spends, mirrors and takes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from fencepost.model.language.circumstances import is_outline
from fencepost.model.language.declarations import STORE, Family, Variable
from fencepost.model.language.domains import Universe
from fencepost.model.language.mistakes import Location, ModelError, guess, signature_of

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


Values = Iterable[int] | Callable[..., object]
"""What a parameter of an action goes through: a universe, numbers, or the member that a variable holds, as a function of the
parameters before it."""

_METHOD = re.compile(r"[A-Z]\w*(\.[A-Z]\w*)*\.[a-z]\w*")
_MIRROR = re.compile(r"([^,{}]*)(?:\{([^{}]*)\})?\s*(?:,|$)")


class Manner(NamedTuple):
    """How an action is declared, as ``Protocol.step``, ``Protocol.fault`` and ``Protocol.move`` have it.

    ``move`` says that a part offers it to steps of the whole, ``alone`` that it is a step where there is no whole. ``takes``
    names the number that says how long it takes, or how often it happens.
    """

    by: str
    parameters: Mapping[str, Values]
    mirrors: str
    spends: str | None
    only_if: object
    fault: bool = False
    fair: bool = False
    talk: Talk = Talk()
    move: bool = False
    alone: bool = True
    takes: str = ""

    def methods(self, where: str) -> tuple[str, ...]:
        """The methods that the action mirrors; ModelError, beginning with ``where``, if one is written as no method is."""
        names, wrong = _names(self.mirrors)
        if wrong is not None:
            raise ModelError(f"{where} mirrors {wrong!r}, which is not of the form Class.method")
        return names

    def conditions(self) -> Mapping[str, str]:
        """The condition in a method, in the words of the code, that the action's guard mirrors, by the method."""
        return _conditions(self.mirrors)

    def is_left_out(self, where: str, budgets: Mapping[str, int]) -> bool:
        """Whether the instance has no such action; ModelError, beginning with ``where``, if it spends what is no budget."""
        if (callable(self.only_if) or self.only_if) and self.spends is not None and self.spends not in budgets:
            raise ModelError(f"{where} spends {self.spends}, which is not a budget")
        return is_outline() or not self.is_there(budgets)

    def is_there(self, budgets: Mapping[str, int]) -> bool:
        """Whether the instance has such an action, also where only an outline of it is made."""
        may_happen = callable(self.only_if) or bool(self.only_if)
        return may_happen and (self.spends is None or budgets[self.spends] > 0)

    def admits(self, bound: Mapping[str, object]) -> bool:
        """Whether there is such an action with these arguments."""
        only_if: Callable[..., object] | None = self.only_if if callable(self.only_if) else None
        return only_if is None or bool(only_if(**bound))


@lru_cache(1 << 12)
def _names(mirrors: str) -> tuple[tuple[str, ...], str | None]:
    """The methods, and the first that is written as no method is."""
    names = tuple([name for name, _ in _methods(mirrors)])
    return names, next((name for name in names if not _METHOD.fullmatch(name)), None)


@lru_cache(1 << 12)
def _conditions(mirrors: str) -> Mapping[str, str]:
    return {name: condition for name, condition in _methods(mirrors) if condition}


def _methods(mirrors: str) -> tuple[tuple[str, str], ...]:
    """The methods as they are written, each with its condition, or with none."""
    methods, rest = list[tuple[str, str]](), mirrors
    while rest:
        match = _MIRROR.match(rest)
        if match is None:
            return (*methods, (rest, ""))
        methods.append((match[1].strip(), " ".join((match[2] or "").split())))
        rest = rest[match.end() :]
        if not rest and match[0].endswith(","):
            methods.append(("", ""))
    return tuple(methods)


def which(where: str, values: Callable[..., object], bound: Mapping[str, object]) -> object:
    """The variable that says which member a parameter is, for the arguments before it."""
    names = signature_of(values).parameters
    for name in names:
        if name not in bound:
            raise ModelError(f"{where}: a parameter depends on {name}, which is no parameter before it")
    return values(**{name: bound[name] for name in names})
