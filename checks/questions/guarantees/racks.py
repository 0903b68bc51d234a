"""Which questions with a number for an answer the racks of a cluster's bookies add: what the loss of a rack takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fencepost.checks.questions.guarantees.guarantee import Guarantee
from fencepost.checks.settings.broker_settings import PlacementSettings
from fencepost.checks.settings.cluster_settings import Racks, Sizes
from fencepost.model.counts import count_of
from fencepost.properties.placement import suite as suites
from fencepost.properties.placement.entry import ENTRY
from fencepost.properties.registry import Value

SURVIVES = replace(ENTRY, suite=suites.survives_racks)
PLACED = replace(ENTRY, suite=suites.writes_go_on)
MOST_PLACES, MOST_RACKS = 5, 5
"""Ensembles and racks above these are not asked about: a search of them takes minutes."""
EVENT = "{n} lost rack{s} of bookies"


def rack_guarantees(racks: Racks, settings: PlacementSettings, sizes: Sizes) -> Iterator[Guarantee]:
    """What is asked of the racks, of which each has some bookies. Racks of as many bookies are alike, and an ensemble takes no
    more of one than it has places."""
    counts = sorted((len(bookies) for bookies in racks.values() if bookies), reverse=True)
    whole: Mapping[str, Value] = {
        "racks": "+".join(str(min(count, sizes.ensemble)) for count in counts),
        "ensemble": sizes.ensemble,
        "write_quorum": sizes.write_quorum,
        "ack_quorum": sizes.ack_quorum,
        "policy": "rackaware" if settings.rackaware.value else "random",
        "min_racks": settings.min_racks.value,
        "enforced": settings.enforced.value,
    }
    unasked = settings.unmodelled
    if not unasked and sizes.ensemble > sum(counts):
        unasked = f"an ensemble of {sizes.ensemble} is larger than the {count_of(sum(counts), 'bookie')} of the racks"
    if not unasked and (sizes.ensemble > MOST_PLACES or len(counts) > MOST_RACKS):
        unasked = f"ensembles above {MOST_PLACES} and more than {MOST_RACKS} racks are not asked about"
    most = len(counts)
    copies = count_of(sizes.write_quorum, "copy")
    more = "put the bookies on as many racks as the write quorum, or raise managedLedgerDefaultAckQuorum"
    yield Guarantee(
        "racks",
        "an acknowledged entry survives the loss of {n} rack{s} of bookies",
        f"an acknowledged entry can be lost with one rack of bookies; {more}",
        SURVIVES,
        whole,
        ("losses",),
        min(most, sizes.ack_quorum),
        event=EVENT,
        unasked=unasked,
    )
    yield Guarantee(
        "usual_racks",
        f"an entry usually has {copies}, when all answers have come: it survives the loss of {{n}} rack{{s}} of bookies",
        f"an entry usually has {copies}, when all answers have come: it can be lost with one rack of bookies",
        SURVIVES,
        {**whole, "settled": True},
        ("losses",),
        min(most, sizes.write_quorum),
        event=EVENT,
        unasked=unasked,
    )
    yield Guarantee(
        "racks_after_outage",
        "after an outage of a rack such an entry survives the loss of {n} rack{s}, also if it was written meanwhile, or "
        "auto-recovery has moved its copies",
        "after an outage of a rack such an entry can be lost with one rack, if it was written meanwhile, or auto-recovery has "
        "moved its copies: all are on one rack then; one rack more avoids it",
        SURVIVES,
        {**whole, "settled": True, "outages": 1},
        ("losses",),
        min(most, sizes.write_quorum),
        event=EVENT,
        unasked=unasked,
    )
    yield Guarantee(
        "racks_writing",
        "with {n} rack{s} of bookies cut off new ledgers can be created",
        "with one rack of bookies cut off no ledger can be created: writing stops",
        PLACED,
        {**whole, "losses": 0},
        ("outages",),
        most,
        event="{n} rack{s} of bookies cut off",
        unasked=unasked,
    )
