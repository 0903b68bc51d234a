"""Where a part of a protocol declares what it has: below a name and, of copies, of which member of a universe.

A part is a class, or a function, that declares into the protocol that it is given, as for itself alone. It is given a view of
the whole, by ``Protocol.include``, in which its names begin with its own. The protocol stays flat: the view only names things.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from fencepost.model.language.declarations import Family, Names
from fencepost.model.language.domains import Universe
from fencepost.model.language.mistakes import ModelError
from fencepost.model.terms.nodes import Term

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Scope:
    """What a protocol, or a part of one, can name: its variables before and after a step, by ``state`` and ``next``.

    ``above`` is the scope of the protocol that includes the part, ``prefix`` the name of the part there, and ``copy`` the
    universe and the member whose copy it is, if it is one. ``takes`` names the steps that only happen within other steps.
    """

    called: str
    state: Any
    next: Any
    above: Scope | None = None
    prefix: str = ""
    copy: tuple[Universe, int] | None = None
    takes: frozenset[str] = frozenset()

    def of(self, called: str, prefix: str, copy: tuple[Universe, int] | None, takes: frozenset[str]) -> Scope:
        """The scope of a part that is included here."""
        if not prefix and copy is None:
            return Scope(called, self.state, self.next, self, "", None, takes)
        return Scope(called, Names(called), Names(called), self, prefix, copy, takes)

    @cached_property
    def enclosing(self) -> tuple[Scope, ...]:
        """This scope and those above it, from the inside."""
        return (self,) if self.above is None else (self, *self.above.enclosing)

    @cached_property
    def at(self) -> tuple[tuple[Universe, int], ...]:
        """The universes and members whose copies the parts are, from the outside."""
        return tuple([scope.copy for scope in self.enclosing if scope.copy is not None])[::-1]

    @cached_property
    def _before(self) -> str:
        """What names in the whole begin with."""
        return "".join([f"{scope.prefix}." for scope in self.enclosing[::-1] if scope.prefix])

    def name(self, name: str) -> str:
        """The name in the whole, such as ``ledger.status``."""
        return self._before + name

    def full(self, name: str, universes: tuple[Universe, ...] = (), index: tuple[int, ...] = ()) -> str:
        """The name of a variable in the whole, such as ``ledger.status[l0]``."""
        labels = [u.label(i) for u, i in (*self.at, *zip(universes, index, strict=True))]
        return f"{self.name(name)}[{', '.join(labels)}]" if labels else self.name(name)

    def publish(self, name: str, members: Mapping[tuple[int, ...], Term], nexts: Mapping[tuple[int, ...], Term]) -> None:
        """Makes the variables of a name known as attributes, here and to all who include this."""
        family, path = self.name(name), [name]
        for scope in self.enclosing:
            _put(scope.state, path, family, members)
            _put(scope.next, path, family, nexts)
            place = () if scope.copy is None else (scope.copy[1],)
            members, nexts = ({(*place, *index): term for index, term in terms.items()} for terms in (members, nexts))
            path = [scope.prefix, *path] if scope.prefix else path


def _put(names: Names, path: Iterable[str], family: str, members: Mapping[tuple[int, ...], Term]) -> None:
    *parts, name = path
    for part in parts:
        if part not in vars(names):
            setattr(names, part, Names(part))
        names = getattr(names, part)
    if () in members:
        setattr(names, name, members[()])
    elif name in vars(names):
        getattr(names, name).extend(members)
    else:
        setattr(names, name, Family(family, dict(members)))


class Copies(Generic[T]):
    """The copies of a part, one for each member of a universe."""

    def __init__(self, called: str, universe: Universe, copies: list[T]) -> None:
        self._called, self._universe, self._copies = called, universe, copies

    def __getitem__(self, member: int) -> T:
        if type(member) is not int or not 0 <= member < len(self._copies):
            remedy = "for the one that a variable holds, a step has the parameter x=lambda b: current[b]"
            raise ModelError(f"{self._called} has a copy for each {self._universe.name}, and {member!r} is none; {remedy}")
        return self._copies[member]

    def __iter__(self) -> Iterator[T]:
        return iter(self._copies)

    def __len__(self) -> int:
        return len(self._copies)
