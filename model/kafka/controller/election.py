"""How a broker becomes the controller, and how it ceases to be it."""

from __future__ import annotations

from fencepost.model.kafka.controller.state import State
from fencepost.model.language import And, Choice, Condition, If, Not, Number, Or, Outcome, Updates
from fencepost.model.nobody import NOBODY, Nobody
from fencepost.model.zookeeper.sessions_and_nodes import merged, updates_if


def declare_election(s: State, *, by: str, repeats: str, hears: str, resigns: str) -> None:
    """The steps of the election; ``by``, ``repeats``, ``hears`` and ``resigns`` are the methods that they mirror."""
    p, broker, node, store = s.protocol, s.broker, s.node, s.store
    raised = {s.store_epoch: s.store_epoch + 1}
    is_countable = s.store_epoch < s.last

    def read_before(b: int, otherwise: Choice[int | Nobody]) -> Choice[int | Nobody]:
        """Whom a broker takes for the controller as an election begins: up to 0.10.2 whom it took before, until it has read."""
        return s.leader[b] if s.thread == "lock" else otherwise

    def elects(b: int) -> Updates:
        """The broker ceases to be the controller, and begins an election."""
        return {**s.stands_down(b), s.stage[b]: "electing", s.leader[b]: read_before(b, node.holder)}

    def begins_term(b: int, epoch: Number) -> Updates:
        """After the creation: in one request with it the epoch was raised, or it is yet to be read."""
        named: Updates = {s.leader[b]: b}
        return named | ({s.epoch[b]: epoch, s.stage[b]: "epoch_read"} if s.multi else {s.stage[b]: "created"})

    def creates(b: int) -> Updates:
        """The request of a creation is carried out and answered."""
        term = raised if s.multi else {}
        return merged(node.created(b), term, begins_term(b, s.store_epoch + 1))

    def follows(b: int) -> Updates:
        """The broker takes for the controller whom the node names, be it itself."""
        return {s.stage[b]: "idle", s.leader[b]: node.holder}

    @p.step(by="b", hears="store", mirrors=by, fair=True, b=broker)
    def elect(b: int) -> Outcome:
        """The broker reads the node: it follows whoever is named there; or creates it, and the session has it then.

        That somebody else creates it in between is as if it had been read later.
        """
        may = Or(Not(node.absent), is_countable) if s.multi else True
        elects = And(store.reaches(b), s.stage[b] == "electing", may)
        return elects, updates_if(node.absent, creates(b), follows(b))

    @p.fault(by="b", mirrors=by, spends="disconnects", b=broker)
    def creation_unheard(b: int) -> Outcome:
        """The node is created as the connection breaks; the request will be sent again."""
        term = raised if s.multi else {}
        reaches, updates = store.lost_answer(b, merged(node.created(b), term, {s.stage[b]: "unheard"}))
        return And(reaches, s.stage[b] == "electing", node.absent, is_countable), updates

    @p.step(by="b", hears="store", mirrors=repeats, fair=True, b=broker, only_if=store.disconnects)
    def create_again(b: int) -> Outcome:
        """The request is sent again, and refused because the node is there: the broker reads it, and accepts its own.

        It follows another's. If the node has gone, it creates it; where one request raises the epoch also, that has moved, and
        the broker does not try again (ControllerMovedException).
        """
        again = follows(b) if s.multi else creates(b)
        accepts = begins_term(b, s.store_epoch)
        otherwise = updates_if(node.absent, again, follows(b))
        return And(store.reaches(b), s.stage[b] == "unheard"), updates_if(node.is_own(b), accepts, otherwise)

    @p.step(
        by="b",
        hears="store",
        mirrors="ZookeeperLeaderElector.resign" if s.thread == "lock" else "KafkaController.triggerControllerMove",
        fair=True,
        b=broker,
        only_if=store.disconnects and s.hears_late,
    )
    def give_creation_up(b: int) -> Outcome:
        """The session of the creation is over: the broker resigns, and deletes the node in its new session."""
        resigned: Updates = {s.stage[b]: "idle", s.leader[b]: NOBODY}
        return And(store.reaches(b), s.stage[b] == "refused"), merged(resigned, s.deleted(b))

    @p.step(
        by="b",
        hears="store",
        mirrors="KafkaController.readControllerEpochFromZookeeper, KafkaController.onControllerFailover",
        fair=True,
        b=broker,
        only_if=not s.multi,
    )
    def read_epoch(b: int) -> Outcome:
        """The elected broker reads the epoch, with its version."""
        return And(store.reaches(b), s.stage[b] == "created"), {s.stage[b]: "epoch_read", s.epoch[b]: s.store_epoch}

    @p.rule
    def epoch_not_raised(b: int) -> Updates:
        """Another broker has raised the epoch since: the broker resigns (elect catches ControllerMovedException)."""
        stopped = s.stands_down(b) | {s.stage[b]: "idle", s.leader[b]: NOBODY}
        return merged(stopped, s.deleted(b))

    epoch_not_raised.instead("epoch_swallowed", s.takes_office)

    @p.step(
        by="b",
        hears="store",
        mirrors="KafkaController.onControllerFailover, KafkaController.incrementControllerEpoch"
        if not s.multi
        else "KafkaController.onControllerFailover",
        fair=True,
        b=broker,
    )
    def fail_over(b: int) -> Outcome:
        """The epoch is raised by compare-and-set, unless the creation has done so, and the broker takes office.

        It reads which brokers live, and sends each of them an UpdateMetadata with its epoch.
        """
        ready = And(store.reaches(b), s.stage[b] == "epoch_read")
        if s.multi:
            return ready, s.takes_office(b)
        in_term = {**s.takes_office(b), **raised, s.epoch[b]: s.store_epoch + 1}
        return And(ready, is_countable), updates_if(s.store_epoch == s.epoch[b], in_term, epoch_not_raised(b))

    @p.step(by="b", hears="store", mirrors=hears, fair=True, b=broker)
    def hear_node(b: int) -> Outcome:
        """A watch of the node has fired. Whoever took itself for the controller and is not named resigns; if there is no node,
        an election begins."""
        lost = And(s.leader[b] == b, node.holder != b)
        named = read_before(b, node.holder) if s.thread != "lock" else If(node.absent, s.leader[b], node.holder)
        heard = {s.leader[b]: named, s.stage[b]: If(node.absent, "electing", "idle"), **node.unheard(b)}
        return And(s.is_free(b), node.deleted[b]), {**updates_if(lost, s.stands_down(b), {}), **heard}

    @p.rule
    def on_new_session(b: int) -> Updates:
        """A broker that the node does not name stops being the controller, and elects; one that it names has done so before."""
        return updates_if(node.holder != b, elects(b), {})

    on_new_session.instead("new_session_resigns", elects)
    on_new_session.instead(
        "resigns_inside_lock",
        lambda b: updates_if(
            node.holder != b,
            updates_if(s.rebalances[b], {s.stage[b]: "blocked"}, elects(b)),
            {},
        ),
    )

    @p.step(by="b", hears="store", mirrors=resigns, fair=True, b=broker, only_if=s.hears_late)
    def handle_new_session(b: int) -> Outcome:
        """The thread comes to the end of a session, which may be behind other work, and after the next session has begun."""
        return And(s.is_free(b), s.new_sessions[b] > 0), {**on_new_session(b), s.new_sessions[b]: s.new_sessions[b] - 1}

    @p.rule
    def cleaned_up(c: int) -> Updates:
        """A controller that resigns by itself stops what it has started."""
        return s.stands_down(c)

    cleaned_up.instead("resigns_without_cleanup", lambda c: {})

    @p.fault(
        by="c",
        mirrors="ZookeeperLeaderElector.resign, KafkaController.sendUpdateMetadataRequest"
        if s.thread == "lock"
        else "KafkaController.triggerControllerMove, KafkaController.handleIllegalState",
        spends="resignations",
        c=broker,
    )
    def resign(c: int) -> Outcome:
        """A request that an earlier failure has left makes the controller resign (IllegalStateException): it deletes its
        node."""
        return And(s.is_free(c), s.active[c]), merged({s.leader[c]: NOBODY}, cleaned_up(c), s.deleted(c))

    @p.rule
    def checks_epoch(c: int) -> Condition:
        """A write of the controller goes through only with the version of the epoch node that it knows."""
        return s.store_epoch == s.epoch[c]

    checks_epoch.instead("unconditional_writes", lambda c: True)

    @p.step(
        by="c",
        mirrors="KafkaController.updateLeaderEpochAndSendRequest",
        c=broker,
        only_if=s.written is not None,
    )
    def write(c: int) -> Outcome:
        """The controller writes what it has decided, such as a partition's leader, with its epoch."""
        return And(store.reaches(c), s.active[c], s.written != s.epoch[c], checks_epoch(c)), {s.written: s.epoch[c]}

    if s.rebalances is not None:
        _declare_rebalancing(s)


def _declare_rebalancing(s: State) -> None:
    """The task that a resignation waits for: it runs at times, and needs the lock."""
    p, broker = s.protocol, s.broker

    @p.step(by="c", mirrors="KafkaController.checkAndTriggerPartitionRebalance", c=broker)
    def begin_rebalance(c: int) -> Outcome:
        """The controller's rebalancing of partitions begins."""
        return And(s.store.lives[c], s.active[c], Not(s.rebalances[c])), {s.rebalances[c]: True}

    @p.step(by="c", mirrors="KafkaController.checkAndTriggerPartitionRebalance", fair=True, c=broker)
    def end_rebalance(c: int) -> Outcome:
        """It has had the lock, and is over."""
        return And(s.rebalances[c], s.stage[c] != "blocked"), {s.rebalances[c]: False}
