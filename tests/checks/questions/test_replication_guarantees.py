"""What auto-recovery guarantees with the settings of a bookie: whole ledgers, and copies that are not lost meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.plan import Approach
from fencepost.checks.questions.establishing import Established, Means, establish
from fencepost.checks.questions.instances import read_settings
from fencepost.checks.questions.ledger_guarantees import Sizes
from fencepost.checks.questions.replication_guarantees import replication_guarantees
from fencepost.checks.settings.broker_conf import ConfigurationError
from fencepost.model.releases import Releases

MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 28), Reporter(quiet=True))
USUAL = "bookiePort=3181"


def rows(folder: Path, text: str, copies: int = 2, bookies: int = 3) -> dict[str, Established]:
    file = folder / "bookkeeper.conf"
    file.write_text(f"bookiePort=3181\n{text}\n")
    sizes = Sizes(bookies, copies, copies, copies)
    asked = replication_guarantees(read_settings(file).auto_recovery, sizes, Releases.of())
    return {guarantee.name: establish(guarantee, MEANS) for guarantee in asked}


@pytest.mark.parametrize(("copies", "bookies"), [(2, 3), (3, 4)])
@pytest.mark.long
def test_recover_and_lost_sessions_cost_a_copy(tmp_path: Path, copies: int, bookies: int) -> None:
    by_name = rows(tmp_path, USUAL, copies, bookies)
    assert {name: row.figure for name, row in by_name.items()} == {"replaced": 2, "worker_sessions": 0, "recover": 0}
    assert all(row.is_known for row in by_name.values())
    failure = by_name["recover"].failure
    assert failure is not None
    assert (failure.bug, failure.verdict.property.name) == ("collector_trusts_the_lock", "copies_are_not_fewer")
    assert set(failure.bugs) == {"collector_trusts_the_lock", "target_is_a_member"}


@pytest.mark.long
def test_without_the_daily_audit_a_ledger_may_stay_without_a_copy(tmp_path: Path) -> None:
    row = rows(tmp_path, "auditorPeriodicBookieCheckInterval=0")["replaced"]
    assert (row.figure, row.is_known) == (1, True)
    assert row.failure is not None
    assert (row.failure.bug, row.failure.verdict.property.name) == ("listed_replica_is_no_news", "becomes_whole")


@pytest.mark.parametrize(
    ("text", "copies", "bookies", "why"),
    [
        ("autoRecoveryDaemonEnabled=false", 2, 3, "run no auto-recovery"),
        (USUAL, 2, 2, "no bookie is left"),
        (USUAL, 1, 2, "has the only copy"),
        (USUAL, 4, 5, "above 3"),
    ],
)
def test_of_what_is_not_there_nothing_is_claimed(tmp_path: Path, text: str, copies: int, bookies: int, why: str) -> None:
    for row in rows(tmp_path, text, copies, bookies).values():
        assert (row.figure, row.verdict, row.claim) == (None, "inconclusive", None)
        assert why in row.gap


@pytest.mark.parametrize("text", ["auditorPeriodicBookieCheckInterval=daily", "autoRecoveryDaemonEnabled=maybe"])
def test_a_value_that_bookkeeper_refuses_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"bookkeeper\.conf:2: .*"):
        rows(tmp_path, text)
