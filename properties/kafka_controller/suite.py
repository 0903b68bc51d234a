"""What must hold of Kafka's controller."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, all_of, any_of
from fencepost.model.nobody import NOBODY
from fencepost.properties.kafka_controller.conduct import controller_conduct
from fencepost.properties.kafka_controller.lemmas import epoch_lemmas
from fencepost.properties.kafka_controller.variables import KafkaControllerVariables, Terms
from fencepost.properties.vocabulary import Leads, Suite


def kafka_controller(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.kafka.controller.kafka_controller`` built."""
    suite, t = Suite(p), Terms(p)
    s, n = KafkaControllerVariables.of(p)
    broker, settings = t.broker, p.parameters
    several = broker.size > 1
    # A zombie that is failing over raises the epoch after its successor has, and that one goes on with an older one.
    overtakes = several and settings["expiries"] > 0 and settings["thread"] != "awaited"

    # --- what must always hold

    @suite.always
    def active_holds_the_node_or_is_a_zombie() -> Condition:
        """A broker that acts as the controller has the node, unless something is left for it to hear of."""
        return all_of(Implies(And(s.active[b], t.is_up_to_date(b)), t.holds(b)) for b in broker)

    if several:

        @suite.always
        def epochs_are_of_one() -> Condition:
            """No two brokers act as the controller with one epoch."""
            return t.of_pairs(lambda a, b: Not(And(s.active[a], s.active[b], s.epoch[a] == s.epoch[b])))

        @suite.always
        def one_active_up_to_date() -> Condition:
            """Two brokers act as the controller only while one of them has something to hear of."""

            def acts(b: int) -> Condition:
                return And(s.active[b], t.is_up_to_date(b))

            return t.of_pairs(lambda a, b: Not(And(acts(a), acts(b))))

        @suite.strict(
            "a controller acts until it has handled the end of its session, while another one has been elected",
            when=settings["expiries"] > 0,
        )
        def one_active() -> Condition:
            """At most one broker acts as the controller."""
            return t.of_pairs(lambda a, b: Not(And(s.active[a], s.active[b])))

    @suite.strict(
        "a zombie that is in the middle of its fail-over raises the epoch above its successor's, whose requests the brokers "
        "then refuse",
        when=overtakes,
    )
    def newest_epoch_is_the_holders() -> Condition:
        """A broker that has the node and acts has the newest epoch."""
        return all_of(Implies(t.is_in_office(b), s.epoch[b] == s.controller_epoch) for b in broker)

    if settings["restarts"]:

        @suite.strict(
            "a broker that was started again has forgotten the epoch, and takes the request of a zombie",
            when=several and settings["expiries"] > 0 and not settings["broker_epochs"],
        )
        def no_older_after_newer() -> Condition:
            """A broker takes no request that is older than one that it has taken, also before it was started again."""
            return all_of(Or(s.seen[b] == 0, s.seen[b] >= s.obeyed[b]) for b in broker)

    # --- what every step must respect

    @suite.step
    def epochs_rise() -> Condition:
        """The epoch rises by one with a broker that begins a term, and nobody takes office with an older one."""
        raised = And(n.controller_epoch == s.controller_epoch + 1, any_of(n.epoch[b] != s.epoch[b] for b in broker))
        unheard = And(n.controller_epoch == s.controller_epoch + 1, s.controller_holder == NOBODY)
        begins = (
            Implies(And(n.active[b], Or(Not(s.active[b]), n.epoch[b] != s.epoch[b])), n.epoch[b] == n.controller_epoch)
            for b in broker
        )
        return And(Or(n.controller_epoch == s.controller_epoch, raised, unheard), *begins)

    @suite.step
    def own_node_only() -> Condition:
        """The node of a broker with a session goes only when that broker resigns, or ends."""
        return all_of(
            Implies(
                And(t.holds(b), s.session[b], n.controller_holder == NOBODY),
                Or(Not(n.session[b]), Not(n.lives[b]), And(s.leader[b] == b, n.leader[b] == NOBODY)),
            )
            for b in broker
        )

    @suite.step
    def processes_obey_the_newest() -> Condition:
        """A process takes no request that is older than one that it has taken."""
        return all_of(Implies(And(s.lives[b], n.lives[b]), n.seen[b] >= s.seen[b]) for b in broker)

    if settings["writes"]:

        @suite.step
        def writes_of_the_current() -> Condition:
            """Whoever writes as the controller acts, reaches the store, and has its epoch."""
            wrote = n.written != s.written
            by = any_of(And(t.reaches(b), s.active[b], s.epoch[b] == n.written) for b in broker)
            return Implies(wrote, And(by, n.written == s.controller_epoch))

    @suite.ends
    def no_deadlock() -> Condition:
        """Nothing comes to a standstill before a broker acts as the controller, and all are registered."""
        return And(any_of(t.is_in_office(b) for b in broker), *(And(s.lives[b], s.registered[b]) for b in broker))

    # --- what must happen in the end

    @suite.leads_to
    def someone_acts() -> Leads:
        """A broker has the node and acts as the controller, in the end."""
        return True, any_of(t.is_in_office(b) for b in broker)

    if settings["expiries"] or settings["resignations"]:

        @suite.leads_to
        def resigned_stops() -> Leads:
            """Whoever acts as the controller and has not the node stops, in the end."""
            return True, all_of(Implies(s.active[b], t.holds(b)) for b in broker)

    @suite.leads_to(
        strict="brokers that have heard of the epoch of a zombie refuse its successor's requests, which has an older one",
        when=overtakes,
    )
    def metadata_become_the_live_set() -> Leads:
        """Every broker knows which brokers live, in the end, also after it was started again."""
        return True, t.all_know()

    if settings["updates"]:

        @suite.leads_to
        def listeners_are_learned() -> Leads:
            """A controller knows the listeners of each broker that it takes for live as its node has them, in the end."""

            def lacks(c: int, b: int) -> Condition:
                return And(s.active[c], s.live[c, b], s.registered[b], Not(s.told[c, b]))

            return [(lacks(c, b), Not(lacks(c, b))) for c in broker for b in broker]

    _possible(suite, t)
    controller_conduct(suite, t)
    suite.lemmas_by(lambda: epoch_lemmas(suite, t))
    return suite


def _possible(suite: Suite, t: Terms) -> None:
    """Adds what must be possible."""
    s, broker, settings = KafkaControllerVariables.now(t.p), t.broker, t.p.parameters
    several = broker.size > 1

    @suite.sometimes
    def all_is_well() -> Condition:
        """A broker acts as the controller, and all know who lives."""
        return And(any_of(t.is_in_office(b) for b in broker), t.all_know())

    if several:

        @suite.sometimes
        def last_is_elected() -> Condition:
            """The last broker is the controller."""
            return t.is_in_office(broker.size - 1)

    if several and settings["expiries"]:

        @suite.sometimes
        def zombie_acts_beside_its_successor() -> Condition:
            """A broker whose session is gone acts beside the one that has the node."""
            return any_of(And(s.active[a], Not(t.holds(a)), t.is_in_office(b)) for a in broker for b in broker if a != b)

        @suite.sometimes
        def older_request_waits() -> Condition:
            """A request of an older epoch is on its way to a broker that has seen a newer one."""
            return any_of(And(s.queued[c, b], s.lives[b], s.epoch[c] < s.seen[b]) for c in broker for b in broker)

    if several and settings["resignations"]:

        @suite.sometimes
        def another_follows_a_resignation() -> Condition:
            """A broker has resigned, and another one is in office."""
            calm = s.expiries == 0
            return And(calm, s.resignations > 0, any_of(And(t.is_in_office(b), s.controller_epoch > 1) for b in broker))

    if several and settings["restarts"]:

        @suite.sometimes
        def bounce_is_there_to_be_seen() -> Condition:
            """A broker is back before the controller looks, under the id that the controller knows."""
            back = [And(s.live[c, b], s.registered[b], Not(s.knows[c, b])) for c in broker for b in broker if c != b]
            return And(Or(*back), s.expiries == 0)
