"""A node that outlives its creator, as clients of the metadata store write it: by compare-and-set.

So the layout of a namespace is written. It is there from the beginning, and nobody deletes it. A client writes it with the
version that it knows, which it has read or written before. A notification that it was changed, by another, has the client
forget the version, as does the return of a connection or of a session.
"""

from __future__ import annotations

from typing import Literal, get_args

from fencepost.model.language import And, Condition, If, Outcome, Protocol, Updates
from fencepost.model.zookeeper.sessions_and_nodes import PersistentNode, Sessions, merged, updates_if

UNKNOWN = -1
Change = Literal["none", "looking", "changing", "done", "bad_version", "failed"]
CHANGES: tuple[Change, ...] = get_args(Change)
UNDER_WAY: tuple[Change, ...] = ("looking", "changing")


class LastingNode:
    """The node, and of each client the ``change`` that it asks for, with the version that it ``saw``."""

    def __init__(self, p: Protocol, store: Sessions, *, changes: int) -> None:
        self.protocol, self.store, self.changes = p, store, changes
        self.node = PersistentNode(store, "lasting", writes=changes)
        self.change = p.choice("change", CHANGES, per=store.client)
        self.saw = p.number("saw", UNKNOWN, changes, per=store.client)

    def blank(self, c: int) -> Updates:
        """A process begins, and knows nothing."""
        return {self.change[c]: "none", self.saw[c]: UNKNOWN}

    def forgotten(self, c: int) -> Updates:
        """What the client knows it knows no more, unless it is about to write."""
        return {self.saw[c]: If(self.change[c] == "changing", self.saw[c], UNKNOWN)}

    def declare(self) -> None:
        """Declares what clients do with the node."""
        p, store, node, change, saw = self.protocol, self.store, self.node, self.change, self.saw

        def is_idle(c: int) -> Condition:
            return And(store.lives[c], change[c] != "looking", change[c] != "changing")

        @p.step(by="c", mirrors="AbstractMetadataStore.get", c=store.client)
        def ask_to_look(c: int) -> Outcome:
            """A client wants to read the lasting node."""
            return is_idle(c), {change[c]: "looking"}

        @p.step(by="c", mirrors="AbstractMetadataStore.put", c=store.client)
        def ask_to_change(c: int) -> Outcome:
            """A client wants to write the lasting node, with the version that it knows."""
            return And(is_idle(c), saw[c] != UNKNOWN, saw[c] < self.changes), {change[c]: "changing"}

        @p.step(
            by="c",
            hears="store",
            mirrors="ZKMetadataStore.batchOperation, ZKMetadataStore.handleGetResult",
            fair=True,
            c=store.client,
        )
        def look(c: int) -> Outcome:
            """The answer says which version is there."""
            return And(store.reaches(c), change[c] == "looking"), {change[c]: "done", saw[c]: node.version}

        def is_expected(c: int) -> Condition:
            return And(node.version == saw[c], node.is_countable)

        @p.step(
            by="c",
            mirrors="ZKMetadataStore.batchOperation, ZKMetadataStore.handlePutResult, AbstractMetadataStore.putInternal",
            fair=True,
            c=store.client,
        )
        def write_lasting(c: int) -> Outcome:
            """The node is written if it has the version; otherwise BadVersion, and the client knows none."""
            written = merged(node.written(c), {change[c]: "done", saw[c]: node.version + 1})
            refused = {change[c]: "bad_version", saw[c]: UNKNOWN}
            asked = And(store.reaches(c), change[c] == "changing")
            return asked, updates_if(is_expected(c), written, refused)

        @p.fault(by="c", mirrors="ZKMetadataStore.batchOperation", spends="disconnects", c=store.client)
        def write_unheard(c: int) -> Outcome:
            """The node is written as the connection breaks; the request will be sent again, and meets its own write."""
            reaches, updates = store.lost_answer(c, node.written(c))
            return And(reaches, change[c] == "changing", is_expected(c)), updates

        @p.step(by="c", mirrors="ZKMetadataStore.batchOperation", c=store.client, only_if=store.expiries)
        def fail_to_change(c: int) -> Outcome:
            """A request is answered that the session is gone; who wanted to write knows no version."""
            failed = {change[c]: "failed", saw[c]: If(change[c] == "changing", UNKNOWN, saw[c])}
            return And(store.is_zombie(c), change[c].among(*UNDER_WAY)), failed

        @p.step(
            by="c",
            hears="store",
            mirrors="ZKMetadataStore.handleWatchEvent, AbstractMetadataStore.receivedNotification",
            fair=True,
            c=store.client,
        )
        def hear_of_change(c: int) -> Outcome:
            """A notification says that another has written the node: the version that was known is forgotten."""
            return And(store.hears(c), node.changed[c]), merged(node.unheard(c), self.forgotten(c))
