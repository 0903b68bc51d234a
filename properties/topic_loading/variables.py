"""The variables of ``topic_loading`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from fencepost.model.language import Choice, Condition, Number, Variables
from fencepost.model.pulsar.topic_loading import Attempt, Entry, Policies


class TopicLoadingVariables(Variables):
    """The variables of an instance of ``topic_loading``."""

    topic: Choice[Entry]
    attempt: Choice[Attempt]
    policies: Choice[Policies]
    unanswered: Condition
    skipped: Condition
    waits: Condition
    served: Condition
    lost_answers: Number
    stalls: Number
    trims: Number
    failures: Number
