"""The instances of a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fencepost.model.cluster.known_bugs import HISTORY, moves
from fencepost.model.history import History
from fencepost.model.pulsar.history import TOPIC
from fencepost.properties.registry import Instance, Value
from fencepost.properties.topic.instances import SHOWN_BY as OF_TOPICS

_PLAIN: Mapping[str, Value] = {"dedup": False}
_ONE: Mapping[str, Value] = {"messages": 1}
_ALONE: Mapping[str, Value] = {"brokers": 1, "expiries": 0, "rolls": 1}
_FAULTS: Mapping[str, Value] = {"openings": 3, "ledgers": 4, "rolls": 1, "crashes": 1}

SIZES = {
    "ci": (
        Instance("an expiry", {}),
        Instance("an expiry, no deduplication", {**_PLAIN, **_ONE, "rolls": 1, "ledgers": 4}),
        Instance("an unload", {**_ALONE, "unloads": 1}),
        Instance("a crash", {**_ALONE, "crashes": 1}),
        Instance("an expiry, an owner cut off", {"disconnects": 1}),
        Instance("a crash and a lost disk", {**_ALONE, "crashes": 1, "copies": 2, "disk_losses": 1}),
        Instance("deleted as inactive", {"connections": 1, "deletions": 1, "rolls": 1}),
    ),
    "standard": (
        Instance("an expiry, a crash, a rollover", _FAULTS),
        Instance("an expiry, two messages, no deduplication", _PLAIN),
    ),
    "deep": (Instance("an expiry, a crash, a rollover, no deduplication", {**_FAULTS, **_PLAIN}),),
}


def _in_a_cluster(shown: Mapping[str, Value]) -> Mapping[str, Value]:
    """An instance that shows a mistake of a topic; of a topic with two brokers the first loses its session."""
    return {"rolls": 1, **shown, "expiries": int(shown.get("brokers", 2) == 2)}


_WEAK: Mapping[str, Mapping[str, Value]] = {
    "truncate": _ONE,
    "confirm_late": _ONE,
    "dropped": {**_ONE, **_ALONE, "copies": 2, "disk_losses": 1},
    "taken_unowned": {"expiries": 0},
    "deleted_while_owned": {**_ONE, "expiries": 0},
    "loss_unheard": _ONE,
    "node_left": {**_ONE, **_ALONE, "rolls": 0, "unloads": 1},
}


def entering(names: Sequence[str]) -> Mapping[str, Value]:
    """An instance that shows what a bug with these moves does: that of the first of them."""
    return _WEAK[names[0]]


_HARM = {
    "truncate": "acked_is_in_log",
    "confirm_late": "acked_is_in_log",
    "dropped": "acked_can_be_read",
    "taken_unowned": "one_takes_itself_for_the_owner",
    "deleted_while_owned": "one_takes_itself_for_the_owner",
    "loss_unheard": "one_is_left",
    "node_left": "served_in_the_end",
}
"""What a weak move costs a user, where it costs anything."""

KNOWN_BUGS: Mapping[str, History] = {
    **TOPIC,
    **{bug: replace(each, only=None, applies=None, harm=_HARM[moves(each)[0]]) for bug, each in HISTORY.items()},
}
"""The known bugs of the parts as they are in a cluster: with which settings a release has one is asked of its part."""

SHOWN_BY: dict[str, Mapping[str, Value]] = {
    **{defect: _in_a_cluster(shown) for defect, shown in OF_TOPICS.items()},
    **_WEAK,
    **{bug: entering(moves(history)) for bug, history in HISTORY.items()},
}
