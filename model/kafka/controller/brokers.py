"""What a controller knows of the brokers, what it sends them, and which requests they take."""

from __future__ import annotations

from fencepost.model.kafka.controller.state import State
from fencepost.model.language import And, Condition, If, Not, Or, Outcome, Truth, Updates, any_of, maximum
from fencepost.model.zookeeper.sessions_and_nodes import merged, updates_if


def declare_brokers(s: State, *, registers: str, looks: str) -> None:
    """The steps of registration, of the controller's look at the brokers, and of its requests."""
    p, broker, store, ids = s.protocol, s.broker, s.store, s.ids
    active, epoch, live, queued = s.active, s.epoch, s.live, s.queued

    @p.step(by="b", mirrors=registers, fair=True, b=broker)
    def register(b: int) -> Outcome:
        """The broker creates its node, at its start and in every new session. On one thread with the controller, it waits."""
        waits = s.stage[b].among("electing", "idle") if s.thread == "lock" else True
        tries = True if s.registration is None else s.registration[b] != "given_up"
        return And(store.reaches(b), Not(ids.there[b]), waits, tries), merged(
            ids.created(b), {} if s.has_own_epoch is None else {s.has_own_epoch[b]: False}
        )

    if s.registration is not None:

        @p.step(by="b", hears="store", mirrors=registers, b=broker)
        def register_in_vain(b: int) -> Outcome:
            """In a new session the broker still meets its node of the session before, which ZooKeeper removes late, and gives
            up."""
            again = And(s.registration[b] == "again", Not(ids.there[b]))
            return And(store.reaches(b), again), {s.registration[b]: "given_up"}

    if p.has("session_given_up"):

        @p.step(by="b", mirrors="KafkaHealthcheck.SessionExpireListener.handleSessionEstablishmentError", b=broker)
        def give_session_up(b: int) -> Outcome:
            """A client whose session is gone cannot open another, as its address has no name just then, and gives up."""
            return And(store.is_zombie(b), store.link[b] == "lost", Not(s.shut_out[b])), {s.shut_out[b]: True}

    if s.has_own_epoch is not None:

        @p.step(by="b", hears="store", mirrors=registers, fair=True, b=broker)
        def learn_own_epoch(b: int) -> Outcome:
            """The answer to the registration comes, and with it the broker's own epoch."""
            return And(store.reaches(b), ids.there[b], Not(s.has_own_epoch[b])), {s.has_own_epoch[b]: True}

    @p.rule
    def is_back(c: int, b: int) -> Condition:
        """A broker that was known is there with another node: it was away between two looks."""
        return And(live[c, b], ids.there[b], Not(ids.knows[c, b]))

    is_back.instead("bounce_missed", lambda c, b: False)

    @p.step(by="c", hears="store", mirrors=looks, fair=True, c=broker)
    def hear_brokers(c: int) -> Outcome:
        """The watch of the brokers has fired. The controller compares the nodes that are there with those that it knows.

        If any has come, gone or come back, it sends every live broker an UpdateMetadata, and closes the channels of the dead.
        """
        differs = any_of(Or(ids.there[b] != live[c, b], is_back(c, b)) for b in broker)

        def looked(b: int) -> Updates:
            known = Or(ids.knows[c, b], And(ids.there[b], Or(Not(live[c, b]), is_back(c, b))))
            return {
                live[c, b]: ids.there[b],
                ids.knows[c, b]: known,
                queued[c, b]: And(ids.there[b], Or(queued[c, b], differs)),
            }

        new = {b: And(ids.there[b], Or(Not(live[c, b]), is_back(c, b))) for b in broker}
        heard = merged(ids.unheard(c), *(looked(b) for b in broker), s.reads_listeners(c, new))
        return And(s.is_free(c), active[c], ids.changed[c]), heard

    @p.rule
    def is_current(c: int, b: int) -> Condition:
        """A broker takes a request unless it has taken one with a newer epoch."""
        return epoch[c] >= s.seen[b]

    is_current.instead("epochs_unchecked", lambda c, b: True)

    @p.rule
    def is_meant(c: int, b: int) -> Truth:
        """Since KIP-380 a broker takes only what names its own incarnation, or one that it does not know of yet."""
        return ids.knows[c, b] if s.broker_epochs else True

    is_meant.instead("newer_refused", lambda c, b: And(ids.knows[c, b], s.has_own_epoch[b]))

    @p.step(
        by="c",
        mirrors="RequestSendThread.doWork, KafkaApis.handleUpdateMetadataRequest, ReplicaManager.maybeUpdateMetadataCache",
        fair=True,
        c=broker,
        b=broker,
    )
    def deliver(c: int, b: int) -> Outcome:
        """The thread of the channel sends the request until the broker answers it, which takes it or refuses it."""
        takes = And(is_current(c, b), is_meant(c, b))
        obeyed = {} if s.obeyed is None else {s.obeyed[b]: If(takes, maximum(s.obeyed[b], epoch[c]), s.obeyed[b])}
        taken: Updates = {s.seen[b]: epoch[c], **{s.metadata[b, x]: live[c, x] for x in broker}}
        sent = And(queued[c, b], store.lives[c], store.lives[b])
        return sent, {**updates_if(takes, taken, {}), **obeyed, queued[c, b]: False}

    @p.fault(by="b", mirrors="KafkaServer.shutdown", spends="restarts", b=broker)
    def stop(b: int) -> Outcome:
        """The broker stops and closes its session; it will be started again, perhaps before anybody looks."""
        return store.lives[b], store.ended(b) | s.at_start(b)
