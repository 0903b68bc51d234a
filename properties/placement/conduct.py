"""How a client that places an ensemble, a writer, auto-recovery and racks must conduct themselves, whatever comes of it."""

from __future__ import annotations

from fencepost.model.bookkeeper.placement_regions import draws_of, members_of, sizes_of
from fencepost.model.language import And, Condition, Implies, Not, Or, Truth, all_of, any_of, at_least, how_many
from fencepost.properties.placement.regions import drawn_by_regions, lost_by_region
from fencepost.properties.placement.variables import PlacementVariables
from fencepost.properties.vocabulary import Suite


def placement_conduct(suite: Suite) -> None:
    """Adds the rules of conduct of a placement to a suite."""
    p = suite.protocol
    s, n = PlacementVariables.of(p)
    settings = p.parameters
    rack, position = p.universes["rack"], p.universes["position"]
    ensemble, write_quorum, sizes = settings["ensemble"], settings["write_quorum"], sizes_of(settings["racks"])
    windows = [[(first + copy) % ensemble for copy in range(write_quorum)] for first in position]
    needed = min(write_quorum, settings["min_racks"])
    rackaware, by_regions = settings["policy"] == "rackaware", settings["policy"] == "regionaware"
    enforced = settings["enforced"] and rackaware
    avoids_all = settings["avoids"] == "all"
    by_groups = settings["groups"] != ""
    refusable = any(refused for _, _, refused in draws_of(settings)) if by_regions else by_groups or settings["outages"] > 0
    can_refuse = enforced or refusable
    regions = members_of(settings["racks"])
    is_there = {r: And(Not(s.away.has(r)), Not(s.lost.has(r))) for r in rack}
    several = And(at_least(2, is_there.values()), rackaware)
    free = {r: And(is_there[r], how_many(*(s.place[i] == r for i in position)) < sizes[r]) for r in rack}

    def too_few(kinds: str, counted: str = "") -> Condition:
        """Racks of groups of these kinds have fewer bookies than an ensemble; some are counted while they are away."""
        racks = [r for r in rack if settings["groups"][r] in kinds]
        there = [is_there[r] if settings["groups"][r] not in counted else all_of(()) for r in racks for _ in range(sizes[r])]
        return Not(at_least(ensemble, there))

    def joins(r: int) -> Condition:
        """The client may use the bookies of the rack: those of other groups never, those of secondary ones and of none where
        there are too few before them."""
        kind = settings["groups"][r]
        secondary = too_few("p")
        conditions = {
            "p": all_of(()),
            "s": secondary,
            "-": And(secondary, too_few("ps", "s" if settings["counts_down"] else "")),
        }
        return conditions.get(kind, any_of(()))

    offered = {r: And(free[r], joins(r)) for r in rack} if by_groups else free

    def in_write_set(i: int) -> Condition:
        return any_of(And(s.start == first, i in window) for first, window in zip(position, windows, strict=True))

    def stays(*but: int) -> Condition:
        return all_of(n.place[i] == s.place[i] for i in position if i not in but)

    def leaves_room(i: int, r: int) -> Truth:
        """Each write quorum with this place can have its racks: those that it has, and one for each place that is to come."""
        ways: list[Truth] = []
        for window in (window for window in windows if i in window):
            before, to_come = [x for x in window if x < i], sum(x > i for x in window)
            has = [any_of(s.place[x] == other for x in before) if other != r else True for other in rack]
            ways.append(at_least(needed - to_come, has) if needed > to_come else True)
        return And(*ways)

    fits = {(i, r): And(offered[r], leaves_room(i, r)) for i in position for r in rack}

    @suite.step
    def places_are_drawn_one_by_one() -> Condition:
        """A draw gives the next place to a bookie that is there and in no other; the last one places the ensemble."""

        def draws(i: int, r: int) -> Condition:
            ends = n.stage == ("placed" if i + 1 == ensemble else "choosing")
            return And(s.chosen == i, n.chosen == i + 1, n.place[i] == r, s.place[i] == "none", offered[r], stays(i), ends)

        drawn = any_of(draws(i, r) for i in position for r in rack)
        return Or(n.chosen == s.chosen, And(s.stage == "choosing", drawn))

    if by_regions:
        drawn_by_regions(suite)
    else:

        @suite.step
        def draws_prefer_new_racks() -> Condition:
            """A place goes to a rack that no place before it is in, if such a rack leaves each write quorum its racks; then to
            any that does. Where nobody does, or one rack is left, to any: unless racks are enforced."""

            def follows(i: int, r: int) -> Condition:
                drawn = And(n.chosen == i + 1, s.chosen == i, n.place[i] == r)
                new = [And(Not(s.avoided.has(x)), fits[i, x]) for x in rack]
                some = any_of(fits[i, x] for x in rack)
                begins = n.avoided == rack.where(lambda x: x == r)
                leaves_out = n.avoided == s.avoided.plus(r) if avoids_all else begins
                preferred = And(Not(s.avoided.has(r)), fits[i, r], leaves_out)
                second = And(avoids_all, Not(any_of(new)), fits[i, r], begins)
                last = And(not enforced, Not(some) if avoids_all else Not(any_of(new)), begins)
                alone = And(not enforced or needed < 2, begins)
                return Implies(drawn, Or(And(several, Or(preferred, second, last)), And(Not(several), alone)))

            return all_of(follows(i, r) for i in position for r in rack)

        @suite.step
        def refusals_have_a_reason() -> Condition:
            """A client is refused where no bookie is left or, if racks are enforced, none that leaves write quorums their
            racks."""
            nobody = Not(any_of(offered.values()))
            none_fits = all_of(Implies(s.chosen == i, Not(any_of(fits[i, r] for r in rack))) for i in position)
            reason = Or(nobody, And(enforced, Or(And(several, none_fits), And(Not(several), needed > 1))))
            return Implies(And(s.stage != "refused", n.stage == "refused"), And(s.stage == "choosing", reason, stays()))

    @suite.step
    def entries_go_to_their_write_set() -> Condition:
        """The write set is chosen for an entry that nobody has; its bookies that are there store it, one by one, until it is
        acknowledged."""
        moves = Implies(n.start != s.start, And(s.stage == "placed", s.copies.is_empty, n.copies.is_empty))

        def stores(i: int) -> Condition:
            there = any_of(And(s.place[i] == r, is_there[r]) for r in rack)
            return And(in_write_set(i), there, n.copies == s.copies.plus(i))

        grows = And(s.stage == "placed", n.copies != s.copies)
        return And(moves, Implies(grows, And(n.stage == "placed", any_of(stores(i) for i in position))))

    @suite.step
    def stages_are_final() -> Condition:
        """An ensemble that is placed stays so until an entry is stored, and what is stored or refused stays so."""
        refusals = [Implies(s.stage == "refused", n.stage == "refused")] if can_refuse else []
        return And(
            *refusals,
            Implies(s.stage == "placed", n.stage.among("placed", "stored")),
            Implies(s.stage == "stored", n.stage == "stored"),
            Implies(And(s.stage == "choosing", n.stage != "choosing"), Or(n.stage == "refused", n.chosen == ensemble)),
            Implies(And(s.stage != "stored", n.stage == "stored"), And(n.copies == s.copies, stays())),
        )

    if settings["takes"] == "region":
        lost_by_region(suite)
    else:

        @suite.step
        def racks_go_and_come_back() -> Condition:
            """A rack that is there is cut off, and one that is cut off comes back, but not while a client draws. One is lost
            after an entry was acknowledged."""
            draws = And(s.stage == "choosing", s.chosen > 0)

            def goes(r: int) -> Condition:
                return And(is_there[r], n.away == s.away.plus(r), n.outages > s.outages)

            changed = Or(any_of(goes(r) for r in rack), any_of(And(s.away.has(r), n.away == s.away.minus(r)) for r in rack))
            lost = any_of(And(Not(s.lost.has(r)), n.lost == s.lost.plus(r)) for r in rack)
            quiet = And(n.chosen == s.chosen, stays())
            return And(
                Implies(n.away != s.away, And(Not(draws), changed, quiet, n.copies == s.copies)),
                Implies(n.outages > s.outages, n.away != s.away),
                Implies(n.lost != s.lost, And(s.stage == "stored", s.away.is_empty, lost, quiet, n.losses > s.losses)),
                Implies(n.losses > s.losses, n.lost != s.lost),
            )

    if settings["outages"]:

        @suite.step
        def members_are_replaced_on_racks() -> Condition:
            """A member whose rack is cut off is replaced after an entry was acknowledged, and gets it from another that has it:
            by a bookie of a rack that no other member is in; else by any, unless racks are enforced. An auto-recovery that
            knows regions prefers a bookie of the same region instead."""

            def is_in(i: int, racks: list[int]) -> Condition:
                return any_of(s.place[i] == r for r in racks)

            def is_near(i: int, r: int) -> Condition:
                near = any_of(is_in(i, racks) for racks in regions if r in racks)
                some = any_of(And(is_in(i, racks), free[x]) for racks in regions for x in racks)
                return Or(near, Not(some))

            def is_other(i: int, r: int) -> Condition:
                return any_of(s.place[x] == r for x in position if x != i)

            def replaces(i: int, r: int) -> Condition:
                gone = any_of(And(s.place[i] == x, s.away.has(x)) for x in rack)
                source = any_of(And(s.copies.has(x), s.place[x] == y, is_there[y]) for x in position if x != i for y in rack)
                best = any_of(And(free[x], Not(is_other(i, x))) for x in rack)
                apart = Or(settings["policy"] == "random", Not(is_other(i, r)), And(Not(best), not enforced))
                fit = is_near(i, r) if settings["recovery"] == "regionaware" else apart
                copied = Implies(in_write_set(i), n.copies == s.copies.plus(i))
                others = Implies(Not(in_write_set(i)), n.copies == s.copies)
                return And(n.place[i] == r, gone, source, free[r], fit, copied, others, stays(i))

            moved = any_of(And(s.place[i] != n.place[i], s.stage == "stored") for i in position)
            return Implies(moved, any_of(replaces(i, r) for i in position for r in rack))

        @suite.sometimes
        def a_copy_is_brought_back() -> Condition:
            """Every bookie of the write set has the entry, though a rack was cut off after it was acknowledged by fewer."""
            whole = all_of(Implies(in_write_set(i), s.copies.has(i)) for i in position)
            reached = all_of(Implies(s.place[i] == r, Not(s.away.has(r))) for i in position for r in rack)
            return And(s.stage == "stored", whole, reached, Not(s.away.is_empty))

        @suite.sometimes
        def a_rack_is_back_before_draws() -> Condition:
            """A rack was cut off and is back before a client draws."""
            return And(s.stage == "choosing", s.chosen == 0, s.outages > 0, s.away.is_empty)

    @suite.always
    def lost_racks_have_no_copies() -> Condition:
        """What was on a rack that is lost is gone."""
        return all_of(Implies(And(s.lost.has(r), s.place[i] == r), Not(s.copies.has(i))) for i in position for r in rack)

    @suite.sometimes
    def an_entry_is_not_on_the_first() -> Condition:
        """An entry goes to a write set that does not begin with the first bookie."""
        return And(s.start != 0, Not(s.copies.is_empty))

    @suite.sometimes
    def all_of_a_write_set_have_it() -> Condition:
        """Every bookie of a write set has the entry."""
        return And(s.stage == "placed", how_many(*(s.copies.has(i) for i in position)) == write_quorum)

    @suite.sometimes
    def acknowledged_by_just_enough() -> Condition:
        """An entry is acknowledged with no copy more than it takes."""
        copies = write_quorum if settings["settled"] else settings["ack_quorum"]
        return And(s.stage == "stored", s.lost.is_empty, how_many(*(s.copies.has(i) for i in position)) == copies)
