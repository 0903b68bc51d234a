"""What must hold while bundles are split, and why it does."""

from __future__ import annotations

from typing import Any

from model.hash_range import HashRange
from model.hash_range.universe import Bundles
from model.language import And, Implies, Not, Or, Protocol, all_of, any_of, at_least
from properties.resource_lock import NOBODY, Locks, lock_lemmas
from properties.vocabulary import Suite


def split(p: Protocol) -> Suite:
    """The properties of an instance that ``model.split.split`` built."""
    s, n, settings = p.state, p.next, p.parameters
    suite = Suite(p)
    locks = Locks(p, settings["splits"] + settings["releases"] > 0)
    broker, bundle, pairs = p.universes["broker"], p.universes["bundle"], locks.pairs
    ranges = Bundles.of(HashRange(settings["hashes"] - 1), settings["algorithm"], settings["bundles"])
    hashes = range(settings["hashes"])
    cuts = [(u, parts) for u in bundle for m in hashes if (parts := ranges.parts(u, m)) is not None]
    mended, several = settings["mended"], locks.several
    splits = settings["splits"] > 0
    # A change of the layout can go unheard by a broker that goes on.
    lost = settings["disconnects"] + settings["expiries"] > 0
    # A bundle cannot change hands but by its split.
    stays = not settings["releases"] and not settings["expiries"] and not settings["crashes"]

    forsaken = "the node of a session that is there belongs to no lock: nobody serves the bundle, and nobody may take it"
    forsakes = locks.forsakes and (not stays or settings["unload_after_split"])

    def is_current(b: int) -> Any:
        """The formula: the broker is connected, and its copy of the layout is the layout."""
        return And(locks.is_live(b), s.link[b] == "connected", s.view[b] == s.layout)

    def has_hash(b: int, hash: int) -> Any:
        """The formula: the broker serves some bundle with the hash, and is up to date about it."""
        return any_of(And(locks.is_up_to_date(b, u), locks.is_active(b, u)) for u in ranges.with_hash(hash))

    def answers(b: int, hash: int) -> Any:
        """The formula: a lookup by the broker's copy of the layout leads to a bundle that it serves."""
        found = ranges.with_hash(hash)
        return any_of(And(s.view[b].has(u), locks.is_up_to_date(b, u), locks.is_active(b, u)) for u in found)

    def is_cut(before: Any, after: Any) -> Any:
        """The formula: one layout is the other with one of its bundles in two parts."""

        def into(u: int, parts: set[int]) -> Any:
            rest = before.minus(u)
            for part in parts:
                rest = rest.plus(part)
            return And(before.has(u), after == rest)

        return any_of(into(u, parts) for u, parts in cuts)

    # --- what must always hold

    @suite.always
    def full_coverage() -> Any:
        """Every hash is in exactly one bundle of the layout."""

        def covered(hash: int) -> Any:
            having = [s.layout.has(u) for u in ranges.with_hash(hash)]
            return And(any_of(having), Not(at_least(2, having)))

        return all_of(covered(hash) for hash in hashes)

    if several:

        @suite.strict(
            "a broker that has not heard of the split acquires the parent again, and keeps it when it has heard",
            when=splits,
        )
        def single_owner_of_a_hash() -> Any:
            """No two brokers that are up to date serve a hash, through whichever bundles."""
            return all_of(Not(at_least(2, [has_hash(b, hash) for b in broker])) for hash in hashes)

        @suite.strict("a broker that was cut off does not hear that its node was deleted", when=locks.misses)
        def single_owner_by_the_layout() -> Any:
            """No two brokers that are up to date and know the layout answer to a lookup of a hash that they serve it."""
            return all_of(Not(at_least(2, [And(is_current(b), answers(b, hash)) for b in broker])) for hash in hashes)

    if settings["maximum"] < min(settings["bundles"] + settings["splits"], settings["hashes"] - 1):

        @suite.strict(
            "the leader counts the bundles of its own copy of the layout, and nobody counts when the layout is written",
            when=not mended and settings["splits"] > 1 and (several or lost),
        )
        def maximum_is_kept() -> Any:
            """There are never more bundles than the maximum."""
            return Not(at_least(settings["maximum"] + 1, [s.layout.has(u) for u in bundle]))

    @suite.always
    def attempts_are_bounded() -> Any:
        """No split is tried more often than it may be."""
        return all_of(s.attempt[b] <= settings["attempts"] for b in broker)

    @suite.strict(
        "a broker that was cut off does not hear of changes, and keeps its copy when it is back",
        when=not mended and lost and splits,
    )
    def copies_are_current() -> Any:
        """A broker that is connected and has heard of all changes has the layout in its cache."""
        heard = {b: And(locks.is_live(b), s.link[b] == "connected", Not(s.layout_change[b])) for b in broker}
        return all_of(Implies(heard[b], And(s.view[b] == s.layout, s.view_version[b] == s.layout_version)) for b in broker)

    # --- what every step must respect

    @suite.step
    def bounds_of_others_are_kept() -> Any:
        """The layout changes only in that one of its bundles is cut in two, and its version tells of it."""
        return Or(
            And(n.layout == s.layout, n.layout_version == s.layout_version),
            And(is_cut(s.layout, n.layout), n.layout_version == s.layout_version + 1),
        )

    @suite.step
    def owner_begins() -> Any:
        """A split begins at a broker that serves the bundle and has a valid lock on it."""
        begins = {b: And(s.split[b] == "none", n.split[b] != "none") for b in broker}
        owns = {(b, u): And(s.lock[b, u] == "valid", locks.is_active(b, u)) for b, u in pairs}
        return all_of(Implies(And(begins[b], n.parent[b] == u), owns[b, u]) for b, u in pairs)

    @suite.step
    def no_split_beyond_the_maximum() -> Any:
        """No split begins of a layout that is full, splits under way included, if every broker knows the layout."""
        known = all_of(Implies(s.lives[b], s.view[b] == s.layout) for b in broker)
        begins = any_of(And(s.split[b] == "none", n.split[b] != "none") for b in broker)
        counted = [*(s.layout.has(u) for u in bundle), *(s.split[b] != "none" for b in broker)]
        return Implies(And(begins, known), Not(at_least(settings["maximum"], counted)))

    if not lost or mended:

        @suite.step
        def attempts_are_fresh() -> Any:
            """A split that met BadVersion begins again with another version than the one that was refused."""
            again = {b: And(n.attempt[b] > s.attempt[b], s.attempt[b] > 0) for b in broker}
            return all_of(Implies(again[b], n.based_on[b] > s.based_on[b]) for b in broker)

    def is_written(b: int) -> Any:
        """The formula, of a step: the broker writes the layout, and hears of that."""
        return And(s.split[b] == "writing", n.split[b] == "written")

    if stays:

        @suite.step
        def owner_writes_the_layout() -> Any:
            """The layout is written by the broker that has the parent's node."""
            return all_of(Implies(And(is_written(b), s.parent[b] == u), locks.holds(b, u)) for b, u in pairs)

    if mended or (stays and settings["in_order"]):

        @suite.step
        def children_have_the_parents_owner() -> Any:
            """When the layout is written, the children's nodes are there, and are of the broker that has split the parent."""
            return all_of(Implies(And(is_written(b), s.children[b].has(u)), locks.holds(b, u)) for b, u in pairs)

    @suite.step
    def parent_is_let_go() -> Any:
        """A split that has written the layout ends with the parent's lock on its way out, if it was not lost."""
        ends = {b: And(s.split[b] == "written", n.split[b] != "written") for b in broker}
        return all_of(Implies(And(ends[b], s.parent[b] == u), n.lock[b, u] != "valid") for b, u in pairs)

    @suite.ends
    def no_deadlock() -> Any:
        """Nothing comes to a standstill in a split, or before every bundle of the layout has, or seems to have, an owner."""

        def is_had(u: int) -> Any:
            return any_of(Or(locks.holds(b, u), s.lock[b, u].among("valid", "releasing", "stranded")) for b in broker)

        idle = all_of(s.split[b] == "none" for b in broker)
        return And(idle, all_of(Implies(s.layout.has(u), is_had(u)) for u in bundle))

    # --- what must happen in the end

    def was_split(u: int) -> Any:
        """The formula: parts of the bundle are in the layout."""
        return any_of(s.layout.has(c) for c in ranges.within(u))

    @suite.leads_to
    def splits_end() -> Any:
        """A split ends, done or given up."""
        return [(s.split[b] != "none", s.split[b] == "none") for b in broker]

    if splits:

        @suite.leads_to(strict=forsaken, when=forsakes)
        def splitter_lets_the_parent_go() -> Any:
            """The broker that has split a bundle, and heard of it, does not own it in the end."""
            done = {(b, u): And(s.split[b] == "written", s.parent[b] == u) for b, u in pairs if ranges.within(u)}
            return [(is_done, Not(locks.holds(b, u))) for (b, u), is_done in done.items()]

        @suite.leads_to(
            strict="who acquires the parent by an old copy of the layout, or does not hear that its own split was written, "
            "keeps it",
            when=not mended and (several or settings["disconnects"] > 0),
        )
        def parent_is_unowned_in_the_end() -> Any:
            """A bundle that was split is owned by nobody, in the end."""
            owned = {u: s.owner_holder[u] != NOBODY for u in bundle if ranges.within(u)}
            return [(And(was_split(u), is_owned), Not(is_owned)) for u, is_owned in owned.items()]

    @suite.leads_to(strict=forsaken, when=forsakes)
    def served_in_the_end() -> Any:
        """Every hash that is looked up again and again is served by a bundle of the layout, in the end."""

        def is_served(hash: int) -> Any:
            by = [(b, u) for u in ranges.with_hash(hash) for b in broker]
            return any_of(And(s.layout.has(u), s.lives[b], locks.is_active(b, u)) for b, u in by)

        return [(True, is_served(hash)) for hash in hashes]

    # --- what must be possible

    if splits:

        @suite.sometimes
        def split_done() -> Any:
            """A bundle was split, its parts are served, and its owner has let it go."""

            def are_served(parts: set[int]) -> Any:
                return all_of(And(s.layout.has(c), any_of(locks.is_active(b, c) for b in broker)) for c in parts)

            return any_of(And(s.owner_holder[u] == NOBODY, are_served(parts)) for u, parts in cuts)

    room_for_two = ranges.have_room_for_two and (not mended or settings["maximum"] > settings["bundles"] + 1)

    if several and settings["splits"] > 1 and settings["attempts"] > 1 and room_for_two:

        @suite.sometimes
        def conflict_survived() -> Any:
            """A split that met BadVersion has written the layout."""
            return any_of(And(s.split[b] == "written", s.attempt[b] > 1) for b in broker)

    if several and splits:

        @suite.sometimes
        def parent_acquired_again() -> Any:
            """A bundle that was split is served again, by a broker that had not heard of it."""
            return any_of(And(s.split[b] == "none", was_split(u), locks.is_active(b, u)) for b, u in pairs)

        if settings["unload_after_split"] or settings["releases"]:

            @suite.sometimes
            def parts_are_apart() -> Any:
                """The parts of a bundle are served by different brokers, after its split."""
                return any_of(
                    And(*(And(s.layout.has(c), locks.is_up_to_date(b, c)) for b, c in zip(order, parts, strict=True)))
                    for _, parts in cuts
                    for order in ((0, 1), (1, 0))
                )

    if splits and settings["disconnects"]:

        @suite.sometimes
        def own_split_unheard() -> Any:
            """A broker serves on what it has split itself, because it did not hear that the layout was written."""
            unheard = {b: And(s.link[b] == "suspended", s.split[b] == "none") for b in broker}
            return any_of(And(unheard[b], was_split(u), locks.is_active(b, u)) for b, u in pairs)

    lock_lemmas(suite, locks)
    return suite
