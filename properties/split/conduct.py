"""How each broker must conduct itself in a split, whatever comes of it: rules that a missing guard breaks first."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, all_of, any_of
from fencepost.model.pulsar.split_policies import RECORDED
from fencepost.properties.split.variables import Splits, SplitVariables
from fencepost.properties.vocabulary import Suite


def split_conduct(suite: Suite, about: Splits) -> None:
    """Adds the rules of conduct of splits, and of copies of the layout, to the suite of an instance."""
    p = suite.protocol
    s, n = SplitVariables.of(p)
    settings = p.parameters
    broker, bundle, pairs = p.universes["broker"], p.universes["bundle"], about.pairs
    rises = n.layout_version != s.layout_version

    handed_over_from = RECORDED if about.records else "written"

    def reaches(b: int) -> Condition:
        return And(s.lives[b], s.link[b] == "connected", s.session[b])

    def is_answered(b: int) -> Condition:
        """The formula, of a step: a request to write the layout is out no more, or was carried out unheard."""
        unheard = And(rises, n.link[b] == "suspended")
        return And(s.split[b] == "writing", Or(n.split[b] != "writing", unheard), n.lives[b])

    @suite.step
    def splits_go_forward() -> Condition:
        """A split goes from stage to stage by what the broker knows, reads or writes, or because that fails."""

        def follows(b: int) -> Condition:
            before, after = s.split[b], n.split[b]
            gone = any_of(And(s.parent[b] == u, Not(s.view[b].has(u))) for u in bundle)
            full = about.knows_more_than(b, settings["maximum"] - 1) if about.fixed else False
            refused = any_of(And(s.children[b].has(c), s.lock[b, c] == "none") for c in bundle) if about.fixed else False
            is_old = And(reaches(b), s.based_on[b] != s.layout_version)
            given_up = Or(Not(reaches(b)), And(is_old, s.attempt[b] >= settings["attempts"]), refused)
            return Or(
                after == before,
                Not(n.lives[b]),
                And(before == "none", after == "preparing"),
                And(before == "preparing", after == "writing"),
                And(before == "preparing", after == "none", Or(gone, full)),
                And(before == "writing", after == "written", reaches(b), rises),
                And(before == "writing", after == "waiting", is_old),
                And(before == "writing", after == "none", given_up),
                And(before == "waiting", after == "preparing"),
                And(before == "written", after == handed_over_from) if about.records else False,
                And(before == handed_over_from, after == "none"),
            )

        return all_of(follows(b) for b in broker)

    @suite.step
    def bundles_are_given_up_for_a_reason() -> Condition:
        """A bundle is taken out of service by an unload, by its own split, or (fixed) because it is not in the layout."""

        def is_meant(b: int, u: int) -> Condition:
            mine = Or(s.parent[b] == u, And(settings["unload_after_split"], s.children[b].has(u)))
            part = And(s.split[b] != "none", Or(s.parent[b] == u, s.children[b].has(u)))
            return Or(
                And(s.view[b].has(u), n.releases != s.releases),
                And(about.has_cut(s, b), n.split[b] == "none", mine),
                And(about.fixed, Not(s.view[b].has(u)), Not(part)),
            )

        gives_up = {(b, u): And(about.is_active(b, u), n.bundle_state[b, u] == "inactive") for b, u in pairs}
        return all_of(Implies(gives_up[b, u], is_meant(b, u)) for b, u in pairs)

    if settings["in_order"] and not about.fixed:

        @suite.step
        def requests_keep_their_order() -> Condition:
            """The store answers the request to write the layout after those for the locks of the children."""
            asked = {(b, c): And(is_answered(b), reaches(b), s.children[b].has(c)) for b, c in pairs}
            return all_of(Implies(asked[b, c], s.lock[b, c] != "acquiring") for b, c in pairs)

    @suite.step
    def copies_are_read() -> Condition:
        """A copy of the layout changes when its broker hears of a change, writes the layout, or begins."""

        def follows(b: int) -> Condition:
            same = And(n.view[b] == s.view[b], n.view_version[b] == s.view_version[b])
            begins = Or(Not(s.lives[b]), Not(n.lives[b]))
            return Or(same, begins, And(reaches(b), Or(s.layout_change[b], is_answered(b))))

        return all_of(follows(b) for b in broker)

    @suite.step
    def changes_are_heard() -> Condition:
        """A broker that is connected hears of a change of the layout by another broker; nobody hears of what did not happen.

        Where the store catches up, who lives does, and of its own changes, too.
        """

        def follows(b: int) -> Condition:
            is_told = And(n.layout_change[b], Not(s.layout_change[b]))
            heard = s.lives[b] if about.kind.catches_up else And(reaches(b), Not(is_answered(b)))
            concerned = And(rises, heard)
            looks = And(s.link[b] != "connected", n.link[b] == "connected") if about.fixed else False
            return And(Implies(is_told, Or(concerned, looks)), Implies(concerned, n.layout_change[b]))

        return all_of(follows(b) for b in broker)
