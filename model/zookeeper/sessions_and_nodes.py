"""The metadata store as its clients meet it: sessions that expire, ephemeral nodes, notifications that come late.

Mirrors ZooKeeper as read in the sources of ZooKeeper 3.9.5, behind the library that a system reaches it with: which methods of
that are mirrored, and how another store differs, says a ``Store``. The protocols of Pulsar's control plane and Kafka's
controller are composed of these pieces.

What a client does to the store takes effect in one step, and it hears the answer in that step. A request whose outcome it
never learns is one that took effect as its connection broke: ``lost_answer`` makes such a fault of any request. Notifications
name a node and no value. Several of one node that a client has not handled yet count as one, because a client that handles
them looks at the node as it is by then. A client hears of its own changes too. What changes while it is cut off it never
hears of: persistent watches are set again on reconnection, and are not caught up.

A process that ends without closing its session leaves it to the server, which lets it expire later. If the process is back
before, the nodes of its former session are still there under its name. Several former sessions of one client expire together.
A session of a process that lives expires only as a fault: the process was paused or cut off for longer than the timeout.
Until it learns of that it is a zombie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, overload
from typing import Protocol as Protocol_

from fencepost.model.language import (
    ABSENT,
    And,
    Choice,
    Condition,
    Family,
    If,
    ModelError,
    Not,
    Number,
    Or,
    Outcome,
    Protocol,
    Truth,
    Universe,
    Updates,
)
from fencepost.model.language.effects import is_same
from fencepost.model.nobody import NOBODY, Nobody
from fencepost.model.zookeeper.store import Store

Link = Literal["connected", "suspended", "lost"]
LINK: tuple[Link, ...] = get_args(Link)


def merged(*parts: Updates) -> Updates:
    """The updates of several pieces as one. Raises ModelError if two of them give one variable different values; where the
    later one is to count, write ``earlier | later``."""
    whole: Updates = {}
    for part in parts:
        for variable, value in part.items():
            if variable in whole and not is_same(whole[variable], value):
                raise ModelError(f"{variable} gets two values: {whole[variable]} and {value}")
            whole[variable] = value
    return whole


def updates_if(condition: Truth, then: Updates, otherwise: Updates) -> Updates:
    """The updates that are ``then`` where the condition holds, and ``otherwise`` where it does not."""
    return {v: If(condition, then.get(v, v), otherwise.get(v, v)) for v in {**then, **otherwise}}


def _nothing(c: int) -> Updates:
    """What a client does of which it is not told."""
    return {}


class Sessions:
    """The sessions of the clients of one metadata store, and the faults that befall them.

    ``disconnects``, ``expiries`` and ``crashes`` bound how often a client loses its connection, how often the session of a
    live client expires, and how often a process dies. ``ends`` says that a process may end otherwise, too. ``kind`` is what the
    store differs in from others.
    """

    def __init__(
        self,
        p: Protocol,
        client: Universe,
        *,
        disconnects: int,
        expiries: int,
        crashes: int,
        ends: bool = False,
        kind: Store,
    ) -> None:
        self.protocol, self.client, self.kind = p, client, kind
        self.disconnects, self.expiries = disconnects > 0, expiries > 0
        self.ends = ends or crashes > 0
        self.gives_up = disconnects > 0 and kind.renews
        self.leaves_sessions = not kind.in_process and (crashes > 0 or (ends and disconnects > 0) or self.gives_up)
        self.lives = p.flag("lives", per=client, init=True)
        self.link = p.choice("link", LINK, per=client)
        self.session = p.flag("session", per=client, init=True)
        self.former = p.flag("former_session", per=client)
        self.elsewhere: Sequence[Condition] = ()
        """Of each client the formula that it uses another store; empty where there is no other."""
        self.nodes: list[Iterable[Ephemeral]] = []
        self.watched: list[Watched] = []
        p.budget("disconnects", disconnects)
        p.budget("expiries", expiries)
        p.budget("crashes", crashes)

    def reaches(self, c: int) -> Condition:
        """The formula: a request of the client is carried out and answered.

        Whatever a client asks of the store needs this; what it does by itself needs only that its process ``lives``.
        """
        return And(self.lives[c], self.link[c] == "connected", self.session[c], self.is_used(c))

    def is_used(self, c: int) -> Truth:
        """The formula: the client uses this store."""
        return Not(self.elsewhere[c]) if self.elsewhere else True

    def hears(self, c: int) -> Condition:
        """The formula: what there is to be heard of reaches the client."""
        return And(self.lives[c], self.link[c] == "connected") if self.kind.catches_up else self.lives[c]

    def will_hear(self, c: int) -> Condition:
        """The formula: the client hears of what happens now, at once or when it is back."""
        return self.lives[c] if self.kind.catches_up else self.reaches(c)

    def is_zombie(self, c: int) -> Condition:
        """The formula: the process goes on and its session is gone."""
        return And(self.lives[c], Not(self.session[c]))

    def _every_node(self) -> Iterator[Ephemeral]:
        for nodes in self.nodes:
            yield from nodes

    def _gone(self, c: int, *, former: bool) -> Updates:
        """The nodes of a session of the client vanish with it."""
        return merged(*(node.gone_with(c, former=former, unheard_by=None if former else c) for node in self._every_node()))

    def _become_former(self, c: int) -> Updates:
        """The nodes that the client created before belong to a former session from now on."""
        return merged(*(node.becomes_former(c) for node in self._every_node()))

    def _unheard(self, c: int) -> Updates:
        """What the client has not heard of by now it will never hear of."""
        return merged(*(node.unheard(c) for node in self._every_node()), *(node.unheard(c) for node in self.watched))

    def died(self, c: int) -> Updates:
        """The process ends. The store does not know, and keeps its session for now, unless it ends with the process."""
        ended = {self.lives[c]: False, self.link[c]: "lost", **self._unheard(c)}
        if not self.kind.in_process:
            return ended
        return merged(self._gone(c, former=False), ended, {self.session[c]: False})

    def ended(self, c: int) -> Updates:
        """The process ends and closes its session, with all its nodes, if the store can be reached, and hears nothing of it."""
        closed = self.reaches(c)
        gone = merged(*(node.gone_with(c, closed, unheard_by=c) for node in self._every_node()))
        return gone | self.died(c) | {self.session[c]: And(self.session[c], Not(closed))}

    def lost_answer(self, c: int, effect: Updates) -> tuple[Condition, Updates]:
        """Guard and updates of a request that takes effect while the client loses its connection: it never hears of that."""
        return self.reaches(c), merged(effect, {self.link[c]: "suspended"})

    def declare(
        self,
        *,
        at_start: Callable[[int], Updates],
        on_lost: Callable[[int], Updates],
        on_reconnected: Callable[[int], Updates],
        on_reestablished: Callable[[int], Updates],
        listener: str = "",
        keeps_going: bool = True,
        may_reopen: Callable[[int], Truth] = lambda c: True,
    ) -> None:
        """Declares what can happen to sessions; each argument says what it means to the client's own variables.

        ``at_start`` is how a process begins, and all that is left of one that has ended. ``listener`` is the client's method
        that is told when a connection is back, as ``mirrors`` names it. ``keeps_going`` is false of clients that end when they
        take their session for lost, and ``may_reopen`` is the formula that a client can open a session. Where the store does
        not tell of sessions only ``at_start`` counts.
        """
        p, client = self.protocol, self.client
        lives, link, session, former = self.lives, self.link, self.session, self.former
        if not self.kind.tells:
            on_lost = on_reconnected = on_reestablished = _nothing

        expires, methods = "ZooKeeperServer.expire, DataTree.killSession", self.kind.methods

        def mirrors(library: str) -> str:
            return ", ".join(filter(None, (library, listener)))

        @p.fault(
            by="c",
            mirrors=methods.disconnect,
            spends="disconnects",
            c=client,
            arrived=range(2),
            only_if=lambda c, arrived: arrived or not self.kind.catches_up,
        )
        def disconnect(c: int, arrived: int) -> Outcome:
            """The client loses its connection: ConnectionLost. Notifications under way have arrived by then, or never will."""
            unheard = {} if arrived else self._unheard(c)
            return And(lives[c], link[c] == "connected"), merged({link[c]: "suspended"}, unheard)

        @p.step(
            by="c",
            mirrors=methods.lose,
            c=client,
            only_if=self.disconnects and self.kind.times_out,
        )
        def lose(c: int) -> Outcome:
            """By its own clock, at 5/6 of the timeout, the client takes its session for lost: SessionLost."""
            return And(lives[c], link[c] == "suspended"), merged({link[c]: "lost"}, on_lost(c))

        @p.step(by="c", mirrors=mirrors(methods.reconnect), fair=True, c=client, only_if=self.disconnects)
        def reconnect(c: int) -> Outcome:
            """The connection is back and the session was never given up: Reconnected."""
            return And(lives[c], link[c] == "suspended", session[c]), merged({link[c]: "connected"}, on_reconnected(c))

        @p.step(
            by="c",
            mirrors=mirrors(methods.resume),
            fair=True,
            c=client,
            only_if=self.disconnects and self.kind.times_out and keeps_going,
        )
        def resume(c: int) -> Outcome:
            """The connection is back and the session that the client gave up is still there: SessionReestablished.

            With etcd it has a new session from then on, and the one that it gave up is a former one.
            """
            renewed = merged(self._become_former(c), {former[c]: True}) if self.gives_up else {}
            back = {link[c]: "connected"}
            return And(lives[c], link[c] == "lost", session[c]), merged(renewed, back, on_reestablished(c))

        @p.fault(by="store", mirrors=expires, spends="expiries", c=client)
        def expire(c: int) -> Outcome:
            """The store has heard nothing of a live client for longer than the timeout: its session and its nodes go."""
            return And(lives[c], session[c]), merged(self._gone(c, former=False), {session[c]: False})

        @p.step(
            by="c",
            hears="store",
            mirrors=methods.learn_of_expiry,
            fair=True,
            c=client,
            only_if=self.expiries,
        )
        def learn_of_expiry(c: int) -> Outcome:
            """A client whose session has expired hears so from the store: SessionLost."""
            return And(self.is_zombie(c), link[c] != "lost"), merged({link[c]: "lost"}, on_lost(c))

        @p.step(
            by="c",
            mirrors=mirrors(methods.reestablish),
            fair=True,
            c=client,
            only_if=self.expiries and keeps_going,
        )
        def reestablish(c: int) -> Outcome:
            """A client whose session is gone opens a new one: SessionReestablished."""
            opened = {link[c]: "connected", session[c]: True}
            return And(self.is_zombie(c), link[c] == "lost", may_reopen(c)), merged(opened, on_reestablished(c))

        if "event_lost" in p.bugs:

            @p.step(
                by="c",
                mirrors=methods.reestablish_unheard,
                c=client,
                only_if=self.expiries and keeps_going and p.has("event_lost"),
            )
            def reestablish_unheard(c: int) -> Outcome:
                """A client whose session is gone opens a new one, and its listeners hear of it neither now nor later."""
                return And(self.is_zombie(c), link[c] == "lost"), {link[c]: "connected", session[c]: True}

        @p.fault(by="c", spends="crashes", c=client)
        def crash(c: int) -> Outcome:
            """The process dies."""
            return lives[c], merged(self.died(c), at_start(c))

        @p.step(by="c", mirrors=methods.start, fair=True, c=client, only_if=self.ends)
        def restart(c: int) -> Outcome:
            """The process is started again, with a new session, perhaps before the former one has expired."""
            left = merged(self._become_former(c), {former[c]: Or(former[c], session[c])})
            begun = {lives[c]: True, link[c]: "connected", session[c]: True}
            return Not(lives[c]), merged(begun, left if self.leaves_sessions or self.kind.in_process else {}, at_start(c))

        @p.step(by="store", mirrors=expires, fair=True, c=client, only_if=self.leaves_sessions and self.ends)
        def expire_dead(c: int) -> Outcome:
            """The session of a process that has died expires, with its nodes."""
            return And(Not(lives[c]), session[c]), merged(self._gone(c, former=False), {session[c]: False})

        @p.step(by="store", mirrors=expires, fair=True, c=client, only_if=self.leaves_sessions)
        def expire_former(c: int) -> Outcome:
            """The session of a process that has been started again expires, with its nodes."""
            return former[c], merged(self._gone(c, former=True), {former[c]: False})


class EphemeralNode:
    """One ephemeral node: who created it, whether in a former session, its version, and its deletions not yet heard of.

    Its value names its creator, as Pulsar's leader and owner nodes do, so that ``holder`` is both. ``marks`` are flags that
    its value carries besides. The version is 0 at creation and rises by one with each write, up to ``writes``. In a store that
    reuses no version this one counts within a creation, and ``knows_version`` says of each client whether the version that
    it knows is of the node that is there. Of a node without ``deleted`` nobody is told that it is gone.
    """

    def __init__(
        self,
        sessions: Sessions,
        holder: Choice[int | Nobody],
        former: Condition,
        version: Number,
        marks: Mapping[str, Condition],
        deleted: Family[Condition] | Sequence[Condition] = ABSENT,
        knows_version: Family[Condition] | Sequence[Condition] = ABSENT,
        heard: str = "deletion",
    ) -> None:
        self.holder, self.former, self.version = holder, former, version
        self.marks, self.deleted, self.knows_version = marks, deleted, knows_version
        self._sessions, self._tells_creations = sessions, heard == "change"

    @overload
    @classmethod
    def declare(
        cls, sessions: Sessions, name: str, *, writes: int = 0, marks: Sequence[str] = (), heard: str = "deletion"
    ) -> EphemeralNode: ...
    @overload
    @classmethod
    def declare(
        cls,
        sessions: Sessions,
        name: str,
        per: Universe,
        *,
        writes: int = 0,
        marks: Sequence[str] = (),
        heard: str = "deletion",
    ) -> Sequence[EphemeralNode]: ...
    @classmethod
    def declare(
        cls,
        sessions: Sessions,
        name: str,
        per: Universe | None = None,
        *,
        writes: int = 0,
        marks: Sequence[str] = (),
        heard: str = "deletion",
    ) -> EphemeralNode | Sequence[EphemeralNode]:
        """The variables of one node; or of one for each member of a universe, to be indexed by it or gone through.

        ``heard`` is what clients hear of: a ``deletion``, or every ``change``, which a creation is, too.
        """
        p, client = sessions.protocol, sessions.client
        index = () if per is None else (per,)
        holder: Any = p.choice(f"{name}_holder", client, per=index, none=NOBODY)
        former: Any = p.flag(f"{name}_former", per=index)
        version: Any = p.number(f"{name}_version", 0, writes, per=index)
        flags: dict[str, Any] = {mark: p.flag(f"{name}_{mark}", per=index) for mark in marks}
        deleted = p.flag(f"{name}_{heard}", per=(*index, client))
        knows: Family[Condition] = (
            ABSENT if sessions.kind.reuses_versions else p.flag(f"{name}_knows_version", per=(*index, client))
        )

        def by_client(flag: Family[Condition], i: int) -> Sequence[Condition]:
            return ABSENT if flag is None else client.each(lambda c: flag[i, c])

        if per is None:
            node = cls(sessions, holder, former, version, flags, deleted, knows, heard)
            sessions.nodes.append([node])
            return node

        def node_of(i: int) -> EphemeralNode:
            marked = {mark: flag[i] for mark, flag in flags.items()}
            return cls(sessions, holder[i], former[i], version[i], marked, by_client(deleted, i), by_client(knows, i), heard)

        nodes = per.each(node_of)
        sessions.nodes.append(nodes)
        return nodes

    @property
    def absent(self) -> Condition:
        """The formula: there is no such node."""
        return self.holder == NOBODY

    def is_held(self, c: int, *, former: bool) -> Condition:
        """The formula: the node is the client's, of its present or of a former session."""
        return And(self.holder == c, self.former if former else Not(self.former))

    def is_own(self, c: int) -> Condition:
        """The formula: the node was created in the client's present session (Stat.isCreatedBySelf)."""
        return self.is_held(c, former=False)

    def has_version(self, c: int, version: Number | int) -> Condition:
        """The formula: the node is there, and has the version that the client knows."""
        fits = And(Not(self.absent), self.version == version)
        return fits if self.knows_version is None else And(self.knows_version[c], fits)

    def learnt(self, c: int, known: Truth = True) -> Updates:
        """The version that the client knows is of this node; or it knows none that is."""
        return {} if self.knows_version is None else {self.knows_version[c]: known}

    def created(self, c: int, **marks: Condition) -> Updates:
        """The client creates the node (put with expected version -1), where it is absent."""
        will_hear, hearers = self._sessions.will_hear, self._sessions.client if self._tells_creations else ()
        heard = {self.deleted[o]: Or(self.deleted[o], will_hear(o)) for o in hearers}
        marked = {self.marks[m]: value for m, value in marks.items()}
        return {self.holder: c, self.former: False, self.version: 0, **marked, **heard}

    def written(self, **marks: bool) -> Updates:
        """The node is written, and its version rises."""
        return {self.version: self.version + 1, **{self.marks[m]: value for m, value in marks.items()}}

    def vanished(self, *conditions: Truth, unheard_by: int | None = None) -> Updates:
        """The node is deleted where the conditions hold, and all who watch will hear of it, except for one perhaps."""
        goes = And(*conditions, Not(self.absent))
        client, will_hear = self._sessions.client, self._sessions.will_hear
        hearers = client if unheard_by is None or self._sessions.kind.catches_up else client.but(unheard_by)
        unknown = (
            {} if self.knows_version is None else {self.knows_version[c]: And(self.knows_version[c], Not(goes)) for c in client}
        )
        listeners = () if self.deleted is None else hearers
        heard = {self.deleted[c]: Or(self.deleted[c], And(goes, will_hear(c))) for c in listeners}
        return {
            self.holder: If(goes, NOBODY, self.holder),
            self.version: If(goes, 0, self.version),
            **{flag: And(flag, Not(goes)) for flag in (self.former, *self.marks.values())},
            **unknown,
            **heard,
        }

    def gone_with(self, c: int, *conditions: Truth, former: bool = False, unheard_by: int | None = None) -> Updates:
        """The node goes with a session of the client, if that has it, where the conditions hold."""
        return self.vanished(*conditions, self.is_held(c, former=former), unheard_by=unheard_by)

    def becomes_former(self, c: int) -> Updates:
        """What the client created before belongs to a former session from now on."""
        return {self.former: Or(self.former, self.holder == c)}

    def unheard(self, c: int) -> Updates:
        """The client will not hear of deletions so far."""
        return {self.deleted[c]: False}


class PersistentNode:
    """One node that outlives its creator, with its version and its changes not yet heard of; its value is its user's matter.

    The version is 0 at first and rises by one with each write, up to ``writes``; ``is_countable`` is the formula that it can.
    """

    def __init__(self, sessions: Sessions, name: str, *, writes: int) -> None:
        p, client = sessions.protocol, sessions.client
        self.version = p.number(f"{name}_version", 0, writes)
        self.changed = p.flag(f"{name}_change", per=client)
        self.is_countable = self.version < writes
        self._sessions = sessions
        sessions.watched.append(self)

    def written(self, c: int) -> Updates:
        """The client writes the node: its version rises, and all others who watch will hear of it.

        Where the store catches up the client hears of it, too, which matters if it never hears the answer.
        """
        others = [other for other in self._sessions.client if other != c or self._sessions.kind.catches_up]
        heard = {self.changed[other]: Or(self.changed[other], self._sessions.will_hear(other)) for other in others}
        return {self.version: self.version + 1, **heard}

    def unheard(self, c: int) -> Updates:
        """The client will not hear of changes so far."""
        return {self.changed[c]: False}


class Ephemeral(Protocol_):
    """What goes with the session in which a client created it."""

    def gone_with(self, c: int, *conditions: Truth, former: bool = False, unheard_by: int | None = None) -> Updates:
        """What the client created in its present session, or in a former one, goes where the conditions hold."""

    def becomes_former(self, c: int) -> Updates:
        """What the client created before belongs to a former session from now on."""

    def unheard(self, c: int) -> Updates:
        """The client will not hear of changes so far."""


class Watched(Protocol_):
    """What a client hears changes of, as long as it is not cut off."""

    def unheard(self, c: int) -> Updates:
        """The client will not hear of changes so far."""
