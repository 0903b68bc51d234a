"""What must hold while bundles are split."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, all_of, any_of, at_least
from fencepost.model.nobody import NOBODY
from fencepost.properties.locks.conduct import lock_conduct
from fencepost.properties.locks.properties import lock_liveness
from fencepost.properties.split.conduct import split_conduct
from fencepost.properties.split.invariant import split_lemmas
from fencepost.properties.split.variables import Splits, SplitVariables
from fencepost.properties.vocabulary import Leads, Suite


def split(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.split.split`` built."""
    suite = Suite(p)
    about = Splits(p, p.parameters["splits"] + p.parameters["releases"] > 0)
    _always(suite, about)
    _steps(suite, about)
    _in_the_end(suite, about)
    _sometimes(suite, about)
    lock_conduct(suite, about)
    split_conduct(suite, about)
    suite.lemmas_by(lambda: split_lemmas(suite, about))
    return suite


def _always(suite: Suite, about: Splits) -> None:
    s, settings = SplitVariables.now(suite.protocol), suite.protocol.parameters
    broker, hashes, ranges = suite.protocol.universes["broker"], range(settings["hashes"]), about.ranges

    @suite.always
    def full_coverage() -> Condition:
        """Every hash is in exactly one bundle of the layout."""
        return all_of(about.covers(hash) for hash in hashes)

    if about.several:
        unheard = "a broker that was cut off does not hear that its node was deleted"

        @suite.strict(
            "a broker that has not heard of the split acquires the parent again, and keeps it when it has heard"
            if about.budget("splits")
            else unheard,
            when=about.budget("splits") or about.misses,
        )
        def single_owner_of_a_hash() -> Condition:
            """No two brokers that are up to date serve a hash, through whichever bundles."""

            def has(b: int, hash: int) -> Condition:
                return any_of(about.is_served(b, u) for u in ranges.with_hash(hash))

            return all_of(Not(at_least(2, [has(b, hash) for b in broker])) for hash in hashes)

        @suite.strict(unheard, when=about.misses)
        def single_owner_by_the_layout() -> Condition:
            """No two brokers that are up to date and know the layout find a hash in bundles that they serve."""

            def finds(b: int, hash: int) -> Condition:
                served = any_of(And(s.view[b].has(u), about.is_served(b, u)) for u in ranges.with_hash(hash))
                return And(about.is_current(b), served)

            return all_of(Not(at_least(2, [finds(b, hash) for b in broker])) for hash in hashes)

    if about.can_exceed:

        @suite.strict(
            "the leader counts the bundles of its own copy of the layout, and nobody counts when the layout is written",
            when=about.may_exceed,
        )
        def maximum_is_kept() -> Condition:
            """There are never more bundles than the maximum."""
            return Not(about.has_more_than(settings["maximum"]))

    @suite.always
    def attempts_are_bounded() -> Condition:
        """No split is tried more often than it may be."""
        return all_of(s.attempt[b] <= settings["attempts"] for b in broker)

    @suite.strict(
        "a broker that was cut off does not hear of changes, and keeps its copy when it is back",
        when=not about.fixed and about.unheard and about.budget("splits"),
    )
    def copies_are_current() -> Condition:
        """A broker that is connected and has heard of all changes has the layout in its cache."""
        heard = {b: And(about.is_live(b), s.link[b] == "connected", Not(s.layout_change[b])) for b in broker}
        return all_of(Implies(heard[b], And(s.view[b] == s.layout, s.view_version[b] == s.layout_version)) for b in broker)


def _steps(suite: Suite, about: Splits) -> None:
    s, n = SplitVariables.of(suite.protocol)
    settings = suite.protocol.parameters
    broker, pairs = suite.protocol.universes["broker"], about.pairs

    def begins(b: int) -> Condition:
        return And(s.split[b] == "none", n.split[b] != "none")

    def is_written(b: int) -> Condition:
        """The formula, of a step: the broker writes the layout, and hears of that."""
        return And(s.split[b] == "writing", n.split[b] == "written")

    @suite.step
    def bounds_of_others_are_kept() -> Condition:
        """The layout changes only as one of its bundles is cut in two, and its version shows it."""
        cuts = [And(s.layout.has(u), n.layout == about.cut(u, parts)) for u, parts in about.cuts]
        return Or(
            And(n.layout == s.layout, n.layout_version == s.layout_version),
            And(any_of(cuts), n.layout_version == s.layout_version + 1),
        )

    @suite.step
    def owner_begins() -> Condition:
        """A split begins at a broker that serves the bundle, has a valid lock on it, and has it in its copy of the layout."""
        owns = {(b, u): And(s.lock[b, u] == "valid", about.is_active(b, u), s.view[b].has(u)) for b, u in pairs}
        return all_of(Implies(And(begins(b), n.parent[b] == u), owns[b, u]) for b, u in pairs)

    @suite.step
    def no_split_beyond_the_maximum() -> Condition:
        """No split begins of a layout that is full, splits under way included, if every broker knows the layout."""
        known = all_of(Implies(s.lives[b], s.view[b] == s.layout) for b in broker)
        full = about.has_more_than(settings["maximum"] - 1, besides=[s.split[b] != "none" for b in broker])
        return Implies(And(any_of(begins(b) for b in broker), known), Not(full))

    if not about.unheard or about.fixed:

        @suite.step
        def attempts_are_fresh() -> Condition:
            """A split that met BadVersion begins again with another version than the one that was refused."""
            again = {b: And(n.attempt[b] > s.attempt[b], s.attempt[b] > 0) for b in broker}
            return all_of(Implies(again[b], n.based_on[b] > s.based_on[b]) for b in broker)

    if about.stays:

        @suite.step
        def owner_writes_the_layout() -> Condition:
            """The layout is written by the broker that has the parent's node."""
            return all_of(Implies(And(is_written(b), s.parent[b] == u), about.holds(b, u)) for b, u in pairs)

    if about.keeps_children:

        @suite.step
        def children_have_the_parents_owner() -> Condition:
            """When the layout is written, the children's nodes are there, and are of the broker that has split the parent."""
            return all_of(Implies(And(is_written(b), s.children[b].has(u)), about.holds(b, u)) for b, u in pairs)

    @suite.step
    def parent_is_let_go() -> Condition:
        """A split that has written the layout ends with the parent's lock on its way out, if it was not lost."""
        ends = {b: And(about.has_cut(s, b), Not(about.has_cut(n, b))) for b in broker}
        return all_of(Implies(And(ends[b], s.parent[b] == u), n.lock[b, u] != "valid") for b, u in pairs)

    @suite.ends
    def no_deadlock() -> Condition:
        """Nothing comes to a standstill in a split."""
        return all_of(s.split[b] == "none" for b in broker)


def _in_the_end(suite: Suite, about: Splits) -> None:
    s, settings = SplitVariables.now(suite.protocol), suite.protocol.parameters
    broker, bundle, ranges = suite.protocol.universes["broker"], suite.protocol.universes["bundle"], about.ranges

    if about.meets_nodes:
        lock_liveness(suite, about)

    if about.budget("splits"):

        @suite.leads_to
        def splits_end() -> Leads:
            """A split ends, done or given up."""
            return [(s.split[b] != "none", s.split[b] == "none") for b in broker]

        @suite.leads_to(
            strict="a node whose creation went unheard belongs to no lock, or to one not valid yet when the split ended",
            when=about.keeps_parents,
        )
        def splitter_lets_the_parent_go() -> Leads:
            """The broker that has split a bundle, and heard of it, does not own it in the end."""
            done = {(b, u): And(s.split[b] == "written", s.parent[b] == u) for b, u in about.pairs if ranges.splittable(u)}
            return [(is_done, Not(about.holds(b, u))) for (b, u), is_done in done.items()]

        @suite.leads_to(
            strict="who acquires the parent by an old copy of the layout, or again while it is being split, or does not hear "
            "that its own split was written, keeps it",
            when=not about.fixed and (about.several or about.budget("disconnects") or about.budget("releases")),
        )
        def parent_is_unowned_in_the_end() -> Leads:
            """A bundle that was split is owned by nobody, in the end."""
            owned = {u: s.owner_holder[u] != NOBODY for u in bundle if ranges.splittable(u)}
            return [(And(about.was_split(u), is_owned), Not(is_owned)) for u, is_owned in owned.items()]

    if about.records and about.budget("splits"):

        @suite.leads_to(
            strict="a broker that writes the layout and dies, or does not hear that it has written it, or cannot write the "
            "policies, leaves them as they were; only another split writes them",
            when=about.misses_policies,
        )
        def policies_agree_in_the_end() -> Leads:
            """The namespace's policies have the boundaries of the layout, in the end."""
            return Not(s.policies == s.layout), s.policies == s.layout

    @suite.leads_to(
        strict="the node of a session that is there belongs to no lock, or every broker's release has failed with its session: "
        "nobody serves the bundle, and nobody may take it",
        when=about.forsakes_bundles or about.strands_bundles,
    )
    def served_in_the_end() -> Leads:
        """Every hash that is looked up again and again is served by a bundle of the layout, in the end."""

        def is_served(hash: int) -> Condition:
            by = [(b, u) for u in ranges.with_hash(hash) for b in broker]
            return any_of(And(s.layout.has(u), s.lives[b], about.is_active(b, u)) for b, u in by)

        return [(True, is_served(hash)) for hash in range(settings["hashes"])]


def _sometimes(suite: Suite, about: Splits) -> None:
    s, settings = SplitVariables.now(suite.protocol), suite.protocol.parameters
    broker, pairs = suite.protocol.universes["broker"], about.pairs
    if not settings["splits"]:
        return

    @suite.sometimes
    def split_done() -> Condition:
        """A bundle was split, its parts are served, and its owner has let it go."""

        def are_served(parts: set[int]) -> Condition:
            return all_of(And(s.layout.has(c), any_of(about.is_active(b, c) for b in broker)) for c in parts)

        return any_of(And(s.owner_holder[u] == NOBODY, are_served(parts)) for u, parts in about.cuts)

    if about.several:

        @suite.sometimes
        def parent_acquired_again() -> Condition:
            """A bundle that was split is served again, by a broker that had not heard of it."""
            return any_of(And(s.split[b] == "none", about.was_split(u), about.is_active(b, u)) for b, u in pairs)

    room_for_two = about.ranges.have_room_for_two and (not about.fixed or settings["maximum"] > settings["bundles"] + 1)
    if about.several and settings["splits"] > 1 and settings["attempts"] > 1 and room_for_two:

        @suite.sometimes
        def conflict_survived() -> Condition:
            """A split that met BadVersion has written the layout."""
            return any_of(And(s.split[b] == "written", s.attempt[b] > 1) for b in broker)

    if about.several and (settings["unload_after_split"] or settings["releases"]):

        @suite.sometimes
        def parts_are_apart() -> Condition:
            """The parts of a bundle are served by different brokers, after its split."""

            def are_at(parts: set[int], *brokers: int) -> Condition:
                return all_of(And(s.layout.has(c), about.is_served(b, c)) for b, c in zip(brokers, parts, strict=True))

            return any_of(are_at(parts, b, x) for _, parts in about.cuts for b in broker for x in broker if b != x)

    if settings["disconnects"]:

        @suite.sometimes
        def own_split_unheard() -> Condition:
            """A broker serves on what it has split itself, because it did not hear that the layout was written."""
            unheard = {b: And(s.link[b] == "suspended", s.split[b] == "none") for b in broker}
            return any_of(And(unheard[b], about.was_split(u), about.is_active(b, u)) for b, u in pairs)
