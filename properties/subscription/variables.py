"""The variables of ``subscription`` with their sorts."""

from __future__ import annotations

from fencepost.model.language import Choice, Family, Number, Subset, Variables
from fencepost.model.pulsar.subscription.cursor import Queued, State, Written


class SubscriptionVariables(Variables):
    """The variables of an instance of ``subscription``."""

    stored_mark: Number
    stored_acked: Subset
    state: Choice[State]
    mark: Number
    acked: Subset
    last: Number
    persisted: Number
    queued: Choice[Queued]
    writing: Family[Choice[Written]]
    place: Family[Number]
    ranges: Family[Subset]
    in_progress: Number
    waits_at: Number
    target: Number
    asked: Subset
    meanwhile: Subset
    answered: Subset
    promised: Subset
    seeks: Number
    unloads: Number
    crashes: Number
