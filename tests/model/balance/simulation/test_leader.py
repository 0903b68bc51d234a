"""What the leader hears and what it makes of that: reports by their thresholds, averages by the reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from fencepost.model.balance.averages import never_seen, sampled
from fencepost.model.balance.configuration import Version
from fencepost.model.balance.load_data import LocalBrokerData, NamespaceBundleStats
from fencepost.model.balance.simple_manager import SimplePlacement
from fencepost.model.balance.simulation.leader import SAMPLES_OF_A_MINUTE, Leader, _reasons
from fencepost.model.balance.simulation.records import Averages
from fencepost.model.balance.simulation.remembered import Remembered
from fencepost.model.balance.simulation.scenario import Event, Scenario
from fencepost.model.balance.simulation.sensing import Instruments, Load
from fencepost.model.balance.simulation.workload import Recorded
from fencepost.model.balance.simulation.world import World
from tests.model.balance.simulation.pictures import bundle, pictured, policy, still

OWNED = {"b1:1": {0: 1000.0, 1: 2000.0}, "b2:1": {2: 3000.0}, "b3:1": {3: 3000.0}}


class Watched:
    """A world and its leader, minute by minute, without anything being decided."""

    def __init__(
        self, scenario: Scenario, shedder: str | None = "ThresholdShedder", minutes: int = 60, **settings: int | str
    ) -> None:
        self.world = World(scenario, 0, minutes)
        manager = policy(shedder, **settings)
        self.leader, self.instruments = Leader(manager, self.world, 0), Instruments(self.world, 0, minutes, manager.conf)

    def minute(self, number: int) -> dict[str, LocalBrokerData]:
        """The reports that the leader has at the end of a minute."""
        self.world.minute = number
        sample, _, _ = self.world.carried()
        known = self.instruments.statistics(self.world, sample)
        current = self.instruments.measured(self.world, Load(self.world, sample), self.leader.now, known)
        self.leader.hear(current, known)
        return dict(self.leader.reports)


def _rising(part: float) -> Scenario:
    """From minute 1 on the third bundle carries so much more."""
    source = pictured(OWNED)
    rates = source.cluster(np.random.default_rng(0)).topics.rates
    more = rates.copy()
    more[:, 2] *= 1 + part
    return Scenario("rising", source, (Recorded((1,), more[None]),))


def test_a_report_that_does_not_change_is_written_when_it_is_too_old() -> None:
    """Older than 15 minutes, strictly: in every sixteenth minute."""
    watched = Watched(still(OWNED))
    first = watched.minute(0)["b1:1"]
    times = [watched.minute(minute)["b1:1"].lastUpdate - first.lastUpdate for minute in range(1, 34)]
    assert [minute + 1 for minute, time in enumerate(times) if time == (minute + 1) * 60_000] == [16, 32]


@pytest.mark.parametrize(("part", "written"), [(0.099, False), (0.101, True)])
def test_a_change_is_written_above_the_threshold(part: float, written: bool) -> None:
    watched = Watched(_rising(part))
    before, after = watched.minute(0), watched.minute(1)
    assert after["b1:1"] is before["b1:1"]
    assert (after["b2:1"] is not before["b2:1"]) == written


def test_each_report_is_a_sample_of_every_bundle() -> None:
    """Three reports in the first minute, one in the second; of a bundle nothing is known before its first report."""
    watched = Watched(_rising(0.5))
    watched.minute(0)
    carried = NamespaceBundleStats(1000, 0, 1000 * 2048, 0, topics=1)
    wanted = sampled(sampled(sampled(never_seen(), carried), carried), carried)
    assert watched.leader.data().bundles[bundle(0)].shortTermData == wanted.shortTermData
    assert watched.leader.data().bundles[bundle(3)].longTermData.numSamples == 1  # of the last report of three
    watched.minute(1)
    assert [watched.leader.data().bundles[bundle(n)].longTermData.numSamples for n in (0, 2, 3)] == [4, 3, 2]
    risen = watched.leader.data().bundles[bundle(2)].shortTermData
    assert risen.msgRateIn == pytest.approx((3000 + 3000 + 4500) / 3)


def test_statistics_of_bundles_are_as_old_as_their_interval() -> None:
    """Every three minutes, or every 121 seconds: what has risen in minute 1 is known in minute 3, the host of it at once."""
    watched = Watched(_rising(0.5), statsUpdateFrequencyInSecs=121)
    reports = [watched.minute(minute)["b2:1"] for minute in range(4)]
    assert [report.lastStats[bundle(2)].msgRateIn for report in reports] == [3000, 3000, 3000, 4500]
    assert [report.msgRateIn for report in reports] == [3000, 3000, 3000, 4500]
    assert reports[1].cpu.percent > reports[0].cpu.percent


def test_the_usage_of_a_host_is_the_mean_since_it_was_looked_at() -> None:
    """Every two minutes: in minute 2 that of minutes 1 and 2; a broker that starts looks at once."""
    watched = Watched(_rising(0.5), loadBalancerHostUsageCheckIntervalMinutes=2)
    first, same, mean = (watched.minute(minute)["b2:1"].cpu.percent for minute in range(3))
    risen = Watched(_rising(0.5))
    before, after = (risen.minute(minute)["b2:1"].cpu.percent for minute in range(2))
    assert (first, same, mean) == (before, before, pytest.approx(after))
    _befalls(watched, 3, "stop", "b2:1")
    watched.minute(3)
    watched.minute(4)
    _befalls(watched, 5, "start", "b2:1")
    assert watched.minute(5)["b2:1"].cpu.percent == 0


def _moment(watched: Watched, broker: str, place: int) -> tuple[int, float]:
    """How many samples a broker has of a bundle, and the short-term average of what comes in."""
    averages = watched.leader.remembered.of(broker)
    return int(averages.counts[1, 0, place]), float(averages.rates[0, 0, place])


def _befalls(watched: Watched, minute: int, kind: Literal["stop", "start"], broker: str) -> None:
    """A broker stops or starts at the beginning of a minute."""
    watched.world.minute = minute
    watched.world.happens(Event(minute, kind, broker))
    (watched.leader.start if kind == "start" else watched.leader.lose)(broker)


def test_the_next_leader_has_heard_what_the_last_one_heard() -> None:
    """Every broker adds a sample with every report: nothing is read from the store."""
    watched = Watched(_rising(0.5))
    watched.minute(0)
    watched.minute(1)
    _befalls(watched, 2, "stop", "b1:1")
    assert watched.leader.leads == "b2:1"
    assert _moment(watched, "b2:1", 2) == (3, pytest.approx(3500))


def test_a_broker_that_starts_remembers_what_the_leader_has_written() -> None:
    """It is written every 15 minutes: the store has nothing of the third bundle before, and then what was known."""
    watched = Watched(_rising(0.5))
    for minute in range(14):
        watched.minute(minute)
        watched.leader.write_averages()
    _befalls(watched, 14, "stop", "b3:1")
    _befalls(watched, 14, "start", "b3:1")
    assert _moment(watched, "b3:1", 2) == (1, 4500)  # what was reported last
    assert _moment(watched, "b1:1", 2) == (3, pytest.approx(3500))
    watched.minute(14)
    watched.leader.write_averages()
    before = _moment(watched, "b1:1", 2)
    _befalls(watched, 15, "stop", "b1:1")
    _befalls(watched, 15, "start", "b1:1")
    assert watched.leader.leads == "b2:1"
    assert _moment(watched, "b1:1", 2) == (before[0] + 1, pytest.approx((before[1] * before[0] + 4500) / (before[0] + 1)))
    watched.minute(15)
    assert _moment(watched, "b1:1", 2)[0] == _moment(watched, "b2:1", 2)[0] + 1
    _befalls(watched, 16, "stop", "b2:1")
    assert watched.leader.data().bundles[bundle(2)].longTermData.numSamples == _moment(watched, "b1:1", 2)[0]


@pytest.mark.parametrize(("release", "written"), [("3.0.7", {0, 1, 2, 3}), ("4.2.4", {1, 2, 3})])
def test_since_4_0_8_the_leader_writes_the_largest_bundles_only(release: Version, written: set[int]) -> None:
    """One for each of three brokers: of four bundles the one that carries least is left out."""
    assert _written(release, 1, [True, True, True, True]) == written


@pytest.mark.parametrize(("most", "written"), [(0, {0, 2, 3}), (1, {0, 2, 3})])
def test_the_leader_writes_no_bundle_of_an_excluded_namespace(most: int, written: set[int]) -> None:
    """With a limit and without one."""
    assert _written("4.2.4", most, [True, False, True, True]) == written


def _written(release: Version, most: int, may_be: list[bool]) -> set[int]:
    """Which of four bundles are in the store after a write of three brokers' leader."""
    conf = replace(policy().conf, pulsar_version=release, loadBalancerMaxNumberOfBundlesInBundleLoadReport=most)
    averages = Averages(4)
    remembered = Remembered(conf, averages)
    for place, rate in enumerate((1000.0, 2000.0, 3000.0, 3000.0)):
        averages.know(place, sampled(never_seen(), NamespaceBundleStats(rate, 0, rate * 2048, 0, topics=1)))
    remembered.write("b1:1", 3, lambda: np.array(may_be))
    remembered.start("b4:1", 1, np.zeros(4, dtype=np.int64))
    return set(np.flatnonzero(remembered.of("b4:1").counts[0, 0]).tolist())


def _placed(shedder: str = "ThresholdShedder", release: Version = "4.2.4") -> tuple[Watched, str]:
    """A world in which the first bundle is looked up and placed, and where."""
    watched = Watched(_rising(0.5), shedder)
    watched.leader.policy = replace(watched.leader.policy, conf=replace(watched.leader.policy.conf, pulsar_version=release))
    watched.minute(0)
    watched.world.owner[0] = -1
    watched.world._changed(0)
    watched.leader.place([bundle(0)], "looked up")
    placed = watched.world.actions[-1].destination
    assert watched.leader.preallocation.asked == {bundle(0): placed}
    assert watched.leader.data().preallocated == {bundle(0): placed}
    return watched, placed


def test_what_is_preallocated_to_a_broker_goes_with_it() -> None:
    watched, placed = _placed()
    watched.leader.lose(placed)
    assert watched.leader.data().preallocated == {}


@pytest.mark.parametrize(
    ("release", "leads", "stays"),
    [("4.2.4", False, False), ("4.2.4", True, True), ("2.10.1", False, True), ("2.10.1", True, True)],
)
def test_what_is_preallocated_counts_until_a_report_of_another_broker(release: Version, leads: bool, stays: bool) -> None:
    """Only of its own broker the leader of a later release waits for the report; 2.10 waits for that of every broker."""
    watched, placed = _placed(release=release)
    watched.leader.leads = placed if leads else next(broker for broker in OWNED if broker != placed)
    watched.leader._forget_placed()
    assert watched.leader.preallocation.asked == {}
    assert (watched.leader.data().preallocated == {bundle(0): placed}) is stays
    watched.minute(1)
    assert bundle(0) in watched.leader.reports[placed].bundles
    assert watched.leader.data().preallocated == {}


def test_what_is_preallocated_by_the_extensible_manager_counts_until_it_is_reported() -> None:
    watched, placed = _placed("TransferShedder")
    watched.leader._forget_placed()
    assert watched.leader.data().preallocated == {bundle(0): placed}
    watched.minute(1)
    assert watched.leader.data().preallocated == {}


def test_a_broker_of_the_extensible_manager_averages_every_five_seconds() -> None:
    watched = Watched(_rising(0.5), "TransferShedder")
    watched.minute(0)
    assert watched.leader.loads["b2:1"].weightedMaxEMA == pytest.approx(0.3)
    watched.minute(1)
    history = 0.9**SAMPLES_OF_A_MINUTE
    assert watched.leader.loads["b2:1"].weightedMaxEMA == pytest.approx(0.3 * history + 0.45 * (1 - history))


def test_a_broker_of_the_extensible_manager_begins_anew_when_its_bundles_change() -> None:
    watched = Watched(still(OWNED), "TransferShedder")
    before = watched.minute(0)
    watched.world.unload(bundle(1), "b1:1", "b2:1", "")
    watched.leader._changed("b1:1", "b2:1")
    after = watched.minute(1)
    assert after["b3:1"] is before["b3:1"]
    assert after["b1:1"] is not before["b1:1"]
    assert watched.leader.loads["b1:1"].weightedMaxEMA == pytest.approx(0.1)
    assert watched.leader.loads["b2:1"].msgThroughputEMA == pytest.approx((3000 + 2000 * (1 - 1.01 / 60)) * 2048)


def test_a_drawn_broker_depends_on_seed_minute_and_bundle_only() -> None:
    leaders = [
        Leader(policy(shedder), World(still(OWNED), 0, 1), seed)
        for shedder, seed in (("AvgShedder", 1), ("OverloadShedder", 1))
    ]
    drawn = [[leader._drawn(("x", "y", "z"), bundle(number)) for number in range(16)] for leader in leaders]
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {"x", "y", "z"}
    other = Leader(policy(), World(still(OWNED), 0, 1), 2)
    assert [other._drawn(("x", "y", "z"), bundle(number)) for number in range(16)] != drawn[0]
    assert other._drawn((), bundle(0)) == ""


def test_a_fresh_leader_knows_what_was_unloaded_before() -> None:
    source = pictured(
        {"b1:1": {0: 5000, 1: 3000, 2: 1000}, "b2:1": {3: 1000}}, now=10_000_000, recently_unloaded={bundle(0): 9_500_000}
    )
    watched = Watched(replace(still(OWNED), source=source), "OverloadShedder")
    watched.minute(0)
    watched.leader.shed()
    assert [action.bundle for action in watched.world.actions] == [bundle(1)]


def test_a_bundle_leaves_under_the_sentence_above_the_line_that_names_it_first() -> None:
    why = (
        "first: is full",
        "  a/b:c/0x0_0x8: 5 msg/s, unloaded",
        " no line of a bundle: a/b:c/0x8_0xf",
        "second",
        "  a/b:c/0x0_0x8: stays",
    )
    assert _reasons(why, {"a/b:c/0x0_0x8", "a/b:c/0x8_0xf"}) == {"a/b:c/0x0_0x8": "first: is full"}


def _placement(leader: Leader) -> SimplePlacement:
    assert isinstance(leader.manager.placement, SimplePlacement)
    return leader.manager.placement


def test_the_next_leader_of_the_simple_manager_has_the_quotas_and_not_what_was_given() -> None:
    """b1 leads and gives a bundle to a broker: b2 has heard the reports, and knows nothing of that until it is reported."""
    watched = Watched(still(OWNED), None, loadManagerClassName="SimpleLoadManagerImpl")
    watched.minute(0)
    leader = watched.leader
    _befalls(watched, 1, "stop", "b3:1")
    (orphan,) = watched.world.orphans()
    leader.place([orphan], "looked up")
    given = [ranking.given for ranking in _placement(leader).rankings.values()]
    assert given.count(frozenset({orphan})) == 1
    quotas = _placement(leader).quotas
    watched.world.minute = 14
    leader.write_averages()
    _befalls(watched, 15, "stop", "b1:1")
    placement = _placement(leader)
    assert placement.quotas.by_bundle == quotas.by_bundle != {}
    assert placement.quotas.stored == quotas.by_bundle
    assert not any(ranking.given for ranking in placement.rankings.values())
    assert replace(placement.quotas, by_bundle={}).of(bundle(2)) == quotas.by_bundle[bundle(2)]
