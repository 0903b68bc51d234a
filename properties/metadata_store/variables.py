"""The variables of ``metadata_store`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from fencepost.model.language import Choice, Condition, Family, Number
from fencepost.model.nobody import Nobody
from fencepost.model.pulsar.store_changes import Change
from fencepost.model.pulsar.store_clients import Request
from fencepost.properties.locks.variables import SessionVariables


class MetadataStoreVariables(SessionVariables):
    """The variables of an instance of ``metadata_store``; each has those that its parameters and bugs need."""

    node_holder: Family[Choice[int | Nobody]]
    node_former: Family[Condition]
    node_version: Family[Number]
    node_deletion: Family[Condition]
    request: Family[Choice[Request]]
    knows: Family[Choice[int | Nobody]]
    mine: Family[Condition]
    known_version: Family[Number]
    lasting_version: Number
    lasting_change: Family[Condition]
    change: Family[Choice[Change]]
    saw: Family[Number]
    node_knows_version: Family[Condition]
