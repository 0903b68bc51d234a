"""What the command line asks to be checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.checks.commands.arguments import whole_line
from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.checks.questions import planning
from fencepost.checks.questions.planning import (
    EVERYTHING,
    configuration_notes,
    planned,
    planned_bugs,
    planned_with_bugs,
)
from fencepost.checks.settings.cluster_settings import read_settings
from fencepost.model.releases import NEWEST, PULSAR, Releases
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, RegistryError
from fencepost.properties.theories import THEORIES
from tests.command import fencepost


def names(*arguments: str, conf: Path | None = None) -> list[str]:
    """The protocols and theories that are checked, each once."""
    asked = whole_line().parse_args(["check", *arguments])
    return list(dict.fromkeys(item.name for item, _ in planned(asked, conf and read_settings(conf))))


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "broker.conf"
    path.write_text("zookeeperSessionExpiredPolicy=shutdown\n")
    return path


def test_everything_unless_something_is_named() -> None:
    assert names() == list(EVERYTHING)
    assert names("hash_range", "ledger") == ["hash_range", "ledger"]


def test_what_is_of_protocols_leaves_the_theories_out() -> None:
    assert names("--by", "walks") == list(PROTOCOLS)


def test_a_bug_is_looked_for_everywhere() -> None:
    assert names("--bug", "midpoint_in_ints") == ["hash_range"]
    assert names("--bug", "closes_at_lac") == ["ledger"]
    with pytest.raises(RegistryError, match="no protocol has all of these bugs"):
        names("--bug", "midpoint_in_ints", "--bug", "closes_at_lac")


def test_a_property_is_looked_for_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: EVERYTHING[name] for name in ("election", "hash_range")}
    monkeypatch.setattr(planning, "EVERYTHING", few)
    assert names("--property", "no_hash_is_in_two_bundles") == ["hash_range"]
    with pytest.raises(RegistryError, match=r"no property 'no_hash_is_in_a_bundle' \(did you mean no_hash_is_in_two_bundles"):
        names("--property", "no_hash_is_in_a_bundle")
    with pytest.raises(RegistryError, match="nothing has all of these properties"):
        names("--property", "no_hash_is_in_two_bundles", "--property", "leader_emerges")


@pytest.mark.long
def test_a_property_of_what_the_cluster_does_not_run_says_whose_it_is(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match=r"'single_server' is a property of (ownership|unload).*: name the protocol"):
        names("--property", "single_server", conf=extensible(tmp_path))
    assert names("ownership", "--property", "single_server", conf=extensible(tmp_path)) == ["ownership"]


def test_a_configuration_asks_for_what_takes_settings(conf: Path) -> None:
    assert names(conf=conf) == [
        "ledger",
        "election",
        "ownership",
        "unload",
        "split",
        "topic",
        "subscription",
        "topic_loading",
        *THEORIES,
    ]


def test_a_topic_is_held_to_what_is_configured_in_its_small_instances(conf: Path) -> None:
    conf.write_text("brokerDeduplicationEnabled=true\nbrokerDeleteInactiveTopicsEnabled=false\n")

    def instances(*words: str) -> list[Instance]:
        asked = whole_line().parse_args(["check", "topic", *words])
        return [instance for _, instance in planned(asked, read_settings(conf))]

    assert {(i.parameters["dedup"], i.parameters["deletions"]) for i in instances()} == {(True, 0)}
    assert {"two brokers", "trimmed"} & {i.name for i in instances()} == set()
    assert {"two brokers", "trimmed"} <= {i.name for i in instances("--size", "ci")}
    assert len({tuple(sorted(i.parameters.items())) for i in instances("--size", "ci")}) == len(instances("--size", "ci"))


def test_another_load_manager_has_another_protocol(conf: Path) -> None:
    extensible = "org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl"
    conf.write_text(f"{conf.read_text()}\nloadManagerClassName={extensible}\n")
    assert names(conf=conf) == ["ledger", "election", "service_unit", "topic", "subscription", "topic_loading", *THEORIES]


def test_the_election_takes_the_policy(conf: Path) -> None:
    asked = whole_line().parse_args(["check", "election"])
    instances = [instance for _, instance in planned(asked, read_settings(conf))]
    assert {instance.parameters["on_session_loss"] for instance in instances} == {"shutdown"}
    assert "shutdown on session loss" in [instance.name for instance in instances]


def test_only_what_is_taken_is_told(conf: Path) -> None:
    settings = read_settings(conf)
    of_ledger, of_election = configuration_notes(settings, {"ledger"}), configuration_notes(settings, {"election"})
    assert of_ledger[0].startswith("managedLedgerDefaultEnsembleSize = 2")
    assert f"zookeeperSessionExpiredPolicy = shutdown ({conf}:1)" in of_election
    assert configuration_notes(settings, {"ledger", "election"}) == of_ledger + of_election


def extensible(folder: Path, *lines: str) -> Path:
    path = folder / "extensible.conf"
    manager = "loadManagerClassName=org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl"
    path.write_text("\n".join([manager, *lines]) + "\n")
    return path


def test_the_extensible_manager_asks_for_service_units_in_its_store(tmp_path: Path) -> None:
    channel = "org.apache.pulsar.broker.loadbalance.extensions.channel"
    view = f"loadManagerServiceUnitStateTableViewClassName={channel}.ServiceUnitStateMetadataStoreTableViewImpl"
    asked = whole_line().parse_args(["check"])
    for lines, store in (((), "topic"), ((view,), "metadata")):
        plan = planned(asked, read_settings(extensible(tmp_path, *lines)))
        instances = [instance for item, instance in plan if item.name == "service_unit"]
        assert len(instances) > 2
        assert {instance.parameters["store"] for instance in instances} == {store}
        assert {instance.parameters["multi_phase"] for instance in instances} == {True}


def test_a_transfer_in_one_phase_is_taken(tmp_path: Path) -> None:
    conf = extensible(tmp_path, "loadBalancerMultiPhaseBundleUnload=false")
    plan = planned(whole_line().parse_args(["check", "service_unit"]), read_settings(conf))
    assert {instance.parameters["multi_phase"] for _, instance in plan} == {False}


@pytest.mark.long
def test_bugs_are_those_of_the_manager_that_is_run(conf: Path, tmp_path: Path) -> None:
    asked = whole_line().parse_args(["check"])

    def of(path: Path) -> set[str]:
        settings, releases = read_settings(path), Releases.of()
        plan = planned(asked, settings, releases)
        return {bug.entry.name for bug in planned_bugs(asked, settings, releases, plan)}

    by_locks = {"ownership", "unload"}
    assert of(conf) & {*by_locks, "service_unit"} == by_locks
    assert of(extensible(tmp_path)) & {*by_locks, "service_unit"} == {"service_unit"}


def test_bugs_of_parts_are_looked_for_in_a_cluster_that_is_named() -> None:
    releases = Releases.of("4.2.4")

    def of(*words: str) -> set[str]:
        asked = whole_line().parse_args(["check", *words])
        plan = planned(asked, None, releases)
        return {bug.name for bug in planned_bugs(asked, None, releases, plan) if bug.entry.name == "cluster"}

    assert of("cluster") >= {"captured_ensemble", "deletion_sent_again", "close_overtaken", "removed_producer_publishes"}
    assert "event_lost" not in of("cluster"), "4.2.4 does not have it"
    assert of() == set()


@pytest.mark.parametrize("quorum", [1, 2, 3, 4])
def test_a_ledger_of_a_configuration_is_held_against_its_stand_in(tmp_path: Path, quorum: int) -> None:
    path = tmp_path / "broker.conf"
    sizes = ("EnsembleSize", "WriteQuorum", "AckQuorum")
    path.write_text("".join(f"managedLedgerDefault{size}={quorum}\n" for size in sizes))
    plan = planned(whole_line().parse_args(["check", "ledger"]), read_settings(path))
    outlines = [item.outline(each.parameters) for item, each in plan if isinstance(item, Entry)]
    stated = [{prop.name for prop in outline.properties} for outline in outlines]
    assert [{"is_a_ledger_of_a_topic", "is_a_ledger_to_replicate"} <= names for names in stated].count(True) == 1


def test_a_property_of_some_instances_of_a_named_protocol_is_checked_in_these() -> None:
    asked = whole_line().parse_args(["check", "ownership", "--property", "node_of_another_is_kept"])
    chosen, every = planned(asked, None), planned(whole_line().parse_args(["check", "ownership"]), None)
    assert 0 < len(chosen) < len(every)


def test_a_property_that_only_a_bug_has_is_checked_there() -> None:
    words = ["check", "unload", "--set", "brokers=2", "--pulsar", "4.2.4", "--property"]
    plan, bugs = planned_with_bugs(whole_line().parse_args([*words, "session_given_up"]), None, Releases.of("4.2.4"))
    assert plan == []
    assert {bug.name for bug in bugs} >= {"deletion_sent_again"}
    plan, bugs = planned_with_bugs(whole_line().parse_args([*words, "no_such"]), None, Releases.of("4.2.4"))
    assert (len(plan), bugs) == (1, []), "what there is instead is then named"


@pytest.mark.long
@pytest.mark.parametrize(
    ("pulsar", "protocols"), [(NEWEST, ()), *((release, ("topic",)) for release in PULSAR if release != NEWEST)]
)
def test_a_release_without_its_known_bugs_keeps_what_it_is_asked(conf: Path, pulsar: str, protocols: tuple[str, ...]) -> None:
    """With the settings of a file: those of the instances that are checked without one may differ."""
    asked = whole_line().parse_args(["check", *protocols])
    approach = Approach(by=None, workers=1)
    plan = [pair for pair in planned(asked, read_settings(conf), Releases.of(pulsar)) if isinstance(pair[0], Entry)]
    assert {entry.name for entry, _ in plan} >= set(protocols or ("topic", "ledger", "ownership"))
    for entry, instance in plan:
        verdicts = check(Task(entry, instance, (), approach)).verdicts
        wrong = [v.property.name for v in verdicts if v.verdict in ("violated", "inconclusive") and not v.expected]
        assert not wrong, instance.name


BOOKIE = ("check", "bookie", "--quiet", "--property", "acknowledged_adds_survive")


@pytest.mark.parametrize("journal", ["journal_sync_data", "journal_write_data"])
def test_what_the_user_set_is_to_blame(journal: str) -> None:
    run = fencepost(*BOOKIE, "--set", f"{journal}=no", "power_losses=1", "entries=1", "records=4")
    assert run.returncode == 12
    assert f"not guaranteed with {journal}=no: " in " ".join(run.stdout.split())
    assert "lose_power" in run.stdout, "and the run is shown"
    assert run.stdout.endswith("1 violated: a safety property is violated (exit 12)\n")


def test_every_setting_that_is_to_blame_is_named() -> None:
    settings = ("--set", "journal_sync_data=no", "journal_write_data=no", "power_losses=1", "entries=1", "records=4")
    (row,) = json.loads(fencepost(*BOOKIE, *settings, "--json", "-").stdout)["verdicts"]
    assert (row["verdict"], row["expected"]) == ("violated", False)
    assert row["note"].startswith("not guaranteed with journal_sync_data=no journal_write_data=no: ")


def test_a_fault_that_was_asked_for_is_no_setting() -> None:
    shown = ("check", "bookie", "--quiet", "--property", "shown_entries_survive")
    run = fencepost(*shown, "--set", "reads=1", "kills=1", "entries=1", "records=4")
    assert run.returncode == 0
    assert run.stdout.endswith("1 violated as expected: everything holds (exit 0)\n")
