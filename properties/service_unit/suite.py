"""What must hold of service units."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.model.language import And, Condition, Implies, Not, Protocol, all_of, any_of, at_least
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.service_unit.records import IN_FLIGHT, State
from fencepost.model.pulsar.service_unit.splits import CHILD, PARENT
from fencepost.properties.service_unit.conduct import conduct
from fencepost.properties.service_unit.invariant import declare_lemmas
from fencepost.properties.service_unit.liveness import in_the_end
from fencepost.properties.service_unit.refinement import BOTH, channel_refinement
from fencepost.properties.service_unit.stores import written
from fencepost.properties.service_unit.variables import Units
from fencepost.properties.vocabulary import Formula, Suite


def service_unit(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.service_unit.service_unit`` built."""
    suite = Suite(p)
    now, then = Units(p), Units(p, after=True)
    _views(suite, now)
    back = _owners(suite, now)
    _faults(suite, now, then)
    if p.parameters["shutdowns"]:
        _shutdowns(suite, now, then)
    _records(suite, now, then)
    written(suite, now, then)
    rules = conduct(suite, now, then)
    if p.parameters["splits"]:
        _splits(suite, now, then)
    in_the_end(suite, now)
    _possible(suite, now)
    declare_lemmas(suite, now, rules + back)
    return suite


def _views(suite: Suite, now: Units) -> None:
    """Adds that views of the same records agree."""
    s, settings, broker = now.s, now.settings, now.broker
    if now.over_topic and broker.size > 1 and not settings["compactions"]:

        @suite.always
        def views_of_the_same_messages_agree() -> Condition:
            """Two brokers that have read equally far have the same view."""
            alike = [
                Implies(
                    And(s.lives[b], s.lives[c], s.behind[b] == s.behind[c]),
                    all_of(now.view(b, u).equals(now.view(c, u)) for u in now.unit),
                )
                for b in broker
                for c in broker
                if b < c
            ]
            return And(*alike)

    @suite.always
    def told_brokers_know_the_record() -> Condition:
        """A broker that has been told of everything has the record itself."""
        return all_of(Implies(now.is_current(b, u), now.view(b, u).equals(now.record(u))) for b, u in now.pairs)

    if settings["versions"]:

        @suite.always
        def versions_suffice() -> Condition:
            """No record has the last version that this instance counts to."""
            return all_of(now.record(u).version < settings["versions"] for u in now.unit)


def _owners(suite: Suite, now: Units) -> list[Formula]:
    """Adds that one broker has a unit, and its topics open; what of it is inductive by itself is returned."""
    s, settings, broker = now.s, now.settings, now.broker
    ends = settings["crashes"] + settings["shutdowns"]
    faults = settings["expiries"] > 0 or (ends > 0 and settings["disconnects"] > 0)
    moved_to_the_dead = ends > 0 and settings["unloads"] > 0 and broker.size > 2
    made_anew = not now.over_topic and settings["burials"] > 0 and settings["unloads"] > 1 and broker.size > 2
    faults = faults or moved_to_the_dead or made_anew
    taken = ends + settings["expiries"] > 0
    slow = settings["slow"] and settings["unloads"] + settings["splits"] > 0
    stopped = (settings["splits"] > 0 and ends > 0) or settings["conflicts"] >= settings["attempts"]
    faults = faults or (settings["shutdowns"] > 0 and ends + settings["expiries"] >= broker.size)
    back: list[Formula] = []
    if broker.size < 2:
        return back

    @suite.strict(
        "a broker whose unit was given to another, as its session was gone, it was cut off or slow, was moving it to a broker "
        "that died, or a split stopped, or to nobody, as it was the last to shut down, may not know yet; nor may one whose "
        "unit was moved by a broker that had a copy from before its record was deleted and made again",
        when=faults or slow or stopped,
    )
    def one_takes_itself_for_the_owner() -> Condition:
        """No two brokers take themselves for the owner of a unit."""
        return all_of(Not(at_least(2, [now.owns(b, u) for b in broker])) for u in now.unit)

    @suite.strict(
        "the topics of a broker that was cut off, slow, the last to shut down, was moving the unit to a broker that died, or "
        "stopped a split, and those that closed late, are open while the next owner's are",
        when=faults or slow or stopped or settings["timeouts"] > 0,
    )
    def topics_are_open_once() -> Condition:
        """No two brokers have topics of a unit open."""
        opened = {(b, u): And(s.lives[b], s.topics[b, u].among("open", "detaching", "late", "lingering")) for b, u in now.pairs}
        return all_of(Not(at_least(2, [opened[b, u] for b in broker])) for u in now.unit)

    if suite.protocol.formulates("sometimes") and not suite.protocol.active:
        two = faults or slow or stopped
        weak = BOTH if two else ("deleted_while_owned",) if settings["timeouts"] else ()
        channel_refinement(suite, now, weak)

    if now.comes_back:

        @suite.always
        def what_comes_back_is_disposed_of() -> Condition:
            """Topics closed halfway, of a unit that a broker owns again, are being disposed of, so that they can be opened."""
            halfway = {
                (b, u): And(s.topics[b, u].among("detaching", "attached", "lingering"), now.runs(b)) for b, u in now.pairs
            }
            owned = {(b, u): And(halfway[b, u], now.view(b, u).state == "Owned", now.view(b, u).dst == b) for b, u in now.pairs}
            return all_of(Implies(owned[pair], s.closing[pair]) for pair in now.pairs)

        back.append(what_comes_back_is_disposed_of)

    @suite.strict(
        "two brokers from which a unit was taken, and that have read its record only when the next owner was releasing it, do "
        "not know that its topics are to be closed",
        when=not now.over_topic and taken and settings["unloads"] > 2 and broker.size > 2,
    )
    def topics_are_kept_once() -> Condition:
        """No two brokers that go on, and have been told of everything, have topics open that they are not about to close."""
        owns = {
            (b, u): And(now.is_current(b, u), s.topics[b, u] == "open", Not(s.closing[b, u]), s.to_publish[b, u] == "none")
            for b, u in now.pairs
        }
        if settings["shutdowns"]:
            owns = {(b, u): And(now.runs(b), each) for (b, u), each in owns.items()}
        return all_of(Not(at_least(2, [owns[b, u] for b in broker])) for u in now.unit)

    return back


def _faults(suite: Suite, now: Units, then: Units) -> None:
    """Adds what brokers must do when sessions are lost, and brokers."""
    s, n, settings = now.s, then.s, now.settings

    if settings["crashes"] or settings["expiries"] or settings["shutdowns"]:

        @suite.step
        def clean_ups_leave_nothing() -> Condition:
            """When a clean-up by a broker that is not cut off is done with a unit, it is not that of one that is dead."""
            led = s.leader_holder != NOBODY
            done = {
                (b, x, u): And(s.cleans[b, x, u], Not(n.cleans[b, x, u]), led, now.reaches(b), n.lives[b], Not(s.lives[x]))
                for b, u in now.pairs
                for x in now.broker
            }
            return all_of(Implies(when, Not(then.record(u).concerns(x))) for (_, x, u), when in done.items())

    if settings["rounds"]:

        @suite.strict(
            "each broker that is dead, still registered and selected costs a run of the monitor",
            when=settings["rounds"] < min(settings["crashes"], now.broker.size - 1),
        )
        def the_dead_are_relieved_in_time() -> Condition:
            """A unit of a dead broker is served within so many runs of the monitor: the next one does not find it there."""
            return all_of(s.found_dead[u] <= settings["rounds"] for u in now.unit)

    if settings["crashes"] or settings["shutdowns"] or (settings["expiries"] and not now.over_topic):

        @suite.always
        def assignments_are_acted_on() -> Condition:
            """A broker that knows that it was assigned a unit takes it over, also if it has only started."""
            assigned = {
                (b, u): And(now.is_current(b, u), now.record(u).state == "Assigning", now.record(u).dst == b)
                for b, u in now.pairs
            }
            return all_of(Implies(And(assigned[b, u], now.runs(b)), s.existing[b, u]) for b, u in now.pairs)

    if settings["expiries"] and not now.over_topic:

        @suite.always
        def lost_brokers_own_nothing() -> Condition:
            """Over the metadata store, a broker that knows that its session is lost does not take itself for an owner."""
            return all_of(Implies(s.link[b] == "lost", Not(now.owns(b, u))) for b, u in now.pairs)


def _shutdowns(suite: Suite, now: Units, then: Units) -> None:
    """Adds what must hold of brokers that are shut down."""
    s, n = now.s, then.s

    @suite.step
    def leaving_brokers_own_nothing() -> Condition:
        """A broker that leaves the registry because it shuts down is, as far as it was told, the owner of no unit."""
        leaves = {b: And(s.stage[b] == "disabled", n.stage[b] == "unregistered", now.reaches(b)) for b in now.broker}
        owned = {
            (b, u): And(now.is_current(b, u), now.record(u).state == "Owned", now.record(u).dst == b) for b, u in now.pairs
        }
        return all_of(Implies(leaves[b], Not(owned[b, u])) for b, u in now.pairs)

    @suite.step
    def leaving_brokers_assign_nothing() -> Condition:
        """A broker that shuts down assigns no unit: it would be too late to hand it over."""
        asks = {(b, u): And(Not(now.runs(b)), Not(s.pending[b, u]), n.pending[b, u]) for b, u in now.pairs}
        assigned = {
            u: And(now.record(u).state != "Assigning", then.record(u).state == "Assigning", then.record(u).src == NOBODY)
            for u in now.unit
        }
        return all_of(Implies(asks[b, u], Not(assigned[u])) for b, u in now.pairs)

    @suite.sometimes
    def handed_over() -> Condition:
        """A unit is released by a broker that shuts down, and owned by another one before the process ends."""
        last = now.broker.size - 1
        handed = And(now.record(0).src == 0, now.owns(last, 0)) if last else True
        return And(s.stage[0] == "unregistered", handed)


def _records(suite: Suite, now: Units, then: Units) -> None:
    """Adds how a record may follow another."""
    settings = now.settings
    changes = {u: Not(now.record(u).equals(then.record(u))) for u in now.unit}

    if not settings["burials"] or not settings["compactions"]:

        @suite.step
        def records_follow_each_other() -> Condition:
            """A record that is accepted was made from the one that it takes the place of."""
            return all_of(
                Implies(And(changes[u], Not(then.record(u).absent)), then.record(u).version == now.record(u).version + 1)
                for u in now.unit
            )

    @suite.step
    def tombstones_meet_what_they_are_for() -> Condition:
        """No tombstone deletes the record of a unit that is owned, or about to be."""
        busy = {u: now.record(u).state.among("Owned", *IN_FLIGHT) for u in now.unit}
        return all_of(Implies(busy[u], Not(then.record(u).absent)) for u in now.unit)

    @suite.step
    def healthy_brokers_keep_their_units() -> Condition:
        """The record of an owner that reaches the metadata store is not overridden: it is asked to release the unit.

        Unless he shuts down himself, and there is nobody else.
        """

        def is_taken(b: int, u: int) -> Condition:
            overridden = And(changes[u], then.record(u).state.among("Owned", "Free"))
            return And(now.record(u).state == "Owned", now.record(u).dst == b, overridden)

        return all_of(Implies(is_taken(b, u), Not(And(now.reaches(b), now.runs(b)))) for b, u in now.pairs)


def _splits(suite: Suite, now: Units, then: Units) -> None:
    """Adds what must hold of a unit that is split."""
    s, parent, child = now.s, now.record(PARENT), now.record(CHILD)
    gone: Sequence[State] = ("Init", "Deleted")

    @suite.step
    def split_units_stay_split() -> Condition:
        """A unit that was split, and whose record is deleted, is never assigned or owned again."""
        split = And(s.layout_split, parent.state.among(*gone))
        return Implies(split, then.record(PARENT).state.among(*gone))

    @suite.step
    def children_follow_their_parents() -> Condition:
        """When a unit is deleted because it was split, its child has a record, and the layout has the child."""
        deleted = And(parent.state != "Deleted", then.record(PARENT).state == "Deleted")
        return Implies(deleted, And(s.layout_split, Not(child.absent)))

    @suite.sometimes
    def split_and_served() -> Condition:
        """A unit is split, its record gone, and the topics of its child open at the child's owner."""
        served = any_of(And(now.owns(b, CHILD), s.topics[b, CHILD] == "open") for b in now.broker)
        return And(s.layout_split, parent.absent, served)


def _possible(suite: Suite, now: Units) -> None:
    """Adds what must be possible."""
    s, settings, broker = now.s, now.settings, now.broker
    last = broker.size - 1

    @suite.sometimes
    def owned_and_known() -> Condition:
        """A unit is owned, everybody knows, and its topics are open."""
        return any_of(And(now.is_quiet(u), now.owns(last, u), s.topics[last, u] == "open") for u in now.unit)

    if settings["unloads"] and last:

        @suite.sometimes
        def transferred() -> Condition:
            """A unit with topics is transferred to the last broker, and its clients are still attached to the first one."""
            moved = And(now.owns(last, 0), s.topics[0, 0] == "attached") if settings["multi_phase"] else True
            return And(moved, now.record(0).src == 0, now.record(0).dst == last)

    if settings["burials"]:

        @suite.sometimes
        def buried() -> Condition:
            """The record of a unit that nobody had is deleted."""
            return And(s.burials == settings["burials"], any_of(now.record(u).absent for u in now.unit))

    if settings["crashes"] and last:

        @suite.sometimes
        def relieved() -> Condition:
            """A unit of a broker that is dead is owned by another one."""
            return any_of(And(Not(s.lives[0]), now.record(u).src == 0, now.owns(last, u)) for u in now.unit)

    @suite.sometimes
    def lost_races() -> Condition:
        """A lookup waits at a broker although another one was assigned the unit."""
        return any_of(And(s.pending[b, u], now.record(u).state == "Owned", now.record(u).dst != b) for b, u in now.pairs)
