"""What the conflict resolver of service units decides, for all versions that a Java long can have.

Of the brokers two records name four at most, so that four are all that is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from fencepost.model.language import And, Implies, Not, Or, Truth
from fencepost.model.language.domains import choice_of
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.service_unit.records import FIRST, STATES, Record, keeps_old
from fencepost.model.terms.nodes import constant, number
from fencepost.model.terms.sorts import BOOL, INT, names_sort
from fencepost.model.terms.values import conditional
from fencepost.properties.theorems import Bugs, Statements, Step, Theorem, Theory, Value

LEAST, LAST = -(2**63), 2**63 - 1
BROKERS = ("b0", "b1", "b2", "b3", NOBODY)
STORES = {"the system topic": True, "the metadata store": False}

BUGS = {
    "equal_versions_accepted": "a record is accepted over another one of the same version",
    "force_before_versions": "a record that is forced is accepted whatever its version",
    "jumps_accepted": "over the metadata store a record is accepted although versions are missing before it",
}
"""What the resolver could get wrong; no release does."""


def _record(name: str) -> Record:
    state, dst, src = (constant(f"{name}_{part}", names_sort(names)) for part, names in _PARTS)
    return Record(state, dst, src, constant(f"{name}_version", INT), constant(f"{name}_force", BOOL))


_PARTS = (("state", STATES), ("dst", BROKERS), ("src", BROKERS))
OLD, NEW, NEXT = (_record(name) for name in ("old", "new", "next"))


def keeps(old: Record, new: Record, topic: bool, bugs: Bugs = frozenset()) -> Truth:
    """The formula: of two records the old one is kept, over the topic or over the metadata store, with these bugs."""
    decision = keeps_old(old, new, topic=topic, first=LEAST, last=LAST)
    if "equal_versions_accepted" in bugs:
        decision = And(decision, Or(old.absent, old.version != new.version))
    if "force_before_versions" in bugs:
        decision = And(decision, Not(new.force))
    if "jumps_accepted" in bugs:
        decision = And(decision, Or(old.absent, old.version + 1 >= new.version))
    return decision


def theorems(bugs: Bugs = frozenset()) -> list[Theorem]:
    """The theorems about the resolver, with these bugs in it."""
    statements = Statements()
    decision = partial(keeps, bugs=bugs)

    @statements.theorem
    def one_record_for_each_version() -> Iterator[Step]:
        """Of two records with one version that follow the same, the second is rejected, forced or not."""
        for store, topic in STORES.items():
            given = (*_given(OLD, NEW, NEXT), Not(decision(OLD, NEW, topic)), _is_written(NEW), _is_written(NEXT))
            claim = Implies(NEXT.version == NEW.version, decision(NEW, NEXT, topic))
            yield _step(f"over {store}", given, claim, OLD, NEW, NEXT)

    @statements.theorem
    def versions_rise_by_one_over_the_store() -> Iterator[Step]:
        """Over the metadata store a record follows one whose version is one less, or none if its version is the first."""
        written = (*_given(OLD, NEW), Not(decision(OLD, NEW, False)), _is_written(NEW))
        follows = Or(NEW.version == OLD.version + 1, And(OLD.version == LAST, NEW.version == LEAST))
        yield _step("after a record", (*written, Not(OLD.absent)), follows, OLD, NEW)
        yield _step("after none", (*written, OLD.absent), NEW.version == FIRST, OLD, NEW)

    @statements.theorem
    def versions_rise() -> Iterator[Step]:
        """A record is not replaced by one with a lower version, except for the overflow; over the topic versions may jump."""
        for store, topic in STORES.items():
            given = (*_given(OLD, NEW), Not(OLD.absent), _is_written(NEW), Not(decision(OLD, NEW, topic)))
            claim = Or(NEW.version > OLD.version, And(OLD.version == LAST, NEW.version == LEAST))
            yield _step(f"over {store}", given, claim, OLD, NEW)

    @statements.theorem
    def tombstones_are_accepted() -> Iterator[Step]:
        """A tombstone is accepted whatever is there: it has no version."""
        for store, topic in STORES.items():
            yield _step(f"over {store}", (*_given(OLD, NEW), NEW.absent), Not(decision(OLD, NEW, topic)), OLD, NEW)

    @statements.theorem
    def stores_agree_where_nothing_is_missing() -> Iterator[Step]:
        """Of records without gaps between their versions both stores accept the same, forced or not."""
        given = (*_given(OLD, NEW), _is_written(NEW))
        same = decision(OLD, NEW, True) == decision(OLD, NEW, False)
        follows = And(Not(OLD.absent), NEW.version == OLD.version + 1)
        yield _step("after a record", (*given, follows), same, OLD, NEW)
        yield _step("after none", (*given, OLD.absent, NEW.version == FIRST), same, OLD, NEW)

    @statements.theorem
    def only_force_takes_from_an_owner() -> Iterator[Step]:
        """Over the metadata store the record of an owner is replaced without force only by Releasing or Splitting, from him."""
        given = (*_given(OLD, NEW), OLD.state == "Owned", _is_written(NEW), Not(NEW.force), Not(decision(OLD, NEW, False)))
        claim = And(NEW.state.among("Releasing", "Splitting"), NEW.src == OLD.dst)
        yield _step("over the metadata store", given, claim, OLD, NEW)

    return statements.theorems


def _given(*records: Record) -> tuple[Truth, ...]:
    """That the constants are records: versions are longs, and an owner has a name."""
    inside = [choice_of(part.names).within(part) for r in records for part in (r.state, r.dst, r.src)]
    longs = [And(r.version >= LEAST, r.version <= LAST) for r in records]
    owned = [Implies(r.state.among("Owned", "Assigning"), r.dst != NOBODY) for r in records]
    return (*inside, *longs, *owned)


def _is_written(record: Record) -> Truth:
    """The formula: there is a record."""
    return Not(record.absent)


def _step(name: str, given: tuple[Truth, ...], claim: Truth, *records: Record) -> Step:
    """A step about these records."""
    return Step(name, given, claim, (), _words(*records))


def _words(*records: Record) -> Callable[[Value], str]:
    """Puts a refutation in words."""

    def shown(record: Record, value: Value) -> str:
        if value(record.state) == 0:
            return "none"
        dst, src = BROKERS[value(record.dst)], BROKERS[value(record.src)]
        forced = ", forced" if value(conditional(record.force, number(1), number(0))) else ""
        return f"{STATES[value(record.state)]} (dst {dst}, src {src}, version {value(record.version)}{forced})"

    return lambda value: " then ".join(shown(record, value) for record in records)


THEORY = Theory(
    "service_unit_resolver",
    "which of two records of a service unit is kept: ServiceUnitStateDataConflictResolver",
    "for all versions from -9,223,372,036,854,775,808 to 9,223,372,036,854,775,807, all states and any number of brokers",
    BUGS,
    theorems,
)
