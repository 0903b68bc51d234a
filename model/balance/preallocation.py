"""Bundles that were placed and are perhaps not reported yet: how long the leader of the modular manager counts with them.

Mirrors preallocateBundle, updateBundleData and reapDeadBrokerPreallocations of ModularLoadManagerImpl.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field, replace

from fencepost.model.balance.load_data import LocalBrokerData


@dataclass(frozen=True)
class Preallocation:
    """What the leader remembers of placed bundles.

    ``asked`` says where a bundle goes that is looked up once more, ``counted`` which bundles count with a broker as if it
    reported them.
    """

    asked: Mapping[str, str] = field(default_factory=dict)
    counted: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def with_bundle(self, bundle: str, broker: str) -> Preallocation:
        """A bundle is placed on a broker."""
        counted = {**self.counted, broker: self.counted.get(broker, frozenset()) | {bundle}}
        return Preallocation({**self.asked, bundle: broker}, counted)

    def without(self, brokers: Collection[str]) -> Preallocation:
        """These brokers are dead."""
        asked = {bundle: broker for bundle, broker in self.asked.items() if broker not in brokers}
        return Preallocation(asked, {broker: own for broker, own in self.counted.items() if broker not in brokers})

    def heard(
        self, broker: str, report: LocalBrokerData, known: Container[str], owned: Container[str], *, is_2_10: bool
    ) -> Preallocation:
        """The leader goes through the report of a broker, as it does with all reports whenever one of them is written.

        No bundle that counts with the broker is sent there again by a lookup. In 2.10, once one of them is in the report,
        those of them stop counting of which there are averages (``known``). Later releases compare with what the leader's
        own broker owns (``owned``), so that no other broker's bundles count any longer, reported or not.
        """
        mine = self.counted.get(broker)
        if not mine:
            return self
        asked = {bundle: where for bundle, where in self.asked.items() if bundle not in mine}
        if is_2_10:
            left = {bundle for bundle in mine if bundle not in known} if mine & report.owned else mine
        else:
            left = {bundle for bundle in mine if bundle in owned and not (bundle in report.owned and bundle in known)}
        return replace(self, asked=asked, counted={**self.counted, broker: frozenset(left)})

    @property
    def placed(self) -> dict[str, str]:
        """Each bundle that counts with a broker, and this broker."""
        return {bundle: broker for broker, own in self.counted.items() for bundle in sorted(own)}
