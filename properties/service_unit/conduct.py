"""How brokers must conduct themselves around service units, whatever comes of it: rules that a missing guard breaks first."""

from __future__ import annotations

from fencepost.model.language import And, Choice, Condition, If, Implies, Not, Or, all_of, any_of
from fencepost.model.nobody import NOBODY, Nobody
from fencepost.properties.locks.sessions import session_rules
from fencepost.properties.service_unit.variables import Units
from fencepost.properties.vocabulary import Formula, Suite


def conduct(suite: Suite, now: Units, then: Units) -> list[Formula]:
    """Adds the rules of conduct of sessions, processes, the leader, and of who has topics open.

    Returns those of them that are of states, and inductive by themselves.
    """
    settings = now.settings
    of_states: list[Formula] = []
    if settings["disconnects"] or now.brokers_go:
        session_rules(suite)
        of_states += _nodes(suite, now, then)
    if settings["disconnects"] or settings["expiries"]:
        of_states.append(_lost_sessions(suite, now))
    if settings["crashes"] or settings["shutdowns"]:
        of_states.append(_processes(suite, now, then))
    if settings["shutdowns"]:
        _hand_over(suite, now, then)
    _leader(suite, now, then)
    _topics(suite, now, then)
    if settings["splits"]:
        _splits(suite, now)
    return of_states


def _nodes(suite: Suite, now: Units, then: Units) -> list[Formula]:
    """Adds what the nodes of the leader, and of the registry if brokers ever leave it, tell of sessions."""

    def nodes(at: Units) -> list[tuple[Choice[int | Nobody], Condition]]:
        s = at.s
        registered = [(s.registry_holder[b], s.registry_former[b]) for b in at.broker] if at.brokers_go else []
        return [*registered, (s.leader_holder, s.leader_former)]

    @suite.always
    def nodes_have_sessions() -> Condition:
        """The node of the leader, and of a broker in the registry, is of a session that is there, or is not expired yet."""
        held = {b: [(holder == b, former) for holder, former in nodes(now)] for b in now.broker}
        there = now.s.session, now.s.former_session
        return all_of(Implies(its, If(former, there[1][b], there[0][b])) for b in now.broker for its, former in held[b])

    @suite.always
    def absent_nodes_are_blank() -> Condition:
        """Nothing is left of a node that is not there."""
        return all_of(Implies(holder == NOBODY, Not(former)) for holder, former in nodes(now))

    @suite.step
    def nodes_are_made_by_those_who_stay() -> Condition:
        """A node is made by a broker that reaches the store, and has not left to shut down, in its present session."""
        both = list(zip(nodes(now), nodes(then), strict=True))
        new = [(And(before == NOBODY, after == b), former, b) for (before, _), (after, former) in both for b in now.broker]
        return all_of(Implies(each, And(now.reaches(b), now.stays(b), Not(former))) for each, former, b in new)

    @suite.step
    def nodes_go_with_a_reason() -> Condition:
        """A node goes with its session, or as a broker shuts down, and its session does not come back."""
        s, n = now.s, then.s

        def has_reason(b: int, former: Condition) -> Condition:
            ended = If(former, And(s.former_session[b], Not(n.former_session[b])), And(s.session[b], Not(n.session[b])))
            return Or(ended, And(now.stays(b), Not(then.stays(b))))

        def follows(
            b: int, before: tuple[Choice[int | Nobody], Condition], after: tuple[Choice[int | Nobody], Condition]
        ) -> Condition:
            stays = And(after[0] == b, Implies(before[1], after[1]))
            return Implies(before[0] == b, Or(stays, And(after[0] == NOBODY, has_reason(b, before[1]))))

        both = list(zip(nodes(now), nodes(then), strict=True))
        return all_of(follows(b, before, after) for before, after in both for b in now.broker)

    return [nodes_have_sessions, absent_nodes_are_blank]


def _lost_sessions(suite: Suite, now: Units) -> Formula:
    """Adds what becomes of a broker that is cut off."""
    s = now.s

    @suite.always
    def lost_brokers_do_not_lead() -> Condition:
        """A broker that knows that its session is lost neither leads nor takes the metadata store for stable."""
        lost = {b: And(s.lives[b], s.link[b] == "lost") for b in now.broker}
        return all_of(Implies(lost[b], And(Not(s.leads[b]), s.metadata[b] == "unstable")) for b in now.broker)

    if now.settings["disconnects"]:

        @suite.sometimes
        def connected_again() -> Condition:
            """All brokers are connected after one was not."""
            return And(s.disconnects == now.settings["disconnects"], *(now.reaches(b) for b in now.broker))

    return lost_brokers_do_not_lead


def _processes(suite: Suite, now: Units, then: Units) -> Formula:
    """Adds how processes end, and what is left of them."""
    s, n, broker = now.s, then.s, now.broker

    @suite.step
    def processes_go_on() -> Condition:
        """A process ends by a crash, or to shut down when it has left the registry and the election."""
        ends = {b: And(s.lives[b], Not(n.lives[b])) for b in broker}
        return all_of(Implies(ends[b], Or(n.crashes > s.crashes, Not(now.stays(b)))) for b in broker)

    @suite.always
    def ended_processes_hold_nothing() -> Condition:
        """A process that has ended has no topics, knows nothing, and has nothing under way."""

        def is_blank(b: int) -> Condition:
            under_way = [Not(flag[b, u]) for flag in (s.pending, s.closing, s.existing) for u in now.unit]
            due = [
                And(s.to_publish[b, u] == "none", s.to_publish_dst[b, u] == NOBODY, s.to_publish_version[b, u] == 0)
                for u in now.unit
            ]
            views = [now.view(b, u) for u in now.unit]
            known = [And(v.absent, v.dst == NOBODY, v.src == NOBODY, v.version == 0) for v in views]
            closed = [s.topics[b, u] == "closed" for u in now.unit]
            heard = [s.behind[b] == 0] if now.over_topic else [Not(s.unheard[b, u]) for u in now.unit]
            cleans = [Not(s.cleans[b, x, u]) for x in broker for u in now.unit]
            return And(*under_way, *due, *known, *closed, *heard, *cleans, Not(s.leads[b]), s.metadata[b] == "stable")

        return all_of(Implies(Not(s.lives[b]), is_blank(b)) for b in broker)

    return ended_processes_hold_nothing


def _leader(suite: Suite, now: Units, then: Units) -> None:
    """Adds for which reasons the leader acts."""
    s, n, settings, broker = now.s, then.s, now.settings, now.broker
    monitors = {b: And(s.leads[b], now.reaches(b), s.metadata[b] == "stable") for b in broker}

    if now.brokers_go:

        @suite.step
        def clean_ups_begin_with_a_reason() -> Condition:
            """The leader begins to clean up when a unit that it knows of is the matter of a broker that is not registered."""

            def has_reason(b: int, x: int) -> Condition:
                missed = any_of(now.view(b, u).concerns(x) for u in now.unit)
                return And(monitors[b], now.runs(b), Not(now.is_registered(x)), missed)

            pairs = [(b, x) for b in broker for x in broker]
            begins = {(b, x): any_of(And(Not(s.cleans[b, x, u]), n.cleans[b, x, u]) for u in now.unit) for b, x in pairs}
            return all_of(Implies(begins[b, x], has_reason(b, x)) for b, x in pairs)

    if now.overrides:

        @suite.step
        def overrides_have_a_reason() -> Condition:
            """A record is overridden in a clean-up, by the leader as a move takes long, or by an owner who shuts down."""

            def has_reason(u: int) -> Condition:
                old = now.record(u)
                cleaned = any_of(And(s.cleans[b, x, u], old.concerns(x), Not(now.reaches(x))) for b in broker for x in broker)
                there = [Or(now.is_registered(x), Not(old.concerns(x))) for x in broker]
                overdue = And(any_of(monitors.values()), old.is_in_flight, *there)
                hands_over = any_of(And(Not(now.runs(b)), old.concerns(b)) for b in broker)
                return Or(cleaned, overdue, hands_over)

            return all_of(Implies(then.is_overridden(now, u), has_reason(u)) for u in now.unit)

    if settings["burials"]:

        @suite.step
        def the_leader_buries() -> Condition:
            """An old record is deleted by a broker that leads, and takes the metadata store for stable."""
            return Implies(n.burials > s.burials, any_of(monitors.values()))


def _topics(suite: Suite, now: Units, then: Units) -> None:
    """Adds when topics are opened and closed."""
    s, n = now.s, then.s

    @suite.step
    def topics_go_their_way() -> Condition:
        """Topics are opened by the owner, and closed when the unit is to be released, is another's, or has closed too late.

        Halfway they are closed to transfer the unit; whoever opens them again has closed them for good before.

        Those of a unit that was split become its child's.
        """

        def follows(b: int, u: int) -> Condition:
            before, after = s.topics[b, u], n.topics[b, u]
            together = now.closed_with(u)
            halfway = [And(n.to_publish[b, v] == "release_attached", n.to_publish_dst[b, v] != NOBODY) for v in together]
            detaches = And(before.among("open", "lingering"), Or(*halfway))
            released = any_of(s.to_publish[b, v].among("release", "release_attached") for v in together)
            releases = And(before.among("open", "detaching", "lingering"), released)
            learns = And(Not(s.layout_copy[b]), n.layout_copy[b]) if now.settings["splits"] else False
            return Or(
                after == before,
                learns,
                And(after == "open", before.among("closed", "late"), now.owns(b, u), Not(s.closing[b, u])),
                And(after == "detaching", detaches),
                And(after == "attached", before.among("detaching", "lingering")),
                And(after.among("late", "lingering"), releases),
                And(after == "closed", Or(s.closing[b, u], before == "late", Not(n.lives[b]))),
            )

        return all_of(follows(b, u) for b, u in now.pairs)


def _hand_over(suite: Suite, now: Units, then: Units) -> None:
    """Adds what a broker that shuts down does before it leaves."""
    s, n = now.s, then.s

    @suite.step
    def leaving_brokers_leave_no_nodes() -> Condition:
        """A broker that leaves the registry and the election is in neither, if it reaches the metadata store."""
        leaves = {b: And(s.stage[b] != "unregistered", n.stage[b] == "unregistered", now.reaches(b)) for b in now.broker}
        own = {b: And(n.registry_holder[b] == b, Not(n.registry_former[b])) for b in now.broker}
        leads = {b: Or(n.leads[b], And(n.leader_holder == b, Not(n.leader_former))) for b in now.broker}
        return all_of(Implies(leaves[b], Not(Or(own[b], leads[b]))) for b in now.broker)

    @suite.step
    def handed_over_when_read() -> Condition:
        """A broker that shuts down is done with a unit when it has read its record."""
        done = {(b, u): And(s.hands_over[b, u], Not(n.hands_over[b, u]), n.lives[b]) for b, u in now.pairs}
        return all_of(Implies(done[b, u], now.view(b, u).equals(now.record(u))) for b, u in now.pairs)


def _splits(suite: Suite, now: Units) -> None:
    """Adds what is left of a split."""
    s = now.s

    @suite.always
    def splits_end_blank() -> Condition:
        """Nothing is left of a split that is over at a broker."""
        over = {b: And(s.split_version[b] == 0, s.split_tries[b] == 0) for b in now.broker}
        return all_of(Implies(s.split_stage[b] == "none", over[b]) for b in now.broker)
