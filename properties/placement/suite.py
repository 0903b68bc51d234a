"""What must hold of the racks of an ensemble, and of an entry when racks or regions are lost."""

from __future__ import annotations

from fencepost.model.bookkeeper.placement_regions import members_of, sizes_of
from fencepost.model.language import And, Condition, Implies, Not, Protocol, all_of, any_of, at_least, how_many
from fencepost.properties.placement.conduct import placement_conduct
from fencepost.properties.placement.variables import PlacementVariables
from fencepost.properties.vocabulary import Leads, Suite


def placement(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.bookkeeper.placement`` built."""
    suite = Suite(p)
    s, n = PlacementVariables.of(p)
    settings = p.parameters
    rack, position = p.universes["rack"], p.universes["position"]
    ensemble, write_quorum = settings["ensemble"], settings["write_quorum"]
    windows = [[(first + copy) % ensemble for copy in range(write_quorum)] for first in position]
    sizes = sizes_of(settings["racks"])
    needed = min(write_quorum, settings["min_racks"])
    strict = settings["enforced"] and settings["policy"] == "rackaware"
    copies = write_quorum if settings["settled"] else settings["ack_quorum"]
    placed = s.stage.among("placed", "stored")

    def racks_of(window: list[int]) -> list[Condition]:
        return [any_of(s.place[i] == r for i in window) for r in rack]

    @suite.always
    def racks_have_their_bookies() -> Condition:
        """No rack has more members than bookies, and an ensemble that is placed is full."""
        members = [how_many(*(s.place[i] == r for i in position)) <= sizes[r] for r in rack]
        return And(*members, Implies(placed, all_of(s.place[i] != "none" for i in position)))

    if strict:

        @suite.always
        def write_quorums_have_their_racks() -> Condition:
            """Where racks are enforced, every write quorum is on as many as it needs, and stays so as members are replaced."""
            return Implies(placed, all_of(at_least(needed, racks_of(window)) for window in windows))

        if needed - (write_quorum - copies) > settings["losses"]:

            @suite.always
            def acknowledged_entries_survive() -> Condition:
                """A copy of an acknowledged entry is left, whichever racks were lost."""
                return Implies(s.stage == "stored", Not(s.copies.is_empty))

    @suite.step
    def copies_go_with_their_rack() -> Condition:
        """A copy is lost with its rack alone, and comes to a member by the writer or by auto-recovery."""
        goes = [
            Implies(And(s.copies.has(i), Not(n.copies.has(i))), any_of(And(s.place[i] == r, n.lost.has(r)) for r in rack))
            for i in position
        ]
        moved = [
            Implies(And(s.stage == "stored", n.copies.has(i), Not(s.copies.has(i))), n.place[i] != s.place[i]) for i in position
        ]
        return And(*goes, *moved)

    @suite.step
    def entries_are_acknowledged_by_enough() -> Condition:
        """An entry is acknowledged once enough bookies of its write set have it."""
        stored = at_least(copies, [s.copies.has(i) for i in position])
        return Implies(And(s.stage == "placed", n.stage == "stored"), stored)

    @suite.leads_to
    def draws_end() -> Leads:
        """There is an ensemble in the end, or it is refused."""
        return s.stage == "choosing", s.stage != "choosing"

    @suite.sometimes
    def an_entry_is_acknowledged() -> Condition:
        """An entry is acknowledged."""
        return s.stage == "stored"

    placement_conduct(suite)
    return suite


def survives_racks(p: Protocol) -> Suite:
    """That an acknowledged entry survives the loss of racks or regions: no placement is an excuse."""
    suite, s = Suite(p), PlacementVariables.now(p)

    @suite.always
    def acknowledged_entry_survives() -> Condition:
        """A copy of an acknowledged entry is left, whichever racks or regions were lost."""
        return Implies(s.stage == "stored", Not(s.copies.is_empty))

    @suite.sometimes
    def racks_are_lost() -> Condition:
        """As many racks or regions are lost, and were cut off, as may be, after an entry was acknowledged."""
        return And(s.stage == "stored", s.losses == p.budgets["losses"], s.outages == p.budgets["outages"])

    return suite


def writes_go_on(p: Protocol) -> Suite:
    """That a client gets an ensemble though racks are cut off."""
    suite, s = Suite(p), PlacementVariables.now(p)
    racks, regions = [[r] for r in p.universes["rack"]], members_of(p.parameters["racks"])
    taken = regions if p.parameters["takes"] == "region" else racks

    @suite.always
    def there_is_an_ensemble() -> Condition:
        """No client is refused an ensemble."""
        return s.stage != "refused"

    @suite.sometimes
    def placed_without_racks() -> Condition:
        """An ensemble is placed while as many racks, or regions, as may are cut off."""
        return And(
            s.stage == "placed",
            s.outages == p.budgets["outages"],
            how_many(*(all_of(s.away.has(r) for r in members) for members in taken)) == p.budgets["outages"],
        )

    return suite
