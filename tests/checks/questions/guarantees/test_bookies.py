"""What a bookie's settings guarantee: what it acknowledged survives kills and power cuts, or there is the run that loses it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.questions.guarantees.establishing import Established, establish
from fencepost.checks.questions.guarantees.ledgers import bookie_guarantees, ledger_guarantees
from fencepost.checks.settings.cluster_settings import read_settings
from fencepost.model.releases import Releases
from tests.checks.questions.guarantees.sized import sized
from tests.command import fencepost
from tests.marking import first_at_once

MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 28))


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
    guarantees = rows(tmp_path, text)
    assert (guarantees["killed"].figure, guarantees["power"].figure) == figures
    for row in (guarantees["killed"], guarantees["power"]):
        assert row.is_known
        assert (row.failure is None) == (row.figure == 2)


def test_the_run_shows_the_acknowledgement_and_the_loss(tmp_path: Path) -> None:
    failure = rows(tmp_path, "journalSyncData=false")["power"].failure
    assert failure is not None
    assert failure.verdict.property.name == "acknowledged_adds_survive"
    assert failure.run == ["add(l0, e0)", "write_journal", "acknowledge(l0, e0)", "lose_power", "replay"]


def test_of_what_is_not_modelled_nothing_is_claimed(tmp_path: Path) -> None:
    for row in rows(tmp_path, "journalDirectories=/a,/b").values():
        assert (row.figure, row.verdict, row.number) == (None, "inconclusive", None)


@pytest.mark.long
def test_a_sheet_with_a_bookies_file_has_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.checks.questions.answers.answering.ledger_guarantees", lambda *_: [])
    monkeypatch.setattr("fencepost.checks.questions.answers.answering.bundle_guarantees", lambda *_: [])
    broker, bookie = tmp_path / "broker.conf", tmp_path / "bookkeeper.conf"
    broker.write_text("managedLedgerDefaultAckQuorum=2\n")
    bookie.write_text("# a bookie\njournalSyncData=false\n")
    both = ("check", "--quiet", "--conf", broker, "--conf", bookie, "--guarantees")
    run = fencepost(*both, "--require", "power>=1")
    assert run.returncode == 16
    assert f"short: {bookie}:2: power = 0 falls short of --require power>=1" in " ".join(run.stdout.split())
    assert "the bookies' own settings" not in run.stdout
    alone = fencepost("check", "--quiet", "--conf", broker, "--guarantees", "--require", "power>=1")
    assert (alone.returncode, alone.stderr.count("\n")) == (2, 1)
    assert "--require power>=1 is about bookies: add the file that they start with by --conf" in alone.stderr
    weaker = fencepost(*both, "--against", broker)
    assert weaker.returncode == 14, "the storage of a bookie's file brings known bugs, which cost more than what is weaker"
    said = " ".join(weaker.stdout.split())
    assert "power is 0, and was 2" in said
    assert "comes: headers_without_pages_not_saved: A bookie restarts, and takes late writes of former owners" in said


DB = "ledgerStorageClass=org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage"


@pytest.mark.long
def test_several_journals_cost_an_acknowledged_entry_by_a_known_bug(tmp_path: Path) -> None:
    row = rows(tmp_path, f"{DB}\njournalDirectories=/a,/b")["killed"]
    assert row.figure == 0
    assert row.failure is not None
    assert row.failure.bug == "checkpoints_compared_by_first_journal"
    assert row.failure.run[-2:] == ["kill", "replay"]


@pytest.mark.long
def test_a_full_disk_costs_an_acknowledged_entry_by_a_known_bug(tmp_path: Path) -> None:
    row = rows(tmp_path, DB)["disk_full"]
    assert (row.figure, row.limit) == (0, 0)
    assert row.failure is not None
    assert row.failure.bug == "failed_save_forgotten"
    run = row.failure.run
    assert run.index("acknowledge(l0, e0)") < len(run) - 2
    assert run.count("fail_to_save(sync)") == 1
    assert run[-2:] == ["kill", "replay"]


@pytest.mark.long
@pytest.mark.parametrize("text", ["bookiePort=3181", f"{DB}\nledgerDirectories=/a,/b", f"{DB}\njournalDirectories=/a,/b"])
def test_a_flush_that_fails_is_modelled_for_one_storage_with_one_directory(tmp_path: Path, text: str) -> None:
    row = rows(tmp_path, text)["disk_full"]
    assert (row.figure, row.number) == (None, None)
    of_one = "a flush that fails is modelled for DbLedgerStorage with one ledger directory and one journal"
    assert row.guarantee.unasked.startswith(f"{of_one}; ")
    assert row.guarantee.unasked_by == read_settings(tmp_path / "bookkeeper.conf").bookies.storage


@pytest.mark.long
def test_the_protocol_of_a_bookie_has_the_settings_of_its_file(tmp_path: Path) -> None:
    bookie = tmp_path / "bookkeeper.conf"
    bookie.write_text("journalWriteData=false\n")
    run = fencepost("check", "bookie", "--quiet", "--conf", bookie, "--property", "acknowledged_adds_survive")
    assert run.returncode == 12
    assert "storage=sorted" in run.stdout
    assert "storage=db" not in run.stdout
    assert "not guaranteed with journal_write_data=no" in run.stdout
    assert "defaultNumberOfNamespaceBundles" not in run.stdout, "a bookie has none"
    bookie.write_text("journalDirectories=/a,/b\n")
    open_ = fencepost("check", "bookie", "--quiet", "--conf", bookie)
    assert open_.returncode == 20
    assert "several journals are modelled for DbLedgerStorage with one ledger directory, so nothing is claimed" in open_.stdout


@pytest.mark.long
def test_data_integrity_changes_no_row(tmp_path: Path) -> None:
    """The sheet says so of dataIntegrityChecking: with it a bookie without its disk is back, in limbo."""
    for guarantee in ledger_guarantees(sized(3, 2, 2, 2, Releases.of())):
        if guarantee.name in ("disks", "disks_after_change", "wiped"):
            back = replace(
                guarantee,
                parameters={**guarantee.parameters, "data_integrity": True},
                bugs={name: {**shown, "data_integrity": True} for name, shown in guarantee.bugs.items()},
            )
            without, with_it = establish(guarantee, MEANS), establish(back, MEANS)
            assert (without.figure, without.is_known) == (with_it.figure, with_it.is_known), guarantee.name
            assert with_it.is_known
