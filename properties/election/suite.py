"""What must hold of the election of a leader, and why it does."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, Truth, all_of, any_of, at_least
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.stores import store_of
from fencepost.properties.election.conduct import election_conduct
from fencepost.properties.election.variables import ElectionVariables
from fencepost.properties.locks.sessions import session_conduct
from fencepost.properties.vocabulary import Leads, Suite


def election(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.election.election`` built."""
    s, n = ElectionVariables.of(p)
    settings = p.parameters
    suite = Suite(p)
    broker = p.universes["broker"]
    loses_sessions = settings["expiries"] > 0
    several = broker.size > 1
    shuts_down = settings["on_session_loss"] == "shutdown"
    # A deletion that is meant for an earlier node: by a broker back after a crash, or by a leader that shuts down after another
    # has taken over.
    takes_over = settings["expiries"] > 0 or (shuts_down and settings["disconnects"] > 0)
    ends = shuts_down or settings["closes"] > 0
    kind = store_of(settings)
    gives_up = settings["disconnects"] > 0 and kind.renews
    restarts = not kind.in_process and (settings["crashes"] > 0 or (ends and settings["disconnects"] > 0))
    retakes = restarts or gives_up
    # A leader that shuts down deletes without a version, of which no store can tell whose it is meant for.
    closes_over = settings["closes"] > 0 and (takes_over or gives_up)
    deletes_others = several and not settings["fixed"] and ((retakes and kind.reuses_versions) or closes_over)
    # Since #26000 the broker whose node was deleted so hears of it in any case, if the store keeps answers in order.
    ignores_deletion = deletes_others and (settings["leads"] == "confirmed" or not kind.ordered)
    # Where nobody tells of sessions, a broker hears of the end of its own as of any other, and is not told to look again.
    ignores_deletion |= settings["expiries"] > 0 and not (kind.tells or settings["fixed"])

    def holds(b: int) -> Condition:
        """The node is there, from the broker's present session."""
        return And(s.leader_holder == b, Not(s.leader_former))

    def is_live(b: int) -> Condition:
        return And(s.lives[b], s.session[b])

    def is_current(b: int) -> Condition:
        """The broker is connected, its election is over, and it has heard of all that has happened."""
        return And(is_live(b), s.link[b] == "connected", s.stage[b] == "settled", Not(s.leader_deletion[b]))

    def leads(b: int) -> Condition:
        return s.role[b] == "leading"

    def shuts(b: int) -> Truth:
        """The broker shuts down."""
        return s.closing[b] if settings["closes"] else False

    # --- what must always hold

    @suite.strict(
        "a broker ignores the deletion of the node that it has just created, while the read after the creation is out, or its "
        "answer; the deletion is another broker's, meant for an earlier node and carried out on this one",
        when=ignores_deletion,
    )
    def leader_holds_the_node() -> Condition:
        """A broker that is up to date and believes to lead holds the node."""
        return all_of(Implies(And(is_current(b), leads(b)), holds(b)) for b in broker)

    @suite.always
    def holder_leads() -> Condition:
        """A broker that is up to date and holds the node knows that it leads."""
        return all_of(Implies(And(is_current(b), holds(b)), leads(b)) for b in broker)

    @suite.always
    def followers_know_the_holder() -> Condition:
        """A broker that is up to date and follows knows who holds the node."""

        def follows(b: int) -> Condition:
            return And(is_current(b), s.role[b] == "following")

        return all_of(Implies(follows(b), And(s.leader_holder != NOBODY, s.cached[b] == s.leader_holder)) for b in broker)

    if several:

        @suite.strict(
            "a broker believes to lead until its next election is over or it has heard that its node is gone",
            when=deletes_others or takes_over,
        )
        def leaders_are_one_or_zombies() -> Condition:
            """Two brokers believe to lead only while one of them has no session."""
            return Not(at_least(2, [And(is_live(b), leads(b)) for b in broker]))

        @suite.strict(
            "as a broker ignores the deletion of the node that it has just created, it leads on while another takes the node",
            when=ignores_deletion,
        )
        def leaders_up_to_date_are_one() -> Condition:
            """Of two brokers that believe to lead one has no session, elects again, or has not heard of something."""
            return Not(at_least(2, [And(is_current(b), leads(b)) for b in broker]))

    # --- what every step must respect

    @suite.step
    def node_is_taken_when_free() -> Condition:
        """Nobody takes the node from its holder: it is deleted before another one is created."""
        return Or(s.leader_holder == NOBODY, n.leader_holder == NOBODY, n.leader_holder == s.leader_holder)

    if several and not deletes_others:

        @suite.step
        def node_of_another_is_kept() -> Condition:
            """The node of a broker with a session goes only when that broker deletes it, or ends."""
            return all_of(
                Implies(
                    And(holds(b), is_live(b), n.leader_holder == NOBODY, n.session[b], n.lives[b]),
                    Or(s.stage[b] == "withdrawing", And(shuts(b), Or(n.role[b] != s.role[b], n.link[b] != s.link[b]))),
                )
                for b in broker
            )

    # A leader that has lost its node, and not heard so, deletes the node of its successor as it shuts down; and one that has
    # given its session up deletes that of its former session, perhaps when it is another's.
    loses_node = takes_over or gives_up or settings["crashes"] > 0 or settings["closes"] > 1

    if several and settings["closes"] and (settings["fixed"] or not loses_node):

        @suite.step
        def closing_leader_deletes_its_own() -> Condition:
            """A leader that shuts down deletes its own node and no other."""
            gone = And(s.leader_holder != NOBODY, n.leader_holder == NOBODY)

            def deletes(b: int) -> Condition:
                lets_go = And(s.stage[b] == "closed", s.role[b] == "leading", s.link[b] == "connected")
                return And(lets_go, gone, Or(n.role[b] != "leading", n.link[b] != "connected"))

            return all_of(Implies(deletes(b), holds(b)) for b in broker)

    if settings["lookups"]:

        @suite.step
        def leader_chooses() -> Condition:
            """While all brokers are up to date and the leader is active, nobody else chooses a broker for a bundle."""
            calm = all_of(is_current(b) for b in broker)
            chosen = And(s.asked != NOBODY, Not(s.authoritative), Or(n.authoritative, n.asked == NOBODY))
            by_leader = any_of(And(s.asked == b, leads(b)) for b in broker)
            return Implies(And(calm, chosen, s.leader_holder != NOBODY, Not(s.leader_former)), by_leader)

        @suite.step
        def electing_brokers_do_not_choose() -> Condition:
            """A broker whose election is under way chooses only if it believes to lead, or since #26000 in the last leader."""
            chosen = And(Not(s.authoritative), Or(n.authoritative, And(n.asked == NOBODY, s.asked != NOBODY)))
            reads = settings["leads"] == "confirmed"
            knows = {b: s.stage[b] == "settled" if reads else s.role[b] != "no_leader" for b in broker}
            return all_of(Implies(And(chosen, s.asked == b, s.lives[b]), Or(knows[b], leads(b))) for b in broker)

        @suite.step
        def choice_is_binding() -> Condition:
            """A broker that sends a lookup to another than the leader has chosen it, and says so: it does not go in circles."""
            return all_of(
                Implies(And(s.asked == b, s.lives[b], n.asked != b, n.asked != NOBODY, n.asked != s.cached[b]), n.authoritative)
                for b in broker
            )

    @suite.ends
    def no_deadlock() -> Condition:
        """Nothing comes to a standstill before every broker is up to date."""
        return all_of(is_current(b) for b in broker)

    # --- what must happen in the end

    @suite.leads_to
    def leader_emerges() -> Leads:
        """Some broker holds the node and knows that it leads, in the end."""
        return True, any_of(And(holds(b), leads(b), is_current(b)) for b in broker)

    @suite.leads_to
    def election_ends() -> Leads:
        """All brokers are up to date, in the end: the election does not go on forever, and every follower learns who leads."""
        return True, all_of(is_current(b) for b in broker)

    if several:

        @suite.leads_to(
            strict="a leader whose node was deleted unheard leads on, beside the one that has the node",
            when=ignores_deletion,
        )
        def leader_is_alone() -> Leads:
            """Exactly one broker believes to lead, in the end."""
            return True, And(any_of(leads(b) for b in broker), Not(at_least(2, [leads(b) for b in broker])))

    if settings["lookups"]:

        @suite.leads_to
        def lookup_is_answered() -> Leads:
            """A lookup is answered, or fails with its broker, in the end."""
            return s.asked != NOBODY, s.asked == NOBODY

    # --- what must be possible

    @suite.sometimes
    def all_agree() -> Condition:
        """One broker leads, and all others know it."""
        return all_of(
            And(is_current(b), Or(And(holds(b), leads(b)), And(s.role[b] == "following", s.cached[b] == s.leader_holder)))
            for b in broker
        )

    if several and loses_sessions and not shuts_down:

        @suite.sometimes
        def zombie_leads_beside_its_successor() -> Condition:
            """A zombie believes to lead, and another broker does so with the node."""
            return any_of(
                And(s.lives[z], Not(s.session[z]), leads(z), holds(b), leads(b), is_current(b))
                for z in broker
                for b in broker
                if z != b
            )

    if several:

        @suite.sometimes
        def last_becomes_leader() -> Condition:
            """The last broker leads, and another one follows."""
            last = broker.size - 1
            return And(holds(last), leads(last), s.stage[last] == "settled", any_of(s.role[b] == "following" for b in broker))

    if settings["crashes"]:

        @suite.sometimes
        def former_node_found() -> Condition:
            """A broker that is back finds the node of its former session."""
            return any_of(And(s.stage[b] == "retaking", s.leader_holder == b, s.leader_former) for b in broker)

    # --- why

    @suite.lemma
    def settled_brokers_have_a_role() -> Condition:
        """A broker whose election is over leads or follows."""
        return all_of(Implies(s.stage[b] == "settled", s.role[b] != "no_leader") for b in broker)

    @suite.lemma
    def faults_have_budgets() -> Condition:
        """What only a fault can bring about does not happen without one."""
        return And(
            *(s.lives[b] for b in broker if not (ends or settings["crashes"])),
            *(Implies(s.lives[b], s.session[b]) for b in broker if not loses_sessions),
            *(And(s.stage[b] != "retaking", Not(s.leader_former), Not(s.former_session[b])) for b in broker if not retakes),
            *(Or(s.lives[b], Not(s.session[b])) for b in broker if not restarts),
            *(s.stage[b] != "waiting" for b in broker if not (restarts or loses_sessions or settings["disconnects"])),
            *(Implies(s.lives[b], s.link[b] != "lost") for b in broker if shuts_down),
            *(s.link[b] != "suspended" for b in broker if not settings["disconnects"]),
            *(Implies(And(s.lives[b], s.session[b]), s.link[b] != "lost") for b in broker if not settings["disconnects"]),
        )

    if settings["closes"]:

        @suite.step
        def who_closes_does_not_come_to_lead() -> Condition:
            """A broker that shuts down, and does not lead, does not come to lead before it is started again."""
            return all_of(Not(And(s.lives[b], s.closing[b], Not(leads(b)), n.role[b] == "leading")) for b in broker)

        @suite.lemma
        def who_closes_has_closed() -> Condition:
            """A broker that shuts down has closed its election, and nobody else has."""
            return all_of(s.closing[b] == (s.stage[b] == "closed") for b in broker)

    if not settings["closes"]:

        @suite.lemma
        def nobody_closes() -> Condition:
            """No broker is shutting down."""
            return all_of(s.stage[b] != "closed" for b in broker)

    @suite.lemma
    def nobody_withdraws() -> Condition:
        """As a closed election does not go on, none has a node to withdraw."""
        return all_of(s.stage[b] != "withdrawing" for b in broker)

    if settings["leads"] == "created" and kind.ordered:

        @suite.lemma
        def nobody_confirms() -> Condition:
            """No broker reads the node that it has created."""
            return all_of(s.stage[b] != "confirming" for b in broker)

    @suite.lemma
    def node_belongs_to_a_session() -> Condition:
        """The node of a present session goes with it."""
        return all_of(Implies(holds(b), s.session[b]) for b in broker)

    if not deletes_others and not settings["fixed"]:

        @suite.lemma
        def creators_hold_the_node() -> Condition:
            """As no deletion errs, a broker has the node that it has just created."""

            def confirms(b: int) -> Condition:
                return And(is_live(b), s.link[b] == "connected", s.stage[b] == "confirming")

            return all_of(Implies(confirms(b), holds(b)) for b in broker)

    if not deletes_others and not takes_over and not gives_up:

        @suite.lemma
        def leaders_hold_the_node() -> Condition:
            """As no session expires either, whoever believes to lead has the node."""
            return all_of(Implies(And(is_live(b), leads(b)), holds(b)) for b in broker)

        if retakes:

            @suite.lemma
            def who_retakes_does_not_lead() -> Condition:
                """Whoever is about to delete a node that it found of a former session of its own does not believe to lead."""
                return all_of(Implies(And(is_live(b), s.stage[b] == "retaking"), Not(leads(b))) for b in broker)

    if several and settings["closes"] and retakes and not settings["fixed"] and not loses_node:

        def shuts_down_now(b: int) -> Truth:
            return s.stage[b] == "closed"

        @suite.lemma
        def one_shuts_down() -> Truth:
            """Only one broker ever shuts down."""
            several_do = at_least(2, [shuts_down_now(b) for b in broker])
            return And(Not(several_do), Implies(any_of(shuts_down_now(b) for b in broker), s.closes > 0))

        @suite.lemma
        def first_to_shut_down_is_right() -> Truth:
            """Until it has ended no session is a former one, and no deletion errs: whoever believes to lead has the node."""

            def is_right(b: int) -> Truth:
                no_former = And(s.lives[b], Not(s.former_session[b]), s.stage[b] != "retaking")
                return And(no_former, Implies(Or(leads(b), s.stage[b] == "confirming"), holds(b)))

            none_ended = Or(s.closes == 0, any_of(shuts_down_now(b) for b in broker))
            return Implies(none_ended, And(Not(s.leader_former), all_of(is_right(b) for b in broker)))

    @suite.lemma
    def brokers_up_to_date_are_right() -> Condition:
        """What a broker that is up to date believes is so: each election ends in the truth, and each change is heard of."""
        right = [holder_leads(), followers_know_the_holder()]
        return And(*right) if ignores_deletion else And(leader_holds_the_node(), *right)

    session_conduct(suite)
    election_conduct(suite)
    return suite
