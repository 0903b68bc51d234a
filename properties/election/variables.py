"""The variables of ``election`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from fencepost.model.language import Choice, Condition, Family, Number
from fencepost.model.nobody import Nobody
from fencepost.model.pulsar.election.protocol import Begun, Role, Stage
from fencepost.properties.locks.variables import SessionVariables


class ElectionVariables(SessionVariables):
    """The variables of an instance of ``election``; each has those that its parameters and bugs need."""

    leader_holder: Choice[int | Nobody]
    leader_former: Condition
    leader_version: Number
    leader_deletion: Family[Condition]
    stage: Family[Choice[Stage]]
    role: Family[Choice[Role]]
    cached: Family[Choice[int | Nobody]]
    closes: Number
    closing: Family[Condition]
    asked: Choice[int | Nobody]
    authoritative: Condition
    shut: Family[Condition]
    gives_back: Family[Condition]
    begun: Family[Choice[Begun]]
