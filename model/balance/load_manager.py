"""One round of the leader: it sheds, looks for each bundle where it may go, and splits.

Mirrors doLoadShedding and checkNamespaceBundleSplit of ModularLoadManagerImpl, and UnloadScheduler and SplitScheduler of the
extensible load manager.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fencepost.model.balance.averages import with_reported_bundles
from fencepost.model.balance.avg_shedder import AvgShedder
from fencepost.model.balance.broker_loads import advanced
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.deviation_shedder import NoBrokers
from fencepost.model.balance.filters import of_group
from fencepost.model.balance.isolation import Policies, permitted
from fencepost.model.balance.load_data import BrokerLoad, LoadData, LocalBrokerData, namespace_of
from fencepost.model.balance.overload_shedder import OverloadShedder
from fencepost.model.balance.placement import AvgPlacement, InTurn, Placement, RoundRobinBrokerSelector
from fencepost.model.balance.selection import Selection, assign, select
from fencepost.model.balance.shedding import Shedder, Unloading
from fencepost.model.balance.splitting import Split, SplitStrategy, Topic, boundaries, bundles_to_split
from fencepost.model.balance.transfer_shedder import TransferShedder
from fencepost.model.balance.usage import usage, weighted_usage
from fencepost.model.balance.user_policy import UserShedder
from fencepost.model.pulsar.hash_range import Bundle, Refused

MILLIS_OF_A_MINUTE = 60_000


@dataclass(frozen=True)
class Snapshot:
    """A cluster at one moment: its load, its policies and, for algorithms that ask for them, the topics of bundles."""

    load: LoadData
    policies: Policies = field(default_factory=Policies)
    topics: Mapping[str, Sequence[Topic]] = field(default_factory=dict)


@dataclass(frozen=True)
class PlannedSplit:
    """A bundle to be split, and where; None if that is not known from the snapshot, or it ``fails``: there is no place.

    ``why`` is the sentence that explains it.
    """

    bundle: str
    boundaries: tuple[int, ...] | None
    why: str = ""
    fails: bool = False


@dataclass(frozen=True)
class Round:
    """What the leader does in one round.

    ``unload`` is what the shedder asks for. ``destinations`` are the brokers of which any may get the bundle; empty if it
    stays after all. ``usage`` is what the shedder compares, ``averages`` what it keeps over time; both are fractions.
    """

    unload: Mapping[str, tuple[str, ...]]
    destinations: Mapping[str, tuple[str, ...]]
    usage: Mapping[str, float]
    averages: Mapping[str, float]
    splits: tuple[PlannedSplit, ...]
    why: tuple[str, ...]


@dataclass(frozen=True)
class Shedding:
    """What the leader sheds: what the shedder asks for, and the brokers of which any is drawn for each bundle.

    Nothing is to be drawn from if the bundle stays after all. If its own broker is drawn, it stays, too.
    """

    unloading: Unloading
    drawn_from: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadManager:
    """A leader's policies with what they remember: the shedder, the placement strategy, splits, averages of brokers.

    ``turns`` are those of bundles whose namespace is excluded from shedding.
    """

    conf: Configuration
    shedder: Shedder
    placement: Placement
    splitter: SplitStrategy = field(default_factory=SplitStrategy)
    turns: RoundRobinBrokerSelector = field(default_factory=RoundRobinBrokerSelector)
    loads: Mapping[str, BrokerLoad] = field(default_factory=dict)

    def next_round(self, snapshot: Snapshot) -> tuple[Round, LoadManager]:
        """What it does now, and the load manager of the next round.

        A bundle of which only reports speak is met for the first time. A bundle unloaded before the grace period counts as
        not unloaded.
        """
        data = self._seen(snapshot.load)
        manager = replace(self, loads=data.loads)
        shedding, manager = manager.shed(data, snapshot.policies)
        splits, reasons, manager = manager.split(data, snapshot.topics)
        unloading = shedding.unloading
        destinations = {
            bundle: tuple(other for other in shedding.drawn_from[bundle] if other != broker or self.conf.places_afterwards)
            for broker, bundles in unloading.unload.items()
            for bundle in bundles
        }
        return self._round(unloading, destinations, splits, (*unloading.why, *reasons), data), manager

    def _round(
        self,
        unloading: Unloading,
        destinations: Mapping[str, tuple[str, ...]],
        splits: tuple[PlannedSplit, ...],
        why: tuple[str, ...],
        data: LoadData,
    ) -> Round:
        usages = {broker: self._usage(report) for broker, report in data.reports.items()}
        return Round(unloading.unload, destinations, usages, unloading.averages, splits, why)

    def _usage(self, report: LocalBrokerData) -> float:
        """How loaded a broker is, as the shedder measures it: 1 is all that it has."""
        measure = usage if isinstance(self.shedder, OverloadShedder) else weighted_usage
        return measure(report, self.conf)

    def asked_alone(self, snapshot: Snapshot) -> tuple[Round, LoadManager]:
        """What the shedder by itself answers, whatever its load manager would make of that: with one broker, or switched off.

        Nothing is placed or split.
        """
        data = self._seen(snapshot.load)
        manager = replace(self, loads=data.loads)
        if not self.conf.is_2_10:
            manager = replace(manager, shedder=self.shedder.with_active_brokers(data.brokers.keys()))
        try:
            unloading, manager = manager._bundles_for_unloading(data, snapshot.policies)
        except NoBrokers as error:
            unloading = Unloading(why=(f"the shedder fails: {error}",))
        return manager._round(unloading, {}, (), unloading.why, data), manager

    def placed(self, bundle: str, snapshot: Snapshot) -> tuple[Selection, LoadManager]:
        """Where a bundle would go that nobody owns, and the load manager after that selection."""
        data = self._seen(snapshot.load)
        return replace(self, loads=data.loads).place(bundle, data, snapshot.policies)

    def place(self, bundle: str, data: LoadData, policies: Policies) -> tuple[Selection, LoadManager]:
        """The same, of data in which every bundle is known that reports speak of."""
        placement = self.placement if self.conf.is_2_10 else self.placement.with_active_brokers(data.brokers.keys())
        if self._is_to_stay(bundle):
            placement = InTurn(self.turns, placement)
        selection, placement = assign(bundle, data, policies, self.conf, placement)
        if isinstance(placement, InTurn):
            return selection, replace(self, placement=placement.usual, turns=placement.turns)
        return selection, replace(self, placement=placement)

    def _is_to_stay(self, bundle: str) -> bool:
        """Whether the bundle's namespace is excluded from shedding, and placed in turn for that."""
        excluded = namespace_of(bundle) in self.conf.loadBalancerSheddingExcludedNamespaces
        return excluded and not self.conf.before("4.2.4")

    def _seen(self, data: LoadData) -> LoadData:
        data = replace(with_reported_bundles(data), recently_unloaded=self.within_grace_period(data))
        if not self.conf.is_extensible:
            return data
        loads = {broker: advanced(self.loads.get(broker), broker, data, self.conf) for broker in data.reports}
        return replace(data, loads={**loads, **data.loads})

    def inherited(self, before: LoadManager) -> LoadManager:
        """This one, as the next leader has it: it has heard the reports that the last one heard, and decided nothing."""
        return self

    def written(self) -> LoadManager:
        """The same, once the leader has written to the store what it keeps there."""
        return self

    def within_grace_period(self, data: LoadData) -> dict[str, int]:
        """The bundles whose last unload still counts, and when it was."""
        oldest = data.now - self.conf.loadBalancerSheddingGracePeriodMinutes * MILLIS_OF_A_MINUTE
        return {bundle: time for bundle, time in data.recently_unloaded.items() if time >= oldest}

    def shed(self, data: LoadData, policies: Policies) -> tuple[Shedding, LoadManager]:
        """What it sheds now, of data in which every bundle is known, and the load manager of the next round."""
        active = data.brokers.keys()
        if self.conf.is_2_10:
            return self._shed(data, policies)  # which does not tell its strategies who is there
        manager = replace(
            self, shedder=self.shedder.with_active_brokers(active), placement=self.placement.with_active_brokers(active)
        )
        return manager._shed(data, policies)

    def _shed(self, data: LoadData, policies: Policies) -> tuple[Shedding, LoadManager]:
        if not (self.conf.loadBalancerEnabled and self.conf.loadBalancerSheddingEnabled):
            return Shedding(Unloading(why=("shedding is switched off",))), self
        if len(data.brokers) <= 1:
            nothing = "nothing is shed" if self.conf.is_extensible else "nothing is shed or split"
            return Shedding(Unloading(why=(f"brokers: {len(data.brokers)}; {nothing} with one broker or none",))), self
        try:
            unloading, manager = self._bundles_for_unloading(data, policies)
        except NoBrokers as error:
            return Shedding(Unloading(why=(f"the shedder fails: {error}",))), self
        drawn_from: dict[str, tuple[str, ...]] = {}
        reasons: list[str] = []
        leaving = {bundle for bundles in unloading.unload.values() for bundle in bundles}
        reported_by: dict[str, list[str]] = {bundle: [] for bundle in leaving}
        for broker, report in data.reports.items():
            for bundle in leaving & report.owned:
                reported_by[bundle].append(broker)
        for broker, bundles in unloading.unload.items():
            for bundle in bundles:
                drawn_from[bundle], why, manager = manager._destinations(bundle, broker, unloading, data, policies)
                others = [other for other in reported_by[bundle] if other != broker]
                if others:
                    reasons.append(f"{bundle}: is in the reports of {', '.join([broker, *others])}: only one can own it")
                reasons += why
        if isinstance(manager.placement, AvgPlacement):
            manager = replace(manager, placement=manager.placement.unloaded())
        return Shedding(replace(unloading, why=(*unloading.why, *reasons)), drawn_from), manager

    def _bundles_for_unloading(self, data: LoadData, policies: Policies) -> tuple[Unloading, LoadManager]:
        """What the shedder finds, and the load manager after that. Raises NoBrokers."""
        shedder = self.shedder
        if isinstance(shedder, TransferShedder):
            shedder = replace(shedder, policies=policies)
        if isinstance(shedder, AvgShedder) and isinstance(self.placement, AvgPlacement):
            shedder = replace(shedder, memory=self.placement.memory)
        unloading, shedder = shedder.find_bundles_for_unloading(data, self.conf)
        manager = replace(self, shedder=shedder)
        if isinstance(shedder, AvgShedder) and isinstance(self.placement, AvgPlacement):
            placement = replace(self.placement, memory=shedder.memory, planned=shedder.planned)
            manager = replace(manager, placement=placement)
        return unloading, manager

    def _destinations(
        self, bundle: str, source: str, unloading: Unloading, data: LoadData, policies: Policies
    ) -> tuple[tuple[str, ...], list[str], LoadManager]:
        """What is drawn from for a bundle that is to leave its broker, why, and the load manager after that selection.

        In 2.10 a bundle is unloaded first, and placed when it is looked up: it may come back to its broker.
        """
        if isinstance(self.shedder, TransferShedder) and bundle in unloading.destinations:
            return (unloading.destinations[bundle],), [], self
        obstacle = "" if self.conf.is_extensible else _obstacle(bundle, source, data, policies, self.conf)
        if obstacle:
            return (), [f"{bundle}: stays on {source}: {obstacle}"], self
        if isinstance(self.shedder, UserShedder) and bundle in unloading.destinations:
            target = unloading.destinations[bundle]
            if target in permitted(namespace_of(bundle), data, policies, self.conf):
                return (target,), [], self
            return (), [f"{bundle}: stays on {source}: {target} may not serve its namespace"], self
        selection, placement = select(bundle, data, policies, self.conf, self.placement)
        why = [f"{bundle}: {reason}" for reason in selection.why]
        if self.conf.is_2_10:
            return selection.any_of, why, replace(self, placement=placement)
        if not set(selection.any_of) - {source}:
            why.append(f"{bundle}: stays on {source}: it would go nowhere else")
        elif source in selection.any_of:
            why.append(f"{bundle}: stays on {source} if that is drawn, for it must differ")
        return selection.any_of, why, replace(self, placement=placement)

    def split(
        self, data: LoadData, topics: Mapping[str, Sequence[Topic]], among: Collection[str] | None = None
    ) -> tuple[tuple[PlannedSplit, ...], list[str], LoadManager]:
        """What it splits now, the sentences that explain it, and the load manager of the next round.

        ``among`` are brokers of which it is known that no other has a bundle to split, or remembers one.
        """
        conf = self.conf
        if not (conf.loadBalancerEnabled and conf.loadBalancerAutoBundleSplitEnabled):
            return (), [], self
        if not conf.is_extensible:
            splits = bundles_to_split(data, conf, among) if len(data.brokers) > 1 or conf.is_2_10 else []
            planned = [planned_split(split, topics.get(split.bundle), conf) for split in splits]
            return tuple(planned), [split.why for split in planned], self
        thought_of: dict[str, PlannedSplit] = {}

        def cut(split: Split) -> bool:
            one = thought_of[split.bundle] = planned_split(split, topics.get(split.bundle), conf)
            return not one.fails

        splits, splitter = self.splitter.bundles_to_split(data, conf, cut=cut, among=among)
        planned = [thought_of[split.bundle] for split in splits]
        return tuple(planned), [split.why for split in thought_of.values()], replace(self, splitter=splitter)


def planned_split(split: Split, topics: Sequence[Topic] | None, conf: Configuration) -> PlannedSplit:
    """A split with its boundaries, and the sentence that explains it."""
    algorithm = conf.defaultNamespaceBundleSplitAlgorithm
    plan = f"{split.bundle}: {split.reason}: split by {algorithm}"
    if topics is None and algorithm != "range_equally_divide":
        return PlannedSplit(split.bundle, None, f"{plan}, for which the snapshot lacks the bundle's topics")
    try:
        cuts, why = boundaries(algorithm, Bundle.parse(split.bundle), topics or (), conf)
    except Refused as refusal:
        return PlannedSplit(split.bundle, None, f"{plan}, refused: {refusal}", fails=True)
    if cuts is None:
        return PlannedSplit(split.bundle, None, f"{plan}: {why}", fails=True)
    if conf.is_extensible and len(cuts) > 1:
        objection = f"{plan}: {len(cuts)} boundaries, and the extensible manager cuts in two only"
        return PlannedSplit(split.bundle, None, objection, fails=True)
    return PlannedSplit(split.bundle, tuple(cuts), plan)


def _obstacle(bundle: str, source: str, data: LoadData, policies: Policies, conf: Configuration) -> str:
    """Why a bundle is not unloaded although the shedder asks for it; empty if nothing is in the way."""
    namespace = namespace_of(bundle)
    if namespace in conf.loadBalancerSheddingExcludedNamespaces and not conf.before("4.2.4"):
        return "its namespace is excluded from shedding"
    allowed = permitted(namespace, data, policies, conf)
    others = [broker for broker in allowed if broker != source]
    if not others and not conf.is_2_10:
        return "no other broker may serve its namespace"
    if policies.group_of(namespace) and allowed:
        counts = of_group(bundle, data, policies, conf)
        fewest = min(counts[broker] for broker in allowed)
        if 0 < fewest == max(counts[broker] for broker in allowed):
            return "every broker serves as many namespaces of its anti-affinity group"
    return ""
