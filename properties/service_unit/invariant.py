"""Why the service unit channel is safe over the metadata store: the lemmas of an inductive invariant.

They are of instances in which no record is deleted and no unit split, no broker shuts down and none is slow. A deletion starts
the versions again, and a copy that is so old that it is of the record before then passes for a new one: what is said here
of versions would not hold (docs/explanation/proofs.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.service_unit.records import FIRST, Record
from fencepost.properties.service_unit.variables import Units
from fencepost.properties.vocabulary import Formula, Suite


def declare_lemmas(suite: Suite, now: Units, rules: Sequence[Formula]) -> None:
    """Adds the lemmas to the suite of an instance that they are of; ``rules`` of conduct are a lemma, too."""
    settings = now.settings
    faults = settings["crashes"] + settings["expiries"]
    apart = settings["slow"] or settings["shutdowns"] or settings["splits"] or settings["burials"]
    if now.over_topic or apart or faults >= now.broker.size:
        return
    suite.lemmas_by(lambda: _lemmas(suite, now, faults > 0, rules))


def _lemmas(suite: Suite, now: Units, faults: bool, rules: Sequence[Formula]) -> None:
    if rules:

        @suite.lemma
        def rules_are_kept() -> Condition:
            """What the rules of conduct say of sessions, nodes, and processes that have ended."""
            return all_of(rule() for rule in rules)

    _records(suite, now, faults)
    _sessions(suite, now)
    _releases(suite, now)
    if not (faults and now.settings["unloads"]):
        _topics(suite, now)


def _records(suite: Suite, now: Units, faults: bool) -> None:
    """Adds what records can be, and that views are of the past."""
    s, records, views = now.s, [now.record(u) for u in now.unit], [now.view(b, u) for b, u in now.pairs]

    def is_whole(record: Record) -> Condition:
        there = {state: record.state == state for state in ("Free", "Assigning", "Owned", "Releasing")}
        return And(
            Or(record.absent, *there.values()),
            record.absent == (record.version == 0),
            Implies(record.absent, And(record.dst == NOBODY, record.src == NOBODY)),
            Implies(Or(there["Assigning"], there["Owned"]), record.dst != NOBODY),
            Implies(Or(there["Free"], there["Releasing"]), record.src != NOBODY),
            Implies(there["Free"], record.dst == NOBODY),
            Implies(there["Releasing"], record.src != record.dst),
        )

    @suite.lemma
    def records_are_whole() -> Condition:
        """A record names those whom its state needs, and one that is there has a version."""
        return all_of(is_whole(record) for record in records + views)

    if not now.settings["unloads"]:

        @suite.lemma
        def nothing_is_released() -> Condition:
            """As nothing is unloaded, every unit is owned, or about to be for the first time."""
            first = {record: And(record.state == "Assigning", record.version == FIRST) for record in records + views}
            is_first = all_of(Or(first[record], record.state.among("Init", "Owned")) for record in first)
            return And(is_first, all_of(s.to_publish[b, u] == "none" for b, u in now.pairs))

    @suite.lemma
    def only_owners_are_forced() -> Condition:
        """A record that is forced makes somebody the owner, after faults only."""
        return all_of(Implies(s.record_force[u], And(faults, now.record(u).state == "Owned")) for u in now.unit)

    @suite.lemma
    def views_are_of_the_past() -> Condition:
        """A view is no newer than the record, and with its version it is the record."""
        return all_of(
            And(
                now.view(b, u).version <= now.record(u).version,
                Implies(now.view(b, u).version == now.record(u).version, now.view(b, u).equals(now.record(u))),
            )
            for b, u in now.pairs
        )

    @suite.lemma
    def who_is_told_knows() -> Condition:
        """A broker that reaches the store, and is not about to hear of a write, has the record itself."""
        is_told = {(b, u): And(now.reaches(b), Not(s.unheard[b, u])) for b, u in now.pairs}
        return all_of(Implies(is_told[b, u], now.view(b, u).equals(now.record(u))) for b, u in now.pairs)


def _sessions(suite: Suite, now: Units) -> None:
    """Adds what brokers without a session, or without a process, know and have."""
    s, settings, broker = now.s, now.settings, now.broker

    @suite.lemma
    def who_is_lost_knows_nothing() -> Condition:
        """A broker that takes its session for lost has no views, and closes all topics; one that is dead has none."""
        lost, dead = {b: s.link[b] == "lost" for b in broker}, {b: Not(s.lives[b]) for b in broker}
        return all_of(
            And(
                Implies(dead[b], lost[b]),
                Implies(lost[b], And(now.view(b, u).absent, Not(s.unheard[b, u]))),
                Implies(And(lost[b], s.topics[b, u].among("open", "detaching", "attached", "lingering")), s.closing[b, u]),
                Implies(dead[b], And(s.topics[b, u] == "closed", s.to_publish[b, u] == "none", Not(s.closing[b, u]))),
            )
            for b, u in now.pairs
        )

    @suite.lemma
    def nodes_are_of_sessions() -> Condition:
        """The node of a broker in the registry is its own, of a session that it has, or had and that is not expired."""
        held = {b: s.registry_holder[b] == b for b in broker}
        former = s.registry_former
        return all_of(
            And(
                Or(held[b], And(s.registry_holder[b] == NOBODY, Not(former[b]))),
                Implies(And(held[b], former[b]), s.former_session[b]),
                Implies(And(held[b], Not(former[b])), s.session[b]),
            )
            for b in broker
        )

    if not settings["expiries"]:

        @suite.lemma
        def who_lives_has_a_session() -> Condition:
            """As no session of a live broker expires, each has one."""
            return all_of(Implies(s.lives[b], s.session[b]) for b in broker)

    if not settings["disconnects"]:

        @suite.lemma
        def nobody_is_cut_off() -> Condition:
            """As no broker is cut off, each that lives and has a session is connected; who takes it for lost has none."""
            return all_of(
                And(s.link[b] != "suspended", Implies(And(s.lives[b], s.session[b]), s.link[b] == "connected")) for b in broker
            )


def _releases(suite: Suite, now: Units) -> None:
    """Adds what a release, and an assignment that was there at a start, go back to."""
    s = now.s

    @suite.lemma
    def releases_are_asked_for() -> Condition:
        """What is due is a release. If nothing was written since the record that asked for it, that record says so."""
        due = {at: s.to_publish[at].among("release", "release_attached") for at in now.pairs}
        return all_of(
            And(
                Or(
                    due[b, u],
                    And(s.to_publish[b, u] == "none", s.to_publish_dst[b, u] == NOBODY, s.to_publish_version[b, u] == 0),
                ),
                Implies(due[b, u], And(s.to_publish_version[b, u] > 0, s.to_publish_version[b, u] <= now.record(u).version)),
                Implies(
                    And(due[b, u], s.to_publish_version[b, u] == now.record(u).version),
                    And(
                        now.record(u).state == "Releasing", now.record(u).src == b, now.record(u).dst == s.to_publish_dst[b, u]
                    ),
                ),
                Implies(And(due[b, u], s.link[b] != "lost"), s.to_publish_version[b, u] <= now.view(b, u).version),
            )
            for b, u in now.pairs
        )

    @suite.lemma
    def assignments_are_found() -> Condition:
        """What a broker has found at its start is an assignment to it, by its view; whoever knows of one acts on it."""
        view = {at: now.view(*at) for at in now.pairs}
        assigned = {(b, u): And(view[b, u].state == "Assigning", view[b, u].dst == b) for b, u in now.pairs}
        return all_of(
            And(
                Implies(s.existing[b, u], Or(assigned[b, u], s.link[b] == "lost")),
                Implies(And(assigned[b, u], view[b, u].version == now.record(u).version), s.existing[b, u]),
            )
            for b, u in now.pairs
        )


def _topics(suite: Suite, now: Units) -> None:
    """Adds who has topics open."""
    s, settings = now.s, now.settings
    lives_on = not settings["expiries"] and not (settings["disconnects"] and settings["crashes"])
    owned = {(b, u): And(now.view(b, u).state == "Owned", now.view(b, u).dst == b) for b, u in now.pairs}

    @suite.lemma
    def open_topics_are_owned() -> Condition:
        """A broker has topics open of a unit that is its own by its view, or that it closes; what it transfers is not open."""
        halfway = {at: s.to_publish[at] == "release_attached" for at in now.pairs}
        releases = {(b, u): And(halfway[b, u], s.to_publish_version[b, u] == now.view(b, u).version) for b, u in now.pairs}
        return all_of(
            And(
                Implies(And(s.topics[b, u] == "open", Not(s.closing[b, u])), owned[b, u]),
                Implies(And(s.topics[b, u] == "detaching", Not(s.closing[b, u])), releases[b, u]),
                Implies(And(halfway[b, u], s.to_publish_version[b, u] == now.record(u).version), s.topics[b, u] != "open"),
            )
            for b, u in now.pairs
        )

    if not settings["timeouts"]:

        @suite.lemma
        def topics_close_in_time() -> Condition:
            """As no topic takes too long to close, none is late."""
            return all_of(Not(s.topics[b, u].among("late", "lingering")) for b, u in now.pairs)

    if lives_on:

        @suite.lemma
        def units_are_where_they_are_served() -> Condition:
            """The record of a unit that a broker takes for its own, or has topics open of, says that it has or releases it."""
            serves = {(b, u): And(s.lives[b], Or(owned[b, u], s.topics[b, u].among("open", "detaching"))) for b, u in now.pairs}
            record = {u: now.record(u) for u in now.unit}

            def is_at(b: int, u: int) -> Condition:
                owns = And(record[u].state == "Owned", record[u].dst == b)
                return Or(owns, And(record[u].state == "Releasing", record[u].src == b))

            return all_of(Implies(serves[b, u], is_at(b, u)) for b, u in now.pairs)
