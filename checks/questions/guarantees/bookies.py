"""Which questions with a number for an answer the settings of a bookie are asked: what it keeps when its process ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fencepost.checks.questions.guarantees.guarantee import Guarantee
from fencepost.checks.settings.bookie_settings import BookieSettings
from fencepost.checks.settings.broker_conf import Taken
from fencepost.model.releases import Releases
from fencepost.properties.bookie.entry import ENTRY
from fencepost.properties.bookie.guarantees import keeps_its_word
from fencepost.properties.bookie.in_cluster import parameters_of
from fencepost.properties.registry import Value

BOOKIE = replace(ENTRY, suite=keeps_its_word)
SMALL: dict[str, Value] = {"entries": 1, "records": 4, "recovery": False}
MOST = 2
"""How many ends of the process are asked about."""


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
