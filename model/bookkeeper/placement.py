"""On which racks and regions the copies of an entry are, and what the loss of one takes: the placement of one ensemble.

Mirrors RackawareEnsemblePlacementPolicyImpl, TopologyAwareEnsemblePlacementPolicy.RRTopologyAwareCoverageEnsemble and
DefaultEnsemblePlacementPolicy of bookkeeper-server 4.17.3, RegionAwareEnsemblePlacementPolicy by the rules of ``regions``, and
BookKeeperAdmin.getReplacementBookiesByIndexes, which auto-recovery uses. The classes of 4.16.6, 4.18.0 and 4.18.2 draw from the
same racks. Those of 4.14.5, which are from before bookkeeper#3721, leave out less (``avoids``).

A client draws one bookie after the other. For each it leaves out the racks of those before it. Where that leaves nobody, it
draws from all racks, and where even that leaves nobody who gives every write quorum its racks, from anybody, unless racks are
enforced. A client of 4.14.5 leaves out the rack of the last one alone, and then draws from anybody. Auto-recovery replaces a
bookie by one of its rack, else by one of a rack that no other member is in, else by anybody. That is the default of bookies,
whatever the policy of the brokers is. One that knows regions takes a bookie of the same region, else anybody.

Merged and bounded. Bookies of one rack are alike: a place of the ensemble has a rack. A bookie is drawn from those that are
registered and not in the ensemble. The client itself is in no rack that has bookies. One entry is stored, in one write set.

A client with isolation groups is one that knows racks, and draws from the bookies that ``isolation`` allows it.

Not modelled: weights by free disk, the policy check of the auditor, bookies of the default rack.

Constants
    racks                how many bookies each rack has, such as 2+2+1, or 2+1/2 in two regions
    ensemble, write_quorum, ack_quorum
                         of the ledger
    policy               rackaware, random (bookkeeperClientRackawarePolicyEnabled=false), or regionaware
                         (bookkeeperClientRegionawarePolicyEnabled)
    min_racks            racks of a write quorum (bookkeeperClientMinNumRacksPerWriteQuorum)
    enforced             whether there is no ensemble without them (bookkeeperClientEnforceMinNumRacksPerWriteQuorum)
    groups               of each rack whose bookies a client may use: p is a primary group, s a secondary one, o another one, -
                         none (bookkeeperClientIsolationGroups); empty where there are no groups
    counts_down          whether bookies of secondary groups count while they are away (up to Pulsar 5.0.0-M1)
    avoids               whose racks a draw leaves out: all, or that of the last (up to 4.14.5)
    listed               whether reppRegionsToWrite names the regions
    min_regions          regions of an acknowledged entry, where they are listed (reppMinimumRegionsForDurability)
    recovery             the policy of auto-recovery: rackaware or regionaware (ensemblePlacementPolicy of bookies)
    takes                what an outage or a loss takes: a rack or a region
    settled              whether an entry counts once its whole write set has stored it, not once an ack quorum has
    outages              how often a rack or region is cut off, with its data
    losses               how often a rack or region is lost

Variables
    place                the rack of each place of the ensemble
    chosen               how many places have a bookie
    avoided              the racks that the next draw leaves out
    stage                choosing; placed; stored, which is acknowledged; refused, because there is no ensemble
    start                the first place of the entry's write set
    copies               the places that have the entry
    away, lost           the racks that are cut off, and those that are lost
    outages, losses      how often each has happened

Actions
    draw                 client: a bookie of a rack that is not left out
    draw_anywhere        client: nobody is left there: a bookie of any rack, by which each write quorum can have its racks
    draw_blindly         client: nobody is left there either: any bookie
    draw_in_region       client: a bookie of the ensembles that the policy by regions draws
    refuse, refuse_in_regions
                         client: there are not enough bookies
    begin, store         writer: sends the entry to a write set; a bookie stores it
    acknowledge          writer: enough bookies have stored it
    cut_off, come_back   rack: a fault, and its end
    cut_off_region, region_comes_back
                         region: the same of all its racks
    replace, replace_in_region
                         auto-recovery: copies what a member that is away has, and has the metadata name another bookie
    lose_rack, lose_region
                         rack, region: a fault: everything in it is gone for good

The properties are in ``properties/placement/suite.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from fencepost.model.bookkeeper.isolation import isolation_of
from fencepost.model.bookkeeper.placement_regions import Ensembles, draw_by_regions, lose_regions, replace_in_regions, sizes_of
from fencepost.model.language import (
    And,
    Condition,
    If,
    ModelError,
    Not,
    Or,
    Outcome,
    Protocol,
    Subset,
    all_of,
    any_of,
    at_least,
    how_many,
)
from fencepost.model.releases import Behaviour, numbers

BUGS = {
    "racks_not_checked": "a bookie is drawn whether or not its write quorums can still have their racks",
    "replaced_within_a_rack": "auto-recovery prefers a rack that another member is in",
}
KNOWN = {
    "policy": ("rackaware", "random", "regionaware"),
    "avoids": ("all", "last"),
    "recovery": ("rackaware", "regionaware"),
    "takes": ("rack", "region"),
}
"""What a parameter that names something can be."""
RELEASES: Behaviour = {number: {"avoids": "last" if number == "4.14.5" else "all"} for number in numbers("bookkeeper")}
"""bookkeeper#3721 is in 4.14.8, 4.15.5 and 4.16.0."""
STAGES = ("choosing", "placed", "stored", "refused")


def placement(
    *,
    racks: str = "2+2",
    ensemble: int = 2,
    write_quorum: int = 2,
    ack_quorum: int = 2,
    policy: str = "rackaware",
    min_racks: int = 2,
    enforced: bool = False,
    groups: str = "",
    counts_down: bool = False,
    avoids: str = "all",
    listed: bool = False,
    min_regions: int = 2,
    recovery: str = "rackaware",
    takes: str = "rack",
    settled: bool = False,
    outages: int = 0,
    losses: int = 1,
    bugs: Iterable[str] = (),
) -> Protocol:
    """The placement of one ensemble; the page above has the constants."""
    sizes = sizes_of(racks)
    if not 1 <= ack_quorum <= write_quorum <= ensemble <= sum(sizes):
        raise ModelError("placement: 1 <= ack_quorum <= write_quorum <= ensemble <= bookies in the racks")
    parameters = {name: value for name, value in locals().items() if name not in ("bugs", "sizes")}
    if min_racks < 1:
        raise ModelError("placement: min_racks is at least 1")
    for name, known in KNOWN.items():
        if parameters[name] not in known:
            raise ModelError(f"placement: {name} is {' or '.join(known)}, not {parameters[name]!r}")
    if groups and (policy != "rackaware" or len(groups) != len(sizes) or set(groups) - set("pso-")):
        raise ModelError(f"placement: groups has one of p, s, o, - for each rack of a rackaware policy, not {groups!r}")
    p = Protocol("placement", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)
    rack = p.universe("rack", len(sizes))
    position = p.universe("position", ensemble)
    place = p.choice("place", rack, per=position, none="none")
    chosen = p.number("chosen", 0, ensemble)
    avoided = p.subset("avoided", rack)
    stage = p.choice("stage", STAGES)
    start = p.choice("start", position)
    copies = p.subset("copies", position)
    away = p.subset("away", rack)
    lost = p.subset("lost", rack)
    p.budget("outages", outages)
    p.budget("losses", losses)
    windows = [[(first + copy) % ensemble for copy in range(write_quorum)] for first in position]
    needed = min(write_quorum, min_racks)

    def is_there(r: int) -> Condition:
        """The rack is neither cut off nor lost."""
        return Not(Or(away.has(r), lost.has(r)))

    def has_free(r: int) -> Condition:
        """A bookie of the rack is registered, and not in the ensemble."""
        return And(is_there(r), how_many(*(place[i] == r for i in position)) < sizes[r])

    isolation = isolation_of(groups, counts_down)
    absences = [gone for n in range(len(sizes) if outages else 1) for gone in combinations(rack, n)]
    usable = {gone: isolation.allowed(sizes, ensemble, gone) for gone in absences}

    def is_offered(r: int) -> Condition:
        """A bookie of the rack is free, and of a group that the client may use."""
        ways = [away == gone for gone, allowed in usable.items() if r in allowed]
        return And(has_free(r), any_of(ways)) if groups else has_free(r)

    on_racks = policy == "rackaware" and len(sizes) > 1
    enforces = enforced and policy == "rackaware" and needed > 1
    by_regions = policy == "regionaware"
    is_tight = outages > 0 or groups != "" or ensemble > len(sizes) or needed > len(sizes)
    several = at_least(2, [is_there(r) for r in rack])
    by_racks = And(several, policy == "rackaware")

    @p.rule
    def covers(i: int, r: int) -> Condition:
        """Every write quorum with this place can still have its racks, if a bookie of this one is drawn for it."""
        return all_of(_has_room(window, i, r) for window in windows if i in window)

    def _has_room(window: list[int], i: int, r: int) -> Condition:
        """As RackQuorumCoverageSet.apply: of the window's places those before ``i`` have a bookie."""
        seen = [x for x in window if x < i]
        if write_quorum < 2 or len(seen) + needed - 1 < write_quorum:
            return all_of(())
        distinct = [any_of([place[x] == other for x in seen]) for other in rack if other != r]
        missing = needed - (write_quorum - len(seen) - 1)
        return at_least(missing - 1, distinct) if missing > 1 else all_of(())

    covers.instead("racks_not_checked", lambda i, r: True)

    def fits(i: int, r: int) -> Condition:
        return And(is_offered(r), covers(i, r))

    def can_draw(i: int) -> Condition:
        return any_of(And(Not(avoided.has(r)), fits(i, r)) for r in rack)

    def at(i: int) -> Condition:
        return And(stage == "choosing", chosen == i)

    def drawn(i: int, r: int, leaves_out: object) -> dict[object, object]:
        return {place[i]: r, chosen: i + 1, avoided: leaves_out, **({stage: "placed"} if i + 1 == ensemble else {})}

    @p.step(
        by="client",
        i=position,
        r=rack,
        fair=True,
        only_if=on_racks,
        mirrors="RackawareEnsemblePlacementPolicyImpl.selectRandomFromRack",
    )
    def draw(i: int, r: int) -> Outcome:
        """A bookie is drawn from the racks that no bookie before it is in; of the first, from all."""
        leaves_out = avoided.plus(r) if avoids == "all" else rack.where(lambda x: x == r)
        return And(at(i), by_racks, Not(avoided.has(r)), fits(i, r)), drawn(i, r, leaves_out)

    @p.step(
        by="client",
        i=position,
        r=rack,
        fair=True,
        only_if=on_racks and is_tight and avoids == "all",
        mirrors="RackawareEnsemblePlacementPolicyImpl.selectFromNetworkLocation",
    )
    def draw_anywhere(i: int, r: int) -> Outcome:
        """Nobody is left there: a bookie of any rack, by which each write quorum can have its racks."""
        return And(at(i), by_racks, i > 0, Not(can_draw(i)), fits(i, r)), drawn(i, r, rack.where(lambda x: x == r))

    def fits_nowhere(i: int) -> Condition:
        """No bookie fits: of those that are not left out, and then of all."""
        return And(Not(can_draw(i)), all_of(Not(fits(i, r)) for r in rack) if avoids == "all" else True)

    @p.step(
        by="client",
        i=position,
        r=rack,
        fair=True,
        only_if=not by_regions and (not on_racks or ((is_tight or avoids == "last") and not enforces)),
        mirrors="RackawareEnsemblePlacementPolicyImpl.selectRandom",
    )
    def draw_blindly(i: int, r: int) -> Outcome:
        """Nobody gives each write quorum its racks, or there is one rack only: any bookie, unless racks are enforced."""
        free = And(by_racks, i > 0, not enforced, fits_nowhere(i))
        alone = And(Not(by_racks), not enforces)
        return And(at(i), Or(free, alone), is_offered(r)), drawn(i, r, rack.where(lambda x: x == r))

    @p.step(
        by="client",
        i=position,
        fair=True,
        only_if=not by_regions and (outages or enforces or groups),
        mirrors="RackawareEnsemblePlacementPolicyImpl.newEnsembleInternal",
    )
    def refuse(i: int) -> Outcome:
        """There are not enough bookies, or not enough racks where these are enforced: BKNotEnoughBookiesException."""
        nobody = all_of(Not(is_offered(r)) for r in rack)
        with_racks = And(by_racks, fits_nowhere(i), Or(i == 0, enforced, nobody))
        without = And(Not(by_racks), Or(enforces, nobody))
        return And(at(i), Or(with_racks, without)), {stage: "refused"}

    # --- an entry

    def in_write_set(i: int) -> Condition:
        return any_of(And(start == first, i in window) for first, window in zip(position, windows, strict=True))

    @p.step(by="writer", s=position, mirrors="RoundRobinDistributionSchedule.getWriteSet")
    def begin(s: int) -> Outcome:
        """The entry goes to a write set of the ensemble."""
        return And(stage == "placed", copies.is_empty, start != s), {start: s}

    @p.step(by="bookie", i=position, mirrors="BookieImpl.addEntry")
    def store(i: int) -> Outcome:
        """A bookie of the write set stores the entry."""
        there = any_of(And(place[i] == r, is_there(r)) for r in rack)
        return And(stage == "placed", in_write_set(i), Not(copies.has(i)), there), {copies: copies.plus(i)}

    @p.step(by="writer", mirrors="PendingAddOp.writeComplete")
    def acknowledge() -> Outcome:
        """Enough bookies have stored the entry."""
        enough = at_least(write_quorum if settled else ack_quorum, [copies.has(i) for i in position])
        return And(stage == "placed", enough), {stage: "stored"}

    # --- racks

    draws = And(stage == "choosing", chosen > 0)

    by_racks_alone = takes == "rack"
    changed = "TopologyAwareEnsemblePlacementPolicy.onClusterChanged"

    @p.fault(by="rack", spends="outages", r=rack, only_if=by_racks_alone, mirrors=changed)
    def cut_off(r: int) -> Outcome:
        """No bookie of the rack can be reached. Its data stay. A client that draws has a lock, and hears of it later."""
        return And(is_there(r), Not(draws)), {away: away.plus(r)}

    @p.step(by="rack", r=rack, only_if=outages and by_racks_alone, mirrors="BookieImpl.start")
    def come_back(r: int) -> Outcome:
        """The bookies of the rack are registered again."""
        return And(away.has(r), Not(draws)), {away: away.minus(r)}

    def is_gone(i: int) -> Condition:
        """The rack of a member is away."""
        return any_of(And(place[i] == x, away.has(x)) for x in rack)

    def is_readable(i: int) -> Condition:
        """Another member has the entry, and can be reached."""
        return any_of(And(copies.has(x), place[x] == y, is_there(y)) for x in position if x != i for y in rack)

    def can_replace(i: int, r: int) -> Condition:
        """A member that is away can be replaced by a bookie of a rack, which gets the entry from a member that has it."""
        return And(stage == "stored", is_gone(i), is_readable(i), has_free(r))

    def copied(i: int) -> Subset:
        """The copies after the bookie of a place got the entry."""
        return If(in_write_set(i), copies.plus(i), copies)

    def is_other(i: int, r: int) -> Condition:
        """Another member is in that rack."""
        return any_of(place[x] == r for x in position if x != i)

    @p.rule
    def prefers(i: int, r: int) -> Condition:
        """Auto-recovery draws from racks that no other member is in."""
        return Not(is_other(i, r))

    prefers.instead("replaced_within_a_rack", is_other)

    @p.step(
        by="auto-recovery",
        i=position,
        r=rack,
        only_if=outages and recovery == "rackaware",
        mirrors="RackawareEnsemblePlacementPolicyImpl.replaceBookie, BookKeeperAdmin.getReplacementBookiesByIndexes",
    )
    def replace(i: int, r: int) -> Outcome:
        """A member that is away is replaced by a bookie of a rack that no other member is in; else by any, unless racks are
        enforced. The new one gets the entry from a member that has it."""
        preferred = any_of(And(has_free(x), prefers(i, x)) for x in rack)
        fit = Or(prefers(i, r), And(Not(preferred), not (enforced and policy == "rackaware")))
        drawn_from = Or(fit, policy == "random")
        return And(can_replace(i, r), drawn_from), {place[i]: r, copies: copied(i)}

    @p.fault(by="rack", spends="losses", r=rack, only_if=by_racks_alone)
    def lose_rack(r: int) -> Outcome:
        """The rack is gone for good, with all that is on its bookies."""
        here = position.where(lambda i: place[i] == r)
        return And(stage == "stored", away.is_empty, Not(lost.has(r))), {lost: lost.plus(r), copies: copies & ~here}

    ensembles = Ensembles(p, place, chosen, stage, away, lost, copies)
    if by_regions:
        draw_by_regions(ensembles)
    if takes == "region":
        lose_regions(ensembles)
    if outages and recovery == "regionaware":
        replace_in_regions(ensembles, can_replace, copied, has_free)
    return p
