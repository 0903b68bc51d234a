"""How each broker must conduct itself, whatever comes of it: rules that a missing guard breaks first."""

from __future__ import annotations

from fencepost.model.kafka.controller.client import ZKCLIENT
from fencepost.model.language import And, Condition, If, Implies, Not, Or, Truth, all_of, any_of, minimum
from fencepost.model.nobody import NOBODY
from fencepost.properties.kafka_controller.variables import KafkaControllerVariables, Terms
from fencepost.properties.locks.sessions import session_rules
from fencepost.properties.vocabulary import Suite


def controller_conduct(suite: Suite, t: Terms) -> None:
    """Adds the rules of conduct of the node and the offices, of what is heard, and of requests."""
    session_rules(suite, ZKCLIENT)
    _threads(suite, t)
    _offices(suite, t)
    _watches(suite, t)
    _registrations(suite, t)
    _requests(suite, t)


def _threads(suite: Suite, t: Terms) -> None:
    """What the thread of a broker goes on to."""
    s, n = KafkaControllerVariables.of(t.p)
    broker, multi = t.broker, t.p.parameters["multi"]
    limit, lock = t.p.parameters["expiries"], t.p.parameters["thread"] == "lock"

    @suite.step
    def threads_go_forward() -> Condition:
        """A thread elects, fails over and is idle by what it reads and does in the store, and elects again for a reason."""

        def repeats(b: int) -> Truth:
            """A creation that nobody has heard of is sent again in its session, and given up with that."""
            if not t.repeats:
                return False
            before, after, reaches = s.stage[b], n.stage[b], t.reaches(b)
            created = And(before == "electing", after == "unheard", reaches, n.controller_holder == b, n.link[b] == "suspended")
            met = s.controller_holder.among(NOBODY, b)
            own = And(met, n.leader[b] == b, n.controller_holder == b, Not(n.controller_former))
            same = And(s.controller_holder == b, n.epoch[b] == s.controller_epoch, n.controller_epoch == s.controller_epoch)
            accepts = And(own, after == "epoch_read", same) if multi else And(own, after == "created")
            others = And(after == "idle", n.leader[b] == s.controller_holder, Not(t.holds(b)))
            again = And(before == "unheard", reaches, Or(accepts, others))
            if not t.refuses:
                return Or(created, again)
            refused = And(before == "unheard", after == "refused", Not(s.session[b]), n.session[b])
            given_up = And(before == "refused", reaches, after == "idle", n.leader[b] == NOBODY)
            return Or(created, again, refused, given_up)

        def follows(b: int) -> Condition:
            before, after, reaches = s.stage[b], n.stage[b], t.reaches(b)
            elected = And(n.leader[b] == b, n.controller_holder == b, Not(n.controller_former))
            heard = And(s.controller_change[b], Not(n.controller_change[b]), s.controller_holder == NOBODY)
            ended = n.new_sessions[b] == s.new_sessions[b] - 1 if t.hears_late else False
            named = And(n.leader[b] == s.controller_holder, s.controller_holder != NOBODY, n.active[b] == s.active[b])
            moved = And(n.leader[b] == NOBODY, Not(n.active[b]), s.epoch[b] != s.controller_epoch)
            term = And(after == "epoch_read", n.epoch[b] == s.controller_epoch + 1) if multi else after == "created"
            reading = False if multi else before == "created"
            reads = And(reading, reaches, after == "epoch_read", n.epoch[b] == s.controller_epoch)
            return Or(
                after == before,
                reads,
                repeats(b),
                And(before == "electing", reaches, after == "idle", named),
                And(before == "electing", reaches, term, elected),
                And(before == "epoch_read", reaches, after == "idle", Or(n.active[b], moved)),
                And(before == "idle", reaches, after == "electing", Or(heard, And(ended, s.controller_holder != b))),
            )

        return all_of(Implies(t.keeps(b), follows(b)) for b in broker)

    @suite.step
    def terms_are_read_or_raised() -> Condition:
        """A broker that fails over reads the epoch, and raises it if it is what it has read; else the epoch stays."""

        def follows(b: int) -> Condition:
            took = And(s.stage[b] == "epoch_read", n.stage[b] == "idle", n.active[b], Not(multi))
            stays = Or(n.stage[b] == s.stage[b], False if multi else n.stage[b] == "created", t.will_repeat(b))
            raised = And(n.epoch[b] == s.epoch[b] + 1, n.controller_epoch == s.epoch[b] + 1)
            return And(Implies(took, raised), Implies(And(stays, n.active[b] == s.active[b]), n.epoch[b] == s.epoch[b]))

        return all_of(Implies(t.keeps(b), follows(b)) for b in broker)

    @suite.step
    def leaders_are_read() -> Condition:
        """A broker takes for the controller whom the node names as it looks, or itself as it creates the node."""

        def follows(b: int) -> Condition:
            looks = Or(s.stage[b].among("electing", "idle"), t.is_to_repeat(b))
            reads = And(t.reaches(b), looks, n.leader[b] == s.controller_holder)
            elected = And(Or(s.stage[b] == "electing", t.is_to_repeat(b)), n.leader[b] == b, n.controller_holder == b)
            gives_up = And(n.leader[b] == NOBODY, Not(n.active[b]))
            return Or(n.leader[b] == s.leader[b], reads, elected, gives_up)

        return all_of(Implies(t.stays(b), follows(b)) for b in broker)

    if t.hears_late:

        @suite.step
        def ends_come_to_threads() -> Condition:
            """A thread that handles a new session elects unless the node names its broker, which then changes nothing."""

            def follows(b: int) -> Condition:
                before, after = s.new_sessions[b], n.new_sessions[b]
                opened = And(Not(s.session[b]), n.session[b])
                leader = n.leader[b] == (s.leader[b] if lock else s.controller_holder)
                elects = And(n.stage[b] == "electing", Not(n.active[b]), leader)
                named = And(n.stage[b] == s.stage[b], n.active[b] == s.active[b], n.leader[b] == s.leader[b])
                handles = And(
                    after == before - 1, t.reaches(b), s.stage[b] == "idle", If(s.controller_holder == b, named, elects)
                )
                return Or(And(after == before, Not(opened)), And(after == minimum(before + 1, limit), opened), handles)

            return all_of(Implies(t.stays(b), follows(b)) for b in broker)

    if not t.hears_late and t.p.parameters["expiries"]:

        @suite.step
        def ends_are_awaited() -> Condition:
            """A broker that hears that its session is over is no controller, and elects in the next."""

            def follows(b: int) -> Condition:
                hears = And(t.stays(b), n.link[b] == "lost", s.link[b] != "lost")
                elects = And(n.stage[b] == "electing", n.leader[b] == NOBODY, Not(n.active[b]), Not(n.controller_change[b]))
                return Implies(hears, elects)

            return all_of(follows(b) for b in broker)

    if t.p.parameters["restarts"]:

        @suite.always
        def ended_processes_are_blank() -> Condition:
            """Nothing is left of a process that has ended."""
            return all_of(Implies(Not(s.lives[b]), t.is_blank(b)) for b in broker)

        @suite.step
        def processes_end_by_stopping() -> Condition:
            """A process ends by a stop, and with it its session if it reaches the store."""

            def follows(b: int) -> Condition:
                ends = And(s.lives[b], Not(n.lives[b]))
                closed = And(Implies(t.reaches(b), Not(n.session[b])), n.link[b] == "lost")
                return Implies(ends, And(n.restarts == s.restarts + 1, closed))

            return all_of(follows(b) for b in broker)


def _offices(suite: Suite, t: Terms) -> None:
    """Who has the node, and who acts."""
    s, n = KafkaControllerVariables.of(t.p)
    broker, settings = t.broker, t.p.parameters

    @suite.step
    def node_is_created_by_electing() -> Condition:
        """The node is created where there is none, by a broker that elects, and with it its term where that is one request."""

        def follows(b: int) -> Condition:
            created = And(s.controller_holder != b, n.controller_holder == b)
            again = False if settings["multi"] else t.is_to_repeat(b)
            elects = Or(s.stage[b] == "electing", again)
            fits = And(s.controller_holder == NOBODY, t.reaches(b), elects, Not(n.controller_former))
            term = n.controller_epoch == s.controller_epoch + (1 if settings["multi"] else 0)
            later = n.stage[b] == "unheard" if t.repeats else False
            unheard = And(n.link[b] == "suspended", later, n.leader[b] == s.leader[b])
            heard = And(n.stage[b] != "electing", n.leader[b] == b, n.link[b] == "connected")
            return Implies(created, And(fits, term, Or(heard, unheard)))

        return all_of(follows(b) for b in broker)

    @suite.step
    def node_is_deleted_with_a_reason() -> Condition:
        """The node goes with a session of its holder, or because that broker resigns and reaches the store."""

        def with_session(b: int) -> Condition:
            return Or(And(s.session[b], Not(n.session[b])), And(s.former_session[b], Not(n.former_session[b])))

        def resigns(b: int) -> Condition:
            return And(t.reaches(b), s.leader[b] == b, n.leader[b] == NOBODY)

        gone = And(s.controller_holder != NOBODY, n.controller_holder == NOBODY)
        return Implies(gone, any_of(And(s.controller_holder == b, Or(with_session(b), resigns(b))) for b in broker))

    @suite.step
    def resigning_deletes_ones_own() -> Condition:
        """A broker that resigns, or may not take office, deletes its own node and stops."""

        def follows(b: int) -> Condition:
            fails = And(t.keeps(b), s.stage[b] == "epoch_read", n.stage[b] == "idle", Not(n.active[b]))
            resigns = And(n.resignations > s.resignations, s.active[b], Not(n.active[b]))
            forced = And(t.reaches(b), Implies(resigns, s.stage[b] == "idle"), n.leader[b] == NOBODY)
            deleted = Implies(t.holds(b), n.controller_holder == NOBODY)
            return Implies(Or(fails, resigns), And(forced, deleted))

        forced = any_of(And(s.active[b], Not(n.active[b])) for b in broker)
        return And(Implies(n.resignations > s.resignations, forced), all_of(follows(b) for b in broker))

    @suite.step
    def offices_end_with_a_reason() -> Condition:
        """A controller stops because it is not named any more, because it resigns, or because it hears that its session is
        over."""

        def follows(b: int) -> Condition:
            stops = And(t.keeps(b), s.active[b], Not(n.active[b]))
            heard = And(s.controller_change[b], Not(n.controller_change[b]), s.leader[b] == b)
            session = n.new_sessions[b] == s.new_sessions[b] - 1 if t.hears_late else False
            deposed = And(t.reaches(b), s.stage[b] == "idle", s.controller_holder != b, Or(heard, session))
            return Implies(stops, Or(deposed, n.resignations > s.resignations))

        return all_of(follows(b) for b in broker)

    @suite.step
    def offices_begin_with_the_brokers() -> Condition:
        """A broker that takes office knows the brokers that are there, and has a request for each."""

        def follows(b: int) -> Condition:
            takes = And(Not(s.active[b]), n.active[b])
            there = (And(*(of[b, x] == s.registered[x] for of in (n.live, n.queued, n.knows))) for x in broker)
            return Implies(takes, And(s.stage[b] == "epoch_read", n.stage[b] == "idle", Not(n.brokers_change[b]), *there))

        return all_of(follows(b) for b in broker)

    @suite.always
    def who_elects_has_not_the_node() -> Condition:
        """A broker that begins an election has not the node, for one that it finds, its own also, ends the election."""
        return all_of(Implies(And(s.lives[b], s.stage[b] == "electing"), Not(t.holds(b))) for b in broker)

    @suite.always
    def others_have_nothing_to_send() -> Condition:
        """Whoever does not act knows of no broker, has nothing to send, and after its election no epoch."""

        def is_blank(c: int) -> Condition:
            empty = (Not(Or(s.live[c, b], s.queued[c, b], s.knows[c, b])) for b in broker)
            calm = Or(s.stage[c].among("electing", "idle"), t.is_to_repeat(c), t.is_refused(c))
            return And(Not(s.brokers_change[c]), Implies(calm, s.epoch[c] == 0), *empty)

        return all_of(Implies(Not(s.active[c]), is_blank(c)) for c in broker)


def _watches(suite: Suite, t: Terms) -> None:
    """Who hears of what."""
    s, n = KafkaControllerVariables.of(t.p)
    broker, lock = t.broker, t.p.parameters["thread"] == "lock"

    @suite.step
    def changes_of_the_node_are_heard() -> Condition:
        """Every broker that lives hears of a change of the node, its own too, and nobody of what did not happen."""

        def follows(b: int) -> Condition:
            changed = n.controller_holder != s.controller_holder
            forgets = And(n.link[b] == "lost", s.link[b] != "lost") if not t.hears_late else False
            reopens = And(Not(s.session[b]), n.session[b]) if t.hears_late else False
            return And(
                Implies(And(t.stays(b), Or(changed, reopens), Not(forgets)), n.controller_change[b]),
                Implies(And(n.controller_change[b], Not(s.controller_change[b])), And(s.lives[b], Or(changed, reopens))),
            )

        return all_of(follows(b) for b in broker)

    @suite.step
    def heard_changes_are_acted_on() -> Condition:
        """A broker that handles a change of the node looks at it, follows, and elects if there is none."""

        def follows(b: int) -> Condition:
            heard = And(t.keeps(b), s.controller_change[b], Not(n.controller_change[b]))
            stage = If(s.controller_holder == NOBODY, n.stage[b] == "electing", n.stage[b] == "idle")
            deposed = And(s.leader[b] == b, s.controller_holder != b)
            late = And(lock, s.controller_holder == NOBODY)
            acts = And(n.leader[b] == If(late, s.leader[b], s.controller_holder), n.active[b] == And(s.active[b], Not(deposed)))
            return Implies(heard, And(t.reaches(b), s.stage[b] == "idle", stage, acts))

        return all_of(Implies(t.keeps(b), follows(b)) for b in broker)

    @suite.step
    def changes_of_brokers_are_heard() -> Condition:
        """A controller hears of every broker that comes or goes, and of none that does not."""
        moved = any_of(s.registered[b] != n.registered[b] for b in broker)

        def follows(c: int) -> Condition:
            goes_on = And(t.keeps(c), s.active[c], n.active[c])
            settled = And(s.stage[c] != n.stage[c], s.stage[c] == "epoch_read")
            reopens = And(Not(s.session[c]), n.session[c]) if t.hears_late else False
            notice = And(n.brokers_change[c], Not(s.brokers_change[c]))
            return And(
                Implies(And(goes_on, Or(moved, reopens), Not(settled)), n.brokers_change[c]),
                Implies(notice, And(n.active[c], Or(moved, reopens))),
            )

        return all_of(follows(c) for c in broker)


def _registrations(suite: Suite, t: Terms) -> None:
    """The nodes of the brokers."""
    s, n = KafkaControllerVariables.of(t.p)
    broker = t.broker
    lock, former = t.p.parameters["thread"] == "lock", t.leaves_nodes

    @suite.step
    def brokers_register_themselves() -> Condition:
        """A broker registers in its session, where its thread is not failing over; its node goes with the session."""

        def follows(b: int) -> Condition:
            began, gone = And(Not(s.registered[b]), n.registered[b]), And(s.registered[b], Not(n.registered[b]))
            waits = s.stage[b].among("electing", "idle") if lock else True
            ended = Or(And(s.session[b], Not(n.session[b])), And(s.former_session[b], Not(n.former_session[b])))
            stays = Implies(And(s.registered[b], s.session[b], Not(n.session[b])), Or(Not(n.registered[b]), former))
            own = Not(n.registered_former[b]) if former else True
            return And(Implies(began, And(t.reaches(b), waits, own)), Implies(gone, ended), stays)

        return all_of(follows(b) for b in broker)

    if former:

        @suite.step
        def nodes_become_former() -> Condition:
            """The node of a broker is of a former session once its process is back, until that session is gone."""

            def follows(b: int) -> Condition:
                back = And(Not(s.lives[b]), n.lives[b])
                gone = And(s.former_session[b], Not(n.former_session[b]))
                return And(
                    Implies(back, n.registered_former[b] == s.registered[b]),
                    Implies(And(n.registered_former[b], Not(s.registered_former[b])), back),
                    Implies(And(gone, s.registered_former[b]), Not(n.registered[b])),
                    Implies(And(s.registered_former[b], Not(n.registered_former[b])), gone),
                )

            return all_of(follows(b) for b in broker)

    @suite.step
    def known_nodes_are_there() -> Condition:
        """A controller knows no node that is gone, and forgets none that is there while it acts."""

        def follows(c: int, b: int) -> Condition:
            stays = And(t.keeps(c), s.active[c], n.active[c], s.knows[c, b], n.registered[b])
            return And(Implies(n.knows[c, b], n.registered[b]), Implies(stays, n.knows[c, b]))

        return all_of(follows(c, b) for c in broker for b in broker)


def _requests(suite: Suite, t: Terms) -> None:
    """What controllers send, and what brokers take."""
    s, n = KafkaControllerVariables.of(t.p)
    broker, settings = t.broker, t.p.parameters

    def takes(c: int, b: int) -> Condition:
        meant = s.knows[c, b] if settings["broker_epochs"] else True
        return And(s.epoch[c] >= s.seen[b], meant)

    def took(c: int, b: int) -> Condition:
        return And(n.seen[b] == s.epoch[c], *(n.metadata[b, x] == s.live[c, x] for x in broker))

    def is_untouched(b: int) -> Condition:
        return And(n.seen[b] == s.seen[b], *(n.metadata[b, x] == s.metadata[b, x] for x in broker))

    def sent(c: int, b: int) -> Condition:
        looked = And(s.brokers_change[c], Not(n.brokers_change[c]))
        return And(s.queued[c, b], Not(n.queued[c, b]), n.active[c], s.active[c], t.keeps(c), Not(looked))

    @suite.step
    def requests_are_taken_or_refused() -> Condition:
        """A broker that a request reaches takes it if that is current, and is meant for it; else nothing changes."""

        def follows(c: int, b: int) -> Condition:
            obeyed = n.obeyed[b] == If(s.epoch[c] > s.obeyed[b], s.epoch[c], s.obeyed[b]) if settings["restarts"] else True
            same = n.obeyed[b] == s.obeyed[b] if settings["restarts"] else True
            fits = If(takes(c, b), And(took(c, b), obeyed), And(is_untouched(b), same))
            settled = And(s.stage[c] != n.stage[c], s.stage[c] == "epoch_read")
            return Implies(sent(c, b), Or(settled, And(s.lives[b], fits)))

        return all_of(follows(c, b) for c in broker for b in broker)

    @suite.step
    def brokers_change_by_requests() -> Condition:
        """What a broker knows, and which epoch it has seen, changes with a request that it takes."""
        return all_of(
            Implies(t.stays(b), Or(is_untouched(b), any_of(And(sent(c, b), takes(c, b)) for c in broker))) for b in broker
        )

    @suite.step
    def looks_are_complete() -> Condition:
        """A controller that looks knows the brokers that are there; if any has come, gone or come back, all get a request."""

        def follows(c: int) -> Condition:
            looked = And(t.keeps(c), s.active[c], n.active[c], s.brokers_change[c], Not(n.brokers_change[c]))
            settled = And(s.stage[c] != n.stage[c], s.stage[c] == "epoch_read")

            def moved(b: int) -> Condition:
                return Or(s.registered[b] != s.live[c, b], And(s.live[c, b], s.registered[b], Not(s.knows[c, b])))

            def sends(b: int) -> Condition:
                every = all_of(Implies(And(moved(x), s.registered[b]), n.queued[c, b]) for x in broker)
                no_more = Implies(n.queued[c, b], And(s.registered[b], Or(s.queued[c, b], any_of(moved(x) for x in broker))))
                return And(every, no_more, Implies(And(s.queued[c, b], s.registered[b]), n.queued[c, b]))

            known = (And(n.live[c, b] == s.registered[b], n.knows[c, b] == s.registered[b]) for b in broker)
            all_are_sent = all_of(sends(b) for b in broker)
            return Implies(And(looked, Not(settled)), And(t.reaches(c), s.stage[c] == "idle", *known, all_are_sent))

        return all_of(follows(c) for c in broker)

    @suite.step
    def others_do_not_look() -> Condition:
        """What a controller knows of the brokers grows only as it looks or takes office, and what it has to send as it hears of
        other listeners, too."""

        def tells(c: int) -> Truth:
            """The watch of a broker's node has fired, and its listeners are others."""
            if not settings["updates"]:
                return False
            handled = [And(s.endpoints_change[c, b], Not(n.endpoints_change[c, b]), n.told[c, b]) for b in broker]
            return And(any_of(handled), *(n.live[c, b] == s.live[c, b] for b in broker))

        def follows(c: int, b: int) -> Condition:
            takes_office = And(s.stage[c] == "epoch_read", n.stage[c] == "idle")
            looked = Or(And(s.brokers_change[c], Not(n.brokers_change[c])), takes_office, tells(c))
            grows = Or(And(n.queued[c, b], Not(s.queued[c, b])), And(n.knows[c, b], Not(s.knows[c, b])))
            moves = And(n.live[c, b] != s.live[c, b], n.active[c])
            return Implies(Or(grows, moves), looked)

        return all_of(follows(c, b) for c in broker for b in broker)
