"""What a protocol is made of: variables and families of them, and grounded actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self

from fencepost.model.language.domains import Domain, Subset, Universe
from fencepost.model.language.mistakes import Location, ModelError
from fencepost.model.terms.nodes import S, Term
from fencepost.model.terms.values import Condition, OfOtherSort

if TYPE_CHECKING:
    from fencepost.model.language.protocol import Protocol

STORE = "store"
"""Who sends and receives for what belongs to no actor, such as a metadata store; an actor may have that name."""


ABSENT: Any = None
"""What an instance does not have, in the place of a variable: nothing speaks of it. ``is None`` says so."""


@dataclass(frozen=True, eq=False)
class Variable:
    """One variable of a protocol: a scalar, or one member of a family such as ``stored[b0]``.

    ``term`` is its value before a step and ``next`` its value after it; ``index`` is its place in the family.
    """

    name: str
    family: str
    index: tuple[int, ...]
    universes: tuple[Universe, ...]
    domain: Domain
    initial: tuple[int, ...]
    term: Term
    next: Term


class Family(Generic[S]):
    """Variables of one name, one for each member of a universe or each tuple of members of several: a function of the member.

    All have one sort, which a type checker knows: ``role[b]`` is a choice among names, ``version[b]`` a number.
    """

    def __init__(self, name: str, members: dict[tuple[int, ...], S]) -> None:
        self._name = name
        self._members = members

    def extend(self, members: Mapping[tuple[int, ...], S]) -> None:
        """Adds members: each copy of a part has some of its own."""
        self._members.update(members)

    @property
    def name(self) -> str:
        """The name that it was declared with."""
        return self._name

    def items(self) -> Iterator[tuple[tuple[int, ...], S]]:
        """Each index with the member that it has there."""
        return iter(self._members.items())

    def __getitem__(self, index: int | tuple[int, ...]) -> S:
        key = index if isinstance(index, tuple) else (index,)
        for one in key:
            if type(one) is not int:
                break
        else:
            if key in self._members:
                return self._members[key]
        shown = ", ".join(repr(i) for i in key)
        raise ModelError(f"{self._name} has no member {shown}; {self._remedy(key, shown)}")

    def _remedy(self, key: tuple[object, ...], shown: str) -> str:
        """What to write instead of an index that is none."""
        if any(isinstance(i, Term) for i in key):
            return f"an index is a member of its universe, and no term: for that there is select({shown}, list({self._name}))"
        count = len(next(iter(self._members), key))
        if len(key) != count:
            return f"it has {count if count > 1 else 'one'} {'indices' if count > 1 else 'index'}, not {len(key)}"
        if all(type(i) is int for i in key) and any(other in self._members for other in permutations(key)):
            return "its indices come in the order in which per= names their universes"
        return "an index is a member of its universe"

    def __iter__(self) -> Iterator[S]:
        return iter(self._members.values())

    def __repr__(self) -> str:
        return f"{self._name} without its index"

    def _no_value(self, *_: object) -> NoReturn:
        raise ModelError(f"{self._name} is a family of variables: say of which member, as in {self._name}[i]")

    def __eq__(self, other: object) -> OfOtherSort:  # type: ignore[override]
        return self._no_value()

    def __ne__(self, other: object) -> OfOtherSort:  # type: ignore[override]
        return self._no_value()

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = _no_value
    __and__ = __rand__ = __or__ = __ror__ = __invert__ = _no_value
    has = plus = minus = among = _no_value
    __hash__ = object.__hash__


class Names:
    """Variables by name, as attributes: ``p.state.lac`` is the value before a step, ``p.next.lac`` the value after it."""

    def __init__(self, owner: str) -> None:
        self._owner = owner

    if not TYPE_CHECKING:  # to whom a name without a declaration in the class is an error

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"protocol {self._owner} has no variable {name!r}", name=name, obj=self)


class Variables(Names):
    """The variables of a protocol with their sorts, so that a type checker knows them where properties speak of them.

    A protocol has a class of this kind with a line for each variable: ``role: Family[Choice[Role]]``. It declares nothing, and
    costs nothing.
    """

    @classmethod
    def of(cls, protocol: Protocol) -> tuple[Self, Self]:
        """The variables of an instance before a step, and after it."""
        return cls.now(protocol), cls.later(protocol)

    @classmethod
    def now(cls, protocol: Protocol) -> Self:
        """The variables of an instance before a step."""
        return protocol.state  # type: ignore[no-any-return]

    @classmethod
    def later(cls, protocol: Protocol) -> Self:
        """The variables of an instance after a step."""
        return protocol.next  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Taken:
    """A move of a part that an action takes: what it does in the real system, and the methods that do it there."""

    name: str
    doc: str
    mirrors: tuple[str, ...]
    conditions: Mapping[str, str]
    fair: bool
    fault: bool
    takes: str = ""


@dataclass(frozen=True, eq=False)
class Action:
    """A grounded action: a guard and, for each variable that it changes, the new value; the rest stays as it is.

    ``arguments`` are as traces show them; ``grounding`` has them as numbers, each with the universe whose member it is;
    ``mirrors`` are the methods of the real system that do this, ``Class.method``, the main one first, and ``conditions`` are
    those in them that the guard stands for, in the words of the code, by the method. ``hears`` is the actor,
    or the store, whose message reaches this one by it, and ``to`` to whom it sends one that arrives at once, if there are such.
    ``posts`` has for each to whom it may send a message that arrives later the variable that holds what is on its way.
    ``moves`` are those of parts that it takes; what they mirror is among its ``mirrors``. ``takes`` names the number that says
    how long it takes or how often it happens; it is empty if nobody has said so.
    """

    name: str
    actor: str
    arguments: Mapping[str, str]
    grounding: tuple[tuple[Universe | None, int], ...]
    guard: Condition
    updates: Mapping[Variable, Term]
    fault: bool
    fair: bool
    doc: str
    location: Location
    mirrors: tuple[str, ...] = ()
    hears: str = ""
    to: str = ""
    posts: Mapping[str, Variable] = field(default_factory=dict)
    moves: tuple[Taken, ...] = ()
    conditions: Mapping[str, str] = field(default_factory=dict)
    takes: str = ""

    @property
    def in_the_code(self) -> list[str]:
        """The methods that the action mirrors, each with the condition in it that the guard stands for, if there is one."""
        return [
            f"{method}, where {self.conditions[method]}" if method in self.conditions else method for method in self.mirrors
        ]

    @cached_property
    def label(self) -> str:
        """As traces show it, e.g. ``add(b0, e1)``."""
        return f"{self.name}({', '.join(self.arguments.values())})" if self.arguments else self.name

    @property
    def meaning(self) -> str:
        """What the real system does there, in its own words and, below, in those of the moves that it takes."""
        return "\n\n".join([self.doc, *(f"{taken.name}: {taken.doc}" for taken in self.moves)])

    def posted(self, variable: Variable) -> int | None:
        """What a message that it posts is of: the member of the set that this variable is which the action is about, if so."""
        universe = variable.domain.universe if isinstance(variable.domain, Subset) else None
        return next((member for of, member in self.grounding if of is not None and of is universe), None)


@dataclass(frozen=True)
class OneOf:
    """Several possible initial values of a variable."""

    values: tuple[object, ...]
