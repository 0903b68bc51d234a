"""How a client that knows regions draws an ensemble, and how regions go and come back, whatever comes of it."""

from __future__ import annotations

from fencepost.model.bookkeeper.placement_regions import draws_of, members_of
from fencepost.model.bookkeeper.regions import Racks
from fencepost.model.language import And, Condition, Implies, Not, all_of, any_of
from fencepost.properties.placement.variables import PlacementVariables
from fencepost.properties.vocabulary import Suite


def drawn_by_regions(suite: Suite) -> None:
    """Adds the rules of conduct of a client that knows regions."""
    p = suite.protocol
    s, n = PlacementVariables.of(p)
    draws = draws_of(p.parameters)
    position = p.universes["position"]

    @suite.step
    def ensembles_are_of_the_policy() -> Condition:
        """An ensemble is one of those that the policy by regions draws while these racks are away."""

        def is_one(away: frozenset[int], ensembles: frozenset[Racks]) -> Condition:
            ways = [all_of(n.place[i] == r for i, r in enumerate(racks)) for racks in sorted(ensembles)]
            return And(s.away == away, any_of(ways))

        drawn = any_of(is_one(away, ensembles) for away, ensembles, _ in draws)
        return Implies(And(s.stage == "choosing", n.stage == "placed"), drawn)

    if any(refused for _, _, refused in draws):

        @suite.step
        def refusals_are_of_the_policy() -> Condition:
            """A client is refused, before it has drawn, where the policy by regions may refuse it."""
            reason = any_of(s.away == away for away, _, refused in draws if refused)
            stays = all_of(n.place[i] == s.place[i] for i in position)
            refused = And(s.stage != "refused", n.stage == "refused")
            return Implies(refused, And(s.stage == "choosing", s.chosen == 0, reason, stays))


def lost_by_region(suite: Suite) -> None:
    """Adds the rules of conduct of regions that are cut off, come back and are lost."""
    p = suite.protocol
    s, n = PlacementVariables.of(p)
    rack, position, regions = p.universes["rack"], p.universes["position"], members_of(p.parameters["racks"])

    @suite.step
    def regions_go_and_come_back() -> Condition:
        """A region that is there is cut off with all its racks, and one that is cut off comes back, but not while a client
        draws. One is lost after an entry was acknowledged."""
        draws = And(s.stage == "choosing", s.chosen > 0)
        quiet = And(n.chosen == s.chosen, *(n.place[i] == s.place[i] for i in position))
        goes, comes, lost = list[Condition](), list[Condition](), list[Condition]()
        for members in regions:
            racks = rack.where(lambda r, members=members: r in members)  # type: ignore[misc]
            is_away, is_lost = (all_of(gone.has(r) for r in members) for gone in (s.away, s.lost))
            goes.append(And(Not(is_away), Not(is_lost), n.away == s.away | racks, n.outages > s.outages))
            comes.append(And(is_away, n.away == s.away & ~racks))
            lost.append(And(Not(is_lost), n.lost == s.lost | racks, n.losses > s.losses))
        return And(
            Implies(n.away != s.away, And(Not(draws), any_of((*goes, *comes)), quiet, n.copies == s.copies)),
            Implies(n.outages > s.outages, n.away != s.away),
            Implies(n.lost != s.lost, And(s.stage == "stored", s.away.is_empty, any_of(lost), quiet)),
            Implies(n.losses > s.losses, n.lost != s.lost),
        )
