"""How Kafka's brokers reach ZooKeeper: sessions, and the nodes /brokers/ids/<b> with the watch of their parent.

Read in zkclient 0.10 (ZkClient.process, fireAllEvents), ZkUtils and KafkaHealthcheck of Kafka 0.10.2.2, and KafkaZkClient and
ZooKeeperClient of 2.2.2. A watch is handled by looking at the node as it is by then, so a notification carries nothing. Watches
that were missed while a client was cut off fire when it is back (DataTree.setWatches), and after an expiry all of them do.
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.language import ABSENT, And, Condition, Family, Not, Or, Truth, Updates
from fencepost.model.zookeeper.sessions_and_nodes import Sessions
from fencepost.model.zookeeper.store import ClientMethods, Store

ZKCLIENT = Store(deletes_any=True, catches_up=True, methods=ClientMethods(start="KafkaServer.startup"))
"""ZooKeeper behind zkclient, or KafkaZkClient."""


class BrokerIds:
    """The nodes of the brokers, each with its broker's session, and who has heard of a change among them.

    ``knows[c, b]`` is whether the node of b that c knows is the one that is there: its czxid, which no two have in common.
    ``listens`` is who watches the parent.
    """

    def __init__(self, sessions: Sessions, listens: Callable[[int], Truth]) -> None:
        p, broker = sessions.protocol, sessions.client
        self.there = p.flag("registered", per=broker)
        self.former: Family[Condition] = p.flag("registered_former", per=broker) if sessions.leaves_sessions else ABSENT
        self.changed = p.flag("brokers_change", per=broker)
        self.knows = p.flag("knows", per=(broker, broker))
        self._sessions, self._listens, self._broker = sessions, listens, broker
        sessions.nodes.append([self])

    def _heard(self, condition: Truth) -> Updates:
        """Who watches hears of a change where the condition holds."""
        will_hear, listens = self._sessions.will_hear, self._listens
        return {self.changed[c]: Or(self.changed[c], And(condition, will_hear(c), listens(c))) for c in self._broker}

    def created(self, b: int) -> Updates:
        """The broker creates its node, where it is absent."""
        former = {} if self.former is None else {self.former[b]: False}
        return {self.there[b]: True, **former, **self._heard(True)}

    def gone_with(self, c: int, *conditions: Truth, former: bool = False, unheard_by: int | None = None) -> Updates:
        """The node goes with a session of its broker, where the conditions hold; who is cut off hears of it later."""
        of_former: Truth = False if self.former is None else self.former[c]
        goes = And(*conditions, self.there[c], of_former if former else Not(of_former))
        left = {} if self.former is None else {self.former[c]: And(self.former[c], Not(goes))}
        unknown = {self.knows[x, c]: And(self.knows[x, c], Not(goes)) for x in self._broker}
        return {self.there[c]: And(self.there[c], Not(goes)), **left, **unknown, **self._heard(goes)}

    def becomes_former(self, c: int) -> Updates:
        """What the broker created before belongs to a former session from now on."""
        return {} if self.former is None else {self.former[c]: Or(self.former[c], self.there[c])}

    def unheard(self, c: int) -> Updates:
        """The broker will not hear of changes so far."""
        return {self.changed[c]: False}
