"""The known bugs of the parts of a cluster, and the moves by which each of them enters it.

A cluster has the topic as a whole, with its mistakes. Of ledgers, their copies and of ownership it has stand-ins: what a bug of
theirs makes possible there is a weak move, or something that need not happen in the end. The history of the bug names these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fencepost.model.bookkeeper import bookie_defects, history
from fencepost.model.bookkeeper.ledger import defects as ledger_defects
from fencepost.model.bookkeeper.replication import defects as replication_defects
from fencepost.model.history import History
from fencepost.model.pulsar import history as pulsar
from fencepost.model.pulsar import ownership, split_defects, unload
from fencepost.model.pulsar.service_unit import defects as service_unit_defects

_PARTS = (
    (ledger_defects.DEFECTS, history.LEDGER),
    (bookie_defects.DEFECTS, history.BOOKIE),
    (replication_defects.DEFECTS, history.REPLICATION),
    (ownership.DEFECTS, pulsar.OWNERSHIP),
    (unload.DEFECTS, pulsar.UNLOAD),
    (split_defects.DEFECTS, pulsar.SPLIT),
    (service_unit_defects.DEFECTS, pulsar.SERVICE_UNIT),
)


OF_DELETED = ("deleted_fence_in_memory",)
"""The bugs that need a ledger which is deleted: nobody reads what is confirmed there."""


def _known() -> Iterator[tuple[str, str, History]]:
    for texts, histories in _PARTS:
        for name, each in histories.items():
            if each.present and moves(each) and name not in OF_DELETED:
                yield name, texts[name], each


def moves(history: History) -> tuple[str, ...]:
    """The moves by which a bug enters a cluster; none if it changes nothing that a topic sees."""
    return (*(history.allows or ()), *history.unfair)


def moves_of(names: Iterable[str]) -> tuple[str, ...]:
    """The moves by which the bugs of these names enter a cluster; other names have none."""
    return tuple(move for name in names if name in HISTORY for move in moves(HISTORY[name]))


TEXTS = {name: text for name, text, _ in _known()}
"""What each of them is, by its name."""

HISTORY = {name: history for name, _, history in _known()}
"""What is known of each; with which settings a release has it is asked of its part."""
