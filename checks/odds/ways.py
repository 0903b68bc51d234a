"""The ways in which a message can be lost, each as the instance of which odds are computed.

An instance of odds has the events that the way takes and no others. What is no fault (connections, rollovers, messages) has as
large a budget as changes the answer; one fault more would multiply its odds by the window in which a second one matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Literal

from fencepost.checks.engines.odds.aftermath import Event
from fencepost.checks.engines.odds.transitions import Lost
from fencepost.model.counts import count_of
from fencepost.model.language import Protocol
from fencepost.properties.cluster.losses import rival_recovers
from fencepost.properties.ledger.losses import (
    adds_come_once,
    adds_take_their_ensemble_first,
    entry_has_no_copy,
    entry_is_cut_off,
    the_first_bookie_forgets,
)
from fencepost.properties.registry import Value
from fencepost.properties.topic.losses import (
    late_writes_time_out,
    message_is_left_behind,
    message_is_lost,
    refused_messages_have_successors,
)

Counted = Literal["creation_fails", "list_slowly", "terminate", "expire", "recover"]
"""Events that real code can be made to have, as actions of ways."""


@dataclass(frozen=True)
class Way:
    """A way to lose a message.

    - ``name`` is that of the bug, or of the guarantee that is exceeded; ``protocol``, ``parameters`` and ``bugs`` are the
      instance; ``lost`` is the formula that a message is lost. The message number ``opens`` opens a cycle; with ``lead`` the
      one before it may still be under way.
    - ``narrowed`` leaves out of the instance what is the same with no time between, or of things that are alike all but one:
      then ``times`` is how many there are.
    - ``outages`` says that the metadata store may be away. ``repaired`` names the number after which latent damage is over;
      ``together`` the faults that can come with the first one, within the life of a former owner.
    - ``copies`` is 0 if the answer is of one topic; else it is of one set of so many bookies. ``share`` is the part of the time
      in which a topic is in the situation, and ``only`` which topics are.
    - ``throttled`` narrows the instance further to a connection that is throttled as ``given`` happens, which changes the odds.
    - ``given`` is the action whose occurrences can be counted on real code, each of which loses a message or does not. What
      comes of it is ``aftermath`` where that takes many messages: the odds are how often it happens, times how many of them
      lose one.
    - ``decided`` says what stands behind the answer besides the model: a count on real code, or the textbook. Without it the
      answer ranks, and is no number of years. ``condition`` is a situation that counts as always given, so that the answer is
      an upper bound; ``missing`` is what the model does not know of its durations.
    """

    name: str
    protocol: str
    parameters: Mapping[str, Value]
    lost: Lost
    opens: int
    bugs: tuple[str, ...] = ()
    lead: bool = False
    narrowed: Callable[[Protocol], Protocol] | None = None
    throttled: Callable[[Protocol], Protocol] | None = None
    times: int = 1
    outages: bool = False
    repaired: Literal["", "repair", "rollovers"] = ""
    together: tuple[str, ...] = ()
    copies: int = 0
    share: Literal["", "empty ledgers"] = ""
    only: str = ""
    given: Counted | Literal[""] = ""
    aftermath: Event | None = None
    decided: str = ""
    condition: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Fleet:
    """What the answers are for: so many topics, on so many bookies, each ledger entry on ``copies`` of them."""

    topics: int = 100
    bookies: int = 10
    copies: int = 2

    def units(self, way: Way) -> int:
        """How many there are of what the odds of a way are of. Of sets of bookies all count, as if each had some ledger."""
        return comb(self.bookies, way.copies) if way.copies else self.topics

    def __str__(self) -> str:
        return f"{count_of(self.topics, 'topic')} on {count_of(self.bookies, 'bookie')}"


_ROLLED: Mapping[str, Value] = {"brokers": 1, "openings": 1, "rolls": 1, "ledgers": 3, "capacity": 5}
_PLAIN: Mapping[str, Value] = {"dedup": False, "timeouts": False}
_PAIR: Mapping[str, Value] = {"bookies": 2, "ensemble": 2, "write_quorum": 2, "ack_quorum": 2, "readers": 0, "entries": 2}
_DESCRIPTORS = "two descriptors of one ledger at a bookie count as always there, so this is an upper bound"


def _of_ledger(name: str, events: Mapping[str, Value], together: tuple[str, ...]) -> Way:
    parameters = {**_PAIR, **events}
    repaired: Literal["rollovers"] = "rollovers"
    way = Way(name, "ledger", parameters, entry_is_cut_off, 0, (name,), repaired=repaired, given="recover")
    return replace(way, narrowed=adds_come_once, together=together)


def _captures_ensemble(p: Protocol) -> Protocol:
    return adds_take_their_ensemble_first(adds_come_once(p))


def _forgets_saves(p: Protocol) -> Protocol:
    return the_first_bookie_forgets(adds_come_once(p))


OVERLAP = Way("a rival recovery", "cluster", {"messages": 3, "capacity": 4, "rolls": 0}, rival_recovers, 1)
"""Two brokers take themselves for the owner, and one recovers the ledger of the other: the fault from which the ways of one
ledger begin."""

_KILLED: Mapping[str, Value] = {"crashes": 1}
_WAYS = (
    Way(
        "removed_producer_publishes",
        "topic",
        {**_ROLLED, "connections": 3, "failures": 1, "messages": 4},
        message_is_lost,
        1,
        ("removed_producer_publishes",),
        given="creation_fails",
        throttled=refused_messages_have_successors,
        outages=True,
        only="of topics with deduplication",
        decided="44 of 128 failed creations lost messages on Pulsar 4.2.4 where connections are throttled (26 to 43 % with a "
        "certainty of 95 %), in three runs; from what each of them logged the model predicts 25 to 35 %",
    ),
    Way(
        "terminated_reopened",
        "topic",
        {**_ROLLED, **_PLAIN, "connections": 2, "terminations": 1, "messages": 3},
        message_is_lost,
        1,
        ("terminated_reopened",),
        given="terminate",
    ),
    Way(
        "listed_after_time_out",
        "topic",
        {**_ROLLED, **_PLAIN, "connections": 2, "slow_updates": 1, "messages": 3},
        message_is_left_behind,
        1,
        ("listed_after_time_out",),
        narrowed=late_writes_time_out,
        given="list_slowly",
        aftermath=Event("list_slowly", before="roll_over", outage=True),
        outages=True,
        decided="15 of 19 slow updates beside which a second creation had begun lost messages on Pulsar 4.2.4 (54 to 94 % "
        "with a certainty of 95 %), in three runs",
        condition="counts what no reader gets before the topic is loaded again",
        missing="how long outages last: if one in ten is eleven times as long as the others, it is six times as frequent",
    ),
    replace(
        _of_ledger("fence_checked_apart", {}, ()),
        condition=_DESCRIPTORS,
        missing="how long an add takes from the check of the fence to its write: 5 ms instead of 0.05 ms make it three hundred "
        "times as often; of steps of constant length none",
    ),
    Way(
        "zombie_deletes",
        "cluster",
        {**_PLAIN, "messages": 2, "capacity": 3, "rolls": 0, "connections": 2, "deletions": 1},
        message_is_lost,
        0,
        ("zombie_deletes",),
        together=("connections",),
        given="expire",
        missing="how a former owner's life is distributed: a minute of it is far in the tail of an exponential law of 2 s",
    ),
    _of_ledger("idle_checkpoint_skips_index", _KILLED, ("bookie_kills",)),
    _of_ledger("denies_before_fence_is_journaled", _KILLED, ("bookie_kills",)),
    replace(_of_ledger("master_key_with_entries_only", _KILLED, ("bookie_kills",)), share="empty ledgers"),
    replace(_of_ledger("key_record_after_entry", _KILLED, ("bookie_kills",)), condition=_DESCRIPTORS),
    replace(
        _of_ledger("captured_ensemble", {"bookies": 3, "changes": 1, "entries": 3}, ("bookie_failures",)),
        opens=1,
        lead=True,
        narrowed=_captures_ensemble,
    ),
    _of_ledger("cookie_deleted_after_wipe", {"losses": 1}, ("wiped",)),
    replace(
        _of_ledger("failed_save_forgotten", {"failed_saves": 1, "crashes": 1, "entries": 3}, ("bookie_kills",)),
        opens=1,
        narrowed=_forgets_saves,
        times=2,
    ),
)

BOUNDED: Mapping[str, tuple[str, str]] = {
    "close_error_ignored": ("fence_checked_apart", "a fence that does not hold"),
}
"""Ways that need another one first, and so are no more frequent: which, and for what."""


def lost_disks(copies: int) -> Way:
    """All disks with a copy of an entry are lost before one of them is copied again."""
    size = dict.fromkeys(("bookies", "ensemble", "write_quorum", "ack_quorum", "losses"), copies)
    parameters: Mapping[str, Value] = {**_PAIR, **size, "entries": 3, "recoverers": 0}
    return Way(
        "disks",
        "ledger",
        parameters,
        entry_has_no_copy,
        1,
        repaired="repair",
        copies=copies,
        decided="the textbook: 2 nu^2 T for each pair of disks" if copies == 2 else "the textbook",
        condition="every set of bookies counts as having some ledger; a shared power cut is not in it",
    )


def ways(fleet: Fleet) -> Mapping[str, Way]:
    """The ways by name."""
    return {way.name: way for way in (*_WAYS, lost_disks(fleet.copies))}


WAYS = ways(Fleet())
"""The ways where each entry has two copies."""
