"""The ways in which a message can be lost, each as the instance of which odds are computed.

An instance of odds has the events that the way takes and no others. What is no fault (connections, rollovers, messages) has as
large a budget as changes the answer; one fault more would multiply its odds by the window in which a second one matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fencepost.checks.engines.odds.transitions import Lost
from fencepost.properties.cluster.losses import rival_recovers
from fencepost.properties.ledger.losses import entry_has_no_copy, entry_is_cut_off
from fencepost.properties.registry import Value
from fencepost.properties.topic.losses import message_is_lost

TOPIC, PAIR = "topic", "pair of bookies"


@dataclass(frozen=True)
class Way:
    """A way to lose a message.

    - ``name`` is that of the bug, or of the guarantee that is exceeded; ``protocol``, ``parameters`` and ``bugs`` are the
      instance; ``lost`` is the formula that a message is lost. The message number ``opens`` opens a cycle; with ``lead`` the
      one before it may still be under way.
    - ``outages`` says that the metadata store may be away. ``repaired`` names the number after which latent damage is over;
      ``together`` the faults that can come with the first one, within the life of a former owner.
    - ``of`` is whose rate the answer is; ``share`` the part of all topics, or of the time, that is in the situation.
    - ``decided`` says what stands behind the answer besides the model: a count on real code, or the textbook. Without it the
      answer ranks, and is not a number of years; ``open_question`` is what would have to be measured.
    """

    name: str
    protocol: str
    parameters: Mapping[str, Value]
    lost: Lost
    opens: int
    bugs: tuple[str, ...] = ()
    lead: bool = False
    outages: bool = False
    repaired: Literal["", "repair", "rollovers"] = ""
    together: tuple[str, ...] = ()
    of: str = TOPIC
    share: Literal["", "empty ledgers"] = ""
    note: str = ""
    decided: str = ""
    open_question: str = ""


_ROLLED: Mapping[str, Value] = {"brokers": 1, "openings": 1, "rolls": 1, "ledgers": 3, "capacity": 5}
_PLAIN: Mapping[str, Value] = {"dedup": False, "timeouts": False}
_PAIR: Mapping[str, Value] = {"bookies": 2, "ensemble": 2, "write_quorum": 2, "ack_quorum": 2, "readers": 0}


def _of_ledger(name: str, events: Mapping[str, Value], together: tuple[str, ...], **more: object) -> Way:
    parameters = {**_PAIR, "entries": 2, **events}
    return Way(name, "ledger", parameters, entry_is_cut_off, 0, (name,), repaired="rollovers", together=together, **more)  # type: ignore[arg-type]


OVERLAP = Way("a rival recovery", "cluster", {"messages": 3, "capacity": 4, "rolls": 0}, rival_recovers, 1)
"""Two brokers take themselves for the owner, and one recovers the ledger of the other: the fault from which the ways of one
ledger begin."""

_WAYS = (
    Way(
        "removed_producer_publishes",
        "topic",
        {**_ROLLED, "connections": 2, "failures": 1, "messages": 4},
        message_is_lost,
        1,
        ("removed_producer_publishes",),
        outages=True,
        note="of topics with deduplication",
    ),
    Way(
        "terminated_reopened",
        "topic",
        {**_ROLLED, **_PLAIN, "connections": 1, "terminations": 1, "messages": 3},
        message_is_lost,
        1,
        ("terminated_reopened",),
    ),
    _of_ledger("fence_checked_apart", {}, ()),
    Way(
        "zombie_deletes",
        "cluster",
        {**_PLAIN, "messages": 2, "capacity": 3, "rolls": 0, "connections": 2, "deletions": 1},
        message_is_lost,
        0,
        ("zombie_deletes",),
        together=("connections",),
    ),
    _of_ledger("idle_checkpoint_skips_index", {"crashes": 1}, ("bookie_kills",)),
    _of_ledger("denies_before_fence_is_journaled", {"crashes": 1}, ("bookie_kills",)),
    _of_ledger("master_key_with_entries_only", {"crashes": 1}, ("bookie_kills",), share="empty ledgers"),
    _of_ledger("key_record_after_entry", {"crashes": 1}, ("bookie_kills",)),
    _of_ledger("cookie_deleted_after_wipe", {"losses": 1}, ("wiped",)),
    Way(
        "disks",
        "ledger",
        {**_PAIR, "entries": 3, "losses": 2, "recoverers": 0},
        entry_has_no_copy,
        1,
        repaired="repair",
        of=PAIR,
        decided="the textbook",
    ),
)
WAYS: Mapping[str, Way] = {way.name: way for way in _WAYS}
"""The ways by name."""
