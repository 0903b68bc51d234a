"""The variables of ``service_unit_migration`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from fencepost.model.language import Choice, Condition, Family, Number
from fencepost.model.nobody import Nobody
from fencepost.model.pulsar.service_unit.both_stores import Sync
from fencepost.model.pulsar.service_unit.records import State
from fencepost.properties.service_unit.variables import ServiceUnitVariables


class ServiceUnitMigrationVariables(ServiceUnitVariables):
    """The variables of an instance of ``service_unit_migration``; each has those that its parameters and bugs need."""

    uses_nodes: Family[Condition]
    sync: Choice[Sync]
    syncer_at: Choice[int | Nobody]
    topic_view_state: Family[Choice[State]]
    topic_view_dst: Family[Choice[int | Nobody]]
    topic_view_src: Family[Choice[int | Nobody]]
    topic_view_version: Family[Number]
    topic_record_state: Family[Choice[State]]
    topic_record_dst: Family[Choice[int | Nobody]]
    topic_record_src: Family[Choice[int | Nobody]]
    topic_record_version: Family[Number]
    topic_record_force: Family[Condition]
    node_view_state: Family[Choice[State]]
    node_view_dst: Family[Choice[int | Nobody]]
    node_view_src: Family[Choice[int | Nobody]]
    node_view_version: Family[Number]
    node_record_state: Family[Choice[State]]
    node_record_dst: Family[Choice[int | Nobody]]
    node_record_src: Family[Choice[int | Nobody]]
    node_record_version: Family[Number]
    node_record_force: Family[Condition]
