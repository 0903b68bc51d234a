"""The variables of ``bookie`` with their sorts, as its parts and its properties speak of them."""

from __future__ import annotations

from typing import Literal, get_args

from fencepost.model.language import Choice, Condition, Family, Number, Subset, Variables

Stage = Literal["up", "stopping", "down", "replayed"]
STAGES: tuple[Stage, ...] = get_args(Stage)
Added = Literal["none", "accepted", "acknowledged", "refused"]
ADDS: tuple[Added, ...] = get_args(Added)
Checkpoint = Literal["none", "taken", "saved", "begun"]
CHECKPOINTS: tuple[Checkpoint, ...] = ("none", "taken", "saved")


class BookieVariables(Variables):
    """The variables of an instance of ``bookie``; each has those that its parameters and bugs need."""

    stage: Choice[Stage]
    stored: Family[Subset]
    fenced: Family[Condition]
    explicit_lac: Family[Number]
    key_logged: Family[Condition]
    dirty: Family[Condition]
    record: Family[Choice[str]]
    logged: Number
    written: Number | Family[Number]
    synced: Number | Family[Number]
    mark: Number | Family[Number]
    compacted: Number | Family[Number]
    saved: Family[Subset]
    saved_key: Family[Condition]
    saved_fence: Family[Condition]
    saved_lac: Family[Number]
    checkpoint: Family[Choice[Checkpoint]]
    taken: Family[Number]
    added: Family[Choice[Added]]
    recovered: Family[Choice[Added]]
    fence_told: Family[Condition]
    denied: Family[Subset]
    lac_asked: Family[Condition]
    lac_told: Family[Number]
    shown: Family[Subset]
    reads: Number
    full_caches: Number
    failed_saves: Number
    failed_index_saves: Number
    collections: Number
    rotations: Number
    collector_looks: Number
    compactions: Number
    rebuilds: Number
    kills: Number
    power_losses: Number
    stops: Number
    paged: Family[Condition]
    checked: Family[Condition]
    left: Family[Subset]
    spare: Family[Condition]
    unqueued: Family[Condition]
    latest: Family[Number]
    owed_from: Family[Number]
    undeleted: Family[Condition]
    cached: Family[Subset]
    copies: Family[Subset]
    mapped: Family[Condition]
    deleted: Family[Condition]
    current: Number
