"""Questions with a number for an answer that a file of a bookie adds: what it keeps, and what auto-recovery does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from fencepost.checks.questions.matters import Guarantee
from fencepost.checks.settings.bookie_settings import AUDITS, BookieSettings
from fencepost.checks.settings.broker_conf import Taken
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.model.language import Protocol
from fencepost.model.releases import Releases
from fencepost.properties.bookie.entry import ENTRY
from fencepost.properties.bookie.guarantees import keeps_its_word
from fencepost.properties.bookie.in_cluster import parameters_of
from fencepost.properties.registry import Value
from fencepost.properties.replication import guarantees as suites
from fencepost.properties.replication.entry import ENTRY as REPLICATION
from fencepost.properties.vocabulary import Suite

BOOKIE = replace(ENTRY, suite=keeps_its_word)
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


EVENTS = {
    "worker_sessions": "{n} lost session{s} of a worker of auto-recovery",
    "recover": "{n} run{s} of the command recover",
}
"""What the rows count that say whether a copy can be lost."""
EMPTY = "comes back with an empty disk under its old name"
MOST_COPIES = 3
"""Write quorums above this are not asked about: a search of them takes minutes."""


def replication_guarantees(cluster: Cluster) -> Iterator[Guarantee]:
    """What is asked of auto-recovery, with the known bugs of the release that the events of a row can show."""
    settings, releases = cluster.settings.auto_recovery, cluster.releases
    copies, spare = cluster.write_quorum, cluster.bookies - cluster.ensemble
    unasked = settings.unmodelled
    if not unasked and copies > MOST_COPIES:
        unasked = f"write quorums above {MOST_COPIES} are not asked about"
    not_replaced = ""
    if copies < 2:
        not_replaced = "with a write quorum of 1 a bookie that is away has the only copy"
    elif not spare:
        not_replaced = "no bookie is left that could take the place of another; name more by --bookies"
    modelled = min(copies, MOST_COPIES)
    daily, weekly = settings.audits.value > 0, settings.checks.value > 0
    small: dict[str, Value] = {"bookies": modelled + 1, "ensemble": modelled, "daily": daily}
    there: Mapping[str, Value] = {"bookies": modelled + min(spare, MOST)}
    never = _never(copies, spare, weekly)

    def row(
        name: str,
        says: str,
        denies: str,
        suite: Callable[[Protocol], Suite],
        parameters: Mapping[str, Value],
        events: tuple[str, ...],
        most: int,
        bugs: Mapping[str, Mapping[str, Value]],
        why: str = "",
    ) -> Guarantee:
        present, why = REPLICATION.bugs_of(releases), unasked or why
        shown_by = {} if why else {bug: {**small, **shown} for bug, shown in bugs.items() if bug in present}
        entry, counted = replace(REPLICATION, suite=suite), EVENTS.get(name, "")
        parameters = {**small, **parameters}
        asked = Guarantee(name, says, denies, entry, parameters, events, most, shown_by, event=counted, unasked=why)
        return replace(asked, denies=never[name], never=True) if name in never else asked

    yield row(
        "replaced",
        "a ledger is whole again after {n} absence{s} of bookies, though they stay away",
        "a ledger can stay without a copy after an absence of a bookie",
        suites.becomes_whole_again,
        there,
        ("crashes",),
        MOST,
        {"listed_replica_is_no_news": there, "return_unseen": there},
    )
    found = f"by the check of all bookies, {settings.audits.value} s later at most" if daily else "by the next attempt"
    yield row(
        "audits",
        f"a ledger is whole again after an absence of a bookie though {{n}} audit{{s}} of it fail, {found}",
        "a ledger stays without a copy when the audit of a lost bookie fails: nothing repeats it; set "
        f"{AUDITS}=3600, or run bookkeeper shell triggeraudit",
        suites.becomes_whole_again,
        {**there, "crashes": 1},
        ("failed_audits",),
        1,
        {"audit_not_repeated": {**there, "crashes": 1, "failed_audits": 1}},
        not_replaced,
    )
    yield row(
        "decommissioned",
        "decommissionbookie ends for {n} bookie{s} at once",
        "decommissionbookie may never end",
        suites.decommissions_end,
        there,
        ("crashes", "decommissions"),
        MOST,
        {},
    )
    yield row(
        "emptied",
        "a ledger is whole again after {n} bookie{s} came back with an empty disk under the old name",
        "a ledger can stay without a copy after a bookie came back with an empty disk under its name",
        suites.becomes_whole_again,
        {**there, "crashes": 0, "emptied": True, "weekly": weekly},
        ("losses",),
        MOST,
        {},
    )
    keeps, loses = (
        "no copy of an acknowledged entry is lost while bookies are replaced ",
        "a copy of an entry can be lost when ",
    )
    collected: Mapping[str, Value] = {"crashes": 1, "collects": True}
    yield row(
        "worker_sessions",
        keeps + "through {n} lost session{s} of a worker",
        loses + "a worker of auto-recovery loses its session",
        suites.keeps_copies,
        {"workers": 2, "crashes": 1},
        ("expiries",),
        1,
        {"target_is_a_member": {"workers": 2, "crashes": 2}, "collector_trusts_the_lock": collected},
        not_replaced,
    )
    yield row(
        "recover",
        keeps + "by {n} run{s} of the command recover",
        loses + "the command recover runs beside auto-recovery",
        suites.keeps_copies,
        {"crashes": 1},
        ("commands",),
        1,
        {"target_is_a_member": {"crashes": 2}, "collector_trusts_the_lock": collected},
        not_replaced,
    )


def _never(copies: int, spare: int, weekly: bool) -> Mapping[str, str]:
    """What is denied, by row, where not one bookie is replaced; there is no entry for a row where one is.

    BookKeeperAdmin.decommissionBookie refuses a bookie that is up, and BookKeeperAdmin.getReplacementBookiesByIndexes leaves
    out every member of an ensemble, also one that is up and empty. AuditorBookieCheckTask.auditBookies looks for bookies that
    are away, so only AuditorCheckAllLedgersTask finds what one lacks that is up.
    """
    whole = "a ledger never becomes whole again when a bookie "
    stays, back, ends = whole + "stays away: ", whole + f"{EMPTY}: ", "decommissionbookie never ends: "
    if copies < 2:
        only, more = "with a write quorum of 1 it has the only copy", "set managedLedgerDefaultWriteQuorum=2"
        return {
            "replaced": f"{stays}{only}; start it again, and {more} for new ledgers",
            "decommissioned": f"{ends}{only}, and has to be stopped; start it again until its ledgers are deleted, and {more}",
            "emptied": f"{back}{only}, which is lost; {more} for new ledgers",
        }
    if spare < 1:
        nobody = "no other bookie is there to take its place"
        return {
            "replaced": f"{stays}{nobody}; add one, or start it again",
            "decommissioned": f"{ends}{nobody}; add one first",
            "emptied": f"{back}{nobody}, nor is it given its own; start it under another name (bookieId), or add one",
        }
    unseen = f"a ledger may never become whole again when a bookie {EMPTY}: nothing checks what is up"
    return {} if weekly else {"emptied": f"{unseen}; set auditorPeriodicCheckInterval=604800"}
