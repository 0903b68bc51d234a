"""Which broker leads: one ephemeral node that every broker tries to create.

Mirrors LeaderElectionImpl and LeaderElectionService of Pulsar 4.2.4, 5.0.0-M1 and 5.0.1 (pulsar#26000) with ``leads=created``,
and of 4.0.8 with ``leads=confirmed``, without the bugs that are switches. What a broker asks the leader for is in lookups.py.
All brokers propose themselves; a value names its broker, so that two brokers never propose the same. (That a node of the own
session has another value, which the code provides for, takes a migration between metadata stores.)

How a broker stands in its election is its ``stage``: looking at the node; proposing itself because it saw none; confirming
that it created it, by the read of the cache that follows; retaking a node of its former session; waiting to try again after a
failure; settled; closed. (Only with ``closed_goes_on``, and since 5.0.1: withdrawing, which is deleting the node that it has
created when it was closed.) What the broker believes meanwhile, its ``role``, only changes when an election settles or the
node's deletion is heard of. The answer to a read and a notification come in order on one thread, so looking and settling are
one step. Up to 4.0.8 there is the read in between after a creation, and a notification then is ignored; from 4.2.4 on a broker
leads in the callback of the creation, which is on that thread, too, so that a deletion after it is always acted on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from fencepost.model.language import (
    ABSENT,
    And,
    Choice,
    Condition,
    Family,
    If,
    ModelError,
    Not,
    Or,
    Outcome,
    Protocol,
    Truth,
    Updates,
)
from fencepost.model.nobody import NOBODY, Nobody
from fencepost.model.pulsar.election.lookups import declare_lookup
from fencepost.model.pulsar.shared_bugs import SHARED
from fencepost.model.pulsar.stores import stated, store_named
from fencepost.model.releases import both, changed
from fencepost.model.zookeeper.sessions_and_nodes import EphemeralNode, Sessions, merged, updates_if

Stage = Literal["looking", "proposing", "confirming", "retaking", "withdrawing", "waiting", "settled", "closed"]
STAGES: tuple[Stage, ...] = get_args(Stage)
UNDER_WAY: tuple[Stage, ...] = ("looking", "proposing", "confirming", "retaking", "withdrawing")
Begun = Literal["start", "session", "event", "deletion"]
BEGUN: tuple[Begun, ...] = get_args(Begun)
Role = Literal["no_leader", "leading", "following"]
ROLES: tuple[Role, ...] = get_args(Role)
LEADS = ("confirmed", "created")
CLOSES = ("unconditional", "by_version", "looked")
RELEASES = both(
    changed("leads", since="4.2.4", before="confirmed", after="created"),
    changed("close", since="5.0.1", before="unconditional", after="looked"),
)
"""What behaves otherwise from release to release: when a broker that created the node leads (pulsar#26000), and how a leader
that shuts down deletes its node."""

BUGS = {
    "same_value": "pulsar#10522: two brokers propose the same value, take each other's node for their own of a former session "
    "and delete it, without end",
    "elected_follows": "pulsar#23125, #23138: a broker that finds its own node from its own session goes on to follow",
    "reconnection_ignored": "pulsar#23138: a broker that was cut off does not look at the node again",
    "reestablishment_ignored": "pulsar#10457: a broker with a new session does not look at the node again",
    "redirects_without_authority": "pulsar#7200: a broker that chooses while no leader is active does not say so, and the "
    "chosen one may choose again",
    "followers_do_not_cache": "pulsar#13066: followers do not know who leads, so that each of them chooses",
    "leader_value_expires": "pulsar#17401: who leads is forgotten after ten minutes, and nothing reads it again",
    "asks_during_election": "pulsar#25999, #26000: a broker asks for the leader while its election is under way, hears none, "
    "chooses",
    "creates_blindly": SHARED["creates_blindly"],
    "closed_elects_again": "a broker that shuts down elects again when its connection is back",
    "closed_goes_on": "an election that is closed while a request of it is out goes on: the broker may come to lead",
    "failure_not_retried": "an election that failed is tried again only if a deletion began it, and once; a process whose "
    "first one fails ends",
    "deletion_sent_again": SHARED["deletion_sent_again"],
    "event_lost": SHARED["event_lost"],
}


def election(
    *,
    brokers: int = 3,
    on_session_loss: str = "reconnect",
    leads: str = "created",
    close: str = "unconditional",
    disconnects: int = 0,
    expiries: int = 0,
    crashes: int = 0,
    closes: int = 0,
    lookups: bool = False,
    metadata_store: str = "zk",
    fixed: bool = False,
    bugs: Iterable[str] = (),
) -> Protocol:
    """The election of a leader among ``brokers``; the page of the room has the constants."""
    if brokers < 1:
        raise ModelError("election: brokers is at least 1")
    if on_session_loss not in ("reconnect", "shutdown"):
        raise ModelError(f"election: on_session_loss is reconnect or shutdown, not {on_session_loss!r}")
    if leads not in LEADS:
        raise ModelError(f"election: leads is confirmed or created, not {leads!r}")
    if close not in CLOSES:
        raise ModelError(f"election: close is unconditional, by_version or looked, not {close!r}")
    parameters = stated({name: value for name, value in locals().items() if name != "bugs"})
    p = Protocol("election", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)

    broker = p.universe("broker", brokers)
    shuts_down, reads = on_session_loss == "shutdown", leads == "confirmed"
    ends = closes > 0 or (shuts_down and disconnects + expiries > 0) or p.has("failure_not_retried")
    kind = store_named(metadata_store, "election", brokers=brokers, faults=disconnects + expiries)
    waits = reads or not kind.ordered
    if shuts_down and not kind.tells:
        raise ModelError(
            f"election: metadata_store={metadata_store} reports no lost session to brokers: set on_session_loss=reconnect"
        )
    store = Sessions(p, broker, disconnects=disconnects, expiries=expiries, crashes=crashes, ends=ends, kind=kind)
    leader = EphemeralNode.declare(store, "leader")
    looks = closes > 0 and close == "looked"
    reopened = closes > 0 and p.has("closed_goes_on")
    goes_on = reopened or looks
    stage = p.choice("stage", STAGES, per=broker)
    role = p.choice("role", ROLES, per=broker)
    cached = p.choice("cached", broker, per=broker, none=NOBODY)
    p.budget("closes", closes)
    closing: Family[Condition] = p.flag("closing", per=broker) if closes else ABSENT
    reopens = reopened or (closes > 0 and p.has("closed_elects_again"))
    found: Family[Condition] = p.flag("found", per=broker) if looks else ABSENT
    shut: Family[Condition] = p.flag("shut", per=broker) if goes_on else ABSENT
    gives_back: Family[Condition] = p.flag("gives_back", per=broker) if goes_on else ABSENT

    begun: Family[Choice[Begun]] = p.choice("begun", BEGUN, per=broker) if p.has("failure_not_retried") else ABSENT

    def at_start(b: int) -> Updates:
        blank: Updates = {closing[b]: False} if closes else {}
        blank |= {shut[b]: False, gives_back[b]: False} if goes_on else {}
        blank |= {found[b]: False} if looks else {}
        blank |= {begun[b]: "start"} if p.has("failure_not_retried") else {}
        begins = {stage[b]: "looking", role[b]: "no_leader", cached[b]: NOBODY}
        return merged(blank, leader.learnt(b, False), begins)

    def is_shut(b: int) -> Condition:
        """The formula: the election is closed, though a request of it may be out."""
        return Or(stage[b] == "closed", shut[b]) if goes_on else stage[b] == "closed"

    def opened(b: int) -> Updates:
        """Whatever an election comes to, it is not closed then."""
        return {shut[b]: False} if goes_on else {}

    def unless_shut(b: int, updates: Updates) -> Updates:
        """What an answer leads to: nothing where the election was closed meanwhile, since 5.0.1."""
        if not goes_on or reopened:
            return updates
        return updates_if(shut[b], {stage[b]: "closed", **opened(b)}, updates)

    @p.rule
    def looks_again(b: int) -> Updates:
        """The broker looks at the node, unless it shuts down."""
        return {stage[b]: If(is_shut(b), stage[b], "looking")}

    def elects_anyhow(b: int) -> Updates:
        """The broker looks at the node, and its election is not closed any more."""
        return {stage[b]: "looking", **opened(b)}

    looks_again.instead("closed_elects_again", elects_anyhow)

    def on_lost(b: int) -> Updates:
        """Nothing is done about the election; by the shutdown policy the process ends."""
        return merged(store.died(b), at_start(b)) if shuts_down else {}

    def remembers_event(b: int, by: str = "event") -> Updates:
        """What begins the election is remembered, unless the first of the process is still under way."""
        first = And(begun[b] == "start", Not(stage[b].among("settled", "closed")))
        looks = elects_anyhow(b) if p.has("closed_elects_again") else {stage[b]: If(is_shut(b), stage[b], "looking")}
        return {**looks, begun[b]: If(first, "start", by)}

    looks_again.instead("failure_not_retried", remembers_event)

    @p.rule
    def on_reconnected(b: int) -> Updates:
        """A broker whose connection is back looks at the node."""
        return looks_again(b)

    on_reconnected.instead("reconnection_ignored", lambda b: {})

    @p.rule
    def on_reestablished(b: int) -> Updates:
        """A broker that has a new session, or has its former one back after all, looks at the node.

        It does so twice, for Reconnected and for SessionReestablished, the second time when the first election is over. Where
        an election that fails is tried again once is enough.
        """
        return remembers_event(b, "session") if p.has("failure_not_retried") else looks_again(b)

    on_reestablished.instead("reestablishment_ignored", lambda b: {})

    def emptied(b: int) -> Updates:
        """AbstractMetadataStore.receivedSessionEvent: the cache, in which up to 4.0.8 the leader is, is emptied."""
        return {cached[b]: NOBODY} if reads else {}

    store.declare(
        at_start=at_start,
        on_lost=on_lost,
        on_reconnected=lambda b: merged(emptied(b), on_reconnected(b)),
        on_reestablished=lambda b: merged(emptied(b), on_reestablished(b)),
        listener="LeaderElectionImpl.handleSessionNotification",
        keeps_going=not shuts_down,
    )

    # --- the election

    @p.rule
    def known_leader(as_role: str) -> Choice[int | Nobody]:
        """Whom a broker has in its cache when its election is over: a read has filled it."""
        return leader.holder

    known_leader.instead("followers_do_not_cache", lambda as_role: leader.holder if as_role == "leading" else NOBODY)

    def over(b: int) -> Updates:
        """The election is over: the broker waits for a deletion, or the second election of a new session begins."""
        if not p.has("failure_not_retried"):
            return {stage[b]: "settled"}
        second = begun[b] == "session"
        return {stage[b]: If(second, "looking", "settled"), begun[b]: If(second, "event", begun[b])}

    def settled(b: int, as_role: str) -> Updates:
        """The election is over, and the broker knows who leads."""
        return {**over(b), role[b]: as_role, cached[b]: known_leader(as_role), **opened(b)}

    @p.rule
    def takes_for_former(b: int) -> Condition:
        """A broker takes a node for its own of a former session: it has its value, and is not of this session."""
        return leader.is_held(b, former=True)

    takes_for_former.instead("same_value", lambda b: Not(leader.is_own(b)))
    retakes = store.leaves_sessions or p.has("same_value")

    def has_known_version(b: int) -> Condition:
        """The formula: a deletion by the version that was seen takes effect, on whosoever node: it is never written."""
        if fixed:
            return leader.is_held(b, former=True)
        return Not(leader.absent) if kind.reuses_versions else leader.has_version(b, 0)

    @p.step(by="b", hears="store", mirrors="LeaderElectionImpl.elect {!optLock.isPresent()}", fair=True, b=broker)
    def find_none(b: int) -> Outcome:
        """The broker looks at the node and there is none: it will propose itself."""
        return And(store.reaches(b), stage[b] == "looking", leader.absent), unless_shut(b, {stage[b]: "proposing"})

    @p.rule
    def found_own(b: int) -> Updates:
        """Who finds the node that it created in this session leads."""
        return settled(b, "leading")

    found_own.instead("elected_follows", lambda b: settled(b, "following"))

    @p.step(
        by="b",
        hears="store",
        mirrors="LeaderElectionImpl.handleExistingLeaderValue {existingValue.equals(value) && "
        "res.getStat().isCreatedBySelf()}, LeaderElectionImpl.changeState, LeaderElectionImpl.elect",
        fair=True,
        b=broker,
        only_if=disconnects or expiries or retakes or goes_on,
    )
    def find_own(b: int) -> Outcome:
        """The broker finds the node that it created in this session: it leads still, or again."""
        return And(store.reaches(b), stage[b] == "looking", leader.is_own(b)), unless_shut(b, found_own(b))

    @p.step(
        by="b",
        hears="store",
        mirrors="LeaderElectionImpl.handleExistingLeaderValue {existingValue.equals(value) && "
        "!res.getStat().isCreatedBySelf()}, LeaderElectionImpl.elect",
        fair=True,
        b=broker,
        only_if=retakes,
    )
    def find_former(b: int) -> Outcome:
        """The broker finds its own value from another session, which may be about to expire: it will delete it first."""
        guard = And(store.reaches(b), stage[b] == "looking", Not(leader.absent), takes_for_former(b))
        return guard, unless_shut(b, {stage[b]: "retaking", **leader.learnt(b)})

    @p.step(
        by="b",
        hears="store",
        mirrors="LeaderElectionImpl.handleExistingLeaderValue {!existingValue.equals(value) && "
        "!res.getStat().isCreatedBySelf()}, LeaderElectionImpl.changeState, LeaderElectionImpl.elect",
        fair=True,
        b=broker,
    )
    def find_other(b: int) -> Outcome:
        """The broker finds the node of another: it follows."""
        of_another = And(Not(leader.absent), Not(leader.is_own(b)), Not(takes_for_former(b)))
        return And(store.reaches(b), stage[b] == "looking", of_another), unless_shut(b, settled(b, "following"))

    @p.rule
    def is_free() -> Condition:
        """The node is created only if it is absent."""
        return leader.absent

    is_free.instead("creates_blindly", lambda: True)

    @p.step(by="b", mirrors="LeaderElectionImpl.tryToBecomeLeader", fair=True, b=broker)
    def propose(b: int) -> Outcome:
        """The node is created, if it is absent: expected version -1. BadVersion means that another was faster: look again.

        Who has created it leads, or up to 4.0.8 reads it first; with etcd and Oxia the answer to the creation may come after
        later notifications.
        """
        answered: Updates = {stage[b]: "confirming"} if waits else {**over(b), role[b]: "leading", cached[b]: b}
        if goes_on:
            answered = updates_if(shut[b], {stage[b]: "withdrawing"}, answered)
        created = merged(answered, leader.created(b), leader.learnt(b))
        again = unless_shut(b, elects_anyhow(b))
        return And(store.reaches(b), stage[b] == "proposing"), updates_if(is_free(), created, again)

    @p.step(
        by="b",
        hears="store",
        mirrors="LeaderElectionImpl.tryToBecomeLeader, MetadataCacheImpl.get",
        fair=True,
        b=broker,
        only_if=waits,
    )
    def confirm(b: int) -> Outcome:
        """The read that sets the watch has come back, whatever it says, or the answer to the creation: the broker leads."""
        confirmed = settled(b, "leading") | ({} if reads else {cached[b]: b})
        if fixed:
            is_own = leader.is_own(b)
            confirmed |= {stage[b]: If(is_own, confirmed[stage[b]], "looking"), role[b]: If(is_own, "leading", role[b])}
        return And(store.reaches(b), stage[b] == "confirming"), confirmed

    def failed(b: int) -> Updates:
        """An election that fails is to be tried again, unless it is closed."""
        waiting: Updates = {stage[b]: "waiting"}
        ends = updates_if(shut[b], {stage[b]: "closed", **opened(b)}, waiting) if goes_on else waiting
        return unless_the_first(b, ends)

    def unless_the_first(b: int, ends: Updates) -> Updates:
        """An election fails so; but on the first of the two that a new session begins the second follows."""
        if not p.has("failure_not_retried"):
            return ends
        follows = begun[b] == "session" if p.has("closed_elects_again") else And(begun[b] == "session", Not(is_shut(b)))
        return updates_if(follows, {**looks_again(b), begun[b]: "event"}, ends)

    @p.step(by="b", mirrors="LeaderElectionImpl.handleExistingLeaderValue", fair=True, b=broker, only_if=retakes)
    def retake(b: int) -> Outcome:
        """The node is deleted, if its version is still the one seen, and the broker proposes itself; NotFound is a failure.

        The node is never written, so that where versions begin again it has 0: whoever created it meanwhile, it is deleted.
        """
        deleted = has_known_version(b)
        outcome = updates_if(deleted, unless_shut(b, {stage[b]: "proposing"}), failed(b))
        return And(store.reaches(b), stage[b] == "retaking"), merged(leader.vanished(deleted), outcome)

    @p.step(
        by="b",
        to="store",
        mirrors="LeaderElectionImpl.tryToBecomeLeader {!(internalState == InternalState.ElectionInProgress)}",
        fair=True,
        b=broker,
        only_if=goes_on,
    )
    def withdraw(b: int) -> Outcome:
        """A broker that has created the node, and was closed meanwhile, deletes it by its version."""
        return And(store.reaches(b), stage[b] == "withdrawing"), merged(
            leader.vanished(has_known_version(b)), unless_the_first(b, {stage[b]: "closed", **opened(b)})
        )

    @p.rule
    def is_retried(b: int) -> Condition:
        """An election that failed is tried again."""
        return stage[b] == "waiting"

    is_retried.instead("failure_not_retried", lambda b: And(stage[b] == "waiting", begun[b] == "deletion"))

    @p.rule
    def begun_by_deletion(b: int, acts: Condition) -> Updates:
        """What an election that a deletion begins is remembered for: nothing."""
        return {}

    begun_by_deletion.instead("failure_not_retried", lambda b, acts: {begun[b]: If(acts, "deletion", begun[b])})

    @p.step(
        by="b",
        mirrors="LeaderElectionImpl.handlePathNotification",
        fair=True,
        b=broker,
        only_if=disconnects or expiries or retakes or goes_on,
    )
    def try_again(b: int) -> Outcome:
        """Five seconds after a failure the election begins again."""
        again = looks_again(b)
        if goes_on:
            again = unless_shut(b, updates_if(shut[b], again | elects_anyhow(b), again))
        return And(store.lives[b], is_retried(b)), again

    @p.step(
        by="b",
        mirrors="LeaderElectionService.start, PulsarService.start",
        fair=True,
        b=broker,
        only_if=p.has("failure_not_retried"),
    )
    def fail_to_start(b: int) -> Outcome:
        """The first election of a process has failed, which waits for it as it starts: it ends."""
        return And(store.lives[b], stage[b] == "waiting", begun[b] == "start"), merged(store.died(b), at_start(b))

    @p.step(
        by="b",
        hears="store",
        mirrors="LeaderElectionImpl.handlePathNotification {notification.getType() == NotificationType.Deleted}, "
        "MetadataCacheImpl.accept",
        fair=True,
        b=broker,
    )
    def hear_of_deletion(b: int) -> Outcome:
        """A notification says that the node was deleted. A broker whose election is settled begins another one.

        While one is under way the notification is ignored, except for the cache of 4.0.8, which forgets the value.
        """
        acts = stage[b] == "settled"
        keeps = False if reads else Not(acts)
        return And(store.hears(b), leader.deleted[b]), merged(
            leader.unheard(b),
            begun_by_deletion(b, acts),
            {
                stage[b]: If(acts, "looking", stage[b]),
                role[b]: If(acts, "no_leader", role[b]),
                cached[b]: If(keeps, cached[b], NOBODY),
            },
        )

    # --- requests that fail, or whose outcome is not heard of

    @p.fault(
        by="b",
        mirrors="ZKMetadataStore.batchOperation, LeaderElectionImpl.tryToBecomeLeader",
        spends="disconnects",
        b=broker,
    )
    def creation_unheard(b: int) -> Outcome:
        """The node is created as the connection breaks; the request will be sent again, unless the broker looks before."""
        reaches, updates = store.lost_answer(b, leader.created(b))
        return And(reaches, stage[b] == "proposing", leader.absent), updates

    @p.fault(
        by="b",
        mirrors="ZKMetadataStore.batchOperation, LeaderElectionImpl.handleExistingLeaderValue",
        spends="disconnects",
        b=broker,
        only_if=retakes,
    )
    def deletion_unheard(b: int) -> Outcome:
        """The node of the former session is deleted as the connection breaks; the request will be sent again, as above."""
        deleted = has_known_version(b)
        reaches, updates = store.lost_answer(b, leader.vanished(deleted))
        return And(reaches, stage[b] == "retaking", deleted), updates

    @p.step(
        by="b",
        mirrors="LeaderElectionImpl.handleSessionNotification, LeaderElectionImpl.handlePathNotification",
        b=broker,
        only_if=disconnects or expiries,
    )
    def fail(b: int) -> Outcome:
        """A request of an election fails for want of a session, or of a connection if the store carries it out alone."""
        return And(store.lives[b], store.link[b] != "connected", stage[b].among(*UNDER_WAY)), failed(b)

    # --- shutting down, as LeaderElectionImpl.asyncClose has it, and PulsarService.closeAsync around it

    @p.rule
    def closed(b: int) -> Updates:
        """The broker gives up what it has asked for; since 5.0.1 that is answered yet, and the answer leads to nothing."""
        return goes_on_closed(b) if looks else {stage[b]: "closed"}

    def goes_on_closed(b: int) -> Updates:
        """What the broker has asked for is answered yet, and the deletion of the node, if it believes to lead, is under way."""
        under_way = stage[b].among(*UNDER_WAY, "waiting")
        deletes = {gives_back[b]: Or(gives_back[b], role[b] == "leading")}
        return {stage[b]: If(under_way, stage[b], "closed"), shut[b]: under_way, **deletes}

    if reopened:
        closed.instead("closed_goes_on", goes_on_closed)

    @p.fault(by="b", mirrors="LeaderElectionImpl.asyncClose, LeaderElectionService.close", spends="closes", b=broker)
    def start_closing(b: int) -> Outcome:
        """The broker shuts down. It takes part in no election any more, and deletes the node if it believes to lead."""
        return And(store.lives[b], Not(closing[b])), {closing[b]: True, **closed(b)}

    @p.step(
        by="b",
        mirrors="CoordinationServiceImpl.close, LeaderElectionImpl.asyncClose",
        fair=True,
        b=broker,
        only_if=reopens,
    )
    def close_again(b: int) -> Outcome:
        """What was closed and has elected again is closed once more, with all that coordinates the broker."""
        return And(store.lives[b], closing[b], Not(is_shut(b))), closed(b)

    def gives_up_the_node(b: int) -> Condition:
        """The formula: the deletion of the node by a broker that shuts down is under way."""
        return gives_back[b] if goes_on else And(stage[b] == "closed", role[b] == "leading")

    def meant(b: int) -> Truth:
        """The formula: the deletion of the node by a broker that shuts down takes effect on the node that is there."""
        if fixed:
            return leader.is_own(b)
        created = leader.version == 0 if store.kind.reuses_versions else leader.has_version(b, 0)
        return True if close == "unconditional" else created

    def deletion_is_out(b: int) -> Condition:
        """The formula: the request by which a broker that shuts down deletes the node is out."""
        return And(gives_up_the_node(b), found[b]) if looks else gives_up_the_node(b)

    def given_back(b: int) -> Updates:
        """The closing of a broker that led is over."""
        besides = {found[b]: False, gives_back[b]: False} if looks else {}
        return {role[b]: "no_leader", cached[b]: NOBODY, **besides}

    @p.step(
        by="b",
        hears="store",
        mirrors="LeaderElectionImpl.asyncClose {!optRes.isEmpty() && optRes.get().getStat().isCreatedBySelf()}",
        fair=True,
        b=broker,
        only_if=looks,
    )
    def look_at_close(b: int) -> Outcome:
        """A leader that shuts down looks whether the node is of its session; if it is, it will delete it."""
        looked = updates_if(leader.is_own(b), {found[b]: True}, given_back(b))
        return And(store.reaches(b), gives_up_the_node(b), Not(found[b])), looked

    @p.step(
        by="b",
        mirrors="LeaderElectionImpl.asyncClose {!(leaderElectionState != LeaderElectionState.Leading)}",
        fair=True,
        b=broker,
        only_if=closes,
    )
    def delete_at_close(b: int) -> Outcome:
        """A leader that shuts down deletes the node: unconditionally, because the version is never remembered; or, since 5.0.1,
        by the version that it has just read.

        Nor does it know of a leader then: up to 4.0.8 AbstractMetadataStore.delete takes it from the caches. (A deletion that
        finds no node fails, and upstream role and leader stay as they were; here the closing is over, and so are they, except
        with ``closed_goes_on``.)
        With the version remembered it is the same where versions begin again: a new node has the version of the old one.
        """
        over = given_back(b)
        if goes_on and not looks:
            over = {**updates_if(leader.absent, {}, over), gives_back[b]: False}
        return And(store.reaches(b), deletion_is_out(b)), merged(leader.vanished(meant(b)), over)

    @p.fault(
        by="b",
        mirrors="ZKMetadataStore.batchOperation, LeaderElectionImpl.asyncClose",
        spends="disconnects",
        b=broker,
        only_if=closes and p.has("deletion_sent_again"),
    )
    def deletion_at_close_unheard(b: int) -> Outcome:
        """The node is deleted as the connection breaks; the request will be sent again, whoever has the node by then."""
        reaches, updates = store.lost_answer(b, leader.vanished(meant(b)))
        return And(reaches, deletion_is_out(b), Not(leader.absent), meant(b)), updates

    @p.step(by="b", mirrors="PulsarService.closeAsync, ZKMetadataStore.close", fair=True, b=broker, only_if=closes)
    def end(b: int) -> Outcome:
        """The process ends and closes its session; a leader that reaches the store has deleted the node before."""
        done = Or(Not(gives_up_the_node(b)), Not(store.reaches(b)))
        return And(store.lives[b], is_shut(b), done), store.ended(b) | at_start(b)

    declare_lookup(p, store, stage=stage, role=role, cached=cached, lookups=lookups, snapshot=reads)

    @p.step(
        by="b",
        mirrors="MetadataCacheImpl.getIfCached, LeaderElectionImpl.getLeaderValueIfPresent",
        b=broker,
        only_if=p.has("leader_value_expires"),
    )
    def forget_leader(b: int) -> Outcome:
        """The cached value has expired."""
        return And(stage[b] == "settled", cached[b] != NOBODY), {cached[b]: NOBODY}

    return p
