"""Which racks a client takes bookies from that has isolation groups: Pulsar's IsolatedBookieEnsemblePlacementPolicy.

Mirrors IsolatedBookieEnsemblePlacementPolicy.getExcludedBookiesWithIsolationGroups of Pulsar 4.2.4, for groups that are made of
whole racks. A rack may be in several groups, or in none.

The bookies of the primary groups come first. If fewer of them are registered than an ensemble has, those of the secondary
groups join, and if they are still too few, those of no group. Bookies of the secondary groups are counted there whether or not
they are registered. A bookie that is in a primary group and in another one counts as one of the primary group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class IsolationGroups:
    """The racks of each group, and the names of the primary and of the secondary groups (``bookkeeperClientIsolationGroups``,
    ``bookkeeperClientSecondaryIsolationGroups``)."""

    racks: Mapping[str, Collection[int]]
    primary: Collection[str]
    secondary: Collection[str] = ()

    def allowed(self, sizes: Sequence[int], ensemble: int, away: Iterable[int] = ()) -> frozenset[int]:
        """The racks that an ensemble of this size is drawn from, where racks have these numbers of bookies and some are
        away."""
        known = set(range(len(sizes))) - set(away)
        if not self.racks:
            return frozenset(known)
        primary, secondary = self._of(self.primary), self._of(self.secondary)
        others = self._of(name for name in self.racks if name not in self.primary)
        allowed = known & primary
        enough = sum(sizes[rack] for rack in allowed)
        if enough < ensemble:
            joined = (others | (known - primary)) - primary
            enough += sum(sizes[rack] for rack in secondary & joined)
            allowed |= known & secondary & joined
        if enough < ensemble:
            allowed |= known - primary - others
        return frozenset(allowed)

    def _of(self, names: Iterable[str]) -> set[int]:
        return {rack for name in names for rack in self.racks.get(name, ())}
