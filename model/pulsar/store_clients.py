"""Clients of the metadata store, and nothing else: they create ephemeral nodes, read, write and delete them.

Election, ownership, unload, split and the channel of service units are composed of the pieces in sessions_and_nodes.py. Here
the pieces are alone, so that what is said of them is checked, and held against the real store, whoever uses them.

Mirrors AbstractMetadataStore, ZKMetadataStore, ZKSessionWatcher and PulsarZooKeeperClient as read in Pulsar 4.0.8, 4.2.4 and
5.0.0-M1, and the store that ``metadata_store`` names.

A client has one request for a path at a time. What it asks for waits until it is carried out and answered, in one step; what
it is told last of a path it knows: whose node is there, whether that is of its own present session (Stat.isCreatedBySelf), and
with which version. It forgets that where it hears of a deletion and where a connection or a session is back, as what is built
on the store does with its caches. A deletion names the version that the client knows, and whoever knows a node may delete it:
locks delete by version what others may have created again.

Reads are those of AbstractMetadataStore.get. What ``exists`` and ``getChildren`` answer comes from caches of the store, of
which elections, and what acquires and releases locks, make no use.

Not modelled: reads from a server that lags behind, values of nodes, children of nodes, sequential nodes, transactions of
several requests, events of ZooKeeper handles that were replaced (ZKSessionWatcher.process), a server that is read-only;
docs/explanation/deviations.md says of each what that leaves out.

Constants
    clients              clients of the store
    paths                paths for whose nodes they fight
    writes               times that a node may be written after its creation
    changes              times that the lasting node may be written; without, there is none
    disconnects          times that a client loses its connection, or the answer to a request with it
    expiries             times that the session of a live client expires
    crashes              times that a client dies
    metadata_store       the store by the scheme of its URL: zk, etcd, oxia, rocksdb or memory

Variables of sessions (zookeeper/sessions_and_nodes.py)
    lives                its process runs
    link                 its connection as it takes it: connected, suspended, or lost, when it has given its session up
    session, former_session
                         the store has its session; and one of its process before a restart

Variables of the store, of each path
    node_holder          who created the node, and so whom its value names; nobody if there is none
    node_former, node_version
                         it is of a former session of that client; its version, 0 when it is created, one more with each
                         write
    node_deletion        of each a notification of its deletion is on its way
    node_knows_version   of each the version that it knows is of the node that is there. Only with Oxia

Variables of each client and path
    request              what is asked for: creating, reading, deleting; or what the last request was answered: done,
                         bad_version, not_found, failed with the session; or none
    knows                whose node the client was told of, or nobody
    mine                 whether it was told that the node is of its present session (Stat.isCreatedBySelf)
    known_version        the version that it was told

Variables of the lasting node, and of each client that uses it
    lasting_version      its version: 0 at first, one more with each write
    lasting_change       whether a notification of a change is on its way
    change               what is asked for: looking, changing; or what the last request was answered, as above
    saw                  the version that it knows; -1 for none

Variables that count
    disconnects, expiries, crashes
                         how often each event has happened, up to the constant of that name

Actions of sessions (zookeeper/sessions_and_nodes.py)
    disconnect, lose, reconnect, resume
                         a fault: its connection breaks; it takes its session for lost by its own clock; it is back before
                         that; after it, and the session is still there
    expire, learn_of_expiry, reestablish
                         a fault: the store drops the session of a process that lives, with its nodes; it hears so; it opens
                         a new one
    crash, restart       a fault: its process ends; it is started again, with a new session
    expire_dead, expire_former
                         the session of a process that has ended expires, with its nodes; and one from before a restart

Actions of clients
    reestablish_unheard  opens a new session, and nobody is told. Only with the bug event_lost
    ask_to_create, ask_to_read, ask_to_delete
                         it asks. It creates only where it knows of no node, and deletes only what it knows
    create               the node is created, or there is one: BadVersion
    read                 it is told what is there
    delete               the node goes, if it has the version; otherwise BadVersion, or NotFound if there is none
    write                it writes its own node, whose version rises
    fail                 a request is answered that the session is gone
    creation_unheard, deletion_unheard
                         a fault: the request takes effect as the connection breaks. It will be sent again
    hear_of_deletion     it handles a notification: what it knew it knows no more, unless it is about to delete it
    ask_to_look, ask_to_change
                         it asks for the lasting node. It writes only what it knows the version of
    look                 it is told the version
    write_lasting        the node is written, if it has the version; otherwise BadVersion
    write_unheard        a fault: it is written as the connection breaks. The request will be sent again, and meets
                         the client's own write
    fail_to_change       a request for it is answered that the session is gone
    hear_of_change       it handles a notification that another has written the node: it knows no version any more,
                         unless it is about to write

The properties are in ``properties/metadata_store/suite.py``. ``BUGS`` has a line for each bug and weakening,
``properties/metadata_store/bugs.toml`` the releases that have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from fencepost.model.language import And, Condition, If, ModelError, Not, Outcome, Protocol, Updates
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.shared_bugs import SHARED
from fencepost.model.pulsar.store_changes import LastingNode
from fencepost.model.pulsar.stores import stated, store_named
from fencepost.model.zookeeper.sessions_and_nodes import EphemeralNode, Sessions, merged, updates_if

Out = Literal["creating", "reading", "deleting"]
OUT: tuple[Out, ...] = get_args(Out)
Request = Literal["none", Out, "done", "bad_version", "not_found", "failed"]
REQUESTS: tuple[Request, ...] = get_args(Request)

BUGS = {
    "creates_blindly": SHARED["creates_blindly"],
    "deleted_without_version": "a deletion takes effect on a node of whichever version",
    "cache_kept_on_disconnect": SHARED["cache_kept_on_disconnect"],
    "event_lost": SHARED["event_lost"],
}


def metadata_store(
    *,
    clients: int = 2,
    paths: int = 1,
    writes: int = 0,
    changes: int = 0,
    disconnects: int = 0,
    expiries: int = 0,
    crashes: int = 0,
    metadata_store: str = "zk",
    bugs: Iterable[str] = (),
) -> Protocol:
    """Some ``clients`` of one store, who fight for ``paths`` nodes; the page above has the constants."""
    if clients < 1 or paths < 1:
        raise ModelError("metadata_store: clients and paths are at least 1")
    parameters = stated({name: value for name, value in locals().items() if name != "bugs"})
    p = Protocol("metadata_store", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)

    client = p.universe("client", clients)
    path = p.universe("path", paths)
    kind = store_named(metadata_store, "metadata_store", brokers=clients, faults=disconnects + expiries, called="clients")
    store = Sessions(p, client, disconnects=disconnects, expiries=expiries, crashes=crashes, kind=kind)
    nodes = EphemeralNode.declare(store, "node", path, writes=writes)
    lasting = LastingNode(p, store, changes=changes) if changes else None
    request = p.choice("request", REQUESTS, per=(client, path))
    knows = p.choice("knows", client, per=(client, path), none=NOBODY)
    mine = p.flag("mine", per=(client, path))
    version = p.number("known_version", 0, writes, per=(client, path))

    def forgets(c: int, x: int) -> Updates:
        return {knows[c, x]: NOBODY, mine[c, x]: False, version[c, x]: 0}

    def forgets_all(c: int) -> Updates:
        """The client forgets what it knows, except for what a deletion is under way for."""
        version_too = lasting.forgotten(c) if lasting else {}
        return merged(version_too, *(updates_if(request[c, x] == "deleting", {}, forgets(c, x)) for x in path))

    def at_start(c: int) -> Updates:
        blank = (merged(forgets(c, x), nodes[x].learnt(c, False), {request[c, x]: "none"}) for x in path)
        return merged(lasting.blank(c) if lasting else {}, *blank)

    @p.rule
    def refreshed(c: int) -> Updates:
        """What is known is forgotten when a connection is back."""
        return forgets_all(c)

    refreshed.instead("cache_kept_on_disconnect", lambda c: {})

    store.declare(
        at_start=at_start,
        on_lost=lambda c: {},
        on_reconnected=refreshed,
        on_reestablished=refreshed,
    )

    # --- what clients ask for

    def is_idle(c: int, x: int) -> Condition:
        return And(store.lives[c], Not(request[c, x].among(*OUT)))

    @p.step(by="c", mirrors="AbstractMetadataStore.put", c=client, x=path)
    def ask_to_create(c: int, x: int) -> Outcome:
        """A client that knows of no node wants to create an ephemeral one: expected version -1."""
        return And(is_idle(c, x), knows[c, x] == NOBODY), {request[c, x]: "creating"}

    @p.step(by="c", mirrors="AbstractMetadataStore.get", c=client, x=path)
    def ask_to_read(c: int, x: int) -> Outcome:
        """A client wants to read a node."""
        return is_idle(c, x), {request[c, x]: "reading"}

    @p.step(by="c", mirrors="AbstractMetadataStore.delete", c=client, x=path)
    def ask_to_delete(c: int, x: int) -> Outcome:
        """A client that knows of a node, whosoever it is, wants to delete it, with the version that it knows."""
        return And(is_idle(c, x), knows[c, x] != NOBODY), {request[c, x]: "deleting"}

    # --- what becomes of it

    @p.rule
    def is_free(x: int) -> Condition:
        """A node is created only if it is absent."""
        return nodes[x].absent

    is_free.instead("creates_blindly", lambda x: True)

    @p.step(
        by="c",
        mirrors="ZKMetadataStore.batchOperation, ZKMetadataStore.handlePutResult, AbstractMetadataStore.putInternal",
        fair=True,
        c=client,
        x=path,
    )
    def create(c: int, x: int) -> Outcome:
        """The node is created, or it is there already: BadVersion."""
        known = {request[c, x]: "done", knows[c, x]: c, mine[c, x]: True, version[c, x]: 0}
        created = merged(known, nodes[x].created(c), nodes[x].learnt(c))
        asked = And(store.reaches(c), request[c, x] == "creating")
        return asked, updates_if(is_free(x), created, {request[c, x]: "bad_version"})

    @p.step(
        by="c",
        hears="store",
        mirrors="ZKMetadataStore.batchOperation, ZKMetadataStore.handleGetResult, ZKMetadataStore.getStat",
        fair=True,
        c=client,
        x=path,
    )
    def read(c: int, x: int) -> Outcome:
        """The answer says whose node there is, with its version and whether it is of this session, or that there is none."""
        node = nodes[x]
        known = {knows[c, x]: node.holder, mine[c, x]: node.is_own(c), version[c, x]: node.version}
        asked = And(store.reaches(c), request[c, x] == "reading")
        return asked, merged({request[c, x]: "done"}, known, node.learnt(c, Not(node.absent)))

    @p.rule
    def fits(c: int, x: int) -> Condition:
        """A deletion takes effect on a node of the version that it names, whosoever that is."""
        return nodes[x].has_version(c, version[c, x])

    fits.instead("deleted_without_version", lambda c, x: Not(nodes[x].absent))

    @p.step(
        by="c",
        mirrors="ZKMetadataStore.batchOperation, ZKMetadataStore.handleDeleteResult, AbstractMetadataStore.deleteInternal",
        fair=True,
        c=client,
        x=path,
    )
    def delete(c: int, x: int) -> Outcome:
        """The node is deleted, if it has the version; otherwise BadVersion, or NotFound if there is none."""
        missing = "bad_version" if kind.refuses_missing else "not_found"
        refused = If(nodes[x].absent, missing, "bad_version")
        outcome = {request[c, x]: If(fits(c, x), "done", refused)}
        asked = And(store.reaches(c), request[c, x] == "deleting")
        return asked, merged(nodes[x].vanished(fits(c, x)), outcome, forgets(c, x))

    @p.step(
        by="c",
        mirrors="AbstractMetadataStore.put, ZKMetadataStore.batchOperation, ZKMetadataStore.handlePutResult",
        c=client,
        x=path,
        only_if=writes,
    )
    def write(c: int, x: int) -> Outcome:
        """A client writes its own node with the version that it knows: it asks, and is answered."""
        node = nodes[x]
        own = And(mine[c, x], node.is_own(c), node.has_version(c, version[c, x]), node.version < writes)
        written = merged(node.written(), {version[c, x]: node.version + 1, request[c, x]: "done"})
        return And(store.reaches(c), is_idle(c, x), own), written

    @p.step(by="c", mirrors="ZKMetadataStore.batchOperation", c=client, x=path, only_if=expiries)
    def fail(c: int, x: int) -> Outcome:
        """A request is answered that the session is gone."""
        out = request[c, x].among(*OUT)
        forgotten = updates_if(request[c, x] == "deleting", forgets(c, x), {})
        return And(store.is_zombie(c), out), merged(forgotten, {request[c, x]: "failed"})

    @p.fault(by="c", mirrors="ZKMetadataStore.batchOperation", spends="disconnects", c=client, x=path)
    def creation_unheard(c: int, x: int) -> Outcome:
        """The node is created as the connection breaks; the request will be sent again, on whatever session there is then."""
        reaches, updates = store.lost_answer(c, nodes[x].created(c))
        return And(reaches, request[c, x] == "creating", nodes[x].absent), updates

    @p.fault(by="c", mirrors="ZKMetadataStore.batchOperation", spends="disconnects", c=client, x=path)
    def deletion_unheard(c: int, x: int) -> Outcome:
        """The node is deleted as the connection breaks; the request will be sent again, as above."""
        reaches, updates = store.lost_answer(c, nodes[x].vanished())
        return And(reaches, request[c, x] == "deleting", fits(c, x)), updates

    # --- what clients hear of

    @p.step(
        by="c",
        hears="store",
        mirrors="ZKMetadataStore.handleWatchEvent, AbstractMetadataStore.receivedNotification",
        fair=True,
        c=client,
        x=path,
    )
    def hear_of_deletion(c: int, x: int) -> Outcome:
        """A notification says that the node was deleted: what was known of it is forgotten, unless a deletion is under way."""
        unheard = nodes[x].unheard(c)
        return And(store.hears(c), nodes[x].deleted[c]), merged(
            unheard, updates_if(request[c, x] == "deleting", {}, forgets(c, x))
        )

    if lasting:
        lasting.declare()

    return p
