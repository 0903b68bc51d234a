"""The record of a service unit, and which of two records is kept: ServiceUnitStateDataConflictResolver.

A record is ServiceUnitStateData without its timestamp; that there is none (null in Java) is a record in state ``Init`` with
version 0, for no broker ever writes a record in that state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from fencepost.model.language import ABSENT, And, Condition, If, Not, Number, Or, Protocol, Truth, Universe, Updates, any_of
from fencepost.model.nobody import NOBODY, Nobody
from fencepost.model.terms.nodes import Term, literal
from fencepost.model.terms.nodes import number as as_number
from fencepost.model.terms.sorts import names_sort
from fencepost.model.terms.values import Choice, condition, conditional

State = Literal["Init", "Free", "Assigning", "Owned", "Releasing", "Splitting", "Deleted"]
STATES: tuple[State, ...] = get_args(State)
IN_FLIGHT: tuple[State, ...] = ("Assigning", "Releasing", "Splitting")
MANY = 2**62
FIRST = 1
"""VERSION_ID_INIT: the version of a record that follows none."""

OVER_THE_STORE: Mapping[State, tuple[State, ...]] = {
    "Init": ("Assigning",),
    "Free": ("Assigning",),
    "Owned": ("Splitting", "Releasing"),
    "Assigning": ("Owned",),
    "Releasing": ("Assigning", "Free"),
    "Splitting": ("Deleted",),
    "Deleted": ("Init",),
}
"""ServiceUnitState.validTransitionsOverMetadataStore."""

OVER_THE_TOPIC: Mapping[State, tuple[State, ...]] = {**OVER_THE_STORE, "Init": STATES[1:], "Free": ("Assigning", "Init")}
"""ServiceUnitState.validTransitionsOverSystemTopic: compaction may have taken what came before."""


@dataclass(frozen=True)
class Record:
    """One record, or the variables that hold one; ``force`` is None where it is not kept."""

    state: Choice[State]
    dst: Choice[int | Nobody]
    src: Choice[int | Nobody]
    version: Number
    force: Condition = ABSENT

    @property
    def absent(self) -> Condition:
        """The formula: there is no record."""
        return self.state == "Init"

    @property
    def is_in_flight(self) -> Condition:
        """The formula: the unit is moving, or being split."""
        return self.state.among(*IN_FLIGHT)

    def concerns(self, broker: int) -> Condition:
        """The formula: the broker owns the unit, or is one of those between which it is moving."""
        as_owner = And(self.dst == broker, self.state.among("Owned", *IN_FLIGHT))
        return Or(as_owner, And(self.src == broker, self.state.among(*IN_FLIGHT)))

    def becomes(self, other: Record, condition: Truth = True) -> Updates:
        """The updates of variables by which they hold the other record, where the condition holds."""
        pairs: list[tuple[Term, Term]] = [
            (self.state, other.state),
            (self.dst, other.dst),
            (self.src, other.src),
            (self.version, other.version),
        ]
        if self.force is not None:
            pairs.append((self.force, other.force))
        return {mine: conditional(condition, theirs, mine) for mine, theirs in pairs}

    def equals(self, other: Record) -> Condition:
        """The formula: both say the same."""
        return And(self.state == other.state, self.dst == other.dst, self.src == other.src, self.version == other.version)

    def where(self, condition: Truth, other: Record) -> Record:
        """This record where the condition holds, and the other one elsewhere."""
        return Record(
            If(condition, self.state, other.state),
            If(condition, self.dst, other.dst),
            If(condition, self.src, other.src),
            If(condition, self.version, other.version),
            If(condition, self.force, other.force),
        )


class Records:
    """Makes the records of one protocol: ``versions`` is the last version, after which the first comes again.

    If it is 0 there are ``MANY``, and a run ends before the first would come again.
    """

    def __init__(self, p: Protocol, broker: Universe, versions: int) -> None:
        self._protocol, self.broker, self.last, self.overflow = p, broker, versions or MANY, versions > 0
        self._brokers = (*(broker.label(b) for b in broker), NOBODY)

    def declare(self, name: str, per: tuple[Universe, ...], *, force: bool) -> Callable[..., Record]:
        """Variables that hold a record each; what is returned gives the record at an index."""
        p = self._protocol
        state = p.choice(f"{name}_state", STATES, per=per)
        dst = p.choice(f"{name}_dst", self.broker, per=per, none=NOBODY)
        src = p.choice(f"{name}_src", self.broker, per=per, none=NOBODY)
        version = p.number(f"{name}_version", 0, self.last, per=per)
        forced = p.flag(f"{name}_force", per=per) if force else None
        return lambda *at: Record(state[at], dst[at], src[at], version[at], ABSENT if forced is None else forced[at])

    def record(
        self,
        state: State,
        version: Number | int,
        *,
        dst: Choice[int | Nobody] | int | Nobody = NOBODY,
        src: Choice[int | Nobody] | int | Nobody = NOBODY,
        force: Truth = False,
    ) -> Record:
        """A record of literals and terms."""
        number = as_number(version) if isinstance(version, int) else version
        return Record(named(state, STATES), self._who(dst), self._who(src), number, condition(force))

    @property
    def none(self) -> Record:
        """That there is no record: a tombstone."""
        return self.record("Init", 0)

    def after(self, version: Number) -> Number:
        """The next version; a Java long overflows."""
        return If(version == self.last, FIRST, version + 1)

    def _who(self, broker: Choice[int | Nobody] | int | Nobody) -> Choice[int | Nobody]:
        if isinstance(broker, Choice):
            return broker
        return named(self.broker.label(broker) if isinstance(broker, int) else broker, self._brokers)

    def keeps_old(self, old: Record, new: Record, *, topic: bool) -> Condition:
        """The formula: the old record stays, and the new one is rejected. See ``keeps_old``."""
        return keeps_old(old, new, topic=topic, first=FIRST, last=self.last)


def named(name: str, names: tuple[str, ...]) -> Choice[Any]:
    """A name as a term, so that it can be compared like a variable that holds one."""
    return literal(names_sort(names), names.index(name))


def keeps_old(old: Record, new: Record, *, topic: bool, first: int, last: int) -> Condition:
    """The formula: of two records the old one is kept: ServiceUnitStateDataConflictResolver.shouldKeepLeft.

    ``topic`` says that the records are messages of the system topic, and not values in the metadata store; ``first`` is the
    version that follows on ``last`` when versions overflow.
    """
    wraps = And(old.version == last, new.version == first)
    late = And(Not(wraps), old.version >= new.version)
    jumps = And(Not(wraps), old.version + 1 < new.version)
    refused = And(Not(new.force), Or(Not(_may_follow(old, new, topic)), _has_wrong_brokers(old, new)))
    if topic:
        known = And(Not(old.absent), Or(late, And(Not(jumps), refused)))
        return And(Not(new.absent), Or(known, And(old.absent, refused)))
    known = And(Not(old.absent), Or(late, jumps, refused))
    return And(Not(new.absent), Or(known, And(old.absent, new.version != FIRST)))


def _may_follow(old: Record, new: Record, topic: bool) -> Condition:
    """The formula: ServiceUnitState.isValidTransition."""
    table = OVER_THE_TOPIC if topic else OVER_THE_STORE
    return any_of(And(old.state == before, new.state.among(*after)) for before, after in table.items())


def _has_wrong_brokers(old: Record, new: Record) -> Condition:
    """The formula: the transition is valid, and not between these brokers."""
    differs = Or(old.dst != new.dst, old.src != new.src)

    def goes(before: State, after: State, wrong: Condition) -> Condition:
        return And(old.state == before, new.state == after, wrong)

    return Or(
        goes("Owned", "Splitting", Or(new.dst != NOBODY, old.dst != new.src)),
        goes("Owned", "Releasing", Or(new.src == NOBODY, old.dst != new.src, old.dst == new.dst)),
        goes("Assigning", "Owned", differs),
        goes("Releasing", "Assigning", Or(new.dst == NOBODY, differs)),
        goes("Releasing", "Free", differs),
        goes("Splitting", "Deleted", differs),
        goes("Free", "Assigning", Or(new.src != NOBODY, new.dst == NOBODY)),
    )
