"""Which ensembles a client draws that knows regions, and who replaces a member: pure rules, without a protocol's steps.

Mirrors RegionAwareEnsemblePlacementPolicy of bookkeeper-server 4.17.3, the RackawareEnsemblePlacementPolicyImpl that it has for
each region, and the two classes of CoverageSet in TopologyAwareEnsemblePlacementPolicy.RRTopologyAwareCoverageEnsemble.

The client goes from region to region, in the order of a hash map, and asks each for a share of the ensemble. A region that
cannot give its share is asked for less. In a further round the regions that can give more are asked for what is missing. Within
a region, bookies are drawn from racks. The ensemble of all regions has to accept each of them: every write quorum can have
``min_racks`` regions, or, where regions are ``listed``, no ``min_regions - 1`` regions have an ack quorum of a write quorum.

There are two ways around that. A region with one rack draws from it whatever the ensemble accepts
(RackawareEnsemblePlacementPolicyImpl.newEnsembleInternal calls selectRandom with TruePredicate). A region with several racks
takes any bookie where nobody fits, unless racks are enforced or regions are listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

Racks = tuple[int, ...]
"""The racks of the places of an ensemble, by number."""


@dataclass(frozen=True)
class RegionRules:
    """The region and the bookies of each rack, the quorums, and the settings of the client.

    ``listed`` says that reppRegionsToWrite names the regions. ``min_regions`` (reppMinimumRegionsForDurability) and
    ``in_replace`` (reppEnableDurabilityEnforcementInReplace) have no effect otherwise. ``avoids`` is as in ``placement``. A
    client that ``counts_empty`` asks regions without bookies also (up to 4.14.5).
    """

    regions: tuple[int, ...]
    sizes: tuple[int, ...]
    ensemble: int
    write_quorum: int
    ack_quorum: int
    min_racks: int = 2
    enforced: bool = False
    listed: bool = False
    min_regions: int = 2
    in_replace: bool = True
    avoids: str = "all"
    counts_empty: bool = False

    @property
    def durable(self) -> int:
        """Over how many regions an acknowledged entry has to be spread: 0 if regions are not listed."""
        return self.min_regions if self.listed else 0

    @property
    def refusal(self) -> str:
        """Why the client refuses every ensemble with an IllegalArgumentException; empty if it does not."""
        durable, acks, writes = self.durable, self.ack_quorum, self.write_quorum
        if len(set(self.regions)) < durable:
            return f"{len(set(self.regions))} regions are fewer than {durable}"
        if acks < durable:
            return f"an ack quorum of {acks} is less than {durable} regions"
        if durable and acks <= writes - writes // durable:
            return f"an ack quorum of {acks} of {writes} copies can be on fewer than {durable} regions when one is gone"
        return ""


def region_ensembles(rules: RegionRules, away: Iterable[int] = ()) -> tuple[frozenset[Racks], bool]:
    """The ensembles that can be drawn while some racks are away, and whether the client may be refused one."""
    drawing = _Drawing(rules, frozenset(away))
    found, refused = set[Racks](), False
    there = drawing.available
    if rules.refusal or not there:
        return frozenset(), True
    if len(there) == 1:
        drawn, refused = drawing.within(there[0], (), rules.ensemble, rules.write_quorum)
        return frozenset(drawn), refused
    for order in permutations(there):
        for racks in drawing.rounds(order):
            valid = racks is not None and len({rules.regions[r] for r in racks}) >= rules.durable
            refused = refused or not valid
            found |= {racks} if racks is not None and valid else set()
    return frozenset(found), refused


def region_replacements(rules: RegionRules, racks: Sequence[int], place: int, away: Iterable[int]) -> frozenset[int]:
    """The racks whose bookies can replace a member that is away: of its region while that has one; else of any region."""
    gone = frozenset(away)
    used = Counter(racks)
    free = {r for r, size in enumerate(rules.sizes) if r not in gone and used[r] < size}
    near = {r for r in free if rules.regions[r] == rules.regions[racks[place]]}
    own = near & {racks[place]}
    if own or near:
        return frozenset(own or near)
    others = [r for i, r in enumerate(racks) if i != place]
    durable = rules.durable if rules.in_replace else 0
    chosen = list[object]()
    for rack in others:
        # A member that is away is no node of the topology: its region reads as the whole name of its rack.
        region: object = ("unknown", rack) if rack in gone else rules.regions[rack]
        if durable and not _is_durable(rules, chosen, region, durable):
            durable = 0
        chosen.append(region)
    return frozenset(r for r in free if not durable or _is_durable(rules, chosen, rules.regions[r], durable))


class _Drawing:
    """The draws of one client while some racks are away."""

    def __init__(self, rules: RegionRules, away: frozenset[int]) -> None:
        self.rules = rules
        self.racks: dict[int, list[int]] = {region: [] for region in sorted(set(rules.regions))}
        for rack, region in enumerate(rules.regions):
            if rack not in away:
                self.racks[region].append(rack)
        self.available = [region for region, racks in self.racks.items() if racks or rules.counts_empty]

    def rounds(self, order: Sequence[int]) -> Iterator[Racks | None]:
        """The ensembles that come of asking the regions in this order, round by round; None for a refusal."""
        nothing = dict.fromkeys(order, (0, 0))
        yield from self._round(_Shares(nothing, frozenset(), self.rules.ensemble, self.rules.write_quorum), order, 0)

    def _round(self, shares: _Shares, order: Sequence[int], first: int) -> Iterator[Racks | None]:
        asked = [order[(first + i) % len(order)] for i in range(len(order))]
        for racks, after, last in self._ask(shares, asked, (), len(order) - len(shares.full), first, first):
            if racks is None:
                yield None
            elif after.missing and after.missing < shares.missing and not after.full >= set(order):
                yield from self._round(after, order, last)
            else:
                yield racks if len(racks) == self.rules.ensemble else None

    def _ask(
        self, shares: _Shares, asked: Sequence[int], ensemble: Racks, to_ask: int, index: int, last: int
    ) -> Iterator[tuple[Racks | None, _Shares, int]]:
        """What the regions that are left to ask give: the ensemble, or None, the shares, and where the next round begins."""
        if not asked:
            yield ensemble, shares, last % len(shares.given)
            return
        region, rest = asked[0], asked[1:]
        given = shares.given[region]
        if region in shares.full:
            yield from self._as_before(shares, region, rest, ensemble, to_ask, index + 1, last)
            return
        wanted = [-(-shares.missing // to_ask)] if shares.missing else []
        while wanted:
            more = wanted.pop()
            of_writes = max(1, min(shares.writes, _rounded(self.rules.write_quorum * more, self.rules.ensemble)))
            size, writes = given[0] + more, given[1] + of_writes
            drawn, fails = self.within(region, ensemble, size, writes)
            after = shares.with_share(region, (size, writes), more, of_writes)
            for racks in drawn:
                yield from self._ask(after, rest, ensemble + racks, to_ask - 1, index + 1, index + 1)
            if not fails:
                return
            wanted = [more - 1] if more > 1 else []
        yield from self._as_before(shares.filled(region), region, rest, ensemble, to_ask, index + 1, last)

    def _as_before(
        self, shares: _Shares, region: int, rest: Sequence[int], ensemble: Racks, to_ask: int, index: int, last: int
    ) -> Iterator[tuple[Racks | None, _Shares, int]]:
        """A region that can give no more gives its share of the round before once more, or there is no ensemble."""
        size, writes = shares.given[region]
        drawn, fails = self.within(region, ensemble, size, writes) if size else ({()}, False)
        if fails:
            yield None, shares, last
        for racks in drawn:
            yield from self._ask(shares, rest, ensemble + racks, to_ask, index, last)

    def within(self, region: int, before: Racks, size: int, writes: int) -> tuple[set[Racks], bool]:
        """The racks of ``size`` bookies of a region that come after those ``before``, and whether there may be none."""
        rules, racks = self.rules, self.racks[region]
        needed = min(writes, rules.min_racks)
        if len(racks) < 2:
            enough = bool(racks) and size <= rules.sizes[racks[0]] and not (rules.enforced and needed > 1)
            return ({(racks[0],) * size} if enough else set()), not enough
        regions = [rules.regions[r] for r in before]
        states: set[tuple[Racks, frozenset[int]]] = {((), frozenset())}
        fails = False
        for i in range(size):
            accepted = self._accepts([*regions, *[region] * i], region)
            following = set[tuple[Racks, frozenset[int]]]()
            for chosen, avoided in states:
                free = [r for r in racks if chosen.count(r) < rules.sizes[r]]
                fits = [r for r in free if accepted and _covers(chosen, r, size, writes, needed)]
                new = [r for r in fits if r not in avoided]
                drawn = new or self._second(i, fits, free)
                kept = avoided if new and rules.avoids == "all" else frozenset[int]()
                following |= {((*chosen, r), kept | {r}) for r in drawn}
                fails = fails or not drawn
            states = following
        return {chosen for chosen, _ in states}, fails

    def _second(self, i: int, fits: list[int], free: list[int]) -> list[int]:
        """From which racks a bookie is drawn if those that are not left out have none."""
        rules = self.rules
        if rules.avoids == "all" and (i == 0 or fits):
            return fits
        blindly = not rules.enforced or i == 0
        return [] if not blindly else fits if rules.listed else free

    def _accepts(self, regions: Sequence[int], region: int) -> bool:
        """Whether the ensemble of all regions accepts one more of this region."""
        rules = self.rules
        if rules.durable:
            return _is_durable(rules, regions, region, rules.durable)
        return _covers(regions, region, rules.ensemble, rules.write_quorum, min(rules.write_quorum, rules.min_racks))


@dataclass(frozen=True)
class _Shares:
    """Of each region the bookies and the copies of its share; the regions that can give no more; what is missing."""

    given: Mapping[int, tuple[int, int]]
    full: frozenset[int]
    missing: int
    writes: int

    def with_share(self, region: int, share: tuple[int, int], more: int, writes: int) -> _Shares:
        return _Shares({**self.given, region: share}, self.full, self.missing - more, self.writes - writes)

    def filled(self, region: int) -> _Shares:
        return _Shares(self.given, self.full | {region}, self.missing, self.writes)


def _rounded(numerator: int, denominator: int) -> int:
    """Math.round of a quotient: a half is rounded up."""
    return (2 * numerator + denominator) // (2 * denominator)


def _quorums(position: int, ensemble: int, write_quorum: int) -> Iterator[list[int]]:
    """Of each write quorum with this place the places before it."""
    for first in range(position - write_quorum + 1, position + 1):
        window = {(first + copy) % ensemble for copy in range(write_quorum)}
        yield [x for x in range(position) if x in window]


def _covers(chosen: Sequence[int], candidate: int, ensemble: int, write_quorum: int, needed: int) -> bool:
    """RackQuorumCoverageSet.apply: each write quorum can still have as many racks, or regions, as it needs."""

    def has_room(seen: list[int]) -> bool:
        if write_quorum < 2 or len(seen) + needed - 1 < write_quorum:
            return True
        racks = {chosen[x] for x in seen} | {candidate}
        return len(racks) >= needed or write_quorum - len(seen) - 1 >= needed - len(racks)

    return _all_quorums(has_room, len(chosen), ensemble, write_quorum)


def _is_durable(rules: RegionRules, chosen: Sequence[object], candidate: object, durable: int) -> bool:
    """RackOrRegionDurabilityCoverageSet.apply: no ``durable - 1`` regions have an ack quorum of a write quorum."""

    def is_spread(seen: list[int]) -> bool:
        counts = Counter(chosen[x] for x in seen)
        own = counts.pop(candidate, 0) + 1
        others = sorted((count for region, count in counts.items() if region in rules.regions), reverse=True)
        return own + sum(others[: durable - 2]) < rules.ack_quorum

    return durable < 2 or _all_quorums(is_spread, len(chosen), rules.ensemble, rules.write_quorum)


def _all_quorums(holds: Callable[[list[int]], bool], position: int, ensemble: int, write_quorum: int) -> bool:
    return all(holds(seen) for seen in _quorums(position, ensemble, write_quorum))
