"""Questions with a number for an answer about ledgers and, where a file of one is given, about what a bookie keeps of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fencepost.checks.questions.matters import Guarantee
from fencepost.checks.settings.bookie_settings import BookieSettings
from fencepost.checks.settings.broker_conf import Taken
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.model.bookkeeper.ledger.protocol import BUDGETS
from fencepost.model.counts import count_of
from fencepost.model.releases import Releases
from fencepost.properties.bookie.entry import ENTRY as OF_A_BOOKIE
from fencepost.properties.bookie.guarantees import keeps_its_word
from fencepost.properties.bookie.in_cluster import parameters_of
from fencepost.properties.ledger import guarantees as suites
from fencepost.properties.ledger import one_after_the_other
from fencepost.properties.ledger.entry import ENTRY as LEDGER
from fencepost.properties.registry import Value

BOOKIE = replace(OF_A_BOOKIE, suite=keeps_its_word)
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


SMALL: dict[str, Value] = {"entries": 1, "records": 4, "recovery": False}
MOST = 2
"""How many faults are asked about."""


def bookie_guarantees(settings: BookieSettings, releases: Releases) -> Iterator[Guarantee]:
    """What is asked of a bookie. Of the known bugs of its release only those of a failed flush, and of several journals, are
    switched on here: the row ``restarts`` has the others."""
    unmodelled = settings.unmodelled
    parameters = SMALL if unmodelled else {**SMALL, **parameters_of(settings.plain)}
    full = {"full_caches": 1} if settings.has_several_journals else {}
    of_journals = [name for name in BOOKIE.bugs_of(releases) if "journals" in BOOKIE.shown_by[name]] if full else []
    weak = [flag for flag in (settings.write, settings.sync) if not flag.value]
    keeps, loses = "what a bookie has acknowledged survives ", "what a bookie has acknowledged can be lost when "
    for name, says, denies, fault, event in (
        ("killed", keeps + "{n} kill{s} of its process", loses + "its process is killed", "kills", "{n} kill{s} of a bookie"),
        ("power", keeps + "{n} power cut{s}", loses + "it loses power", "power_losses", "{n} power cut{s} of a bookie"),
    ):
        yield Guarantee(
            name,
            says,
            denies,
            BOOKIE,
            {**parameters, **full},
            (fault,),
            MOST,
            {} if unmodelled else {name: {**parameters, **full, fault: 1} for name in of_journals},
            event=event,
            exposed_by=_blamed(weak, fault),
            unasked=unmodelled,
        )
    yield _disk_full(keeps, loses, settings, parameters, releases)


def _disk_full(
    keeps: str, loses: str, settings: BookieSettings, parameters: Mapping[str, Value], releases: Releases
) -> Guarantee:
    """What a flush that fails may cost: SingleDirectoryDbLedgerStorage.checkpoint and SyncThread.checkpoint."""
    unmodelled, storage = settings.unmodelled, settings.storage
    if not unmodelled and (parameters.get("storage") != "db" or {"directories", "journals"} & {*parameters}):
        has = str(storage) if parameters.get("storage") != "db" else "here are several"
        unmodelled = f"a flush that fails is modelled for DbLedgerStorage with one ledger directory and one journal; {has}"
    of_a_save = (name for name in BOOKIE.bugs_of(releases) if "failed_saves" in BOOKIE.shown_by[name])
    full = {**parameters, "kills": 1}
    return Guarantee(
        "disk_full",
        keeps + "{n} failure{s} of a flush, as on a full disk, and the kill that follows",
        loses + "a flush fails, as on a full disk, and its process is killed later",
        BOOKIE,
        full,
        ("failed_saves",),
        MOST,
        {} if unmodelled else dict.fromkeys(of_a_save, full),
        event="{n} failure{s} of a flush of a bookie",
        exposed_by=_blamed([flag for flag in (settings.write,) if not flag.value], "kills"),
        unasked=unmodelled,
        unasked_by=storage,
    )


def _blamed(weak: list[Taken[bool]], fault: str) -> tuple[Taken[bool], ...]:
    """The flags that are to blame: a kill does not take what is written, whether it is synced or not."""
    return tuple(flag for flag in weak if fault == "power_losses" or flag.key == "journalWriteData")
