"""The listeners of a broker, which it may change while it is registered, and what a controller knows of them.

Mirrors KafkaController.initializeControllerContext, onBrokerStartup, processBrokerModification and updateBrokerInfo, and
KafkaZkClient.registerZNodeChangeHandlerAndCheckExistence, of Kafka 1.1.0 to 3.9.2. Before 1.1 no broker changed its listeners.

A controller reads the nodes of all brokers, and watches each from then on. A change of a node that it watches makes it read
the node again, and send every live broker an UpdateMetadata, by which clients hear of the new addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fencepost.model.language import And, Condition, Family, Not, Or, Outcome, Protocol, Truth, Universe, Updates, any_of

if TYPE_CHECKING:
    from fencepost.model.kafka.controller.state import State


class Endpoints:
    """What controllers know of the listeners of brokers.

    ``told[c, b]`` is whether the listeners of b that c knows are those in its node, ``watched[c, b]`` whether c watches the
    node, ``changed[c, b]`` whether that watch has fired and is not handled.
    """

    def __init__(self, p: Protocol, broker: Universe) -> None:
        pairs = (broker, broker)
        self._protocol, self._broker = p, broker
        self.told: Family[Condition] = p.flag("told", per=pairs)
        self.watched: Family[Condition] = p.flag("watched", per=pairs)
        self.changed: Family[Condition] = p.flag("endpoints_change", per=pairs)

        @p.rule
        def watched_as_read(c: int, b: int) -> bool:
            """The node is watched by the very request that reads it: no change comes between."""
            return True

        watched_as_read.instead("endpoints_read_before_watch", lambda c, b: False)
        self._watched_as_read = watched_as_read

    def read(self, c: int, b: int, there: Truth, is_new: Truth) -> Updates:
        """The controller has looked which brokers there are, and reads the node of one that is new to it."""
        return {
            self.told[c, b]: And(there, Or(self.told[c, b], is_new)),
            self.watched[c, b]: And(there, Or(And(self.watched[c, b], Not(is_new)), And(is_new, self._watched_as_read(c, b)))),
            self.changed[c, b]: And(there, self.changed[c, b], Not(is_new)),
        }

    def forgotten(self, c: int) -> Updates:
        """The broker is no controller any more."""
        return {flag[c, b]: False for b in self._broker for flag in (self.told, self.watched, self.changed)}

    def changed_by(self, b: int, hears: Callable[[int], Truth]) -> Updates:
        """The broker has changed its listeners: whoever watches its node hears of it."""
        stale = {self.told[c, b]: False for c in self._broker}
        fired = {self.changed[c, b]: Or(self.changed[c, b], And(self.watched[c, b], hears(c))) for c in self._broker}
        return {**stale, **fired}


def declare_endpoints(s: State) -> None:
    """The steps of a broker that changes its listeners, and of a controller that hears of it."""
    p, broker, store, endpoints = s.protocol, s.broker, s.store, s.endpoints
    if endpoints is None:
        return
    told, watched, changed = endpoints.told, endpoints.watched, endpoints.changed

    @p.step(by="b", spends="updates", mirrors="KafkaController.updateBrokerInfo, KafkaZkClient.updateBrokerInfo", b=broker)
    def change_listeners(b: int) -> Outcome:
        """The broker has other listeners from now on, and writes them to its node."""
        own = True if s.ids.former is None else Not(s.ids.former[b])
        return And(store.reaches(b), s.ids.there[b], own), endpoints.changed_by(b, store.will_hear)

    @p.step(
        by="c",
        mirrors="KafkaController.registerBrokerModificationsHandler, KafkaZkClient.registerZNodeChangeHandlerAndCheckExistence",
        fair=True,
        c=broker,
        only_if=p.has("endpoints_read_before_watch"),
    )
    def watch_brokers(c: int) -> Outcome:
        """The controller asks whether the nodes exist that it has read, and so watches them; it does not read them again."""
        unwatched = any_of(And(s.live[c, b], Not(watched[c, b])) for b in broker)
        return And(s.is_free(c), s.active[c], unwatched), {watched[c, b]: s.live[c, b] for b in broker}

    @p.step(
        by="c",
        hears="store",
        mirrors="KafkaController.processBrokerModification, KafkaController.onBrokerUpdate",
        fair=True,
        c=broker,
        b=broker,
    )
    def hear_listeners(c: int, b: int) -> Outcome:
        """The watch of a broker's node has fired: the controller reads it and, if the listeners are others, tells all."""
        differs = And(s.ids.there[b], Not(told[c, b]))
        queued = {s.queued[c, x]: Or(s.queued[c, x], And(differs, s.live[c, x])) for x in broker}
        heard = {changed[c, b]: False, told[c, b]: Or(told[c, b], s.ids.there[b])}
        return And(s.is_free(c), s.active[c], changed[c, b]), {**heard, **queued}
