"""The variables of ``replication`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from typing import Literal

from fencepost.model.bookkeeper.replication.state import Phase, Switch
from fencepost.model.language import Choice, Condition, Family, Number, Subset, Variables
from fencepost.model.stand_ins.ledger import State


class ReplicationVariables(Variables):
    """The variables of an instance of ``replication``; each has those that its parameters and bugs need."""

    crashes: Number
    losses: Number
    expiries: Number
    gaps: Number
    rots: Number
    decommissions: Number
    failed_audits: Number
    elections: Number
    status: Choice[State]
    confirmed: Subset
    member: Family[Choice[int]]
    up: Family[Condition]
    gone: Family[Condition]
    stored: Family[Subset]
    task: Condition
    task_version: Number
    missing: Subset
    audited: Family[Condition]
    starting: Condition
    lock: Choice[str]
    decommissions_wait: Subset
    phase: Family[Choice[Phase]]
    zombie: Family[Condition]
    seen: Family[Number]
    excluded: Family[Subset]
    bad: Family[Subset]
    moves: Family[Choice[int | Literal["none"]]]
    copied: Family[Subset]
    switch: Choice[Switch]
    surplus: Family[Condition]
    limbo: Family[Condition]
    needs_check: Family[Condition]
    rotten: Family[Subset]
