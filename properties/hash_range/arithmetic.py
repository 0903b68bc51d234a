"""Every 32-bit hash is in exactly one bundle and is looked up there, in every layout that splits lead to.

By induction: new namespaces are well formed, a split keeps a layout well formed, and in a well formed layout every hash is in
exactly one bundle, where its lookup ends. Well formed is a layout whose boundaries rise strictly from 0 to the last hash. It is
a function from 0, ..., count to hashes of which nothing else is known: what is proved here holds for any number of bundles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fencepost.model.language import And, Condition, If, Implies, Not, Number, Or
from fencepost.model.pulsar.hash_range import BUGS, Bundle, HashRange, Layout, Refused
from fencepost.model.pulsar.hash_range.layout import MOST_BUNDLES
from fencepost.model.terms.nodes import Function, below, constant, number
from fencepost.model.terms.sorts import BOOL, INT
from fencepost.properties.theorems import Bugs, Statements, Step, Theorem, Theory, Value, numbers

LONGS = (-(2**63), 2**63 - 1)
FEW = 8
"""Up to so many bundles a refutation is computed again with numbers."""

count, index, later, low, high, place, more, parts = numbers("count index later low high place more parts")
hash, lower, upper, position = numbers("hash lower upper position")
start, end, next_start, next_end = numbers("start end next_start next_end")
boundary = Function("boundary", INT, INT)
inserted = Function("inserted", INT, INT)


def theorems(bugs: Bugs = frozenset(), last: int = 0xFFFFFFFF) -> list[Theorem]:
    """The theorems about the hashes from 0 to ``last``, with these bugs of the model switched on."""
    statements = Statements()
    hashes = HashRange(last, bugs)
    for part in (_layouts, _lookup, _splits, _algorithms):
        part(statements, hashes)
    return statements.theorems


THEORY = Theory(
    "hash_range",
    "the 32-bit hash range of a Pulsar namespace: bundles, lookups, and where the four split algorithms cut",
    "for all hashes from 0x00000000 to 0xffffffff; 1 to 2,147,483,647 bundles at first, any number later; any number of topics"
    " and of cuts in one split",
    BUGS,
    theorems,
)


def _layouts(statements: Statements, hashes: HashRange) -> None:
    """New namespaces are well formed; in a well formed layout every hash is in exactly one bundle."""
    well_formed = _well_formed(hashes)
    not_once = _not_once(hashes)

    @statements.theorem
    def new_namespaces_are_well_formed() -> Iterator[Step]:
        """The boundaries of a new namespace rise strictly from 0 to the last hash, and no constructor refuses them."""
        at, following = hashes.equal(count, index), hashes.equal(count, index + 1)
        number = (count >= 1, count <= MOST_BUNDLES)
        inside = (*number, index >= 0, index < count)

        def describe(value: Value) -> str:
            return f"of {value(count)} bundles, bundle {value(index)} is {Bundle(value(at), value(following))}"

        yield Step("begins at 0", (*number, index == 0), at == 0, (count,), describe)
        yield Step("ends at the last hash", (*number, index == count - 1), following == hashes.last, (count,), describe)
        yield Step("rises", inside, at < following, (count, index), describe)
        yield Step("is accepted", inside, hashes.accepts(at, following, index + 1 == count), (count, index), describe)

    @statements.theorem
    def every_hash_is_in_a_bundle() -> Iterator[Step]:
        """Every hash is in some bundle of a well formed layout.

        By induction over the boundaries: once the hashes below one are in bundles, so are those below the next.
        """
        covered = constant("covered", BOOL)
        given = (*well_formed, index >= 0, index < count, Implies(hash < boundary(index), covered))
        bundle_has = hashes.contains(boundary(index), boundary(index + 1), hash)
        yield Step("those below the first", well_formed, hash >= boundary(0), (count, hash), not_once)
        claim = Implies(hash < boundary(index + 1), Or(covered, bundle_has))
        yield Step("those below the next", given, claim, (count, hash), not_once)
        yield Step("the last", (*given, index == count - 1), Or(covered, bundle_has), (count, hash), not_once)

    @statements.theorem
    def no_hash_is_in_two_bundles() -> Iterator[Step]:
        """No hash is in two bundles of a well formed layout.

        By induction, boundaries that rise from each to the next rise from each to all that follow.
        """
        rises = (boundary(index) < boundary(later), boundary(later) < boundary(later + 1))
        yield Step("rises beyond", rises, boundary(index) < boundary(later + 1), (), _hypothetical)
        given = (
            *(*well_formed, index >= 0, index < later, later < count, *(_rises(at) for at in (index, later))),
            Or(index + 1 == later, boundary(index + 1) < boundary(later)),
            Or(later + 1 == count, boundary(later + 1) < hashes.last),
        )
        both = And(*(hashes.contains(boundary(at), boundary(at + 1), hash) for at in (index, later)))
        yield Step("none in common", given, Not(both), (count, hash), not_once)


def _lookup(statements: Statements, hashes: HashRange) -> None:
    """Arrays.binarySearch, by the invariant of its loop, and what getBundle makes of its answer."""
    well_formed = _well_formed(hashes)
    not_once = _not_once(hashes)

    def between(low: Number, high: Number) -> Condition:
        """The loop's invariant: the hash is above every boundary before ``low`` and below every one behind ``high``."""
        return And(
            *(low >= 0, low <= high + 1, high <= count),
            Or(low == 0, boundary(low - 1) < hash),
            Or(high == count, hash < boundary(high + 1)),
        )

    @statements.theorem
    def every_hash_is_looked_up_in_its_bundle() -> Iterator[Step]:
        """The lookup of any hash in a well formed layout ends at a bundle that has the hash."""
        middle, is_hit, further, nearer = hashes.narrowed(boundary, low, high, hash)
        a_round = (*well_formed, between(low, high), low <= high)
        goes_on = (*a_round, Not(is_hit))
        least = (count, hash)
        yield Step("the search begins", well_formed, between(number(0), count), (), _hypothetical)
        yield Step("it looks between", a_round, And(low <= middle, middle <= high), (), _hypothetical)
        yield Step("it goes on between", goes_on, between(further, nearer), (), _hypothetical)
        yield Step("it comes to an end", goes_on, nearer - further < high - low, (), _hypothetical)
        for name, is_found, at, given in (
            ("it finds a boundary", True, middle, (*a_round, is_hit)),
            ("it finds none", False, low, (*well_formed, between(low, high), low > high)),
        ):
            answer = hashes.place(is_found, at, count)
            rises = (Or(at < 1, _rises(at - 1)), Or(at >= count, _rises(at)))
            has_it = hashes.contains(boundary(answer), boundary(answer + 1), hash)
            yield Step(name, (*given, *rises), And(answer >= 0, answer < count, has_it), least, not_once)


def _splits(statements: Statements, hashes: HashRange) -> None:
    """A split of the bundle at ``place`` at the boundaries ``inserted(0)`` to ``inserted(more - 1)``."""
    parent = (boundary(place), boundary(place + 1))
    first, final = inserted(0), inserted(more - 1)
    least = (count, more, *parent, first)
    admitted = (
        *(count >= 1, boundary(0) == 0, boundary(count) == hashes.last, place >= 0, place < count, _rises(place)),
        *(parent[0] >= 0, parent[1] <= hashes.last, hashes.splittable(*parent)),
        *(more >= 1, first >= 0, hashes.admits(*parent, first, final)),
    )
    within = (*admitted, index >= 0, index < count + more)

    def after(at: Number) -> Number:
        cut: Number = hashes.spliced(boundary, place, inserted, more, at)
        return cut

    def accepted(at: Number) -> Condition:
        inside = And(at >= 0, at < count + more)
        return Implies(inside, hashes.accepts(after(at), after(at + 1), at + 1 == count + more))

    def describe(value: Value) -> str | None:
        if value(count) > FEW or value(more) > FEW:
            return None
        cuts = [value(inserted(at)) for at in range(value(more))]
        bundle, where = Bundle(*map(value, parent)), f" at {_listed(cuts)}"
        try:
            layout = _layout(value, hashes).split(bundle, cuts)
        except Refused as error:
            return f"the split of {bundle}{where} is refused: {error}"
        wrong = layout and [b for b in layout.bundles if b.lower >= b.upper]
        return f"the split of {bundle}{where} makes {', '.join(map(str, wrong))}" if wrong else None

    @statements.theorem
    def splits_keep_layouts_well_formed() -> Iterator[Step]:
        """If no constructor refuses what a split makes, its boundaries rise strictly from 0 to the last hash."""
        yield Step("begins at 0", admitted, after(number(0)) == 0, least, describe)
        yield Step("ends at the last hash", admitted, after(count + more) == hashes.last, least, describe)
        given = (*within, accepted(index), accepted(index - 1))
        yield Step("rises", given, after(index) < after(index + 1), least, describe)

    @statements.theorem
    def splits_at_rising_boundaries_are_accepted() -> Iterator[Step]:
        """Boundaries that rise strictly, of which splitBundles admits the first and the final one, are accepted."""
        near = (index - place - 1, index - place)
        rising = (Implies(And(at >= 0, at < more - 1), inserted(at) < inserted(at + 1)) for at in near)
        # by induction as for bundles: what rises strictly lies between its first and its final
        inside = (Implies(And(at >= 0, at < more), And(first <= inserted(at), inserted(at) <= final)) for at in near)
        old = (Implies(And(at >= 0, at < count), _rises(at)) for at in (index, index - more))
        below = (Implies(And(at >= 0, at < count), boundary(at) < hashes.last) for at in (index + 1, index + 1 - more))
        yield Step("accepted", (*within, *rising, *inside, *old, *below), accepted(index), least, describe)

    @statements.theorem
    def splits_leave_other_bundles_alone() -> Iterator[Step]:
        """A split moves no boundary of the layout; it only adds some within the bundle that is split."""
        moved = If(index <= place, index, index + more)
        yield Step("kept", (*admitted, index >= 0, index <= count), after(moved) == boundary(index), least, describe)
        added = (*admitted, index > place, index <= place + more)
        yield Step("added", added, after(index) == inserted(index - place - 1), least, describe)


def _algorithms(statements: Statements, hashes: HashRange) -> None:
    """Where the four algorithms cut a bundle. What depends on topics depends on the hashes of two that are neighbours."""
    bundle = (lower >= 0, lower < upper, upper <= hashes.last)
    topics = (*bundle, start <= end, *(hashes.contains(lower, upper, topic) for topic in (start, end)))

    def inside(cut: Number) -> Condition:
        return And(lower < cut, cut < upper)

    def cuts(cut: Number, *between: Number) -> Callable[[Value], str]:
        def shown(value: Value) -> str:
            topics = f" between topics {_listed(map(value, between))}" if between else ""
            return f"bundle {Bundle(value(lower), value(upper))} is cut{topics} at {value(cut):#010x}"

        return shown

    @statements.theorem
    def range_equally_divide_cuts_inside() -> Iterator[Step]:
        """range_equally_divide cuts every bundle that may be split strictly inside."""
        cut = hashes.midpoint(lower, upper)
        given = (*bundle, hashes.splittable(lower, upper))
        yield Step("inside", given, inside(cut), (lower, upper), cuts(cut))
        yield Step("fits in longs", given, _fits_in_longs(cut), (lower, upper), cuts(cut))

    @statements.theorem
    def even_parts_are_cut_inside() -> Iterator[Step]:
        """A bundle that is cut evenly, into any number of parts up to upper - lower, is cut inside, at boundaries that rise."""
        at, further = hashes.part(lower, upper, parts, index), hashes.part(lower, upper, parts, index + 1)
        given = (*bundle, parts >= 2, parts <= upper - lower, index >= 1, index < parts)
        yield Step("inside", given, inside(at), (lower, upper, parts, index), cuts(at))
        yield Step("rises", (*given, index + 1 < parts), at < further, (lower, upper, parts, index), cuts(further))
        yield Step("fits in longs", given, _fits_in_longs(at), (lower, upper, parts, index), cuts(at))

    @statements.theorem
    def specified_positions_divide_cuts_inside() -> Iterator[Step]:
        """The positions that specified_positions_divide keeps lie strictly inside."""
        given = (*bundle, hashes.keeps(lower, upper, position))
        yield Step("inside", given, inside(position), (lower, upper), cuts(position))

    @statements.theorem
    def topic_count_equally_divide_cuts_inside() -> Iterator[Step]:
        """topic_count_equally_divide cuts strictly inside, except where both middle topics are at an edge of the bundle.

        That is: both on its lowest hash, or on that and the one above it; or both on the last hash of all.
        """
        cut = hashes.midpoint(start, end)
        at_an_edge = Or(And(start == lower, end <= lower + 1), start == upper)
        least, shown = (lower, upper, start, end), cuts(cut, start, end)
        yield Step("inside", topics, inside(cut) == Not(at_an_edge), least, shown)
        yield Step("fits in longs", topics, _fits_in_longs(cut), least, shown)

    @statements.theorem
    def flow_or_qps_equally_divide_cuts_inside() -> Iterator[Step]:
        """flow_or_qps_equally_divide cuts strictly inside, except between two topics at the upper edge of the bundle.

        That is: both on its highest hash; in the last bundle also with one of them on the last hash of all and the other at
        most two below it.
        """
        cut = hashes.behind_midpoint(start, end)
        at_the_edge = Or(And(start == end, end >= upper - 1), And(end == upper, end - start <= 2))
        least, shown = (lower, upper, start, end), cuts(cut, start, end)
        yield Step("inside", topics, inside(cut) == Not(at_the_edge), least, shown)
        yield Step("fits in longs", topics, _fits_in_longs(cut), least, shown)

    @statements.theorem
    def flow_or_qps_equally_divide_separates_topics() -> Iterator[Step]:
        """flow_or_qps_equally_divide separates the topics between which it cuts, if their hashes differ.

        Its cuts never fall, and rise strictly if no two topics have the same hash.
        """
        cut, next_cut = hashes.behind_midpoint(start, end), hashes.behind_midpoint(next_start, next_end)
        given = (start >= 0, start <= end, end <= next_start, next_start <= next_end, next_end <= hashes.last)
        least = (start, end, next_start, next_end)

        def shown(value: Value) -> str:
            return f"between topics {_listed(map(value, least))} it cuts at {_listed(map(value, (cut, next_cut)))}"

        yield Step("separates", (*given, start < end), And(start < cut, cut <= end), least, shown)
        yield Step("never falls", given, cut <= next_cut, least, shown)
        yield Step("rises", (*given, start < end, next_start < next_end), cut < next_cut, least, shown)


def _well_formed(hashes: HashRange) -> tuple[Condition, ...]:
    """The layout begins and ends where it should, and there is a hash; where it must rise, a step says so by ``_rises``."""
    return (count >= 1, boundary(0) == 0, boundary(count) == hashes.last, hash >= 0, hash <= hashes.last)


def _rises(at: Number) -> Condition:
    return boundary(at) < boundary(at + 1)


def _fits_in_longs(term: Number) -> Condition:
    """Nothing that is computed on the way to the term leaves the range of Java's longs."""
    computed = [part for part in below([term], set()) if isinstance(part, Number)]
    return And(*(And(part >= LONGS[0], part <= LONGS[1]) for part in computed))


def _layout(value: Value, hashes: HashRange) -> Layout:
    return Layout(tuple(value(boundary(at)) for at in range(value(count) + 1)), hashes)


def _hypothetical(value: Value) -> None:
    """Of a refutation of an induction's step there is nothing to tell with numbers."""


def _not_once(hashes: HashRange) -> Callable[[Value], str | None]:
    """Tells of a hash that is not in one bundle or not looked up there, if so it is with numbers."""

    def describe(value: Value) -> str | None:
        if value(count) > FEW:
            return None
        try:
            layout = _layout(value, hashes)
        except Refused:
            return None
        has = [bundle for bundle in layout.bundles if hashes.contains(*bundle, value(hash))]
        bundle = layout.find(value(hash))
        if [bundle] == has:
            return None
        where = " and ".join(map(str, has)) or "no bundle"
        return f"hash {value(hash):#010x} is in {where} and is looked up {f'in {bundle}' if bundle else 'outside the layout'}"

    return describe


def _listed(hashes: Sequence[int] | Iterator[int]) -> str:
    return ", ".join(f"{hash:#010x}" for hash in hashes)
