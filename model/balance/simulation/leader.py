"""The leader: it hears reports, keeps averages, and has its load manager place, shed and split."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from fencepost.model.balance.broker_loads import averaged
from fencepost.model.balance.load_data import BrokerLoad, LoadData, LocalBrokerData, namespace_of
from fencepost.model.balance.load_manager import MILLIS_OF_A_MINUTE, LoadManager
from fencepost.model.balance.placement import AvgPlacement
from fencepost.model.balance.preallocation import Preallocation
from fencepost.model.balance.reports import Figures, must_report
from fencepost.model.balance.simulation.cluster import UNOWNED
from fencepost.model.balance.simulation.records import Averages, Known, Sample
from fencepost.model.balance.simulation.remembered import Remembered
from fencepost.model.balance.simulation.sensing import Measured
from fencepost.model.balance.simulation.world import World
from fencepost.model.balance.splitting import FEWEST_TOPICS, Topic, boundaries, most, too_large
from fencepost.model.pulsar.hash_range import Bundle, Refused

NO_BUNDLES = np.array([], dtype=np.intp)
SAMPLES_OF_A_MINUTE = 12
"""A broker of the extensible manager averages its usage every five seconds."""


class Leader:
    """The leading broker of a world, with what it has heard and what it remembers.

    When it goes, the next one begins with the policy as it was at first, and with averages of its own.
    """

    def __init__(self, policy: LoadManager, world: World, seed: int) -> None:
        if isinstance(policy.placement, AvgPlacement):  # up to 5.0.0-M1 it remembers what was drawn
            policy = replace(policy, placement=replace(policy.placement, draw=self._drawn))
        self.policy, self.manager, self.world, self.seed = policy, policy, world, seed
        known = world.cluster.known
        self.began = known.now
        self.leads = world.live[0] if world.live else ""
        self.reports: dict[str, LocalBrokerData] = {}
        self.loads: dict[str, BrokerLoad] = {}
        count = len(world.brokers)
        self._heard: Figures[NDArray[np.float64]] | None = None
        self._must_write = np.ones(count, dtype=np.bool_)
        self._own_loads, self._has_own = np.zeros((2, count)), np.zeros(count, dtype=np.bool_)
        self.recent = dict(known.recently_unloaded)
        self.recent_brokers = dict(known.recently_unloaded_brokers)
        self.preallocation = Preallocation()
        for bundle, broker in known.preallocated.items():
            if broker in world.live:
                self.preallocation = self.preallocation.with_bundle(bundle, broker)
        averages = Averages(len(world.names))
        for bundle, data in known.bundles.items():
            averages.know(world.place_of[bundle], data)
        self.remembered, self._leads_since = Remembered(policy.conf, averages), 0
        self._known: Known | None = None
        self._reported: dict[str, NDArray[np.intp]] = {}
        size = len(world.names)
        self._clients = np.zeros((3, size), dtype=np.int64)
        self._times_reported = np.zeros(size, dtype=np.int64)

    @property
    def averages(self) -> Averages:
        """What the leader remembers of bundles."""
        return self.remembered.of(self.leads)

    @property
    def now(self) -> int:
        """The end of the minute that is going on, in milliseconds since 1970."""
        return self.began + (self.world.minute + 1) * MILLIS_OF_A_MINUTE

    # --- what it hears

    def hear(self, current: Measured, sample: Sample) -> bool:
        """The brokers write the reports that they make of a sample, if they have to; whether one did.

        Each report makes the modular leader add a sample to the averages of every bundle that any report speaks of.
        """
        world, conf = self.world, self.policy.conf
        self._meet_new_bundles()
        if conf.is_extensible:
            self._average_own(current.averageable(conf))
        figures = current.figures(conf)
        if self._heard is None:
            self._heard = Figures(*map(np.zeros_like, figures))
        written = np.flatnonzero(world.alive & (self._must_write | must_report(self._heard, figures, conf))).tolist()
        for heard, now in zip(self._heard, figures, strict=True):
            heard[written] = now[written]
        self._must_write[written] = False
        for place in written:
            broker = world.brokers[place]
            self.reports[broker] = current[broker]
            if conf.is_extensible:
                self.loads[broker] = BrokerLoad(*self._own_loads[:, place].tolist())
            self._forget_placed()
        if written:
            self._add_samples([world.brokers[place] for place in written], sample)
        return bool(written)

    def _add_samples(self, brokers: Sequence[str], sample: Sample) -> None:
        """These brokers' reports come in, in that order."""
        heard = [self.world.places_of(broker) for broker in brokers]
        left = [self._reported.get(broker, NO_BUNDLES) for broker in brokers]
        before = self._times_reported.copy()
        for averages in self.remembered.heard():
            self._times_reported[:] = before
            averages.add(sample, left, heard, self._times_reported)
        self._reported.update(zip(brokers, heard, strict=True))
        places, self._known = np.concatenate(heard), None
        self._clients[:, places] = sample.clients[:, places]

    def _forget_placed(self) -> None:
        """With each report that is written the modular leader goes through all of them.

        It has averages of whatever it placed. The table of the extensible manager knows an owner at once; here a bundle
        counts with it until it is reported.
        """
        if not any(self.preallocation.counted.values()):
            return
        conf, own = self.policy.conf, self.world.owned_by(self.leads) if self.leads else {}
        for broker, report in self.reports.items():
            mine = self.preallocation.counted.get(broker, frozenset())
            owned = mine if conf.is_extensible else own
            self.preallocation = self.preallocation.heard(broker, report, mine, owned, is_2_10=conf.is_2_10)

    def _average_own(self, values: NDArray[np.float64]) -> None:
        """The brokers of the extensible manager add a minute to their averages."""
        with np.errstate(all="ignore"):
            advanced = averaged(self._own_loads, values, self.policy.conf, SAMPLES_OF_A_MINUTE)
        self._own_loads = np.where(self._has_own, advanced, values)
        self._has_own = self.world.alive.copy()

    def _meet_new_bundles(self) -> None:
        more = len(self.world.names) - len(self._times_reported)
        if more:
            self._clients = np.pad(self._clients, ((0, 0), (0, more)))
            self._times_reported = np.pad(self._times_reported, (0, more))
            for averages in self.remembered.all():
                averages.extended(len(self.world.names))

    def lose(self, broker: str) -> None:
        """A broker is gone: its report is, and what was preallocated to it; if it was the leader, another one leads."""
        self.reports.pop(broker, None)
        self.loads.pop(broker, None)
        place = self.world.place_of_broker[broker]
        self._must_write[place], self._has_own[place] = True, False
        self._times_reported[self._reported.pop(broker, NO_BUNDLES)] -= 1
        self.preallocation = self.preallocation.without([broker])
        self.remembered.stop(broker)
        if broker == self.leads:
            self.leads, self._leads_since, self._known = next(iter(self.world.live), ""), self.world.minute, None
            self.manager = self.policy.inherited(self.manager)
            self.recent, self.recent_brokers, self.preallocation = {}, {}, Preallocation()

    def start(self, broker: str) -> None:
        """A broker starts, and remembers what is in the store."""
        if not self.policy.conf.is_extensible:
            self._meet_new_bundles()
            self.remembered.start(broker, self.world.minute, self._times_reported)

    def write_averages(self) -> None:
        """The leader writes its averages or its quotas to the store, every so many minutes since it leads."""
        conf, past = self.policy.conf, self.world.minute + 1 - self._leads_since
        if self.leads and not conf.is_extensible and past % conf.loadBalancerResourceQuotaUpdateIntervalMinutes == 0:
            self.remembered.write(self.leads, len(self.reports), self._may_be_shed)
            self.manager = self.manager.written()

    def _may_be_shed(self) -> NDArray[np.bool_]:
        """Which bundles are of no namespace that is excluded from shedding."""
        excluded = self.policy.conf.loadBalancerSheddingExcludedNamespaces
        return np.array([namespace_of(bundle) not in excluded for bundle in self.world.names], dtype=np.bool_)

    # --- what it decides

    def data(self) -> LoadData:
        """All that it knows now. Brokers whose first report is not there yet are none of the live ones."""
        self._meet_new_bundles()
        if self._known is None:
            world = self.world
            self._known = Known(world.place_of, self.averages, world.clients[0], world.namespaces)
        placed, kinds = self.preallocation.placed, self.world.cluster.known.non_persistent
        data = LoadData(self.reports, self._known, self.recent, self.recent_brokers, self.now, self.loads, placed, kinds)
        self.recent = self.manager.within_grace_period(data)
        return replace(data, recently_unloaded=self.recent)

    def place(self, bundles: Sequence[str], reason: str) -> None:
        """Lookups of bundles that nobody owns, one after the other; without a broker they wait."""
        if not (bundles and self.reports):
            return
        data = self.data()
        for bundle in bundles:
            broker = self._placed(bundle, data.with_preallocated(self.preallocation.placed))
            if broker and self.world.assign(bundle, broker, reason):
                self.preallocation = self.preallocation.with_bundle(bundle, broker)
                self._changed(broker)

    def _placed(self, bundle: str, data: LoadData) -> str:
        selection, self.manager = self.manager.place(bundle, data, self.world.cluster.policies)
        return self._drawn(selection.any_of, bundle)

    def _drawn(self, brokers: Sequence[str], bundle: str) -> str:
        """One of the brokers: by the seed, the minute and the bundle, so that another policy draws the same."""
        if len(brokers) < 2:
            return brokers[0] if brokers else ""
        key = f"{self.seed}/{self.world.minute}/{bundle}".encode()
        return brokers[int.from_bytes(blake2b(key, digest_size=8).digest(), "big") % len(brokers)]

    def shed(self) -> None:
        """One cycle of shedding; what was unloaded counts as unloaded only if it was."""
        shedding, self.manager = self.manager.shed(self.data(), self.world.cluster.policies)
        reasons = _reasons(shedding.unloading.why, shedding.drawn_from)
        for source, bundles in shedding.unloading.unload.items():
            for bundle in bundles:
                destination = self._drawn(shedding.drawn_from[bundle], bundle)
                if not destination or (destination == source and not self.policy.conf.places_afterwards):
                    continue
                if self.world.unload(bundle, source, destination, reasons.get(bundle, "")):
                    self.recent[bundle] = self.recent_brokers[source] = self.now
                    self._changed(source, destination)

    def split(self, current: Mapping[str, LocalBrokerData], sample: Sample) -> None:
        """Automatic splits, of the reports or, by the extensible manager, of what brokers measure of themselves."""
        large = self._too_large(sample)
        if not (self.manager.splitter.hits or large.any()):
            return
        conf, data = self.policy.conf, self.data()
        if conf.is_extensible:
            data = replace(data, brokers=current)
        planned, _, self.manager = self.manager.split(data, _TopicsOf(self.world), self._concerned(large))
        for split in planned:
            if split.boundaries is None:
                continue
            if not (conf.before("4.2.4") or self.world.is_in_layout(split.bundle)):
                continue  # an old report still lists what was split: passed over since pulsar#25031
            source = next(broker for broker, report in data.reports.items() if split.bundle in report.owned)
            parts = self._split(split.bundle, source, split.boundaries, split.why)
            if parts and conf.loadBalancerAutoUnloadSplitBundlesEnabled:
                self._scatter(parts, source, data)

    def split_at_once(self, bundles: Iterable[str]) -> None:
        """Somebody asks for splits, as with ``pulsar-admin namespaces split-bundle``: by the configured algorithm.

        The parts stay where they are. What nobody owns, or the algorithm does not cut, is passed over.
        """
        conf = self.policy.conf
        for bundle in bundles:
            owner = int(self.world.owner[self.world.place_of[bundle]])
            if owner == UNOWNED:
                continue
            algorithm, place = conf.defaultNamespaceBundleSplitAlgorithm, Bundle.parse(bundle)
            try:
                cuts, _ = boundaries(algorithm, place, _TopicsOf(self.world)[bundle], conf)
            except Refused:
                continue
            if cuts:
                self._split(bundle, self.world.brokers[owner], tuple(cuts), "asked for")

    def _split(self, bundle: str, source: str, cuts: tuple[int, ...], why: str) -> list[str]:
        """The parts of a bundle that is split; none if that did not work."""
        parts = self.world.split(bundle, source, cuts, why)
        if parts:
            for averages in self.remembered.all():
                averages.forget(self.world.place_of[bundle])
            self._known = None
            self._changed(source)
        return parts

    def _scatter(self, parts: Sequence[str], source: str, data: LoadData) -> None:
        """The parts of a split bundle are unloaded, and looked up again: each goes where it is placed."""
        for part in parts:
            broker = self._placed(part, data.with_preallocated(self.preallocation.placed))
            if broker and broker != source and self.world.unload(part, source, broker, "unloaded after its split"):
                self.preallocation = self.preallocation.with_bundle(part, broker)
                self._changed(broker)

    def _concerned(self, large: NDArray[np.bool_]) -> set[str]:
        """The brokers that have a bundle which is too large, or was and is remembered: others split nothing.

        To the modular manager has a bundle whoever reports it. Where two do, both count: only the last report was judged.
        """
        if not self.policy.conf.is_extensible:
            brokers, places = list(self._reported), list(self._reported.values())
            if not places:
                return set()
            counts = (large | (self._times_reported > 1))[np.concatenate(places)]
            whose = np.repeat(np.arange(len(brokers)), [len(own) for own in places])[counts]
            return {brokers[number] for number in set(whose.tolist())}
        owners = np.unique(self.world.owner[large])
        concerned = {self.world.brokers[place] for place in owners.tolist() if place != UNOWNED}
        return concerned.union(broker for broker, _ in self.manager.splitter.hits)

    def _too_large(self, sample: Sample) -> NDArray[np.bool_]:
        """Which bundles are too large, by what is known of them."""
        if self.policy.conf.is_extensible:
            sizes = sample.sizes
            splittable = sizes[0] >= FEWEST_TOPICS
        else:
            sizes = Sample(self.averages.rates[1], self._clients).sizes
            splittable = (sizes[0] >= FEWEST_TOPICS) & (self._times_reported > 0)
        return np.asarray(splittable & too_large(sizes, most(self.policy.conf)))

    def _changed(self, *brokers: str) -> None:
        """A broker of the extensible manager whose bundles changed begins its averages again, and reports at once."""
        if self.policy.conf.is_extensible:
            places = [self.world.place_of_broker[broker] for broker in brokers]
            self._must_write[places], self._has_own[places] = True, False


def _reasons(why: Iterable[str], bundles: Collection[str]) -> dict[str, str]:
    """The sentence under which a shedder first tells that a bundle leaves, of each bundle of which it does.

    What it tells of a bundle begins with two blanks, its name and a colon. A name can have colons, too.
    """
    reasons, reason = dict[str, str](), ""
    for line in why if bundles else ():
        if not line.startswith(" "):
            reason = line
        elif line.startswith("  "):
            for colon in re.finditer(":", line):
                if (name := line[2 : colon.start()]) in bundles:
                    reasons.setdefault(name, reason)
    return reasons


class _TopicsOf(Mapping[str, tuple[Topic, ...]]):
    """The topics of each bundle, made when a split asks for them."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __iter__(self) -> Iterator[str]:
        return iter(self._world.place_of)

    def __len__(self) -> int:
        return len(self._world.place_of)

    def __getitem__(self, bundle: str) -> tuple[Topic, ...]:
        world = self._world
        inside = np.flatnonzero(world.topics.bundle == world.place_of[bundle])
        rows = zip(world.topics.hash[inside].tolist(), world.rates[:, inside].T.tolist(), strict=True)
        return tuple(Topic(None, hash, *rates) for hash, rates in rows)
