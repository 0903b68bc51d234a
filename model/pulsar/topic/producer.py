"""A producer: it sends its messages in order, and after a reconnection all that is not acknowledged once more."""

from __future__ import annotations

from collections.abc import Callable

from fencepost.model.language import And, Condition, If, Not, Outcome, Protocol, Updates, either, minimum
from fencepost.model.language.effects import Happens
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.topic.state import State


class Producer:
    """The client's ProducerImpl, and the broker's PersistentTopic.publishMessage where its messages arrive."""

    def __init__(self, p: Protocol, s: State) -> None:
        self.protocol, self.s = p, s

    def receipt(self, b: int, m: int) -> Updates:
        """The producer hears that a message is stored: ProducerImpl.ackReceived.

        A receipt for a later message than the next one makes it connect again; one for an earlier message is ignored.
        """
        s = self.s
        here, next_one = s.connected == b, s.acked == m
        return {s.acked: If(And(here, next_one), s.acked + 1, s.acked), **s.disconnected(self.hangs_up(b, m))}

    def hangs_up(self, b: int, m: int) -> Condition:
        """The formula: at this receipt the producer closes its connection."""
        return And(self.s.connected == b, self.s.acked < m)

    def declare(self) -> Callable[..., Happens]:
        """Declares the steps; returns the one that connects, which a whole may take."""
        p, s = self.protocol, self.s

        @p.step(
            by="producer",
            takes="reconnect",
            to="b",
            mirrors="PersistentTopic.addProducer",
            fair=True,
            spends="connections",
            b=s.broker,
        )
        def connect(b: int) -> Outcome:
            """The producer connects to a broker that has the topic; it will send all that is not acknowledged."""
            serves = And(s.is_loaded(b), s.topic[b] == "serving")
            return And(s.connected == NOBODY, serves), {s.connected: b, s.next_out: s.acked}

        @p.fault(by="producer", takes="connections", b=s.broker)
        def lose_connection(b: int) -> Outcome:
            """The connection breaks."""
            return s.connected == b, s.hung_up(b)

        @p.step(
            by="producer", takes="network", mirrors="ClientCnx.handleSendError", fair=True, b=s.broker, only_if=s.may.closes
        )
        def hear_error(b: int) -> Outcome:
            """What was sent is answered, and some of it with an error: the client closes the connection."""
            answered = And(s.length[b] == 0, s.next_out > s.acked, Not(s.is_stuck(b)))
            attached = True if s.link is None else s.link == "attached"
            return And(s.connected == b, attached, answered), s.hung_up(b)

        @p.step(
            by="producer",
            takes="messages",
            to="b",
            mirrors="PersistentTopic.publishMessage, ServerCnx.handleSend, MessageDeduplication.isDuplicateNormal",
            fair=True,
            b=s.broker,
            m=s.message,
        )
        def publish(b: int, m: int) -> Outcome:
            """A message arrives: refused if the topic is fenced; a duplicate is acknowledged at once if it is persisted, and
            refused if that is not known; else it is handed to the topic's executor."""
            arrives = And(s.connected == b, s.next_out == m, Not(s.is_stuck(b)), s.length[b] < len(s.room))
            last = {s.queue[b, place]: If(s.length[b] == place, m, s.queue[b, place]) for place in s.room}
            accepted: Updates = {**last, s.length[b]: s.length[b] + 1}
            if s.counted is not None:
                accepted[s.counted[b]] = minimum(s.counted[b], s.length[b]) + 1
            if s.dedup:
                accepted = {**accepted, s.pushed[b]: m + 1}
                answered = {**self.receipt(b, m), **s.ended_if(b, self.hangs_up(b, m), {})}
                duplicate = either(s.persisted[b] > m, answered, {})
                handed = either(s.pushed[b] > m, duplicate, accepted)
                return arrives, {s.next_out: m + 1}, either(s.topic[b] == "serving", handed, {})
            return arrives, {s.next_out: m + 1}, either(s.topic[b] == "serving", accepted, {})

        return connect
