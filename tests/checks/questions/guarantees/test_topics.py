"""What becomes of acknowledged messages: the rows of topics move with the settings and with the release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.questions.guarantees.establishing import Established, establish
from fencepost.checks.questions.guarantees.topics import topic_guarantees
from fencepost.checks.questions.matters import TOPICS, Guarantee
from fencepost.checks.settings.cluster_settings import read_settings
from fencepost.model.releases import Releases
from fencepost.properties.registry import Entry
from fencepost.traces.replay import replay_on

pytestmark = pytest.mark.long

MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 28))
DEDUP, KEPT = "brokerDeduplicationEnabled=true", "brokerDeleteInactiveTopicsEnabled=false"


def asked(name: str, folder: Path, *lines: str, pulsar: str = "4.2.4") -> Guarantee:
    (folder / "broker.conf").write_text("\n".join(("managedLedgerDefaultAckQuorum=2", *lines)))
    cluster = read_settings(folder / "broker.conf").configuration(Releases.of(pulsar))
    (question,) = (g for g in topic_guarantees(cluster) if g.name == name)
    return question


def of(name: str, folder: Path, *lines: str, pulsar: str = "4.2.4") -> Established:
    return establish(asked(name, folder, *lines, pulsar=pulsar), MEANS)


@pytest.mark.parametrize(
    ("name", "lines", "figure", "bugs"),
    [
        ("lost_sessions", (), 0, ("zombie_deletes",)),
        ("lost_sessions", (KEPT,), 1, ()),
        ("lost_sessions", (KEPT, DEDUP), 0, ("reopened_before_fence", "removed_producer_publishes")),
        ("failed_updates", (), 2, ()),
        ("failed_updates", (DEDUP,), 0, ("reopened_before_fence", "removed_producer_publishes")),
        ("broker_crashes", (), 2, ()),
        ("broker_crashes", ("bookkeeperMetadataServiceUri=zk+null://zk:2181/ledgers",), 0, ("missing_last_dropped",)),
        ("backlog", (), 1, ()),
        ("backlog", (DEDUP,), 1, ()),
        ("backlog", ("lazyCursorRecovery=true",), 0, ("lazy_cursors_not_waited",)),
        ("backlog", ("metadataStoreUrl=oxia://oxia:6648/broker",), 0, ("cursor_list_stale",)),
        (
            "backlog",
            ("lazyCursorRecovery=true", "defaultRetentionTimeInMinutes=-1", "defaultRetentionSizeInMB=-1"),
            1,
            (),
        ),
    ],
)
def test_a_row_moves_with_the_settings(
    name: str, lines: tuple[str, ...], figure: int, bugs: tuple[str, ...], tmp_path: Path
) -> None:
    row = of(name, tmp_path, *lines)
    assert (row.figure, row.gap) == (figure, "")
    if row.failure is None:
        assert bugs == ()
        return
    assert row.failure.bugs == bugs
    checked, trace = row.failure.checked, row.failure.verdict.trace
    assert isinstance(checked.entry, Entry)
    assert trace is not None
    assert replay_on(trace, checked.protocol, checked.entry.suite(checked.protocol)).replays


def test_a_row_moves_with_the_release(tmp_path: Path) -> None:
    failure = of("failed_updates", tmp_path, DEDUP, pulsar="4.0.8").failure
    assert failure is not None
    assert failure.bugs == ("reopened_before_fence",), "a removed producer publishes only since #25352"


def test_what_a_row_is_about_occurs_or_nothing_is_claimed(tmp_path: Path) -> None:
    question = asked("backlog", tmp_path)
    silent = replace(question, parameters={**question.parameters, "connections": 0}, bugs={})
    row = establish(silent, MEANS)
    assert row.figure is None
    assert row.gap.startswith("what is asked about does not occur")


def test_the_rows_are_those_that_can_be_required(tmp_path: Path) -> None:
    (tmp_path / "broker.conf").write_text("managedLedgerDefaultAckQuorum=2\n")
    cluster = read_settings(tmp_path / "broker.conf").configuration()
    assert tuple(g.name for g in topic_guarantees(cluster)) == TOPICS
