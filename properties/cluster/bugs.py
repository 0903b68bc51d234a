"""The bugs of a cluster: those of a topic, and those of its other parts that enter it by weak moves of a stand-in.

Each stands in the room of its part, and with which settings a release has it is asked of that part. ``cluster`` builds a
cluster that has them all as switches.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from fencepost.model import cluster as model
from fencepost.model.bookkeeper import bookie_bugs
from fencepost.model.bookkeeper.bookie import bookie
from fencepost.model.bookkeeper.ledger import BUGS as OF_LEDGERS
from fencepost.model.bookkeeper.ledger import ledger
from fencepost.model.bookkeeper.replication import replication
from fencepost.model.bookkeeper.replication.bugs import BUGS as OF_REPLICATION
from fencepost.model.language import Protocol
from fencepost.model.pulsar import ownership, split, split_bugs, unload
from fencepost.model.pulsar.service_unit import BUGS as OF_SERVICE_UNITS
from fencepost.model.pulsar.service_unit import service_unit
from fencepost.model.pulsar.topic import topic
from fencepost.properties.bug_files import NAME, Bugs, bugs_in
from fencepost.properties.bugs import Bug, Value

_ROOMS = Path(__file__).parents[1]


def _bugs_of(function: Callable[..., Protocol]) -> Bugs:
    return bugs_in(_ROOMS / function.__name__ / NAME, function)


PARTS: tuple[tuple[Mapping[str, str], Bugs], ...] = (
    (OF_LEDGERS, _bugs_of(ledger)),
    (bookie_bugs.BUGS, _bugs_of(bookie)),
    (OF_REPLICATION, _bugs_of(replication)),
    (ownership.BUGS, _bugs_of(ownership.ownership)),
    (unload.BUGS, _bugs_of(unload.unload)),
    (split_bugs.BUGS, _bugs_of(split.split)),
    (OF_SERVICE_UNITS, _bugs_of(service_unit)),
)
"""Of each part that a stand-in takes the place of, what its bugs are, and what is known of them."""
TOPIC = _bugs_of(topic)

WEAK = _bugs_of(model.cluster)
"""The weak moves of the stand-ins, each with what it harms."""

CLOSED_TOO_EARLY = ("confirm_late", "truncate")
"""Weak moves of a ledger that may be closed without a confirmed entry: the close and the confirmation come in either order."""
FEWER_COPIES = ("dropped",)
"""The moves of a bug that takes a copy of a closed ledger: what is lost is lost with the other copies."""


@cache
def of_parts() -> Mapping[str, Bug]:
    """The bugs of releases that enter a cluster by weak moves, by name."""
    return {name: bug for _, bugs in PARTS for name, bug in bugs.items() if bug.present and bug.moves}


def moves_of(names: Iterable[str]) -> tuple[str, ...]:
    """The moves by which the bugs of these names enter a cluster; other names have none."""
    return tuple(move for name in names if name in of_parts() for move in of_parts()[name].moves)


def entering(moves: Iterable[str]) -> Mapping[str, Value]:
    """An instance that shows what a bug with these moves does: that of the first of them."""
    return WEAK[next(iter(moves))].shown_by


@cache
def _bugs() -> Mapping[str, Bug]:
    return {
        **{name: replace(bug, shown_by=_in_a_cluster(bug.shown_by)) for name, bug in TOPIC.items()},
        **WEAK,
        **{name: _as_a_whole(bug) for name, bug in of_parts().items()},
    }


def _in_a_cluster(shown: Mapping[str, Value]) -> Mapping[str, Value]:
    """An instance that shows a bug of a topic; of a topic with two brokers the first loses its session."""
    return {"rolls": 1, **shown, "expiries": int(shown.get("brokers", 2) == 2)}


def _as_a_whole(bug: Bug) -> Bug:
    return replace(bug, only={}, applies="", harm=WEAK[bug.moves[0]].harm, shown_by=entering(bug.moves))


BUGS = Bugs(_bugs)
"""The bugs of a topic, the weak moves, and the bugs of the parts, as they are in a cluster."""


def _switches() -> Mapping[str, model.OfPart]:
    known = of_parts()
    return {name: model.OfPart(texts[name], known[name].moves) for texts, bugs in PARTS for name in bugs if name in known}


def cluster(**parameters: Any) -> Protocol:
    return model.cluster(**parameters, parts=_switches())


_PARAMETERS = inspect.signature(model.cluster).parameters.values()
cluster.__doc__ = model.cluster.__doc__
cluster.__module__ = model.cluster.__module__
cluster.__signature__ = inspect.Signature([p for p in _PARAMETERS if p.name != "parts"], return_annotation=Protocol)  # type: ignore[attr-defined]
