"""Questions with a number for an answer about ledgers, and about the racks that their copies are on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fencepost.checks.questions.guarantees.guarantee import Guarantee
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.model.bookkeeper.ledger.protocol import BUDGETS
from fencepost.model.counts import count_of
from fencepost.properties.ledger import guarantees as suites
from fencepost.properties.ledger import one_after_the_other
from fencepost.properties.ledger.entry import ENTRY as LEDGER
from fencepost.properties.registry import Value

DURABLE = replace(LEDGER, suite=suites.durability)
ROLLING = replace(LEDGER, suite=suites.durability_of_restarts, function=suites.rolling)
SURVIVES = "an acknowledged entry survives "
LOST = "an acknowledged entry can be lost "
RECOVERY, CHANGE = "{n} recovered ledger{s}", "{n} change{s} of ensemble"
TRIPLES = 3
"""Write quorums up to which comparing states by every order of the bookies takes less time than it saves."""


def ledger_guarantees(cluster: Cluster) -> list[Guarantee]:
    """What is asked of a ledger."""
    small: dict[str, Value] = {**cluster.parameters, "entries": 1, "readers": 0}
    exact, unrecovered = {**small, "bookies": cluster.ensemble}, {"recoverers": 0}
    changes = cluster.write_quorum
    replaced = {**small, **unrecovered, "bookies": cluster.ensemble + changes, "changes": changes}
    copies, spare = cluster.ack_quorum, cluster.bookies - cluster.ensemble
    quorum, another = ("ack_quorum",), ("bookies",)
    changed, writing, reading, recovering, usual = (
        replace(LEDGER, suite=suite)
        for suite in (
            suites.durability_after_change,
            suites.writing,
            suites.reading,
            suites.recovering,
            suites.usual_durability,
        )
    )
    down, missing = f"of {count_of(cluster.bookies, 'bookie')} down", ("crashes", "changes")
    guarantees = [
        Guarantee(
            "disks",
            SURVIVES + "{n} lost disk{s}",
            LOST + "with one disk",
            DURABLE,
            exact,
            ("losses",),
            copies,
            event="{n} lost disk{s}",
            raised_by=(quorum,),
        ),
        Guarantee(
            "usual_disks",
            f"an entry usually has {count_of(cluster.write_quorum, 'copy')}, when all answers have come: "
            "it survives {n} lost disk{s}",
            "an entry usually has 1 copy, when all answers have come: it can be lost with one disk",
            usual,
            {**exact, **unrecovered},
            ("losses",),
            cluster.write_quorum,
            raised_by=(("write_quorum",),),
        ),
        Guarantee(
            "disks_one_gone",
            "when one of its bookies is gone, and not yet replaced, such an entry survives {n} more lost disk{s}",
            "when one of its bookies is gone, and not yet replaced, one more lost disk can take the last copy of such an entry",
            usual,
            {**exact, **unrecovered, "crashes": 1},
            ("losses",),
            cluster.write_quorum,
            raised_by=(("write_quorum",),),
        ),
        Guarantee(
            "disks_after_change",
            "when all its bookies have been replaced it survives {n} lost disk{s}",
            "when all its bookies have been replaced it can be lost with one disk",
            changed,
            replaced,
            ("losses",),
            copies,
            first=one_after_the_other.replaced_first,
            symmetric=changes <= TRIPLES,
            event="{n} lost disk{s}",
            raised_by=(quorum,),
        ),
        Guarantee(
            "writing",
            f"with {{n}} {down} writing goes on",
            f"with 1 {down} writing can stop",
            writing,
            {**small, **unrecovered},
            missing,
            spare + 1,
            first=one_after_the_other.down_before_the_writer,
            event="{n} bookie{s} down for writing",
            raised_by=(another,),
        ),
        Guarantee(
            "reading",
            "with {n} bookie{s} down every acknowledged entry can be read",
            "with 1 bookie down some acknowledged entries may be unreadable",
            reading,
            {**exact, **unrecovered},
            ("crashes",),
            copies,
            event="{n} bookie{s} down for reading",
            raised_by=(quorum,),
        ),
        Guarantee(
            "recovery",
            f"with {{n}} {down} the ledgers of a crashed broker are recovered",
            f"with 1 {down} a ledger of a crashed broker can stay unrecovered",
            recovering,
            small,
            missing,
            max(copies, spare + 1),
            first=one_after_the_other.down_before_the_recovery,
            event="{n} bookie{s} down for the recovery of a ledger",
            raised_by=(quorum, another, quorum + another),
        ),
    ]
    return guarantees + list(_of_the_release(cluster))


def _of_the_release(cluster: Cluster) -> Iterator[Guarantee]:
    """What is asked of a ledger with the bugs that these releases have, by the faults that show them."""
    small: dict[str, Value] = {**cluster.parameters, "entries": 1, "readers": 0}
    exact, spare = {**small, "bookies": cluster.ensemble}, {**small, "bookies": cluster.ensemble + 1}
    each, fenced = cluster.ensemble, "when a bookie is restarted"
    wiped = "a bookie with an empty disk under its old name, and the operator deletes the bookie's cookie"
    empty = "when a bookie comes back with an empty disk, and the operator deletes the bookie's cookie"
    restarts = "{n} restart{s} of bookies"
    for name, what, when, entry, parameters, most, fault, event in (
        ("recoveries", "the recovery of its ledger", "when its ledger is recovered", DURABLE, exact, 1, "recoverers", RECOVERY),
        ("restarts", f"{restarts}, one after the other", fenced, ROLLING, exact, each, "crashes", restarts),
        ("changes", CHANGE, "when an ensemble changes", DURABLE, spare, 1, "changes", CHANGE),
        ("wiped", wiped, empty, DURABLE, exact, 1, "losses", "{n} bookie{s} with an empty disk and no cookie"),
    ):
        bugs = dict(_bugs(cluster, fault))
        first = one_after_the_other.recovered_last if fault == "changes" else None
        yield Guarantee(name, SURVIVES + what, LOST + when, entry, parameters, (fault,), most, bugs, first, event=event)


def _bugs(cluster: Cluster, fault: str) -> Iterator[tuple[str, dict[str, Value]]]:
    """The bugs of a ledger that show with no other fault, each with the instance of these sizes that shows it."""
    usual = {p.name: p.default for p in LEDGER.parameters}
    faults = {name for name in BUDGETS if name != "explicit_lacs"}
    for name in LEDGER.bugs_of(cluster.releases):
        shown = {**usual, **LEDGER.shown_by[name]}
        bookies = cluster.ensemble + int(shown["bookies"]) - int(shown["ensemble"])
        parameters = {**shown, **cluster.parameters, "bookies": bookies, "readers": 0}
        fits = LEDGER.can_have(name, parameters)
        if fits and {f for f in faults if shown[f]} == {fault} & faults:
            yield name, parameters


MOST_PLACES, MOST_RACKS = 5, 5
"""Ensembles and racks above these are not asked about: a search of them takes minutes."""
LOST_RACKS = "{n} lost rack{s} of bookies"


def rack_guarantees(cluster: Cluster) -> Iterator[Guarantee]:
    """What is asked of the racks, of which each has some bookies. Racks of as many bookies are alike, and an ensemble takes no
    more of one than it has places."""
    from fencepost.properties.placement import suite as placement
    from fencepost.properties.placement.entry import ENTRY as PLACEMENT

    survives, placed = (replace(PLACEMENT, suite=suite) for suite in (placement.survives_racks, placement.writes_go_on))
    settings = cluster.settings.placement
    counts = sorted((len(bookies) for bookies in cluster.racks.values() if bookies), reverse=True)
    whole: Mapping[str, Value] = {
        "racks": "+".join(str(min(count, cluster.ensemble)) for count in counts),
        "ensemble": cluster.ensemble,
        "write_quorum": cluster.write_quorum,
        "ack_quorum": cluster.ack_quorum,
        "policy": "rackaware" if settings.rackaware.value else "random",
        "min_racks": settings.min_racks.value,
        "enforced": settings.enforced.value,
        **PLACEMENT.behaviour(cluster.releases),
    }
    unasked = settings.unmodelled
    if not unasked and cluster.ensemble > sum(counts):
        unasked = f"an ensemble of {cluster.ensemble} is larger than the {count_of(sum(counts), 'bookie')} of the racks"
    if not unasked and (cluster.ensemble > MOST_PLACES or len(counts) > MOST_RACKS):
        unasked = f"ensembles above {MOST_PLACES} and more than {MOST_RACKS} racks are not asked about"
    most = len(counts)
    copies = count_of(cluster.write_quorum, "copy")
    more = "put the bookies on as many racks as the write quorum, or raise managedLedgerDefaultAckQuorum"
    yield Guarantee(
        "racks",
        "an acknowledged entry survives the loss of {n} rack{s} of bookies",
        f"an acknowledged entry can be lost with one rack of bookies; {more}",
        survives,
        whole,
        ("losses",),
        min(most, cluster.ack_quorum),
        event=LOST_RACKS,
        unasked=unasked,
    )
    yield Guarantee(
        "usual_racks",
        f"an entry usually has {copies}, when all answers have come: it survives the loss of {{n}} rack{{s}} of bookies",
        f"an entry usually has {copies}, when all answers have come: it can be lost with one rack of bookies",
        survives,
        {**whole, "settled": True},
        ("losses",),
        min(most, cluster.write_quorum),
        event=LOST_RACKS,
        unasked=unasked,
    )
    yield Guarantee(
        "racks_after_outage",
        "after an outage of a rack such an entry survives the loss of {n} rack{s}, also if it was written meanwhile, or "
        "auto-recovery has moved its copies",
        "after an outage of a rack such an entry can be lost with one rack, if it was written meanwhile, or auto-recovery has "
        "moved its copies: all are on one rack then; one rack more avoids it",
        survives,
        {**whole, "settled": True, "outages": 1},
        ("losses",),
        min(most, cluster.write_quorum),
        event=LOST_RACKS,
        unasked=unasked,
    )
    yield Guarantee(
        "racks_writing",
        "with {n} rack{s} of bookies cut off new ledgers can be created",
        "with one rack of bookies cut off no ledger can be created: writing stops",
        placed,
        {**whole, "losses": 0},
        ("outages",),
        most,
        event="{n} rack{s} of bookies cut off",
        unasked=unasked,
    )
