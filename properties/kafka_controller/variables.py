"""The variables of ``kafka_controller`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from fencepost.model.kafka.controller.state import Registration, Stage
from fencepost.model.language import Choice, Condition, Family, Number
from fencepost.model.nobody import Nobody
from fencepost.properties.locks.variables import SessionVariables


class KafkaControllerVariables(SessionVariables):
    """The variables of an instance of ``kafka_controller``; each has those that its parameters and bugs need."""

    controller_holder: Choice[int | Nobody]
    controller_former: Condition
    controller_version: Number
    controller_change: Family[Condition]
    controller_epoch: Number
    leader: Family[Choice[int | Nobody]]
    active: Family[Condition]
    stage: Family[Choice[Stage]]
    epoch: Family[Number]
    new_sessions: Family[Number]
    registered: Family[Condition]
    brokers_change: Family[Condition]
    knows: Family[Condition]
    live: Family[Condition]
    queued: Family[Condition]
    seen: Family[Number]
    obeyed: Family[Number]
    metadata: Family[Condition]
    restarts: Number
    resignations: Number
    written: Number
    registered_former: Family[Condition]
    has_own_epoch: Family[Condition]
    rebalances: Family[Condition]
    shut_out: Family[Condition]
    registration: Family[Choice[Registration]]
