"""The variables of ``service_unit`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from fencepost.model.language import Choice, Condition, Family, Number
from fencepost.model.nobody import Nobody
from fencepost.model.pulsar.service_unit.channel import Topics, ToPublish
from fencepost.model.pulsar.service_unit.leader import Metadata
from fencepost.model.pulsar.service_unit.records import State
from fencepost.model.pulsar.service_unit.shutdown import Stage
from fencepost.model.pulsar.service_unit.splits import Stage as SplitStage
from fencepost.properties.locks.variables import SessionVariables


class ServiceUnitVariables(SessionVariables):
    """The variables of an instance of ``service_unit``; each has those that its parameters and bugs need."""

    view_state: Family[Choice[State]]
    view_dst: Family[Choice[int | Nobody]]
    view_src: Family[Choice[int | Nobody]]
    view_version: Family[Number]
    record_state: Family[Choice[State]]
    record_dst: Family[Choice[int | Nobody]]
    record_src: Family[Choice[int | Nobody]]
    record_version: Family[Number]
    behind: Family[Number]
    message_state: Family[Choice[State]]
    message_dst: Family[Choice[int | Nobody]]
    message_src: Family[Choice[int | Nobody]]
    message_version: Family[Number]
    message_force: Family[Condition]
    compactions: Number
    late_messages: Number
    registry_holder: Family[Choice[int | Nobody]]
    registry_former: Family[Condition]
    registry_version: Family[Number]
    pending: Family[Condition]
    topics: Family[Choice[Topics]]
    closing: Family[Condition]
    to_publish: Family[Choice[ToPublish]]
    to_publish_dst: Family[Choice[int | Nobody]]
    to_publish_version: Family[Number]
    existing: Family[Condition]
    leader_holder: Choice[int | Nobody]
    leader_former: Condition
    leader_version: Number
    leads: Family[Condition]
    metadata: Family[Choice[Metadata]]
    cleans: Family[Condition]
    unloads: Number
    splits: Number
    conflicts: Number
    timeouts: Number
    burials: Number
    shutdowns: Number
    message_counts: Family[Condition]
    message_gone: Family[Condition]
    message_of: Family[Choice[int]]
    layout_split: Condition
    layout_copy: Family[Condition]
    split_stage: Family[Choice[SplitStage]]
    split_version: Family[Number]
    split_tries: Family[Number]
    record_force: Family[Condition]
    unheard: Family[Condition]
    found_dead: Family[Number]
    stage: Family[Choice[Stage]]
    hands_over: Family[Condition]
    dropped: Family[Condition]
