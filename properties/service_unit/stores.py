"""How records of service units are written: which may follow which, who hears of it, and what is left in the log."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.language import And, Condition, If, Implies, Not, Or, Truth, all_of, any_of, at_least
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.service_unit.records import Record, State
from fencepost.model.pulsar.service_unit.splits import CHILD
from fencepost.properties.service_unit.variables import Units
from fencepost.properties.vocabulary import Suite


def written(suite: Suite, now: Units, then: Units) -> None:
    """Adds how records are written to the store, whichever it is."""
    settings = now.settings
    if now.over_topic or not settings["burials"] or settings["unloads"] < 2:
        _followed(suite, now, then)
    if now.overrides:
        _forced(suite, now, then)
    _asked(suite, now, then)
    if now.over_topic:
        _log(suite, now, then)
    else:
        _nodes(suite, now, then)


def _followed(suite: Suite, now: Units, then: Units) -> None:
    """Adds which record may follow which, as PIP-192 has it.

    Not over the metadata store where records are deleted and made again: a copy from before a tombstone may have the version of
    another record by then, so that what follows the one takes the place of the other.
    """

    @suite.step
    def records_go_their_way() -> Condition:
        """A record that is not forced follows by the table of states, and names the brokers of the one before it."""

        def follows(u: int) -> Condition:
            old, new = now.record(u), then.record(u)
            child = And(old.absent, new.state == "Owned", new.src == NOBODY) if now.settings["splits"] and u == CHILD else False
            return Or(new.absent, _goes_its_way(old, new), child)

        return all_of(Implies(And(then.is_new(now, u), Not(then.is_forced(u))), follows(u)) for u in now.unit)


def _goes_its_way(old: Record, new: Record) -> Condition:
    """The formula: one record may follow another without force."""
    same = And(old.dst == new.dst, old.src == new.src)
    assigned = And(new.state == "Assigning", new.dst != NOBODY)
    return Or(
        And(old.state.among("Init", "Free"), assigned, new.src == NOBODY),
        And(old.state == "Assigning", new.state == "Owned", same),
        And(old.state == "Owned", new.state == "Releasing", new.src == old.dst, new.dst != old.dst),
        And(old.state == "Releasing", Or(assigned, And(new.state == "Free", new.dst == NOBODY)), same),
        And(old.state == "Owned", new.state == "Splitting", new.src == old.dst, new.dst == NOBODY),
        And(old.state == "Splitting", new.state == "Deleted", same),
    )


def _forced(suite: Suite, now: Units, then: Units) -> None:
    """Adds what is forced."""

    @suite.step
    def only_overrides_are_forced() -> Condition:
        """A record that is forced takes a unit from a broker that has it, or is to have it, and says from whom.

        It is given to nobody only if nobody else is registered.
        """

        def overrides(u: int) -> Condition:
            old, new = now.record(u), then.record(u)
            owner = If(old.state == "Owned", old.dst, old.src)
            others = any_of(And(now.is_registered(b), owner != b) for b in now.broker)
            again = And(new.src == NOBODY, new.dst == owner)
            return And(
                Or(old.state == "Owned", old.is_in_flight),
                Or(
                    And(new.state == "Owned", Or(new.src == owner, again)),
                    And(new.state == "Releasing", old.state.among("Owned", "Releasing"), new.src == owner, new.dst != NOBODY),
                    And(new.state == "Splitting", old.state == "Splitting"),
                    And(new.state == "Free", new.src == owner, new.dst == NOBODY, Not(others)),
                ),
            )

        return all_of(Implies(then.is_overridden(now, u), overrides(u)) for u in now.unit)


def _asked(suite: Suite, now: Units, then: Units) -> None:
    """Adds what is written to unload, transfer or split a unit."""
    s, n = now.s, then.s

    def written_of(u: int) -> tuple[Truth, Record]:
        """Whether a record of the unit is written, perhaps to be refused; and that record."""
        if now.over_topic:
            return n.message_of[0] == u if len(now.unit) > 1 else True, then.message(0)
        return then.is_new(now, u), then.record(u)

    def is_from_the_owner(u: int, new: Record) -> Condition:
        views = [(now.view(c, u), s.lives[c]) for c in now.broker]
        return any_of(And(lives, view.state == "Owned", view.dst == new.src) for view, lives in views)

    def asks(u: int, state: State, to: Callable[[Record], Truth]) -> Condition:
        is_written, new = written_of(u)
        return Implies(is_written, And(new.state == state, is_from_the_owner(u, new), to(new)))

    if now.settings["unloads"]:

        @suite.step
        def unloads_are_asked_of_the_owner() -> Condition:
            """A unit is unloaded from whom the writer knows as its owner, and transferred to another registered broker."""

            def to(new: Record) -> Condition:
                return Or(new.dst == NOBODY, *(And(new.dst == b, new.src != b, now.is_registered(b)) for b in now.broker))

            return all_of(Implies(n.unloads > s.unloads, asks(u, "Releasing", to)) for u in now.unit)

    if now.settings["splits"]:

        @suite.step
        def splits_are_asked_of_the_owner() -> Condition:
            """A unit is split by whom the writer knows as its owner."""
            asked = [asks(u, "Splitting", lambda new: new.dst == NOBODY) for u in now.unit]
            return Implies(n.splits > s.splits, And(*asked))


def _log(suite: Suite, now: Units, then: Units) -> None:
    """Adds what is left in the log of the system topic."""
    s, n, broker = now.s, then.s, now.broker
    places = suite.protocol.universes["place"]
    message = {k: now.message(k) for k in places}

    def needed(at: Units, k: int) -> Condition:
        return any_of(at.s.behind[b] > k for b in broker)

    @suite.step
    def messages_stay_as_they_are() -> Condition:
        """A message that is yet to be read stays as it is, at its place, or behind the one that is written."""

        def stays(k: int, at: int) -> Condition:
            force = s.message_force[k] == n.message_force[at]
            of = s.message_of[k] == n.message_of[at] if len(now.unit) > 1 else True
            taken = n.compactions > s.compactions
            gone = Or(taken, s.message_gone[k] == n.message_gone[at]) if now.settings["compactions"] else True
            return Or(Not(needed(then, at)), And(message[k].equals(then.message(at)), force, of, gone))

        grows = any_of(n.behind[b] > s.behind[b] for b in broker)
        answered = any_of(And(s.behind[b] > 0, n.behind[b] == s.behind[b]) for b in broker)
        still, moved = And(*(stays(k, k) for k in places)), And(*(stays(k, k + 1) for k in places if k + 1 < len(places)))
        return And(Or(still, moved), Implies(grows, moved), Implies(Not(Or(grows, answered)), still))

    @suite.always
    def read_messages_are_dropped() -> Condition:
        """What every broker has read is not in the log any more."""

        def is_blank(k: int) -> Condition:
            m = message[k]
            of = [s.message_of[k] == 0] if len(now.unit) > 1 else []
            flags = [Not(s.message_counts[k]), Not(s.message_gone[k])] if now.settings["compactions"] else []
            return And(m.absent, m.dst == NOBODY, m.src == NOBODY, m.version == 0, Not(m.force), *of, *flags)

        return all_of(Implies(Not(needed(now, k)), is_blank(k)) for k in places)

    if now.settings["compactions"]:

        @suite.sometimes
        def compacted() -> Condition:
            """A compaction takes a message away that somebody has not read."""
            return any_of(s.message_gone[k] for k in places)

        @suite.always
        def compaction_leaves_the_last_message() -> Condition:
            """What a compaction would leave of a unit, except for tombstones, is its record, and it has not taken that away."""
            counts = {k: And(s.message_counts[k], Not(message[k].absent)) for k in places}
            last = [Implies(counts[k], And(Not(s.message_gone[k]), message[k].equals(now.record(0)))) for k in places]
            return And(*last, Not(at_least(2, list(counts.values()))))


def _nodes(suite: Suite, now: Units, then: Units) -> None:
    """Adds who hears of a write over the metadata store, and what is said of force there."""
    s, n = now.s, then.s

    @suite.step
    def writes_are_heard() -> Condition:
        """A broker that reaches the metadata store hears of each written node, and of nothing else; one that is back reads."""

        def follows(b: int, u: int) -> Condition:
            written = Not(now.record(u).equals(then.record(u)))
            back = And(s.link[b] != "connected", n.link[b] == "connected")
            is_told = And(Not(s.unheard[b, u]), n.unheard[b, u])
            return And(
                Implies(is_told, Or(back, And(written, now.reaches(b)))),
                Implies(And(written, now.reaches(b), then.reaches(b)), n.unheard[b, u]),
            )

        return all_of(follows(b, u) for b, u in now.pairs)

    @suite.step
    def force_is_of_the_record() -> Condition:
        """Whether a record was forced does not change while it is there, and nothing is left of one that is deleted."""
        stays = {u: And(now.record(u).equals(then.record(u)), s.record_force[u] != n.record_force[u]) for u in now.unit}
        return all_of(And(Not(stays[u]), Not(And(then.record(u).absent, n.record_force[u]))) for u in now.unit)
