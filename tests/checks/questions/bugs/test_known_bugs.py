"""Which bugs are looked for, and where: those of the release, in the instance that shows them, with the settings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from fencepost.checks.commands.arguments import whole_line
from fencepost.checks.questions.bugs.searching import known_bugs_of
from fencepost.checks.questions.planning import planned, planned_bugs
from fencepost.checks.settings.cluster_settings import Settings, read_settings
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER
from fencepost.model.language import Protocol
from fencepost.model.releases import PULSAR, Releases
from fencepost.properties.bugs import Bug
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, RegistryError, Value
from fencepost.properties.vocabulary import Suite
from tests.marking import first_at_once


def door(*, locks: int = 1, alarm: str = "none", storeys: int = 1, bugs: Iterable[str] = ()) -> Protocol:
    """A door."""
    parameters = {"locks": locks, "alarm": alarm, "storeys": storeys}
    return Protocol("door", parameters=parameters, bugs={"ajar": "x", "creaks": "x", "sticks": "x"}, active=bugs)


def stays_shut(p: Protocol) -> Suite:
    suite = Suite(p)

    @suite.always
    def shut() -> bool:
        """It stays shut."""
        return True

    return suite


DOOR = Entry(
    name="door",
    summary="a door",
    function=door,
    suite=stays_shut,
    sizes={"ci": (Instance("quiet", {"alarm": "none"}), Instance("loud", {"alarm": "bell"}), Instance("plain", {}))},
    bugs={
        "ajar": Bug("pulsar", since="2.8.0", releases="4.0.8, 4.2.4", shown_by={"locks": 2}),
        "creaks": Bug("pulsar", since="2.8.0", releases="4.0.8", only={"alarm": ("bell", "light")}),
        "sticks": Bug("pulsar"),
    },
    releases={"4.2.4": {"alarm": "bell"}},
)
OLD, NEW = Releases.of("4.0.8"), Releases.of("4.2.4")


def bugs_of(releases: Releases, *changes: str, properties: Iterable[str] = ()) -> dict[str, dict[str, Value]]:
    return {h.name: dict(h.instance.parameters) for h in known_bugs_of([DOOR], releases, None, changes, list(properties))}


def test_a_bug_is_looked_for_where_it_shows() -> None:
    assert bugs_of(OLD) == {"ajar": {"locks": 2}}
    assert bugs_of(Releases.of("3.0.7")) == {}


def test_it_is_looked_for_as_the_release_behaves() -> None:
    assert bugs_of(NEW) == {"ajar": {"alarm": "bell", "locks": 2}}


def test_one_that_some_values_do_not_have_is_looked_for_with_the_others() -> None:
    assert set(bugs_of(OLD, "alarm=bell")) == {"ajar", "creaks"}
    assert set(bugs_of(OLD, "alarm=siren")) == {"ajar"}


def test_what_is_set_counts_before_what_shows_it() -> None:
    assert bugs_of(OLD, "locks=3", "storeys=2") == {"ajar": {"locks": 3, "storeys": 2}}
    with pytest.raises(RegistryError, match="no parameter 'keys'"):
        bugs_of(OLD, "keys=3")


def test_with_properties_named_it_is_looked_for_where_they_are() -> None:
    assert set(bugs_of(OLD, properties=["shut"])) == {"ajar"}
    assert bugs_of(OLD, properties=["open"]) == {}


def settings(tmp_path: Path, text: str) -> Settings:
    (tmp_path / "broker.conf").write_text(text)
    return read_settings(tmp_path / "broker.conf")


QUORUMS = [(1, 1, 1), (2, 2, 2), (3, 2, 2), (3, 3, 2), (5, 3, 2), (5, 5, 3)]


@pytest.mark.long
@pytest.mark.parametrize(("ensemble", "write", "ack"), QUORUMS)
def test_the_settings_of_a_ledger_are_those_of_the_cluster(tmp_path: Path, ensemble: int, write: int, ack: int) -> None:
    sizes = f"EnsembleSize={ensemble}", f"WriteQuorum={write}", f"AckQuorum={ack}"
    conf = settings(tmp_path, "\n".join(f"managedLedgerDefault{size}" for size in sizes))
    ledger = PROTOCOLS["ledger"]
    for release in PULSAR:
        for bug in known_bugs_of([ledger], Releases.of(release), conf.configuration(Releases.of(release))):
            p = bug.instance.parameters
            assert (p["ensemble"], p["write_quorum"], p["ack_quorum"]) == (ensemble, write, ack)
            usual = {parameter.name: parameter.default for parameter in ledger.parameters} | dict(ledger.shown_by[bug.name])
            assert int(p["bookies"]) - ensemble == int(usual["bookies"]) - int(usual["ensemble"])
            assert ledger.outline(p).protocol.parameters["ensemble"] == ensemble


def plan_of(conf: Settings | None, *arguments: str) -> list[str]:
    asked = whole_line().parse_args(["check", *arguments])
    releases = Releases.of(asked.pulsar, asked.bookkeeper)
    return [f"{h.entry.name} {h.name}" for h in planned_bugs(asked, conf, releases, planned(asked, conf, releases))]


@pytest.mark.parametrize("release", first_at_once(PULSAR, 2))
def test_a_configuration_asks_for_every_bug_of_the_release_and_for_no_other(tmp_path: Path, release: str) -> None:
    conf, releases = settings(tmp_path, "zookeeperSessionExpiredPolicy=shutdown\n"), Releases.of(release)
    elsewhere = {
        "confirms_while_unsetting",  # with an ensemble above the write quorum
        "checkpoints_compared_by_first_journal",  # with several journals
        *("snapshot_ahead", "properties_dropped", "truncation_forgets_producers"),  # with deduplication
        "fenced_reopened",  # with a time-out of adds
        "transferred_context_kept",  # with the extensible load manager
        *(("limit_counts_entries",) if release == "4.0.8" else ()),  # which has long arrays, and not by default
        *("lazy_cursors_not_waited", "cursor_list_stale", "missing_last_dropped"),  # other cursors, store, and session
    }
    wanted = [
        f"{protocol} {name}"
        for protocol, entry in PROTOCOLS.items()
        if protocol not in ("service_unit", "service_unit_migration")  # which the modular load manager does not run
        if protocol not in ("cluster", "metadata_store", "replication")  # what is built on it is asked for, and parts of it
        if protocol != "geo_replication"  # with another cluster
        for name, bug in entry.bugs.items()
        if (release in bug.present or releases.bookkeeper in bug.present) and name not in elsewhere
        if "db" in bug.only.get("storage", ("db",))
    ]
    assert plan_of(conf, "--pulsar", release) == wanted
    assert {each.split()[0] for each in wanted} >= {"ledger", "election", "ownership", "unload"}


@pytest.mark.long
def test_a_bug_of_topics_is_asked_for_where_its_setting_is(tmp_path: Path) -> None:
    plain = set(plan_of(settings(tmp_path, "managedLedgerDefaultAckQuorum=2\n"), "topic", "--pulsar", "4.2.4"))
    for line, bugs in {
        "brokerDeduplicationEnabled=true": {"snapshot_ahead", "properties_dropped", "truncation_forgets_producers"},
        "lazyCursorRecovery=true": {"lazy_cursors_not_waited"},
        f"loadManagerClassName={EXTENSIBLE_LOAD_MANAGER}": {"transferred_context_kept"},
        "managedLedgerAddEntryTimeoutSeconds=30": {"fenced_reopened"},
        "metadataStoreUrl=oxia://oxia:6648/broker": {"cursor_list_stale"},
        "bookkeeperMetadataServiceUri=zk+null://zk:2181/ledgers": {"missing_last_dropped"},
    }.items():
        asked = set(plan_of(settings(tmp_path, f"{line}\n"), "topic", "--pulsar", "4.2.4"))
        assert asked - plain == {f"topic {bug}" for bug in bugs}
    plan = plan_of(settings(tmp_path, "brokerDeleteInactiveTopicsEnabled=false\n"), "topic", "--pulsar", "4.2.4")
    assert plain - set(plan) == {"topic zombie_deletes"}


def test_what_makes_no_difference_is_not_taken_from_the_settings(tmp_path: Path) -> None:
    conf = settings(tmp_path, "loadBalancerAutoUnloadSplitBundlesEnabled=true\n")
    bugs = known_bugs_of([PROTOCOLS["split"]], Releases.of("4.2.4"), conf.configuration(Releases.of("4.2.4")))
    instances = {bug.name: bug.instance.parameters for bug in bugs}
    assert instances["policies_unwritten"]["unload_after_split"] is True
    assert not instances["policies_overwritten"].get("unload_after_split")
    for entry in PROTOCOLS.values():
        named = {parameter.name for parameter in entry.parameters}
        assert all(set(bug.regardless) <= named for bug in entry.bugs.values())


def test_a_bug_of_another_storage_is_looked_for_where_that_is_set() -> None:
    asked = ("--bookkeeper", "4.17.3", "ledger", "--set")
    named = {storage: plan_of(None, *asked, f"storage={storage}") for storage in ("db", "sorted")}
    assert "ledger idle_flush_skips_headers" in named["sorted"]
    assert "ledger idle_flush_skips_headers" not in named["db"]
    assert "ledger idle_checkpoint_skips_index" in named["db"]
    assert "ledger idle_checkpoint_skips_index" not in named["sorted"]


def test_only_of_what_is_asked_for(tmp_path: Path) -> None:
    conf = settings(tmp_path, "zookeeperSessionExpiredPolicy=shutdown\n")
    assert {h.split()[0] for h in plan_of(conf, "unload", "--pulsar", "4.0.8")} == {"unload"}
    assert plan_of(conf, "hash_range", "--pulsar", "4.0.8") == []
    assert {h.split()[0] for h in plan_of(None, "election", "unload", "--pulsar", "4.0.8")} == {"election", "unload"}
    assert plan_of(None, "election", "--pulsar", "4.0.8", "--bug", "same_value") == []


def test_the_instances_of_a_size_behave_as_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.checks.questions.planning.EVERYTHING", {"door": DOOR})
    asked = whole_line().parse_args(["check", "door"])
    names = {i.name: i.parameters["alarm"] for _, i in planned(asked, None, NEW)}
    assert names == {"loud": "bell"}, "and plain is the same with that"
    assert [i.name for _, i in planned(asked, None, OLD)] == ["quiet", "loud", "plain"]
    assert [i.name for _, i in planned(asked, None)] == ["quiet", "loud", "plain"]
