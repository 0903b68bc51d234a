"""TransferShedder: the fullest brokers hand bundles to the emptiest until loads are close. Of the extensible load manager."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from fencepost.model.balance.broker_loads import broker_loads
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.isolation import Policies
from fencepost.model.balance.java import quotient
from fencepost.model.balance.load_data import LoadData, namespace_of
from fencepost.model.balance.selection import candidates
from fencepost.model.balance.shedding import Unloading
from fencepost.model.balance.standing import Standing, share
from fencepost.model.balance.top_bundles import top_bundles
from fencepost.model.balance.wording import percent, throughput

MILLIS = 1000
SWAP_GAIN = 0.75

Move = tuple[str, str, str]
"""A bundle, the broker that it leaves, the broker that it goes to."""


@dataclass(frozen=True)
class TransferShedder:
    """Remembers for how many rounds in a row there was a reason to act.

    ``policies`` are those of the cluster, which bound where a bundle may go.
    """

    hits: int = 0
    policies: Policies = field(default_factory=Policies)

    def find_bundles_for_unloading(self, data: LoadData, conf: Configuration) -> tuple[Unloading, TransferShedder]:
        """What should be unloaded now and where it should go, and the shedder of the next round."""
        loads = broker_loads(data, conf)
        averages = {broker: load.weightedMaxEMA for broker, load in loads.items()}
        fresh, skipped, obstacle = _usable(data, conf)
        if obstacle:
            return Unloading(why=(f"the whole cycle stops: {obstacle}",), averages=averages, skipped=skipped), self
        standing = Standing.of(fresh, loads)
        reason, threshold = standing.reason(conf), conf.loadBalancerSheddingConditionHitCountThreshold
        following = replace(self, hits=self.hits + 1 if reason else 0)
        deviation = f"standard deviation {standing.deviation:.6g}"
        why = [
            f"mean load {percent(standing.mean)}, {deviation}, acts above {conf.loadBalancerBrokerLoadTargetStd:g}",
            f"{reason or 'no reason to act'}; hits in a row: {following.hits}, needed: more than {threshold}",
        ]
        if following.hits <= threshold:
            return Unloading(why=tuple(why), averages=averages, skipped="HitCount"), following
        moves: list[Move] = []
        unnamed = few = False
        while standing.may_transfer(conf) and (reason := standing.reason(conf)):
            fullest, emptiest = standing.fullest, standing.emptiest
            handing = _Handing(fullest, emptiest, data, conf, self.policies)
            why += [f"{fullest} to {emptiest}: {reason}", *handing.notes]
            moves += handing.moves
            unnamed |= not handing.top
            few |= bool(handing.top) and not handing.offloaded
            standing = standing.without_fullest()
            if handing.offloaded > 0:
                most, least = loads[fullest].weightedMaxEMA, loads[emptiest].weightedMaxEMA
                standing = standing.after(most, least, handing.load(most))
        skipped = ""
        if moves:
            following = replace(following, hits=0)
        else:
            skipped = "NoLoadData" if unnamed else "NoBundles" if few else "HitCount"
        unload: dict[str, tuple[str, ...]] = {}
        for bundle, source, _ in moves:
            unload[source] = (*unload.get(source, ()), bundle)
        meant = {bundle: target for bundle, _, target in moves} if conf.loadBalancerTransferEnabled else {}
        return Unloading(unload, tuple(why), averages, meant, skipped), following

    def with_active_brokers(self, brokers: Collection[str]) -> TransferShedder:
        """The same: nothing is remembered of a broker."""
        return self


def _usable(data: LoadData, conf: Configuration) -> tuple[list[str], str, str]:
    """The brokers whose reports count, or why nothing can be done: by the name that is counted, and as a sentence.

    Reports older than their time to live are left out. A broker that reported less than the delay after a bundle left it, or
    one without a report, stops the cycle.
    """
    fresh = []
    for broker, report in data.reports.items():
        if data.now - report.lastUpdate > conf.loadBalancerBrokerLoadDataTTLInSeconds * MILLIS:
            continue
        if broker in data.recently_unloaded_brokers:
            elapsed = report.lastUpdate - data.recently_unloaded_brokers[broker]
            if elapsed < conf.loadBalanceSheddingDelayInSeconds * MILLIS:
                return [], "CoolDown", f"{broker} reported {elapsed / MILLIS:g} s after a bundle left it"
        fresh.append(broker)
    if not fresh:
        return [], "OutDatedData" if data.reports else "NoBrokers", "there is no broker whose report is fresh"
    silent = [broker for broker, report in data.brokers.items() if report is None]
    return fresh, "NoLoadData", f"{', '.join(silent)} without a report" if silent else ""


class _Handing:
    """What one broker hands to another: half the difference of their loads, the smallest bundles first.

    Of the bundles that a broker names at least one stays. One that is too large goes only in exchange for others.
    """

    def __init__(self, fullest: str, emptiest: str, data: LoadData, conf: Configuration, policies: Policies) -> None:
        self.fullest, self.emptiest, self.data, self.conf, self.policies = fullest, emptiest, data, conf, policies
        self.own, self.other = data.reports[fullest].throughput, data.reports[emptiest].throughput
        self.moves: list[Move] = []
        self.notes: list[str] = []
        self.offloaded = self.gained = 0.0
        loads = broker_loads(data, conf)
        self.wanted = share(self.own, loads[fullest].weightedMaxEMA, loads[emptiest].weightedMaxEMA)
        self.notes.append(f"  to offload: {throughput(self.wanted)} of {throughput(self.own)}")
        self._hand_over()

    def load(self, most: float) -> float:
        """The load that changes hands, of a broker whose load is ``most``."""
        return quotient((self.offloaded - self.gained) * most, self.own)

    def _hand_over(self) -> None:
        self.top = top = top_bundles(self.fullest, self.data, self.conf, self.policies)
        if len(top) <= 1:
            self.notes.append(f"  {self.fullest} names {len(top)} bundles; the last one always stays")
            return
        offered = iter(top_bundles(self.emptiest, self.data, self.conf, self.policies))
        remaining = len(top)
        for bundle, carried in top:
            obstacle = self._obstacle(bundle)
            if obstacle:
                self.notes.append(f"  {bundle}: stays: {obstacle}")
                continue
            if remaining <= 1:
                self.notes.append(f"  {bundle}: stays: the last one always does")
                break
            back: list[tuple[str, float]] = []
            if self.offloaded - self.gained + carried > self.wanted:
                back = self._exchange(offered, carried) if self.conf.loadBalancerTransferEnabled else []
                if not back:
                    self.notes.append(f"  {bundle}: {throughput(carried)}, stays: too large, and nothing to swap it for")
                    break
            self._move(bundle, carried, back)
            remaining -= 1

    def _move(self, bundle: str, carried: float, back: list[tuple[str, float]]) -> None:
        """Notes a bundle as handed over, and what comes back for it.

        What comes back is counted against the amount only in debug mode, as upstream, where the addition is among the log's.
        """
        returned = 0.0
        for swapped, amount in back:
            self.moves.append((swapped, self.emptiest, self.fullest))
            self.notes.append(f"  {swapped}: {throughput(amount)}, comes back from {self.emptiest}")
            returned += amount
        if self.conf.loadBalancerDebugModeEnabled:
            self.gained += returned
        self.moves.append((bundle, self.fullest, self.emptiest))
        self.offloaded += carried
        self.notes.append(f"  {bundle}: {throughput(carried)}, unloaded ({throughput(self.offloaded)} so far)")

    def _exchange(self, offered: Iterator[tuple[str, float]], carried: float) -> list[tuple[str, float]]:
        """The bundles of the emptiest for which a large one is swapped; none if that would not balance better.

        Both brokers must stay below what the fullest carries; it is enough once the emptiest carries no more than the fullest
        and the fullest less than three quarters of what it did. What was offered and not enough is not offered again.
        """
        own = self.own - self.offloaded + self.gained - carried
        other = self.other + self.offloaded - self.gained + carried
        back: list[tuple[str, float]] = []
        for bundle, amount in offered:
            if not self._may_go(bundle, self.emptiest, self.fullest):
                continue
            if own + amount < self.own and other - amount < self.own:
                back.append((bundle, amount))
                own, other = own + amount, other - amount
                if other <= own and own < self.own * SWAP_GAIN:
                    return back
        return []

    def _obstacle(self, bundle: str) -> str:
        if bundle not in self.data.reports[self.fullest].owned:
            return f"{self.fullest} does not own it"
        if namespace_of(bundle) in self.conf.loadBalancerSheddingExcludedNamespaces and not self.conf.before("4.2.4"):
            return "its namespace is excluded from shedding"
        if bundle in self.data.recently_unloaded:
            return "unloaded within the grace period"
        return "" if self._may_go(bundle, self.fullest, self.emptiest) else "policies do not let it go there"

    def _may_go(self, bundle: str, source: str, target: str) -> bool:
        """Whether policies let a bundle go from one broker to another, which is not asked of a bundle that none bind."""
        if self.policies.bind(namespace_of(bundle)) and not self.conf.loadBalancerSheddingBundlesWithPoliciesEnabled:
            return False
        return source != target and target in candidates(bundle, self.data, self.policies, self.conf)
