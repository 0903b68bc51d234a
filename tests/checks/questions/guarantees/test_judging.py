"""What is not known of one guarantee does not spoil what is known of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.checks.engines.ahead import NO_TIME
from fencepost.checks.engines.results.findings import Checked, Findings
from fencepost.checks.engines.results.verdicts import ExitStatus, Value, Verdict
from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.answers.answering import with_ways
from fencepost.checks.questions.answers.ways import Way
from fencepost.checks.questions.guarantees.establishing import Established, Failure
from fencepost.checks.questions.guarantees.judging import Guaranteed, judged
from fencepost.checks.questions.matters import Guarantee, Requirement
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.settings.cluster_settings import Cluster, read_settings
from fencepost.model.language import Location, Protocol
from fencepost.model.releases import Releases
from fencepost.properties.bugs import Bug
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance
from fencepost.properties.vocabulary import Kind, Property

LEDGER = PROTOCOLS["ledger"]
CONF = Path(__file__).resolve().parents[4] / "docs" / "examples" / "broker.conf"
CLUSTER = Cluster("broker.conf", Place(CONF), read_settings(CONF), Releases.of(), 4, False, False)
KINDS: dict[str, Kind] = {"kept": "always", "met": "sometimes"}
LARGE = "over 15,000,000 states in 0.5 GiB; search not exhausted"


def checked(word: Value) -> Checked:
    """An instance with a property, and a situation that is reached in it."""
    kept, met = (Property(name, kind, None, "what it says", Location(__file__, 1)) for name, kind in KINDS.items())
    verdicts = Verdict(kept, word, "exhaustive"), Verdict(met, "exhausted", "exhaustive")
    return Checked.of(LEDGER, Instance("usual", {}), Protocol("ledger"), Findings(verdicts))


def row(name: str, figure: int | None = None, gap: str = "") -> Established:
    """A row that is known to be of that many, or one of which not all is known."""
    question = Guarantee(name, "{n}", "none", LEDGER, {}, ("losses",), 3)
    broken = checked("violated")
    shown = () if figure is None else (checked("exhausted"),)
    failure = None if figure is None else Failure(figure + 1, broken, broken.verdicts[0])
    return Established(question, figure, shown, failure, gap)


def settings(*rows: Established) -> Guaranteed:
    return Guaranteed(CLUSTER, rows)


KNOWN, TOO_LARGE = row("disks", 2), row("recoveries", gap=LARGE)


def status(*rows: Established, before: Guaranteed | None = None, required: bool = False, all_asked: bool = False) -> ExitStatus:
    now = settings(*rows)
    asked = [Requirement("recoveries>=1", ("recoveries",), 1)] if required else []
    return Opening(now, before, judged(now, before, asked, all_asked=all_asked)).status


def test_one_search_that_is_too_large_does_not_decide() -> None:
    assert status(KNOWN, TOO_LARGE) is ExitStatus.HOLDS
    assert [short.kind for short in judged(settings(KNOWN, TOO_LARGE), None, [])] == ["open"], "it is told nevertheless"


@pytest.mark.parametrize("reason", [{"required": True}, {"all_asked": True}])
def test_it_decides_where_somebody_asks_for_it(reason: dict[str, bool]) -> None:
    assert status(KNOWN, TOO_LARGE, **reason) is ExitStatus.INCONCLUSIVE


def test_it_decides_where_nothing_is_known_or_the_run_was_cut_short() -> None:
    assert status(TOO_LARGE) is ExitStatus.INCONCLUSIVE
    for gap in (NO_TIME, "out of time after 12 states", "interrupted after 12 states"):
        assert status(KNOWN, row("recoveries", gap=gap)) is ExitStatus.INCONCLUSIVE


def test_what_is_weaker_decides_beside_what_is_not_known() -> None:
    before = settings(KNOWN, row("recoveries", 1))
    assert status(KNOWN, TOO_LARGE, before=before) is ExitStatus.HOLDS
    assert status(row("disks", 1), TOO_LARGE, before=before) is ExitStatus.WEAKER


def written(folder: Path, name: str, text: str) -> Cluster:
    conf = folder / name
    conf.write_text(text)
    return Cluster(name, Place(conf), read_settings(conf), Releases.of("4.2.4"), 3, False, False)


SIZES = "managedLedgerDefaultEnsembleSize=2\nmanagedLedgerDefaultAckQuorum=2\n"


def test_what_is_weaker_is_at_the_line_of_the_setting_that_changed(tmp_path: Path) -> None:
    """And not at that of the quorums, which say nothing of it."""
    before = Guaranteed(written(tmp_path, "old.conf", SIZES), (row("lost_sessions", 1), row("owners", 1)))
    other = "brokerDeduplicationEnabled=true\nzookeeperSessionExpiredPolicy=shutdown\n"
    now = Guaranteed(written(tmp_path, "new.conf", SIZES + other), (row("lost_sessions", 0), row("owners", 0)))
    fell = {each.row.guarantee.name: each.place for each in judged(now, before, ())}
    assert {name: (place.file.name, place.line) for name, place in fell.items()} == {
        "lost_sessions": ("new.conf", 3),
        "owners": ("new.conf", 4),
    }


def test_what_no_line_decides_is_at_no_line(tmp_path: Path) -> None:
    now = Guaranteed(written(tmp_path, "new.conf", SIZES), (row("lost_sessions", 0),))
    (short,) = judged(now, None, [Requirement("lost_sessions>=1", ("lost_sessions",), 1)])
    assert (short.place.file.name, short.place.line) == ("new.conf", 0)


def test_a_row_survives_no_event_that_a_way_of_the_cluster_needs_alone() -> None:
    question = replace(row("lost_sessions", 1).guarantee, event="{n} lost session{s} of a broker")
    survives, broken = replace(row("lost_sessions", 1), guarantee=question), checked("violated")
    way = Way("fence_checked_apart", "", ("a lost session of a broker",), 1, broken, broken.verdicts[0], Bug())
    assert with_ways(survives, []) is survives
    assert with_ways(survives, [replace(way, needs=("a restart of bookies", *way.needs))]) is survives
    assert with_ways(survives, [way]).figure == 0
    assert with_ways(survives, [replace(way, needs=("a lost session of a broker (2 times)",))]) is survives
