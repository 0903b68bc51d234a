"""Both stores at once, as a cluster has them while it migrates: each broker uses one, and the syncer both.

What a broker sees of its store it sees as without a migration, by the same pieces. ``uses_nodes`` says which one it uses:
loadManagerServiceUnitStateTableViewClassName is read when a process starts. The syncer is one more user of each of them. Who
reads a node may not have read each record that it had, so that with ``skips`` the syncer leaves out versions when it writes to
the topic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from fencepost.model.language import And, Condition, If, Not, Or, Outcome, Protocol, Truth, Universe, Updates, all_of, any_of
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.service_unit.metadata_views import HEARS as HEARS_OF_NODES
from fencepost.model.pulsar.service_unit.metadata_views import MetadataViews
from fencepost.model.pulsar.service_unit.records import Record, Records
from fencepost.model.pulsar.service_unit.system_topic import HEARS as HEARS_OF_MESSAGES
from fencepost.model.pulsar.service_unit.system_topic import Handler, SystemTopic
from fencepost.model.zookeeper.sessions_and_nodes import Sessions, Watched, merged

TO = ("metadata", "topic")
Sync = Literal["off", "cleaned", "copied", "listens", "active"]
SYNC: tuple[Sync, ...] = get_args(Sync)


class _Users:
    """The users of one of the stores: the brokers that use it, and, while it ``listens``, the syncer."""

    def __init__(self, sessions: Sessions, client: Universe, uses: list[Condition], listens: Condition) -> None:
        self.client, self._sessions = client, sessions
        self.lives = [*(And(sessions.lives[b], uses[b]) for b in sessions.client), listens]
        self._reach = [*(And(sessions.reaches(b), uses[b]) for b in sessions.client), listens]
        self.watched: list[Watched] = sessions.watched

    def reaches(self, c: int) -> Condition:
        """The formula: a request of the user is carried out and answered."""
        return self._reach[c]


class BothStores:
    """The two stores as one: what a broker reads and writes is in the store that it uses.

    ``is_there`` says of a broker, once it is set, that it runs, and is not shut down. ``record`` is what there is in the store
    ``to`` which the cluster migrates, which every process uses that starts from now on. ``sync`` is how far the syncer is: it
    is ``off``, it has ``cleaned`` that store, it has ``copied`` what there is, it ``listens``, and copies each change, or is
    ``active``, as it found both stores alike. ``moves`` says that brokers are restarted, and come to use that store.
    """

    def __init__(
        self, p: Protocol, sessions: Sessions, records: Records, unit: Universe, *, to: str, lag: int, skips: bool, moves: bool
    ) -> None:
        self.protocol, self.sessions, self.records, self.unit = p, sessions, records, unit
        self.broker = broker = sessions.client
        self.syncer = broker.size
        user = p.universe("user", broker.size + 1, names=(*(broker.label(b) for b in broker), "syncer"))
        self.to_nodes, self.moves = to == "metadata", moves
        self.uses_nodes = p.flag("uses_nodes", per=broker, init=not self.to_nodes)
        self.sync = p.choice("sync", SYNC)
        self.syncer_at = p.choice("syncer_at", broker, none=NOBODY)
        self.listens = self.sync.among("listens", "active")
        on_nodes = [self.uses_nodes[b] for b in broker]
        on_topic = [Not(uses) for uses in on_nodes]
        readers = _Users(sessions, user, on_topic, self.listens)
        self.topic = SystemTopic(p, readers, records, unit, lag=lag, name="topic_", keeps_force=True, skips=skips)
        self.nodes = MetadataViews(p, _Users(sessions, user, on_nodes, self.listens), records, unit, name="node_")
        nodes, topic = self.nodes.view, self.topic.view
        self.view = {(b, u): nodes[b, u].where(on_nodes[b], topic[b, u]) for b in broker for u in unit}
        self.record = self.nodes.record if self.to_nodes else self.topic.record
        self.is_there: Callable[[int], Truth] = lambda b: True
        self.may_act = p.rule(self._may_act)
        self.may_end = p.rule(self._may_end)

    # --- formulas

    def has_moved(self, b: int) -> Condition:
        """The formula: the broker uses the store to which the cluster migrates."""
        return self.uses_nodes[b] if self.to_nodes else Not(self.uses_nodes[b])

    def is_alike(self, u: int) -> Condition:
        """The formula: both stores have the same record of a unit."""
        return self.topic.record[u].equals(self.nodes.record[u])

    def _may_act(self) -> Condition:
        """From the first restart on nobody writes before the last write was copied: each follows what is in either store."""
        started = any_of(Or(self.has_moved(b), Not(self.is_there(b))) for b in self.broker)
        return Or(Not(started), And(self.sync == "active", self.all_alike()))

    def _may_end(self) -> Condition:
        """Nor does a broker end before that: the syncer may end with it, and who starts reads what was copied."""
        return self.all_alike()

    def all_alike(self) -> Condition:
        """The formula: both stores have the same records."""
        return all_of(self.is_alike(u) for u in self.unit)

    def is_known(self, b: int, u: int) -> Condition:
        """The formula: the broker's view of a unit is what its store has."""
        stored = self.nodes.record[u].where(self.uses_nodes[b], self.topic.record[u])
        return self.view[b, u].equals(stored)

    def may_write(self, b: int) -> Condition:
        """The formula: the broker's writes reach its store, and may."""
        reaches = If(self.uses_nodes[b], self.nodes.may_write(b), self.topic.may_write(b))
        return And(reaches, self.may_act())

    def may_ask(self, b: int) -> Condition:
        """The formula: the broker can write for a client."""
        return And(If(self.uses_nodes[b], self.nodes.may_ask(b), self.topic.may_ask(b)), self.may_act())

    def has_news(self, b: int, u: int) -> Condition:
        """The formula: there is something that the broker has not read."""
        return If(self.uses_nodes[b], self.nodes.has_news(b, u), self.topic.has_news(b, u))

    # --- updates

    def written(self, b: int, u: int, record: Record, condition: Truth = True, *, on_reading: bool = False) -> Updates:
        """What the broker writes is written to the store that it uses."""
        uses = self.uses_nodes[b]
        to_nodes = self.nodes.written(b, u, record, And(condition, uses), on_reading=on_reading)
        return merged(to_nodes, self.topic.written(b, u, record, And(condition, Not(uses)), on_reading=on_reading))

    def forgotten(self, b: int) -> Updates:
        """A process that ends has no view, and if it was the leader's the syncer ends with it; one that starts again uses the
        store to which the cluster migrates, and reads all."""
        starts = Not(self.sessions.lives[b])
        nodes = self.nodes.forgotten(b, And(starts, self.to_nodes))
        topic = self.topic.forgotten(b, And(starts, not self.to_nodes))
        moved = {self.uses_nodes[b]: If(starts, self.to_nodes, self.uses_nodes[b])}
        return merged(nodes, topic, moved) | self._ended(self.syncer_at == b)

    def _ended(self, condition: Condition) -> Updates:
        """The syncer ends, where the condition holds; what it had read, and not copied, is forgotten."""
        left = merged(self.nodes.forgotten(self.syncer, False), self.topic.forgotten(self.syncer, False))
        left |= {self.sync: "off", self.syncer_at: NOBODY}
        return {variable: If(condition, value, variable) for variable, value in left.items()}

    def lost(self, b: int) -> Updates:
        """No session is lost while the cluster migrates."""
        return {}

    def reestablished(self, b: int) -> Updates:
        """Nor is one made again."""
        return {}

    def reconnected(self, b: int) -> Updates:
        """Nor does a connection break."""
        return {}

    # --- steps

    def declare(self, handler: Handler) -> None:
        """Declares how brokers read what was written to the store that they use."""
        p, broker, unit, place = self.protocol, self.broker, self.unit, self.topic.place
        of_topic, of_nodes = self.moves or self.to_nodes, self.moves or not self.to_nodes

        @p.step(by="b", hears="store", mirrors=HEARS_OF_MESSAGES, fair=True, b=broker, u=unit, k=place, only_if=of_topic)
        def read_message(b: int, u: int, k: int) -> Outcome:
            """A broker reads the next message of the topic, and acts on it if its view accepts it."""
            return self.topic.reading(handler, b, u, k, may_answer=self.may_act())

        @p.step(by="b", hears="store", mirrors=HEARS_OF_NODES, fair=True, b=broker, u=unit, only_if=of_nodes)
        def read_node(b: int, u: int) -> Outcome:
            """A broker that hears that a node was written reads it, and acts on it if it is not what its copy says."""
            return self.nodes.reading(handler, b, u, may_answer=self.may_act())
