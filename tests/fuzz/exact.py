"""Exhaustive search and what rests on it, against plain Python: every count, every verdict, every shortest run.

A comparison tells whether there was something to compare.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.engines.search.liveness import OUT_OF_TIME, Means, judge
from fencepost.checks.engines.search.reduction import Reduction
from fencepost.model.analysis.obligations import prove_domains
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import search
from fencepost.model.language import ModelError, Not
from fencepost.properties.observed import Observed
from fencepost.properties.slices import slice_for
from tests.fuzz.case import GIB, Case, as_trace, every_state, in_small
from tests.fuzz.judging import exact, judged
from tests.fuzz.plain import Escape, State

MOST_IN_DOMAINS = 1500
"""Values of all variables together that are looked at one by one, reachable or not."""

PATIENCE = 3.0
"""Seconds that judging what must come about may take: lassos of many actions take long to shrink."""


def domains(case: Case) -> bool:
    """Whether every action keeps its variables in their domains: what is proved, against a look at states. False if not."""
    try:
        prove_domains(case.protocol)
        proved, why = True, ""
    except ModelError as error:
        proved, why = False, str(error)
    if case.escape:
        case.same(f"domains: {case.escape}; proved", proved, False)
        return False
    if proved:
        for state in _some_states(case):
            try:
                case.reading.steps(state)
            except Escape as escape:
                case.same(f"domains: proved, and {escape}", False, True)
    elif math.prod(sort.size for sort in case.reading.sorts) <= MOST_IN_DOMAINS:
        case.same(f"domains: {why}", any(_escapes(case, state) for state in every_state(case)), True)
    return proved


def _escapes(case: Case, state: State) -> bool:
    try:
        case.reading.steps(state)
    except Escape:
        return True
    return False


def _some_states(case: Case) -> Iterator[State]:
    for _ in range(20):
        yield tuple(case.chance.randint(sort.low, sort.high) for sort in case.reading.sorts)


def stored_code(case: Case) -> bool:
    """The code of a protocol that differs in one guard from one whose code was kept, then the code of that one again."""
    first = Kernel(case.protocol)
    if not first.actions:
        return False
    states = [first.packing.pack(state) for state in _some_states(case)]
    enabled, number = [first.enabled(state) for state in states], case.chance.randrange(len(first.actions))
    action = first.actions[number]
    changed = copy.copy(case.protocol)
    changed.whole, changed.actions = changed, [*first.actions]
    changed.actions[number] = replace(action, guard=Not(action.guard))
    try:
        opposite = [Kernel(changed).enabled(state) for state in states]
    except ModelError:  # where it could not happen before, it may leave the domains
        return False
    case.same("one guard is the opposite", [sorted({*now} ^ {number}) for now in opposite], enabled)
    case.same("kept", [Kernel(case.protocol).enabled(state) for state in states], enabled)
    return True


def native(case: Case) -> bool:
    """One thread against plain Python: every level, every count, every formula, every first find and its run."""
    result, world, truth = case.result, case.world, case.truth
    unpack = case.observed.kernel.packing.unpack
    case.same("outcome", result.outcome, "exhausted" if world.whole else "depth")
    case.same("states by level", result.level_sizes, tuple(map(len, world.levels)))
    for depth, level in enumerate(world.levels):
        case.same(f"states of level {depth}", {unpack(row) for row in result.level(depth)}, set(level))
    case.same("states", result.distinct, len(world.depth))
    case.same("depth", result.depth, len(world.levels) - 1)
    case.same("transitions", result.transitions, world.transitions)
    enabled = dict.fromkeys((event.label for event in case.reading.events), 0)
    for steps in world.steps.values():
        for number, _ in steps:
            enabled[case.reading.events[number].label] += 1
    counted = dict(zip((action.label for action in case.protocol.actions), result.enabled, strict=True))
    case.same("transitions by action", {**dict.fromkeys(enabled, 0), **counted}, enabled)
    for number, formula in case.formulas.items():
        case.same(f"seen: {formula}", number in result.seen, truth.first(formula) is not None)
    steps = {p.name: number in result.seen_steps for number, p in case.observed.steps.items()}
    case.same("steps", steps, {s.name: truth.shortest(s) is not None for s in case.of_kind("step")})
    firsts = {find.formula: find.depth for find in result.watched}
    case.same("first finds", firsts, {n: d for n, f in case.formulas.items() if (d := truth.first(f)) is not None})
    for find in result.watched:
        path = result.path(find, 1)
        case.same("length of a run", len(path.actions), find.depth)
        trace = as_trace(case, path)
        case.sound("a run to a first find", trace, None)
        case.same("the end of a run", truth.holds(case.formulas[find.formula], trace.states[-1]), True)
    ends = [s.formulas[0] for s in case.of_kind("ends")]
    stuck = [s for s, after in world.steps.items() if not after and not any(truth.holds(f, s) for f in ends)]
    case.same("deadlocks", result.deadlocks, len(stuck))
    nearest = min((world.depth[state] for state in stuck), default=None)
    case.same("first deadlock", result.deadlock and result.deadlock.depth, nearest)
    columns = zip(case.protocol.variables, zip(*world.depth, strict=True), strict=True)
    constant = {variable.name for variable, values in columns if len(set(values)) == 1}
    case.same("constants", set(result.constant()), constant)
    return True


def two_threads(case: Case) -> bool:
    """Two threads against one, though there be few states."""
    with in_small():
        case.same("two threads", case.searched(workers=2), case.result)
    return True


def verdicts(case: Case) -> bool:
    """The verdicts of an exhaustive search: those that end it are found at their shortest, the rest is settled or left open."""
    if not case.world.whole:
        return False
    exact(case, "exhaustive", exhaust(case.finite, Budget(workers=1)).verdicts)
    return True


def liveness(case: Case) -> bool:
    """What must come about, on the graph of all states, against components as networkx finds them."""
    if not case.world.whole or not case.of_kind("leads_to"):
        return False
    findings = judge(case.observed, case.result, Means(GIB, case.chance.choice((1, 2)), PATIENCE), "")
    for verdict in findings.verdicts:
        if verdict.note != OUT_OF_TIME:
            judged(case, "liveness", verdict)
    return True


def symmetry(case: Case) -> bool:
    """One state for each orbit: what these stand for, the verdicts, and the orbits themselves, against all permutations."""
    if not case.world.whole:
        return False
    finite = [p for p in case.suite.properties if p.kind != "leads_to"]
    reduction = Reduction.of(case.suite.protocol, finite, Reporter(quiet=True))
    observed = Observed.of(case.suite, reduction.observed)
    findings = exhaust(observed, Budget(workers=case.chance.choice((1, 2))), reduction=reduction)
    exact(case, "symmetry", findings.verdicts)
    if reduction.orbits is None:
        return False
    result = search(observed.kernel, canonical=reduction.canonical, workers=1, limits=Limits(memory=GIB))
    represented = reduction.represented(result, 1)
    assert represented is not None
    world = case.world
    case.same("represented states by level", represented.level_sizes, tuple(map(len, world.levels)))
    case.same("represented transitions", represented.transitions, world.transitions)
    if reduction.orbits.order <= 24:
        classes = [(c.universe.name, c.members) for c in reduction.orbits.symmetry.classes]
        permutations = list(_permutations(case, classes))
        orbits = {state: min(permuted(state) for permuted in permutations) for state in world.depth}
        case.same("closed under permutations", {p(state) for p in permutations for state in world.depth}, set(world.depth))
        case.same("orbits", result.distinct, len(set(orbits.values())))
    return True


def slices(case: Case) -> bool:
    """What one property can see: its verdict, the shortest run and how many states there are, against those of the whole."""
    if not case.world.whole:
        return False
    smaller = False
    for prop in case.suite.properties:
        part = slice_for(case.protocol, [prop])
        if part is case.protocol:
            continue
        smaller = True
        statement, about = case.statements[prop.name], f"slice: {prop.name}"
        (verdict,) = exhaust(Observed.of(case.suite, [prop], within=part), Budget(workers=1)).verdicts
        length = case.truth.shortest(statement)
        if prop.kind == "sometimes":
            case.same(about, verdict.verdict, "violated" if length is None else "proved")
            continue
        case.same(about, verdict.verdict, "exhausted" if length is None else "violated")
        if length is not None:
            case.same(f"{about}, steps", verdict.reach["steps"], length)
            case.sound("slice", verdict.trace, statement)
        else:
            places = [case.reading.places[v.family, v.index] for v in part.variables]
            seen = {tuple(state[place] for place in places) for state in case.world.depth}
            case.same(f"{about}, states", verdict.reach["distinct"], len(seen))
    return smaller


def _permutations(case: Case, classes: list[tuple[str, tuple[int, ...]]]) -> Iterator[Callable[[State], State]]:
    """Every permutation of states that permutations within the classes of members make."""
    several = [[dict(zip(members, image, strict=True)) for image in itertools.permutations(members)] for _, members in classes]
    families = {family.name: family for family in case.spec.families}
    places = case.reading.places
    for images in itertools.product(*several):
        moves: dict[str, dict[int, int]] = {}
        for (universe, _), image in zip(classes, images, strict=True):
            moves.setdefault(universe, {}).update(image)

        def permuted(state: State, moves: dict[str, dict[int, int]] = moves) -> State:
            image = list(state)
            for (name, index), place in places.items():
                if name not in families:
                    continue
                family = families[name]
                new = tuple(moves.get(u, {}).get(i, i) for u, i in zip(family.per, index, strict=True))
                value, move = state[place], moves.get(family.sort.universe, {})
                if family.sort.kind == "choice":
                    value = move.get(value, value)
                elif family.sort.kind == "subset":
                    value = sum(1 << move.get(m, m) for m in range(value.bit_length()) if value >> m & 1)
                image[places[name, new]] = value
            return tuple(image)

        yield permuted
