"""What auto-recovery guarantees with the settings of a bookie: whole ledgers, and copies that are not lost meanwhile."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.questions.guarantees.copies import replication_guarantees
from fencepost.checks.questions.guarantees.establishing import Established, establish
from fencepost.checks.settings.broker_conf import ConfigurationError
from fencepost.checks.settings.cluster_settings import read_settings
from fencepost.model.releases import Releases
from tests.checks.questions.guarantees.sized import sized
from tests.marking import first_at_once

MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 28))
USUAL = "bookiePort=3181"


def rows(folder: Path, text: str, copies: int = 2, bookies: int = 3, only: Collection[str] = ()) -> dict[str, Established]:
    """What is established of each guarantee, or of some only."""
    file = folder / "bookkeeper.conf"
    file.write_text(f"bookiePort=3181\n{text}\n")
    asked = replication_guarantees(sized(bookies, copies, copies, copies, Releases.of(), settings=read_settings(file)))
    return {guarantee.name: establish(guarantee, MEANS) for guarantee in asked if not only or guarantee.name in only}


@pytest.mark.parametrize(("copies", "bookies"), [(2, 3), (3, 4)])
@pytest.mark.long
def test_recover_and_lost_sessions_cost_a_copy(tmp_path: Path, copies: int, bookies: int) -> None:
    by_name = rows(tmp_path, USUAL, copies, bookies)
    ends = dict.fromkeys(("replaced", "audits", "decommissioned", "emptied"), 1)
    assert {name: row.figure for name, row in by_name.items()} == ends | {"worker_sessions": 0, "recover": 0}
    assert all(row.is_known for row in by_name.values())
    failure = by_name["recover"].failure
    assert failure is not None
    assert (failure.bug, failure.verdict.property.name) == ("collector_trusts_the_lock", "copies_are_not_fewer")
    assert set(failure.bugs) == {"collector_trusts_the_lock", "target_is_a_member"}


@pytest.mark.long
def test_without_the_daily_audit_a_ledger_may_stay_without_a_copy(tmp_path: Path) -> None:
    row = rows(tmp_path, "auditorPeriodicBookieCheckInterval=0", 3, 5, only=["replaced"])["replaced"]
    assert (row.figure, row.is_known) == (1, True)
    assert row.failure is not None
    assert (row.failure.bug, row.failure.verdict.property.name) == ("return_unseen", "is_whole_in_the_end")
    assert set(row.failure.bugs) == {"return_unseen", "listed_replica_is_no_news"}


@pytest.mark.parametrize(
    ("interval", "figure", "says"),
    first_at_once(
        [
            (0, 0, "nothing repeats it; set auditorPeriodicBookieCheckInterval=3600"),
            (900, 1, "by the check of all bookies, 900 s"),
        ]
    ),
)
def test_an_audit_that_fails_is_repeated_by_the_check_of_all_bookies_alone(
    tmp_path: Path, interval: int, figure: int, says: str
) -> None:
    row = rows(tmp_path, f"auditorPeriodicBookieCheckInterval={interval}", only=["audits"])["audits"]
    assert (row.figure, row.is_known) == (figure, True)
    assert says in row.sentence
    assert figure or (row.failure and row.failure.run == ["crash(b0)", "fail_audit"])


@pytest.mark.long
@pytest.mark.parametrize(("copies", "bookies", "figure"), [(2, 3, 1), (2, 4, 1), (3, 4, 1), (3, 5, 2)])
def test_as_many_bookies_may_go_as_there_are_others_and_copies_are_left(
    tmp_path: Path, copies: int, bookies: int, figure: int
) -> None:
    """That two of two copies are away at once is no excuse for a ledger that is never whole again."""
    by_name = rows(tmp_path, USUAL, copies, bookies, only=NEVER)
    assert {by_name[name].figure for name in NEVER} == {figure}


NEVER = {
    "replaced": ("a ledger never becomes whole again when a bookie stays away: ", "is_whole_in_the_end"),
    "decommissioned": ("decommissionbookie never ends: ", "ends_unless_started_again"),
    "emptied": ("a ledger never becomes whole again when a bookie comes back with an empty disk ", "is_whole_in_the_end"),
}
"""What is said where it can never come about, and the property whose run shows it."""


@pytest.mark.parametrize(
    ("copies", "bookies", "why", "remedies"),
    first_at_once(
        [
            (2, 2, "no other bookie is there to take its place", ("add one", "add one first", "another name (bookieId)")),
            (3, 3, "no other bookie is there to take its place", ("add one", "add one first", "another name (bookieId)")),
            (1, 3, "with a write quorum of 1 it has the only copy", ("managedLedgerDefaultWriteQuorum=2",) * 3),
        ]
    ),
)
def test_what_can_never_come_about_is_never_with_what_to_do(
    tmp_path: Path, copies: int, bookies: int, why: str, remedies: tuple[str, ...]
) -> None:
    by_name = rows(tmp_path, USUAL, copies, bookies, only=NEVER)
    for (name, (begins, broken)), remedy in zip(NEVER.items(), remedies, strict=True):
        row = by_name[name]
        assert (row.figure, row.is_known) == (0, True)
        assert row.sentence.startswith(begins)
        assert why in row.sentence
        assert remedy in row.sentence
        assert row.failure is not None
        assert (row.failure.bug, row.failure.verdict.property.name) == ("", broken)
        assert row.failure.verdict.trace is not None
        assert row.failure.verdict.trace.loop is not None
        assert name != "emptied" or "start_empty(b0)" in row.failure.run


def test_what_nothing_checks_is_not_found(tmp_path: Path) -> None:
    """A bookie that is up again before it is missed: only the check of every ledger asks it for what it should have."""
    row = rows(tmp_path, "auditorPeriodicCheckInterval=-1", 2, 3, only=["emptied"])["emptied"]
    assert row.sentence.endswith("nothing checks what is up; set auditorPeriodicCheckInterval=604800")
    assert row.failure is not None
    assert row.failure.run == ["lose_disk(b0)", "start_empty(b0)"]


@pytest.mark.parametrize(
    ("text", "copies", "bookies", "why"),
    [("autoRecoveryDaemonEnabled=false", 2, 3, "run no auto-recovery"), (USUAL, 4, 5, "above 3")],
)
def test_of_what_is_not_there_nothing_is_claimed(tmp_path: Path, text: str, copies: int, bookies: int, why: str) -> None:
    for row in rows(tmp_path, text, copies, bookies).values():
        assert (row.figure, row.verdict, row.number) == (None, "inconclusive", None)
        assert why in row.gap


@pytest.mark.parametrize(
    ("copies", "bookies", "why"), [(2, 2, "no bookie is left"), (1, 3, "a bookie that is away has the only copy")]
)
def test_where_nothing_is_replaced_copies_are_not_asked_about(tmp_path: Path, copies: int, bookies: int, why: str) -> None:
    by_name = rows(tmp_path, USUAL, copies, bookies, only=["worker_sessions", "recover"])
    assert all(why in by_name[name].gap for name in ("worker_sessions", "recover"))


@pytest.mark.parametrize(
    "text",
    ["auditorPeriodicBookieCheckInterval=daily", "auditorPeriodicCheckInterval=weekly", "autoRecoveryDaemonEnabled=maybe"],
)
def test_a_value_that_bookkeeper_refuses_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"bookkeeper\.conf:2: .*"):
        rows(tmp_path, text)
