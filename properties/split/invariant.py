"""Why splits are safe: the lemmas of an inductive invariant."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Truth, all_of, any_of, how_many
from fencepost.properties.locks.lemmas import lock_lemmas
from fencepost.properties.split.variables import Splits, SplitVariables
from fencepost.properties.vocabulary import Suite


def split_lemmas(suite: Suite, about: Splits) -> None:
    """Adds the lemmas to the suite of an instance."""
    lock_lemmas(suite, about)
    _about_the_layout(suite, about)
    _about_splits(suite, about)
    if about.nests_locks:
        _about_children(suite, about)


def _about_the_layout(suite: Suite, about: Splits) -> None:
    s, settings = SplitVariables.now(suite.protocol), suite.protocol.parameters
    broker = suite.protocol.universes["broker"]

    @suite.lemma
    def layout_has_every_hash_once() -> Condition:
        """Every hash is in exactly one bundle of the layout."""
        return all_of(about.covers(hash) for hash in range(settings["hashes"]))

    @suite.lemma
    def copies_are_of_the_past() -> Condition:
        """A copy of the layout is no newer than the layout, and with its version it is the layout."""
        return all_of(
            And(
                s.view_version[b] <= s.layout_version,
                Implies(s.view_version[b] == s.layout_version, s.view[b] == s.layout),
            )
            for b in broker
        )

    @suite.lemma
    def proposals_are_of_the_past() -> Condition:
        """What is about to be written follows from a version that the layout has, or had."""
        return all_of(s.based_on[b] <= s.view_version[b] for b in broker)

    @suite.lemma
    def proposals_cut_the_layout() -> Condition:
        """What is about to be written, if its version is still the layout's, cuts the parent in two and leaves all else."""

        def is_right(b: int, u: int, parts: set[int]) -> Condition:
            cut = And(s.children[b] == parts, s.proposed[b] == about.cut(u, parts))
            return And(s.parent[b] == u, s.layout.has(u), cut)

        return all_of(Implies(about.is_due(b), any_of(is_right(b, *each) for each in about.cuts)) for b in broker)

    if not about.budget("splits"):

        @suite.lemma
        def layout_stays() -> Truth:
            """Without splits nothing is split, and nobody has or wants what is not in the layout."""
            wants = {(b, u): Or(s.lock[b, u] != "none", s.owner_holder[u] == b) for b, u in about.pairs}
            none = [s.split[b] == "none" for b in broker]
            return And(*none, all_of(Implies(is_wanted, s.layout.has(u)) for (b, u), is_wanted in wants.items()))

    @suite.lemma
    def versions_are_left_for_splits() -> Condition:
        """Every split begun has written the layout, may write it yet as its parent is there, or has given up."""
        there = {b: any_of(And(s.parent[b] == u, s.layout.has(u)) for u in suite.protocol.universes["bundle"]) for b in broker}
        pending = [And(s.split[b].among("preparing", "writing", "waiting"), there[b]) for b in broker]
        return s.layout_version + how_many(*pending) <= s.splits

    if about.can_exceed and not about.may_exceed:

        @suite.lemma
        def splits_have_room() -> Condition:
            """There are no more bundles than the maximum, and there is room for another where one is about to be written."""
            most = settings["maximum"]
            under_way = {b: s.split[b].among("preparing", "writing", "waiting") for b in broker}
            pending = {b: And(under_way[b], s.view_version[b] == s.layout_version) for b in broker}
            due = {b: about.is_due(b) if about.fixed else pending[b] for b in broker}
            room = all_of(Implies(due[b], Not(about.has_more_than(most - 1))) for b in broker)
            return And(Not(about.has_more_than(most)), room)

    if not about.several and not about.fixed:

        @suite.lemma
        def nobody_else_changes_the_layout() -> Truth:
            """A broker that is alone is not told of changes: it makes them all."""
            return all_of(Not(s.layout_change[b]) for b in broker)

    if not about.several and not about.unheard:

        @suite.lemma
        def who_is_alone_knows_the_layout() -> Truth:
            """A broker that is alone, and hears of its own splits, has the layout."""
            return all_of(s.view_version[b] == s.layout_version for b in broker)

    if not about.unheard or about.fixed:

        @suite.lemma
        def copies_are_told_of_changes() -> Condition:
            """A broker that reaches the store, or all that live, has the layout, or will be told of a change."""
            reaches = {b: And(about.is_live(b), s.link[b] == "connected") for b in broker}
            is_told = {b: And(reaches[b] if about.unheard else s.lives[b], Not(s.layout_change[b])) for b in broker}
            return all_of(Implies(is_told[b], s.view_version[b] == s.layout_version) for b in broker)

        @suite.lemma
        def refused_versions_are_old() -> Condition:
            """A version that was refused is older than the layout's, and than that of the copy when the split begins again."""
            again = {b: And(s.split[b] == "preparing", s.attempt[b] > 0) for b in broker}
            return all_of(
                And(
                    Implies(s.split[b] == "waiting", s.based_on[b] < s.layout_version),
                    Implies(again[b], s.based_on[b] < s.view_version[b]),
                )
                for b in broker
            )


def _about_splits(suite: Suite, about: Splits) -> None:
    p = suite.protocol
    s, most = SplitVariables.now(p), p.parameters["attempts"]
    broker, bundle, pairs, ranges = p.universes["broker"], p.universes["bundle"], about.pairs, about.ranges

    def is_asked(b: int) -> Condition:
        """The formula: the children's locks were asked for."""
        return Or(s.split[b].among("writing", "waiting"), about.has_cut(s, b))

    @suite.lemma
    def dead_brokers_split_nothing() -> Condition:
        """A process that has ended splits nothing."""
        return all_of(Implies(Not(s.lives[b]), s.split[b] == "none") for b in broker)

    @suite.lemma
    def parents_are_large_enough() -> Condition:
        """What is split can be cut."""
        large = [u for u in bundle if ranges.splittable(u)]
        return all_of(Implies(s.split[b] != "none", any_of(s.parent[b] == u for u in large)) for b in broker)

    if not about.contended:

        @suite.lemma
        def nothing_comes_between() -> Condition:
            """What a split is about to cut is in the layout, what it is about to write fits, and so it never waits."""
            known = {b: s.view_version[b] == s.layout_version for b in broker}
            prepares = {(b, u): And(s.split[b] == "preparing", s.parent[b] == u) for b, u in pairs}
            there = [Implies(prepares[b, u], And(known[b], s.view[b].has(u))) for b, u in pairs]
            fits = [Implies(s.split[b] == "writing", about.is_due(b)) for b in broker]
            return And(*there, *fits, all_of(s.split[b] != "waiting" for b in broker))

    if about.contended and p.parameters["splits"] == 1 and not about.fixed:

        @suite.lemma
        def only_split_is_undisturbed() -> Condition:
            """There is one split at most, whose broker is told of no change, and has the parent in its copy until it is cut."""
            begun = {b: s.split[b] != "none" for b in broker}
            cases = [Implies(s.layout_change[b], And(s.splits == 1, Not(begun[b]))) for b in broker]
            before = {b: s.split[b].among("preparing", "writing", "waiting") for b in broker}
            known = [Implies(And(before[b], s.parent[b] == u), s.view[b].has(u)) for b, u in pairs]
            return And(how_many(*begun.values()) <= s.splits, *cases, *known)

    @suite.lemma
    def attempts_fit_their_stage() -> Condition:
        """A split that is not to be written yet has attempts left."""
        return all_of(
            And(
                Implies(s.split[b] == "none", s.attempt[b] == 0),
                Implies(s.split[b].among("preparing", "waiting"), s.attempt[b] < most),
                Implies(is_asked(b), And(s.attempt[b] >= 1, s.attempt[b] <= most)),
            )
            for b in broker
        )

    @suite.lemma
    def inactive_bundles_are_released() -> Condition:
        """A bundle that is out of service is being released."""
        return all_of(
            Implies(s.bundle_state[b, u] == "inactive", s.lock[b, u].among("releasing", "stranded")) for b, u in pairs
        )

    if about.stays:

        @suite.lemma
        def parents_are_served() -> Condition:
            """As bundles stay where they are, a broker serves what it splits."""
            return all_of(Implies(about.splits(b, u), about.is_active(b, u)) for b, u in pairs)

    @suite.lemma
    def children_are_parts() -> Condition:
        """The children of a split are what its parent is cut into, and what is to be written has them in the parent's place."""

        def is_cut(b: int, u: int, parts: set[int]) -> Condition:
            there = [s.proposed[b].has(c) for c in parts]
            return And(s.parent[b] == u, s.children[b] == parts, Not(s.proposed[b].has(u)), *there)

        return all_of(Implies(is_asked(b), any_of(is_cut(b, *each) for each in about.cuts)) for b in broker)

    @suite.lemma
    def ended_splits_leave_nothing() -> Condition:
        """Of a split that is over nothing is left."""
        nothing = {b: And(s.children[b].is_empty, s.proposed[b].is_empty, s.based_on[b] == 0) for b in broker}
        parents = {b: all_of(s.parent[b] != u for u in bundle) for b in broker}
        return all_of(Implies(s.split[b] == "none", And(nothing[b], parents[b])) for b in broker)


def _about_children(suite: Suite, about: Splits) -> None:
    """Why the children are their parent's owner's: nobody else wants a part of a bundle that it has."""
    p, s = suite.protocol, SplitVariables.now(suite.protocol)
    broker, bundle, pairs, ranges = p.universes["broker"], p.universes["bundle"], about.pairs, about.ranges
    within = [(u, c) for u in bundle for c in ranges.within(u)]

    @suite.lemma
    def held_bundles_are_served() -> Condition:
        """Without faults a broker knows of every node that it has."""
        return all_of(Implies(about.holds(b, u), s.bundle_state[b, u] != "absent") for b, u in pairs)

    @suite.lemma
    def copies_are_coarser() -> Condition:
        """No bundle of a copy is a part of a bundle of the layout."""
        return all_of(Not(And(s.layout.has(u), s.view[b].has(c))) for u, c in within for b in broker)

    @suite.lemma
    def written_parents_are_gone() -> Condition:
        """When a split has written the layout, no bundle of it has all of the parent."""
        done = {(b, u): And(about.has_cut(s, b), s.parent[b] == u) for b, u in pairs}
        over = [*within, *((u, u) for u in bundle)]
        return all_of(Not(And(done[b, c], s.layout.has(u))) for u, c in over for b in broker)

    @suite.lemma
    def parts_are_with_the_whole() -> Condition:
        """Who has, or wants, a part of a bundle of the layout, serves the bundle, and the part once it has it."""

        def is_proper(b: int, u: int, c: int) -> Condition:
            wants = Or(s.lock[b, c] != "none", s.owner_holder[c] == b)
            has = Or(s.lock[b, c].among("none", "acquiring"), about.is_active(b, c))
            return Implies(And(s.layout.has(u), wants), And(about.is_active(b, u), has))

        return all_of(is_proper(b, u, c) for u, c in within for b in broker)

    @suite.lemma
    def children_are_asked_for() -> Condition:
        """A broker about to write the layout has asked for the children's locks."""
        asked = {(b, u): And(about.is_due(b), s.children[b].has(u)) for b, u in pairs}
        return all_of(Implies(asked[b, u], s.lock[b, u] != "none") for b, u in pairs)
