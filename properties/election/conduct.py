"""How each broker must conduct itself in an election, whatever comes of it: rules that a missing guard breaks first."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, any_of
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.stores import store_of
from fencepost.properties.election.variables import ElectionVariables
from fencepost.properties.vocabulary import Suite


def election_conduct(suite: Suite) -> None:
    """Adds the rules of conduct of brokers that elect a leader to a suite, and what its faults must show."""
    p = suite.protocol
    s, n = ElectionVariables.of(p)
    settings = p.parameters
    broker = p.universes["broker"]
    restarts = settings["crashes"] > 0
    reads = settings["leads"] == "confirmed"
    waits = reads or not store_of(settings).ordered
    twice = p.has("failure_not_retried")

    def reaches(b: int) -> Condition:
        return And(s.lives[b], s.link[b] == "connected", s.session[b])

    def goes_on(b: int) -> Condition:
        return And(s.lives[b], n.lives[b])

    def is_own(b: int) -> Condition:
        return And(s.leader_holder == b, Not(s.leader_former))

    def is_answered(b: int) -> Condition:
        """A broker that has created the node reads it, or since #26000 leads, where the answer comes in order."""
        return n.stage[b] == "confirming" if waits else And(n.stage[b] == "settled", n.role[b] == "leading", n.cached[b] == b)

    @suite.step
    def elections_go_forward() -> Condition:
        """A broker goes from stage to stage by what it reads or does in the store, and begins again when it has a reason to."""

        def follows(b: int) -> Condition:
            before, after = s.stage[b], n.stage[b]
            present = s.leader_holder != NOBODY
            back = And(s.link[b] != "connected", n.link[b] == "connected")
            heard = And(s.leader_deletion[b], Not(n.leader_deletion[b]))
            fails = Or(n.link[b] != "connected", And(before == "retaking", reaches(b)))
            return Or(
                after == before,
                after == "closed",
                And(before == "looking", reaches(b), after == "proposing", Not(present)),
                And(before == "looking", reaches(b), after == "settled", present, n.cached[b] == s.leader_holder),
                And(before == "looking", reaches(b), after == "retaking", present, Not(is_own(b))),
                And(before == "proposing", reaches(b), is_answered(b), Not(present), n.leader_holder == b),
                And(before == "proposing", reaches(b), after == "looking", present),
                And(before == "proposing", reaches(b), after == "withdrawing", Not(present), n.leader_holder == b),
                And(before == "confirming", reaches(b), after == "settled", n.cached[b] == (s.leader_holder if reads else b)),
                And(before == "confirming", reaches(b), after == "looking", Not(is_own(b))),
                And(before == "retaking", reaches(b), after == "proposing", present, n.leader_holder == NOBODY),
                And(after == "waiting", before != "settled", before != "closed", fails),
                And(before == "waiting", after == "looking"),
                And(before == "settled", after == "looking", heard),
                And(before != "closed", after == "looking", back),
                And(s.begun[b] == "session", after == "looking", n.begun[b] == "event") if twice else False,
            )

        return all_of(Implies(goes_on(b), follows(b)) for b in broker)

    @suite.step
    def processes_go_on() -> Condition:
        """A process ends by a crash, as it shuts down, or by policy when its session is lost, and by nothing else."""
        shuts_down, closes = settings["on_session_loss"] == "shutdown", settings["closes"] > 0

        def follows(b: int) -> Condition:
            by_policy = And(shuts_down, Or(s.link[b] == "suspended", Not(s.session[b])))
            ends = And(s.lives[b], Not(n.lives[b]))
            return Implies(ends, Or(n.crashes > s.crashes, s.closing[b] if closes else False, by_policy))

        return all_of(follows(b) for b in broker)

    @suite.step
    def node_is_created_by_proposing() -> Condition:
        """The node is created by a broker that has proposed itself and reaches the store, in its present session."""

        def follows(b: int) -> Condition:
            created = And(s.leader_holder == NOBODY, n.leader_holder == b)
            return Implies(created, And(s.stage[b] == "proposing", reaches(b), Not(n.leader_former)))

        return all_of(follows(b) for b in broker)

    @suite.step
    def node_is_deleted_with_a_reason() -> Condition:
        """The node goes with the session of its holder, or because a broker that reaches the store deletes it."""
        gone = And(s.leader_holder != NOBODY, n.leader_holder == NOBODY)

        def with_session(b: int) -> Condition:
            ends = And(s.session[b], Not(n.session[b])), And(s.former_session[b], Not(n.former_session[b]))
            return And(s.leader_holder == b, Or(*ends))

        def by_request(b: int) -> Condition:
            let_go = Or(n.role[b] != "leading", n.link[b] == "suspended")
            closes = And(s.closing[b] if settings["closes"] else False, s.role[b] == "leading", let_go)
            return And(reaches(b), Or(s.stage[b].among("retaking", "withdrawing"), closes))

        return Implies(gone, any_of(Or(by_request(b), with_session(b)) for b in broker))

    @suite.step
    def heard_deletions_are_acted_on() -> Condition:
        """A broker that hears of the node's deletion forgets who leads, and if its election is over believes in no leader."""

        def follows(b: int) -> Condition:
            heard = And(goes_on(b), s.leader_deletion[b], Not(n.leader_deletion[b]), n.link[b] == s.link[b])
            forgets = True if reads else s.stage[b] == "settled"
            begins = And(n.stage[b] == "looking", n.role[b] == "no_leader")
            is_unchanged = And(n.stage[b] == s.stage[b], n.role[b] == s.role[b])
            return And(
                Implies(And(heard, forgets), n.cached[b] == NOBODY),
                Implies(And(heard, Not(forgets)), n.cached[b] == s.cached[b]),
                Implies(And(heard, s.stage[b] == "settled"), begins),
                Implies(And(heard, s.stage[b] != "settled"), is_unchanged),
            )

        return all_of(follows(b) for b in broker)

    @suite.step
    def unheard_requests_take_effect() -> Condition:
        """As a link breaks a broker learns nothing of its request, though the store may have carried it out."""

        def follows(b: int) -> Condition:
            breaks = And(goes_on(b), s.link[b] == "connected", n.link[b] == "suspended")
            created = And(s.stage[b] == "proposing", s.leader_holder == NOBODY, n.leader_holder == b)
            deleted = And(s.stage[b].among("retaking", "closed"), s.leader_holder != NOBODY, n.leader_holder == NOBODY)
            unchanged = And(n.leader_holder == s.leader_holder, n.leader_former == s.leader_former)
            return Implies(breaks, And(n.stage[b] == s.stage[b], n.role[b] == s.role[b], Or(created, deleted, unchanged)))

        return all_of(follows(b) for b in broker)

    @suite.lemma
    def dead_brokers_begin_anew() -> Condition:
        """Nothing is left of the election of a process that has ended."""

        def is_blank(b: int) -> Condition:
            return And(s.stage[b] == "looking", s.role[b] == "no_leader", s.cached[b] == NOBODY)

        return all_of(Implies(Not(s.lives[b]), is_blank(b)) for b in broker)

    if settings["disconnects"]:

        @suite.sometimes
        def creation_goes_unheard() -> Condition:
            """A broker has created the node and does not know it."""
            return any_of(And(s.stage[b] == "proposing", s.link[b] == "suspended", is_own(b)) for b in broker)

        @suite.sometimes
        def request_fails() -> Condition:
            """A request has failed, and has done nothing."""
            calm = And(s.leader_holder == NOBODY, s.expiries == 0, s.crashes == 0, s.closes == 0)
            return And(calm, any_of(And(s.stage[b] == "waiting", s.session[b], s.lives[b]) for b in broker))

    if settings["disconnects"] and restarts and settings["on_session_loss"] != "shutdown":

        @suite.sometimes
        def deletion_goes_unheard() -> Condition:
            """A broker has deleted the node of its former session and does not know it."""
            unheard = [And(s.stage[b] == "retaking", s.link[b] == "suspended", s.former_session[b]) for b in broker]
            return And(s.leader_holder == NOBODY, s.expiries == 0, Or(*unheard))

    if settings["closes"]:

        @suite.sometimes
        def broker_has_ended() -> Condition:
            """A broker has shut down, and its session is closed."""
            return any_of(And(Not(s.lives[b]), Not(s.session[b]), s.crashes == 0, s.expiries == 0) for b in broker)

    if settings["lookups"]:
        _lookups(suite)


def _lookups(suite: Suite) -> None:
    """Adds how a lookup must be treated."""
    p = suite.protocol
    s, n = ElectionVariables.of(p)
    broker = p.universes["broker"]

    def is_active(b: int) -> Condition:
        return And(s.lives[b], s.session[b])

    @suite.step
    def lookups_go_to_active_brokers() -> Condition:
        """A lookup begins at a broker that lives, and is sent on only to one that is active."""
        begins = {b: And(s.asked == NOBODY, n.asked == b) for b in broker}
        sent = {b: And(s.asked != NOBODY, s.asked != b, n.asked == b) for b in broker}
        return all_of(And(Implies(begins[b], s.lives[b]), Implies(sent[b], is_active(b))) for b in broker)

    @suite.step
    def leaders_send_nobody_to_another_leader() -> Condition:
        """A broker that believes to lead, or that was chosen, does not ask another broker to choose."""
        moves = And(s.asked != NOBODY, n.asked != NOBODY, n.asked != s.asked, Not(n.authoritative))
        return And(
            Implies(moves, all_of(Implies(s.asked == b, s.role[b] != "leading") for b in broker)),
            Implies(And(s.authoritative, n.asked != s.asked), n.asked == NOBODY),
        )

    @suite.lemma
    def no_choice_without_a_lookup() -> Condition:
        """A choice belongs to a lookup."""
        return Implies(s.asked == NOBODY, Not(s.authoritative))

    @suite.sometimes
    def lookup_is_sent_on() -> Condition:
        """The chosen broker has the lookup."""
        return And(s.asked != NOBODY, s.authoritative)

    @suite.sometimes
    def lookup_fails() -> Condition:
        """A broker that was asked has died."""
        return any_of(And(s.asked == b, Not(s.lives[b])) for b in broker)
