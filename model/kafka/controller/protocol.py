"""Which Kafka broker is the controller, and whom the brokers obey.

Mirrors ZookeeperLeaderElector, KafkaController, ReplicaStateMachine, ControllerChannelManager and ReplicaManager of Kafka
0.10.2.2, without the bugs that are switches. What later families do otherwise is in families.py, and is a parameter: how
expired sessions are handled (``thread``), whether the node and its epoch are one request (``multi``), and whether requests name
the incarnation of a broker (``broker_epochs``).

The broker that creates the ephemeral node /controller is the controller. It raises the number in /controller_epoch, which is
its term, starts what a controller runs, and sends every broker an UpdateMetadata with its epoch; a broker refuses requests
of an older one. Creation, epoch and start are steps of their own in most releases, between which a session can expire. A new
session begins, where ``thread`` is not ``awaited``, before the broker has handled the end of the one before: it is a zombie
until then, and its requests to the store succeed.

The epoch node is there from the start, at 0. A request and its answer are one step, and the requests of one controller to one
broker that are still queued count as one, the last: an UpdateMetadata says everything. What partitions there are, and their
leaders, is not in the model. A restart closes its session.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.model.kafka.controller.brokers import declare_brokers
from fencepost.model.kafka.controller.election import declare_election
from fencepost.model.kafka.controller.endpoints import declare_endpoints
from fencepost.model.kafka.controller.families import BUGS, THREADS
from fencepost.model.kafka.controller.state import State
from fencepost.model.language import ModelError, Protocol


def kafka_controller(
    *,
    brokers: int = 2,
    thread: str = "lock",
    multi: bool = False,
    broker_epochs: bool = False,
    expiries: int = 0,
    restarts: int = 0,
    disconnects: int = 0,
    resignations: int = 0,
    writes: bool = False,
    updates: int = 0,
    bugs: Iterable[str] = (),
) -> Protocol:
    """The controller of ``brokers``; the page of the room has the constants."""
    if brokers < 1:
        raise ModelError("kafka_controller: brokers is at least 1")
    if thread not in THREADS:
        raise ModelError(f"kafka_controller: thread is lock, queue or awaited, not {thread!r}")
    if updates and thread != "awaited":
        raise ModelError("kafka_controller: no broker changes its listeners before 1.1: set updates=0, or thread=awaited")
    parameters = {name: value for name, value in locals().items() if name != "bugs"}
    p = Protocol("kafka_controller", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)
    p.universe("broker", brokers)
    s = State(
        p,
        thread=thread,
        multi=multi,
        broker_epochs=broker_epochs,
        expiries=expiries,
        restarts=restarts,
        disconnects=disconnects,
        resignations=resignations,
        writes=writes,
        updates=updates,
    )

    s.store.declare(
        at_start=s.at_start,
        on_lost=lambda b: s.awaits_end(b) if thread == "awaited" else {},
        on_reconnected=lambda b: {},
        on_reestablished=s.begins_session,
        may_reopen=s.may_reopen,
    )
    locks = thread == "lock"
    registers_controller = "KafkaZkClient.registerControllerAndIncrementControllerEpoch"
    creates = registers_controller if multi else "KafkaZkClient.CheckedEphemeral.create"
    declare_election(
        s,
        by="ZookeeperLeaderElector.elect" if locks else "KafkaController.elect",
        repeats=creates if thread == "awaited" else "ZKCheckedEphemeral.create",
        hears="ZookeeperLeaderElector.LeaderChangeListener.handleDataDeleted" if locks else "KafkaController.elect",
        resigns="KafkaController.SessionExpirationListener.handleNewSession"
        if locks
        else "KafkaController.onControllerResignation",
    )
    client = "KafkaZkClient.registerBroker" if multi else "KafkaZkClient.registerBrokerInZk"
    declare_brokers(
        s,
        registers="KafkaHealthcheck.register" if thread != "awaited" else client,
        looks="ReplicaStateMachine.BrokerChangeListener.doHandleChildChange" if locks else "KafkaController.onBrokerStartup",
    )
    declare_endpoints(s)
    return p
