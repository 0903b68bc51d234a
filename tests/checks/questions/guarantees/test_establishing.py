"""What settings guarantee: every number moves with the settings and the release that it depends on, and has its run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.engines.results.findings import Open
from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.guarantees.establishing import Established, claimed, establish, raised
from fencepost.checks.questions.guarantees.judging import compared
from fencepost.checks.questions.guarantees.ledgers import LEDGER, ledger_guarantees
from fencepost.checks.questions.guarantees.topics import bundle_guarantees
from fencepost.checks.questions.matters import BOOKIES, NAMES, RACKS, TOPICS
from fencepost.checks.settings.broker_conf import Taken
from fencepost.checks.settings.cluster_settings import Cluster, read_settings
from fencepost.checks.settings.load_manager import LoadManagerSettings
from fencepost.model.kernel.search.search import search
from fencepost.model.releases import Releases
from fencepost.properties.configuration import Configuration, Topics
from fencepost.properties.observed import Observed
from fencepost.properties.registry import Entry
from fencepost.traces.replay import replay_on
from tests.checks.questions.guarantees.sized import sized
from tests.marking import first_at_once

QUIET = Reporter(quiet=True)


def manager_of(manager: str, table_view: str = "") -> LoadManagerSettings:
    classes = (Taken("", name) for name in (f"org.example.{manager}", "ThresholdShedder", "", table_view))
    return LoadManagerSettings(*classes, Taken("", True))


def extensible(store: str) -> LoadManagerSettings:
    view = "ServiceUnitStateMetadataStoreTableViewImpl" if store == "metadata" else "ServiceUnitStateTableViewImpl"
    return manager_of("ExtensibleLoadManagerImpl", f"org.example.{view}")


MODULAR = manager_of("ModularLoadManagerImpl")
MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 28))
NEWEST = Releases.of("4.2.4")


def of(name: str, cluster: Cluster, releases: Releases = NEWEST) -> Established:
    (question,) = (g for g in ledger_guarantees(replace(cluster, releases=releases)) if g.name == name)
    return establish(question, MEANS)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "figures"),
    [
        # of ensemble, write quorum and ack quorum 2 2 1, 2 2 2, 3 3 2, 3 3 3, 3 2 2
        ("disks", (0, 1, 1, 2, 1)),
        ("reading", (0, 1, 1, 2, 1)),
        ("usual_disks", (1, 1, 2, 2, 1)),
        ("disks_one_gone", (0, 0, 1, 1, 0)),
    ],
)
def test_a_guarantee_moves_with_the_quorums(name: str, figures: tuple[int, ...]) -> None:
    sizes = [sized(3, 2, 2, 1), sized(3, 2, 2, 2), sized(4, 3, 3, 2), sized(4, 3, 3, 3), sized(4, 3, 2, 2)]
    rows = [of(name, each) for each in sizes]
    assert tuple(row.figure for row in rows) == figures
    for row in rows:
        assert row.verdict == ("exhausted" if row.figure else "violated")
        assert row.how.startswith("exhausted: all ") == bool(row.figure)
        assert row.failure is not None
        assert row.failure.events - 1 == row.figure == row.limit


def test_the_run_beyond_a_guarantee_replays_and_loses_as_many_disks() -> None:
    failure = of("disks", sized(2, 2, 2, 2)).failure
    assert failure is not None
    assert failure.run[-2:] == ["lose_disk(b0)", "lose_disk(b1)"]
    protocol = failure.checked.protocol
    assert replay_on(failure.verdict.trace, protocol, failure.checked.entry.suite(protocol)).replays


@pytest.mark.long
def test_a_run_with_restarts_goes_to_the_loss() -> None:
    """With an ack quorum of 1 the copy of a killed bookie may be gone while the other one is still to be written."""
    failure = of("restarts", sized(2, 2, 2, 1)).failure
    assert failure is not None
    crashed, back, fenced = (failure.run.index(step) for step in ("crash(b0)", "restart(b0)", "fence_unheard(r0, b1)"))
    assert crashed < back < fenced == len(failure.run) - 1


@pytest.mark.long
def test_a_change_of_the_whole_ensemble_keeps_what_it_kept() -> None:
    rows = [of("disks_after_change", sized(3, 2, 2, quorum)) for quorum in (1, 2)]
    assert [row.figure for row in rows] == [0, 1]
    for row in rows:
        assert row.failure is not None
        assert sum(step.startswith("replace(") for step in row.failure.run) == 2


@pytest.mark.long
def test_writing_needs_a_bookie_to_take_the_place_of_each_that_is_down() -> None:
    assert [of("writing", sized(bookies, 2, 2, 1)).figure for bookies in (2, 3, 4)] == [0, 1, 2]


@pytest.mark.long
def test_recovery_needs_answers_and_a_bookie_to_write_to() -> None:
    rows = {sizes: of("recovery", sized(*sizes)) for sizes in ((3, 2, 2, 1), (3, 2, 2, 2), (2, 2, 2, 2), (2, 1, 1, 1))}
    assert [row.figure for row in rows.values()] == [0, 1, 0, 0]
    properties = {sizes: row.failure and row.failure.verdict.property.name for sizes, row in rows.items()}
    assert properties[3, 2, 2, 1] == "recoveries_close_the_ledger"
    assert properties[2, 2, 2, 2] == "recoveries_replace_the_missing"


@pytest.mark.long
def test_what_five_bookies_cannot_recover_is_known_in_little_memory() -> None:
    (question,) = (each for each in ledger_guarantees(sized(5, 3, 3, 2)) if each.name == "recovery")
    row = establish(question, replace(MEANS, approach=replace(MEANS.approach, memory=1 << 29)))
    assert (row.figure, row.limit, row.gap) == (1, 1, "")


@pytest.mark.long
@pytest.mark.parametrize("name", ["writing", "recovery"])
@pytest.mark.parametrize("sizes", [(3, 2, 2, 1), (3, 2, 2, 2), (2, 2, 2, 2), (4, 2, 2, 2)])
def test_bookies_that_go_down_first_show_nothing_that_the_ledger_does_not(name: str, sizes: tuple[int, ...]) -> None:
    (question,) = (each for each in ledger_guarantees(sized(*sizes)) if each.name == name)
    assert question.first is not None
    narrowed, whole = (establish(each, MEANS) for each in (question, replace(question, first=None)))
    assert (narrowed.figure, narrowed.limit) == (whole.figure, whole.limit)


@pytest.mark.parametrize(("pulsar", "figure"), first_at_once([("4.2.4", 0), ("5.0.0-M1", 1)]))
def test_a_bug_of_the_release_limits_what_is_guaranteed(pulsar: str, figure: int) -> None:
    row = of("recoveries", sized(3, 2, 2, 2), Releases.of(pulsar))
    assert row.figure == figure
    assert (row.failure is None) == bool(figure)
    if row.failure is not None:
        assert row.verdict == "violated"
        assert row.failure.bugs == ("fence_checked_apart",)


@pytest.mark.long
def test_restarts_are_one_after_the_other_and_show_every_bug_that_they_can() -> None:
    row = of("restarts", sized(3, 2, 2, 2))
    assert row.figure == 0
    assert row.failure is not None
    some = {"idle_checkpoint_skips_index", "denies_before_fence_is_journaled", "master_key_with_entries_only"}
    assert some <= set(row.failure.bugs)
    up = [variable.name for variable in row.failure.checked.protocol.variables].index("up[b0]")
    assert all(sum(state[up : up + 2]) >= 1 for state in row.failure.verdict.trace.states)


def test_no_bug_is_to_blame_for_what_is_lost_without_it() -> None:
    failures = [of("wiped", sized(3, 2, 2, quorum)).failure for quorum in (1, 2)]
    assert [failure and failure.bugs for failure in failures] == [(), ("cookie_deleted_after_wipe",)]


def test_an_ensemble_above_the_write_quorum_has_a_bug_more() -> None:
    names = {
        ensemble: next(g for g in ledger_guarantees(sized(4, ensemble, 2, 2)) if g.name == "changes").bugs
        for ensemble in (2, 3)
    }
    assert set(names[3]) - set(names[2]) == {"confirms_while_unsetting"}


SIZES = {"EnsembleSize": 2, "WriteQuorum": 2, "AckQuorum": 1}


@pytest.mark.long
def test_what_would_raise_a_guarantee_is_tried(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("".join(f"managedLedgerDefault{name}={size}\n" for name, size in SIZES.items()))
    cluster = Cluster("broker.conf", Place(conf), read_settings(conf), NEWEST, 3, False, False)
    assert [*cluster.sizes.values()] == [3, 2, 2, 1]
    assert raised(of("disks", cluster), cluster, MEANS) == {"ack_quorum": 2}
    assert raised(of("writing", cluster), cluster, MEANS) == {"bookies": 4}


def test_of_a_search_that_is_cut_short_nothing_is_claimed() -> None:
    (question,) = (g for g in ledger_guarantees(sized(6, 5, 3, 2)) if g.name == "disks")
    row = establish(question, Means(Approach(by="exhaustive", workers=1, memory=1_800_000)))
    assert (row.figure, row.verdict, row.number, row.failure) == (None, "inconclusive", None, None)
    assert (row.sentence, row.is_known) == ("unknown", False)
    assert "search not exhausted" in row.gap


def of_few(name: str, cluster: Cluster, *bugs: str, memory: int = 1 << 24) -> Established:
    """The answer with these bugs of the release only, and so little memory that the search of all states has no end."""
    (question,) = (g for g in ledger_guarantees(cluster) if g.name == name)
    few = {bug: question.bugs[bug] for bug in bugs}
    return establish(replace(question, bugs=few), Means(Approach(by="exhaustive", workers=1, memory=memory)))


@pytest.mark.long
def test_a_known_bug_is_found_where_the_search_of_all_states_has_no_end() -> None:
    row = of_few("changes", sized(5, 4, 3, 2), "captured_ensemble")
    assert (row.figure, row.limit, row.verdict) == (0, 0, "violated")
    assert row.failure is not None
    assert row.failure.bugs == ("captured_ensemble",)
    protocol = LEDGER.build(row.failure.checked.protocol.parameters, row.failure.checked.protocol.active)
    assert replay_on(row.failure.verdict.trace, protocol, row.failure.checked.entry.suite(protocol)).replays


@pytest.mark.long
def test_little_memory_makes_nothing_hold_that_fails() -> None:
    row = of_few("changes", sized(5, 4, 3, 2), "captured_ensemble", memory=1 << 22)
    assert row.number is None
    assert row.figure in (0, None)


@pytest.mark.long
def test_three_copies_do_not_survive_three_lost_disks() -> None:
    row = of_few("disks_after_change", sized(6, 5, 5, 3))
    assert (row.figure, row.limit, row.verdict) == (None, 2, "inconclusive")
    assert row.failure is not None
    assert sum(step.startswith("lose_disk(") for step in row.failure.run) == 3


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(4, 3, 2, 1), (2, 1, 1, 1)], ids=str)
def test_what_a_row_is_about_occurs_in_its_search(sizes: tuple[int, int, int, int]) -> None:
    for question in ledger_guarantees(sized(*sizes)):
        assert isinstance(question.entry, Entry)
        for instance, bugs in question.asked(1):
            suite = question.entry.suite(question.entry.build(instance.parameters, bugs))
            goals = [p for p in suite.properties if p.kind == "sometimes"]
            assert goals, question.name
            if not bugs:
                observed = Observed.of(suite, goals)
                seen = search(observed.kernel, workers=1).seen
                assert set(observed.goals) <= set(seen), question.name


@pytest.mark.long
def test_what_does_not_occur_is_not_claimed() -> None:
    (question,) = (g for g in ledger_guarantees(sized(3, 2, 2, 2)) if g.name == "disks_after_change")
    row = establish(replace(question, parameters={**question.parameters, "changes": 0}), MEANS)
    assert (row.figure, row.verdict) == (None, "inconclusive")
    assert row.gap.startswith("what is asked about does not occur: An entry is acknowledged by bookies none of which")


def test_there_is_no_claim_without_complete_verdicts() -> None:
    (question,) = (g for g in ledger_guarantees(sized(3, 2, 2, 2)) if g.name == "disks")
    (checked,) = establish(question, MEANS).shown
    for verdict in ("sampled", "inconclusive", "violated", "known bug"):
        verdicts = tuple(replace(v, verdict=verdict) for v in checked.verdicts)
        partial = replace(checked, verdicts=verdicts)
        assert isinstance(claimed(question, 1, [checked, partial]), Open)
        with pytest.raises(ValueError, match="no claim"):
            Established(question, 1, (partial,))
    without = [v for v in checked.verdicts if v.property.kind != "sometimes"]
    for verdicts in ((), tuple(without)):
        assert isinstance(claimed(question, 1, [replace(checked, verdicts=verdicts)]), Open)
    assert isinstance(claimed(question, 1, []), Open)


def bundles(
    name: str, policy: str = "reconnect", manager: LoadManagerSettings = MODULAR, releases: Releases = NEWEST
) -> Established:
    (question,) = (g for g in bundle_guarantees(cluster(policy, manager, releases)) if g.name == name)
    return establish(question, MEANS)


def cluster(policy: str, manager: LoadManagerSettings, releases: Releases = NEWEST) -> Configuration:
    """A cluster over ZooKeeper with this load manager."""
    topics = Topics(
        deduplication=False,
        most_entries=50_000,
        times_out=False,
        lazy_cursors=False,
        keeps_all=False,
        deletes=True,
        separate_store=False,
        replicated=False,
        most_ranges=200_000,
        long_arrays=True,
        answers_early=True,
    )
    return Configuration(
        releases=releases,
        ensemble=2,
        write_quorum=2,
        ack_quorum=2,
        bookies=None,
        topics=topics,
        metadata_store="zk",
        on_session_loss=policy,
        split_algorithm="range_equally_divide",
        unloads_after_split=True,
        most_bundles=128,
        extensible=manager.is_extensible(releases.pulsar),
        service_unit_store=manager.service_unit_store,
        multi_phase=manager.multi_phase.value,
        written={},
    )


def test_a_lost_session_leaves_two_brokers_that_serve_a_bundle() -> None:
    row = bundles("owners")
    assert (row.figure, row.verdict) == (0, "violated")
    assert row.failure is not None
    assert any(step.startswith("expire(") for step in row.failure.run)
    assert bundles("served").figure == 1


@pytest.mark.long
def test_by_a_bug_of_the_release_two_brokers_serve_it_for_good() -> None:
    row = bundles("owners_in_the_end")
    assert row.failure is not None
    assert "found_lock_unattended" in row.failure.bugs
    assert row.failure.verdict.trace.loop is not None


def test_how_long_a_bundle_is_unserved_depends_on_what_a_broker_does_without_its_session() -> None:
    figures = [bundles("unserved", policy).figure for policy in ("reconnect", "shutdown")]
    assert figures[0] < figures[1]


def test_steps_of_releases_that_behave_differently_are_not_compared() -> None:
    now, before = (bundles("unserved", releases=Releases.of(number)) for number in ("5.0.1", "4.0.8"))
    assert now.figure != before.figure
    assert (compared(now, before), compared(now, now)) == ("other", "same")


@pytest.mark.long
@pytest.mark.parametrize(("store", "unserved", "unloaded"), [("topic", 6, 10), ("metadata", 5, 7)])
def test_with_records_of_service_units_the_numbers_are_those_of_their_store(store: str, unserved: int, unloaded: int) -> None:
    manager = extensible(store)
    rows = {name: bundles(name, manager=manager) for name in ("owners", "served", "unserved", "unloaded")}
    assert {name: row.figure for name, row in rows.items()} == {
        "owners": 0,
        "served": 1,
        "unserved": unserved,
        "unloaded": unloaded,
    }
    beside = rows["owners"].failure
    assert beside is not None
    assert any(step.startswith("clean_up(") for step in beside.run), "the leader gave the bundle to another broker"
    assert beside.checked.protocol.parameters["store"] == store


@pytest.mark.long
def test_a_transfer_whose_destination_dies_leaves_a_bundle_unserved_unless_it_has_one_phase() -> None:
    """transfer_back_unfinished: the source gets the bundle back, and its topics stay fenced."""
    lost = bundles("moved", manager=extensible("metadata"))
    assert lost.figure == 0
    assert lost.failure is not None
    assert lost.failure.bug == "transfer_back_unfinished"
    assert bundles("moved", manager=replace(extensible("metadata"), multi_phase=Taken("", False))).figure == 1
    assert bundles("moved").figure == 1, "the modular manager transfers nothing"


@pytest.mark.deep
@pytest.mark.parametrize("store", ["topic", "metadata"])
def test_with_records_two_owners_come_to_one_whatever_a_broker_does_without_its_session(store: str) -> None:
    for policy in ("reconnect", "shutdown"):
        row = bundles("owners_in_the_end", policy, extensible(store))
        assert (row.figure, row.verdict) == (1, "exhausted")
        assert bundles("served", policy, extensible(store)).figure == 1


@pytest.mark.parametrize(("pulsar", "protocol"), [("2.10.1", "ownership"), ("4.0.8", "service_unit")])
def test_bundles_are_owned_as_the_release_has_it(pulsar: str, protocol: str) -> None:
    first, *_ = bundle_guarantees(cluster("reconnect", extensible("metadata"), Releases.of(pulsar)))
    assert (first.entry.name, first.unasked) == (protocol, "")


def test_of_a_channel_that_is_not_modelled_nothing_is_known() -> None:
    rows = list(bundle_guarantees(cluster("reconnect", extensible("metadata"), Releases.of("3.0.7"))))
    assert {row.name for row in rows if row.unasked} == {
        "owners",
        "owners_in_the_end",
        "served",
        "moved",
        "unserved",
        "unloaded",
    }
    row = establish(rows[0], MEANS)
    assert row.figure is None
    assert "its clean-up has no health check" in row.gap


def test_theorems_are_a_guarantee() -> None:
    row = bundles("hash_range")
    assert (row.figure, row.verdict) == (1, "proved")


def test_every_guarantee_can_be_required() -> None:
    for manager in (MODULAR, extensible("topic")):
        of_bundles = bundle_guarantees(cluster("reconnect", manager))
        of_ledgers = [g.name for g in ledger_guarantees(sized(3, 2, 2, 2))]
        assert (*of_ledgers, *RACKS, *BOOKIES, *TOPICS, *(g.name for g in of_bundles)) == NAMES
