"""Which racks a client takes bookies from that has isolation groups: Pulsar's IsolatedBookieEnsemblePlacementPolicy.

Mirrors IsolatedBookieEnsemblePlacementPolicy.getExcludedBookiesWithIsolationGroups of Pulsar 4.2.4, and what the bytecode of
5.0.1 has otherwise (its sources are not served), for groups that are made of whole racks. A rack may be in several groups, or
in none.

The bookies of the primary groups come first. If fewer of them are registered than an ensemble has, those of the secondary
groups join, and if they are still too few, those of no group. Before 5.0.1 bookies of the secondary groups are counted there
whether or not they are registered (``counts_down``). A bookie that is in a primary group and in another one counts as one of
the primary group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fencepost.model.releases import followed, is_since


@dataclass(frozen=True)
class IsolationGroups:
    """The racks of each group, and the names of the primary and of the secondary groups (``bookkeeperClientIsolationGroups``,
    ``bookkeeperClientSecondaryIsolationGroups``). ``counts_down`` says whether bookies of the secondary groups count while they
    are away."""

    racks: Mapping[str, Collection[int]]
    primary: Collection[str]
    secondary: Collection[str] = ()
    counts_down: bool = False

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
            counted = secondary & joined if self.counts_down else known & secondary & joined
            enough += sum(sizes[rack] for rack in counted)
            allowed |= known & secondary & joined
        if enough < ensemble:
            allowed |= known - primary - others
        return frozenset(allowed)

    def _of(self, names: Iterable[str]) -> set[int]:
        return {rack for name in names for rack in self.racks.get(name, ())}


def counts_down(pulsar: str) -> bool:
    """Whether bookies of the secondary groups count while they are away, in that release or the one that it follows. Since
    5.0.1 the class asks of them, too, whether knownBookies has them."""
    return not is_since(followed("pulsar", pulsar), "5.0.1")


def isolation_of(kinds: str, counts_down: bool) -> IsolationGroups:
    """The groups by what each rack is: of a primary group (p), of a secondary one (s), of another one (o), of none (-)."""
    racks = {kind: [rack for rack, of in enumerate(kinds) if of == kind] for kind in "pso" if kind in kinds}
    return IsolationGroups(racks, "p", "s", counts_down)
