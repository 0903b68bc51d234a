"""Which questions with a number for an answer the settings of auto-recovery are asked: what becomes of a ledger's copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from fencepost.checks.questions.guarantee import Guarantee
from fencepost.checks.questions.ledger_guarantees import Sizes
from fencepost.checks.settings.auto_recovery_settings import AutoRecoverySettings
from fencepost.model.language import Protocol
from fencepost.model.releases import Releases
from fencepost.properties.registry import Value
from fencepost.properties.replication import guarantees as suites
from fencepost.properties.replication.entry import ENTRY as REPLICATION
from fencepost.properties.vocabulary import Suite

MOST = 2
"""How many absences of bookies are asked about."""
EVENTS = {
    "worker_sessions": "{n} lost session{s} of a worker of auto-recovery",
    "recover": "{n} run{s} of the command recover",
}
"""What the rows count that say whether a copy can be lost."""
NEVER = (
    "a ledger never becomes whole again when a bookie stays away, and its decommissioning never ends: no other bookie is there "
    "to take its place; add one, or start it again"
)
"""What is denied where a cluster has as many bookies as an ensemble."""
MOST_COPIES = 3
"""Write quorums above this are not asked about: a search of them takes minutes."""


def replication_guarantees(settings: AutoRecoverySettings, sizes: Sizes, releases: Releases) -> Iterator[Guarantee]:
    """What is asked of auto-recovery, with the known bugs of the release that the events of a row can show."""
    copies, spare = sizes.write_quorum, sizes.bookies - sizes.ensemble
    unasked = settings.unmodelled
    if not unasked and copies < 2:
        unasked = "with a write quorum of 1 a bookie that is away has the only copy"
    if not unasked and copies > MOST_COPIES:
        unasked = f"write quorums above {MOST_COPIES} are not asked about"
    no_spare = "no bookie is left that could take the place of another; name more by --bookies"
    modelled = min(copies, MOST_COPIES)
    small: dict[str, Value] = {"bookies": modelled + 1, "ensemble": modelled, "daily": settings.audits.value > 0}

    def row(
        name: str,
        says: str,
        denies: str,
        suite: Callable[[Protocol], Suite],
        parameters: Mapping[str, Value],
        event: str,
        most: int,
        bugs: Mapping[str, Mapping[str, Value]],
    ) -> Guarantee:
        why = unasked or ("" if spare or event == "crashes" else no_spare)
        present = REPLICATION.bugs_of(releases)
        shown_by = {} if why else {bug: {**small, **shown} for bug, shown in bugs.items() if bug in present}
        entry = replace(REPLICATION, suite=suite)
        counted = EVENTS.get(name, "")
        return Guarantee(
            name, says, denies, entry, {**small, **parameters}, (event,), most, shown_by, event=counted, unasked=why
        )

    keeps, loses = (
        "no copy of an acknowledged entry is lost while bookies are replaced ",
        "a copy of an entry can be lost when ",
    )
    collected: Mapping[str, Value] = {"crashes": 1, "collects": True}
    there: Mapping[str, Value] = {"bookies": modelled + min(spare, MOST)}
    yield row(
        "replaced",
        "a ledger is whole again after {n} absence{s} of bookies, though they stay away",
        NEVER if spare < 1 else "a ledger can stay without a copy after an absence of a bookie",
        suites.becomes_whole_again,
        there,
        "crashes",
        MOST,
        {"listed_replica_is_no_news": there},
    )
    yield row(
        "worker_sessions",
        keeps + "through {n} lost session{s} of a worker",
        loses + "a worker of auto-recovery loses its session",
        suites.keeps_copies,
        {"workers": 2, "crashes": 1},
        "expiries",
        1,
        {"target_is_a_member": {"workers": 2, "crashes": 2}, "collector_trusts_the_lock": collected},
    )
    yield row(
        "recover",
        keeps + "by {n} run{s} of the command recover",
        loses + "the command recover runs beside auto-recovery",
        suites.keeps_copies,
        {"crashes": 1},
        "commands",
        1,
        {"target_is_a_member": {"crashes": 2}, "collector_trusts_the_lock": collected},
    )
