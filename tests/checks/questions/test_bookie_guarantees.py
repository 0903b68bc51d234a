"""What a bookie's settings guarantee: what it acknowledged survives kills and power cuts, or there is the run that loses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.plan import Approach
from fencepost.checks.questions.bookie_guarantees import bookie_guarantees
from fencepost.checks.questions.establishing import Established, Means, establish
from fencepost.checks.questions.instances import read_settings
from fencepost.model.releases import Releases
from tests.command import fencepost
from tests.marking import first_at_once

MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 28), Reporter(quiet=True))


def rows(folder: Path, text: str) -> dict[str, Established]:
    file = folder / "bookkeeper.conf"
    file.write_text(text)
    return {g.name: establish(g, MEANS) for g in bookie_guarantees(read_settings(file).bookies, Releases.of())}


@pytest.mark.parametrize(
    ("text", "figures"),
    first_at_once(
        [
            ("journalSyncData=false", (2, 0)),
            ("bookiePort=3181", (2, 2)),
            ("journalWriteData=false", (0, 0)),
        ]
    ),
)
def test_each_flag_costs_what_it_protects(tmp_path: Path, text: str, figures: tuple[int, int]) -> None:
    found = rows(tmp_path, text)
    assert (found["killed"].figure, found["power"].figure) == figures
    for row in (found["killed"], found["power"]):
        assert row.is_known
        assert (row.failure is None) == (row.figure == 2)


def test_the_run_shows_the_acknowledgement_and_the_loss(tmp_path: Path) -> None:
    failure = rows(tmp_path, "journalSyncData=false")["power"].failure
    assert failure is not None
    assert failure.verdict.property.name == "acknowledged_adds_survive"
    assert failure.run == ["add(l0, e0)", "write_journal", "acknowledge(l0, e0)", "lose_power", "replay"]


def test_of_what_is_not_modelled_nothing_is_claimed(tmp_path: Path) -> None:
    for row in rows(tmp_path, "journalDirectories=/a,/b").values():
        assert (row.figure, row.verdict, row.claim) == (None, "inconclusive", None)


@pytest.mark.long
def test_a_sheet_with_a_bookies_file_has_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.checks.questions.asking.ledger_guarantees", lambda *_: [])
    monkeypatch.setattr("fencepost.checks.questions.asking.bundle_guarantees", lambda *_: [])
    broker, bookie = tmp_path / "broker.conf", tmp_path / "bookkeeper.conf"
    broker.write_text("managedLedgerDefaultAckQuorum=2\n")
    bookie.write_text("# a bookie\njournalSyncData=false\n")
    both = ("check", "--quiet", "--conf", broker, "--conf", bookie, "--guarantees")
    run = fencepost(*both, "--require", "power>=1")
    assert run.returncode == 16
    assert f"short: {bookie}:2: power = 0 falls short of --require power>=1; avoided by journalSyncData=true\n" in run.stdout
    assert "the bookies' own settings" not in run.stdout
    alone = fencepost("check", "--quiet", "--conf", broker, "--guarantees", "--require", "power>=1")
    assert (alone.returncode, alone.stderr.count("\n")) == (2, 1)
    assert "--require power>=1 is about bookies: add the file that they start with by --conf" in alone.stderr
    weaker = fencepost(*both, "--against", broker)
    assert weaker.returncode == 15
    assert "power is 0, and was 2" in weaker.stdout


DB = "ledgerStorageClass=org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage"


def test_a_full_disk_costs_an_acknowledged_entry_by_a_known_bug(tmp_path: Path) -> None:
    row = rows(tmp_path, DB)["disk_full"]
    assert (row.figure, row.limit) == (0, 0)
    assert row.failure is not None
    assert row.failure.defect == "failed_save_forgotten"
    run = row.failure.run
    assert run.index("acknowledge(l0, e0)") < len(run) - 2
    assert run.count("fail_to_save(sync)") == 1
    assert run[-2:] == ["kill", "replay"]


@pytest.mark.parametrize("text", ["bookiePort=3181", f"{DB}\nledgerDirectories=/a,/b"])
def test_a_flush_that_fails_is_modelled_for_one_storage_with_one_directory(tmp_path: Path, text: str) -> None:
    row = rows(tmp_path, text)["disk_full"]
    assert (row.figure, row.claim) == (None, None)
    assert row.guarantee.unasked == "a flush that fails is modelled for DbLedgerStorage with one ledger directory"
