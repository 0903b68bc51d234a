"""What auto-recovery guarantees with the settings of a bookie: whole ledgers, and copies that are not lost meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.plan import Approach
from fencepost.checks.questions.establishing import Established, Means, establish
from fencepost.checks.questions.ledger_guarantees import Sizes
from fencepost.checks.questions.replication_guarantees import replication_guarantees
from fencepost.checks.settings.broker_conf import ConfigurationError
from fencepost.checks.settings.cluster_settings import read_settings
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
    assert {name: row.figure for name, row in by_name.items()} == {"replaced": 1, "worker_sessions": 0, "recover": 0}
    assert all(row.is_known for row in by_name.values())
    failure = by_name["recover"].failure
    assert failure is not None
    assert (failure.bug, failure.verdict.property.name) == ("collector_trusts_the_lock", "copies_are_not_fewer")
    assert set(failure.bugs) == {"collector_trusts_the_lock", "target_is_a_member"}


@pytest.mark.long
def test_without_the_daily_audit_a_ledger_may_stay_without_a_copy(tmp_path: Path) -> None:
    row = rows(tmp_path, "auditorPeriodicBookieCheckInterval=0", 2, 4)["replaced"]
    assert (row.figure, row.is_known) == (1, True)
    assert row.failure is not None
    assert (row.failure.bug, row.failure.verdict.property.name) == ("listed_replica_is_no_news", "is_whole_in_the_end")


@pytest.mark.long
@pytest.mark.parametrize(("bookies", "figure"), [(2, 0), (3, 1), (4, 2)])
def test_as_many_bookies_may_stay_away_as_there_are_to_take_their_place(tmp_path: Path, bookies: int, figure: int) -> None:
    row = rows(tmp_path, USUAL, 2, bookies)["replaced"]
    assert (row.figure, row.is_known) == (figure, True)
    if bookies == 2:
        assert row.sentence.startswith("a ledger never becomes whole again when a bookie stays away")
        assert row.failure is not None
        assert row.failure.verdict.property.name == "is_whole_in_the_end"
        assert not row.failure.bug


@pytest.mark.parametrize(
    ("text", "copies", "bookies", "why"),
    [
        ("autoRecoveryDaemonEnabled=false", 2, 3, "run no auto-recovery"),
        (USUAL, 1, 2, "has the only copy"),
        (USUAL, 4, 5, "above 3"),
    ],
)
def test_of_what_is_not_there_nothing_is_claimed(tmp_path: Path, text: str, copies: int, bookies: int, why: str) -> None:
    for row in rows(tmp_path, text, copies, bookies).values():
        assert (row.figure, row.verdict, row.claim) == (None, "inconclusive", None)
        assert why in row.gap


def test_without_a_bookie_to_spare_copies_are_not_asked_about(tmp_path: Path) -> None:
    by_name = rows(tmp_path, USUAL, 2, 2)
    assert all("no bookie is left" in by_name[name].gap for name in ("worker_sessions", "recover"))


@pytest.mark.parametrize("text", ["auditorPeriodicBookieCheckInterval=daily", "autoRecoveryDaemonEnabled=maybe"])
def test_a_value_that_bookkeeper_refuses_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"bookkeeper\.conf:2: .*"):
        rows(tmp_path, text)
