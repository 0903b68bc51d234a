"""What regions add to the steps of ``placement``: draws by regions, their outages and losses, and replacements within them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from fencepost.model.bookkeeper.regions import Racks, RegionRules, region_ensembles
from fencepost.model.language import (
    And,
    Choice,
    Condition,
    Family,
    ModelError,
    Not,
    Number,
    Or,
    Outcome,
    Protocol,
    Subset,
    all_of,
    any_of,
)

Refusable = tuple[frozenset[int], frozenset[Racks], bool]
"""Racks that are away, the ensembles that can be drawn then, and whether a client may be refused."""


NUMBERS = ("ensemble", "write_quorum", "ack_quorum", "min_racks", "min_regions")
"""The parameters of a placement that the rules have under the same name."""


@dataclass(frozen=True)
class Ensembles:
    """The ensemble and the racks of a placement: the variables that its steps by regions read and change."""

    protocol: Protocol
    place: Family[Choice[int | str]]
    chosen: Number
    stage: Choice[str]
    away: Subset
    lost: Subset
    copies: Subset

    @property
    def regions(self) -> list[list[int]]:
        """The racks of each region."""
        return members_of(str(self.protocol.parameters["racks"]))


def draw_by_regions(e: Ensembles) -> None:
    """Adds the draws of a client that knows regions, one place after the other, and its refusals."""
    p = e.protocol
    position, rack = p.universes["position"], p.universes["rack"]
    drawn = draws_of(p.parameters)

    @p.step(
        by="client",
        i=position,
        r=rack,
        fair=True,
        only_if=any(ensembles for _, ensembles, _ in drawn),
        mirrors="RegionAwareEnsemblePlacementPolicy.newEnsemble",
    )
    def draw_in_region(i: int, r: int) -> Outcome:
        """A place goes to a rack of a region, so that there is an ensemble that the policy draws and that begins like this."""
        ways = [And(e.away == away, _begins(e, ensembles, i, r)) for away, ensembles, _ in drawn]
        following = {e.stage: "placed"} if i + 1 == len(position) else {}
        return And(e.stage == "choosing", e.chosen == i, any_of(ways)), {e.place[i]: r, e.chosen: i + 1, **following}

    @p.step(
        by="client",
        fair=True,
        only_if=any(refused for _, _, refused in drawn),
        mirrors="RegionAwareEnsemblePlacementPolicy.newEnsemble",
    )
    def refuse_in_regions() -> Outcome:
        """The regions that are there do not give an ensemble, or none that the settings accept."""
        ways = [e.away == away for away, _, refused in drawn if refused]
        return And(e.stage == "choosing", e.chosen == 0, any_of(ways)), {e.stage: "refused"}


def lose_regions(e: Ensembles) -> None:
    """Adds the faults that take a region: an outage, its end, and a loss."""
    p = e.protocol
    position, rack = p.universes["position"], p.universes["rack"]
    region = p.universe("region", len(e.regions), prefix="region")
    racks_of = [rack.where(lambda r, members=members: r in members) for members in e.regions]  # type: ignore[misc]
    draws = And(e.stage == "choosing", e.chosen > 0)

    def has_all(racks: Subset, g: int) -> Condition:
        return all_of(racks.has(r) for r in e.regions[g])

    @p.fault(by="region", spends="outages", g=region, mirrors="TopologyAwareEnsemblePlacementPolicy.onClusterChanged")
    def cut_off_region(g: int) -> Outcome:
        """No bookie of the region can be reached. Their data stay. A client that draws hears of it later."""
        return And(Not(has_all(e.away, g)), Not(has_all(e.lost, g)), Not(draws)), {e.away: e.away | racks_of[g]}

    @p.step(by="region", g=region, only_if=p.parameters["outages"], mirrors="BookieImpl.start")
    def region_comes_back(g: int) -> Outcome:
        """The bookies of the region are registered again."""
        return And(has_all(e.away, g), Not(draws)), {e.away: e.away & ~racks_of[g]}

    @p.fault(by="region", spends="losses", g=region)
    def lose_region(g: int) -> Outcome:
        """The region is gone for good, with all that is on its bookies."""
        here = position.where(lambda i: any_of(e.place[i] == r for r in e.regions[g]))
        can = And(e.stage == "stored", e.away.is_empty, Not(has_all(e.lost, g)))
        return can, {e.lost: e.lost | racks_of[g], e.copies: e.copies & ~here}


def replace_in_regions(
    e: Ensembles,
    can_replace: Callable[[int, int], Condition],
    copied: Callable[[int], Subset],
    has_free: Callable[[int], Condition],
) -> None:
    """Adds the auto-recovery that knows regions: it prefers bookies of the region of the member that it replaces."""
    p = e.protocol
    position, rack = p.universes["position"], p.universes["rack"]

    @p.step(
        by="auto-recovery",
        i=position,
        r=rack,
        mirrors="RegionAwareEnsemblePlacementPolicy.replaceFromRack, BookKeeperAdmin.getReplacementBookiesByIndexes",
    )
    def replace_in_region(i: int, r: int) -> Outcome:
        """A member that is away is replaced by a bookie of its region; else by any. The new one gets the entry from a member
        that has it."""
        near = any_of(_is_in(e, i, members) for members in e.regions if r in members)
        some = any_of(And(_is_in(e, i, members), has_free(x)) for members in e.regions for x in members)
        return And(can_replace(i, r), Or(near, Not(some))), {e.place[i]: r, e.copies: copied(i)}


def _is_in(e: Ensembles, i: int, racks: list[int]) -> Condition:
    return any_of(e.place[i] == r for r in racks)


def _begins(e: Ensembles, ensembles: frozenset[Racks], i: int, r: int) -> Condition:
    """One of the ensembles begins with the places before ``i``, and has this rack there."""
    starts = {racks[:i] for racks in ensembles if racks[i] == r}
    if starts == {racks[:i] for racks in ensembles}:
        return all_of(()) if starts else any_of(())
    return any_of(all_of(e.place[x] == rack for x, rack in enumerate(start)) for start in sorted(starts))


def draws_of(parameters: Mapping[str, object]) -> list[Refusable]:
    """What is drawn, and whether a client may be refused, by the racks that can be away."""
    rules = rules_of(parameters)
    members = members_of(str(parameters["racks"]))
    groups = members if parameters["takes"] == "region" else [[r] for r in range(len(rules.sizes))]
    outages = range(int(str(parameters["outages"])) + 1)
    aways = {frozenset(r for group in gone for r in group) for n in outages for gone in combinations(groups, n)}
    return [(away, *region_ensembles(rules, away)) for away in sorted(aways, key=sorted)]


def rules_of(parameters: Mapping[str, object]) -> RegionRules:
    """The rules of a client with the parameters of a placement."""
    racks = str(parameters["racks"])
    ensemble, write_quorum, ack_quorum, min_racks, min_regions = (int(str(parameters[name])) for name in NUMBERS)
    return RegionRules(
        regions=tuple(region for region, members in enumerate(members_of(racks)) for _ in members),
        sizes=tuple(sizes_of(racks)),
        ensemble=ensemble,
        write_quorum=write_quorum,
        ack_quorum=ack_quorum,
        min_racks=min_racks,
        min_regions=min_regions,
        enforced=bool(parameters["enforced"]),
        listed=bool(parameters["listed"]),
        avoids=str(parameters["avoids"]),
        counts_empty=parameters["avoids"] == "last",
    )


def sizes_of(racks: str) -> list[int]:
    """How many bookies each rack has, of a text such as 2+2+1, or 2+1/2 of two regions. ModelError if it is none."""
    words = re.split(r"[+/]", racks)
    if not all(word.strip().isdigit() and int(word) > 0 for word in words):
        raise ModelError(
            f"placement: racks is how many bookies each rack has, such as 2+2+1, or 2+1/2 of two regions, not {racks!r}"
        )
    return [int(word) for word in words]


def members_of(racks: str) -> list[list[int]]:
    """The racks of each region, by number: one region, if there is no ``/``."""
    return list(_numbered(racks.split("/")))


def _numbered(regions: list[str]) -> Iterator[list[int]]:
    first = 0
    for region in regions:
        following = first + len(region.split("+"))
        yield list(range(first, following))
        first = following
