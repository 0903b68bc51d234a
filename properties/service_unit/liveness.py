"""What must come about in the end with service units."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Not, Or, all_of, any_of
from fencepost.model.pulsar.service_unit.records import IN_FLIGHT
from fencepost.model.pulsar.service_unit.splits import PARENT
from fencepost.properties.service_unit.variables import Units
from fencepost.properties.vocabulary import Leads, Suite


def in_the_end(suite: Suite, now: Units) -> None:
    """Adds what must come about in the end."""
    s, settings = now.s, now.settings
    ends = settings["crashes"] + settings["shutdowns"]
    halts = ends + (0 if now.over_topic else settings["expiries"])
    interrupted = settings["shutdowns"] > 0 or (halts > 0 and settings["unloads"] + settings["splits"] > 0)
    interrupted = interrupted or settings["conflicts"] >= settings["attempts"]

    gone = ends + settings["expiries"] > 0
    cut_off = settings["disconnects"] > 0 and (gone or not now.over_topic)
    for_good = suite.leads_to(strict="a broker that is cut off for good, and not missed, does nothing more", when=cut_off)

    def served(u: int) -> Condition:
        owned = any_of(And(now.owns(b, u), now.record(u).state == "Owned", now.record(u).dst == b) for b in now.broker)
        return Or(owned, Not(now.is_in_layout(u)))

    @for_good
    def looked_up_units_are_served() -> list[tuple[Condition, Condition]]:
        """A unit that clients go on to look up is owned in the end, by a broker that lives and knows it, or split."""
        return [(Not(served(u)), served(u)) for u in now.unit]

    @for_good
    def moves_end() -> list[tuple[Condition, Condition]]:
        """A unit does not stay between brokers."""
        moving = {u: now.record(u).state.among(*IN_FLIGHT) for u in now.unit}
        return [(moving[u], Not(moving[u])) for u in now.unit]

    @suite.leads_to(
        unfair=["override_overdue", "schedule_clean_up", "stop_waiting"],
        strict="what a broker that is gone leaves behind only the leader clears away",
        when=interrupted or cut_off,
    )
    def moves_end_by_themselves() -> Leads:
        """A unit does not stay between brokers although the leader does nothing, nor do lookups give up."""
        moving = {u: now.record(u).state.among(*IN_FLIGHT) for u in now.unit}
        return [(moving[u], Not(moving[u])) for u in now.unit]

    @suite.leads_to(
        unfair=["stop_waiting"],
        strict="a lookup that waits because the owner is not registered is not told when it is again, nor one of a unit that "
        "was split before the broker heard of its owner",
        when=gone or cut_off or (settings["splits"] > 0 and not now.over_topic),
    )
    def lookups_are_answered() -> Leads:
        """A lookup that waits is answered, and not only by its time-out."""
        return [(s.pending[b, u], Not(s.pending[b, u])) for b, u in now.pairs]

    if ends and not now.over_topic:  # over the topic lookups that fail keep a clean-up reading forever, by weak fairness

        @suite.leads_to(
            unfair=["restart"],
            strict="nobody is left, or a broker is cut off for good",
            when=cut_off or ends >= now.broker.size,
        )
        def units_outlive_their_brokers() -> Leads:
            """A unit that is looked up is owned in the end although no broker that has died is started again."""
            return [(Not(served(u)), served(u)) for u in now.unit]

    if gone:

        @for_good
        def brokers_register() -> list[tuple[Condition, Condition]]:
            """A broker that lives is in the registry in the end."""
            absent = {b: And(s.lives[b], Not(now.is_registered(b))) for b in now.broker}
            return [(absent[b], Not(absent[b])) for b in now.broker]

        @for_good
        def clean_ups_end() -> list[tuple[Condition, Condition]]:
            """A clean-up that is begun is done, or called off."""
            begun = {(b, x): any_of(s.cleans[b, x, u] for u in now.unit) for b in now.broker for x in now.broker if b != x}
            return [(each, Not(each)) for each in begun.values()]

        @for_good
        def somebody_leads() -> tuple[Condition, Condition]:
            """There is a leader in the end, whose session is there."""
            leads = any_of(And(s.leads[b], now.reaches(b)) for b in now.broker)
            return Not(leads), leads

    if settings["expiries"]:

        @suite.leads_to
        def metadata_settles() -> Leads:
            """A broker whose session is back takes the metadata store for stable in the end, so that it can lead."""
            shaken = {b: And(now.reaches(b), s.metadata[b] != "stable") for b in now.broker}
            return [(shaken[b], Not(shaken[b])) for b in now.broker]

    @for_good
    def strays_close() -> list[tuple[Condition, Condition]]:
        """Topics at a broker that does not own the unit are closed, clients and all, unless it owns it again."""
        stray = {(b, u): And(s.topics[b, u] != "closed", Not(now.owns(b, u))) for b, u in now.pairs}
        return [(stray[pair], Not(stray[pair])) for pair in now.pairs]

    if now.comes_back:

        @for_good
        def what_is_owned_can_be_served() -> list[tuple[Condition, Condition]]:
            """Topics at the owner of a unit do not stay closed halfway: clients would be led to them, and refused."""
            fenced = {(b, u): And(s.topics[b, u] == "attached", now.owns(b, u)) for b, u in now.pairs}
            return [(fenced[pair], Not(fenced[pair])) for pair in now.pairs]

    if settings["versions"]:

        @suite.ends
        def all_is_quiet() -> Condition:
            """A run ends only where every unit is owned, as everybody knows, and nothing is under way."""
            idle = [
                And(
                    Not(s.pending[b, u]),
                    Not(s.closing[b, u]),
                    s.to_publish[b, u] == "none",
                    Or(s.topics[b, u] == "closed", And(s.topics[b, u] == "open", now.owns(b, u))),
                )
                for b, u in now.pairs
            ]
            return And(*idle, all_of(served(u) for u in now.unit))

    if settings["splits"]:

        @for_good
        def layouts_are_learned() -> list[tuple[Condition, Condition]]:
            """A broker hears in the end that a unit was split."""
            unaware = {b: And(s.lives[b], s.layout_split, Not(s.layout_copy[b])) for b in now.broker}
            return [(each, Not(each)) for each in unaware.values()]

        @suite.leads_to(
            strict="a broker that is gone before it has deleted the record leaves that to the leader, which waits for an hour",
            when=gone or cut_off,
        )
        def split_units_go() -> Leads:
            """The record of a unit that was split is deleted in the end, so that one of its name can be made again."""
            left = And(s.layout_split, Not(now.record(PARENT).absent))
            return [(left, Not(left))]
