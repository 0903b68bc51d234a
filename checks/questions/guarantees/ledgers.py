"""Questions with a number for an answer about ledgers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fencepost.checks.questions.matters import Guarantee
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
