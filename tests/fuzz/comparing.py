"""Every engine against plain Python, one generated protocol at a time.

Where an engine is exact (counts, verdicts, shortest lengths), what it says is what plain Python says, and so all of them say
the same. Where it is not, it may leave a question open, but is never wrong. A comparison tells whether there was something
to compare.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import HealthCheck, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.bounded import unroll
from fencepost.checks.engines.exhaustive import Budget, exhaust
from fencepost.checks.engines.findings import Findings
from fencepost.checks.engines.induction import prove
from fencepost.checks.engines.liveness import STOPPED, Means, judge
from fencepost.checks.engines.reduction import Reduction
from fencepost.checks.engines.sampling import Walks, sample
from fencepost.checks.engines.verdicts import Verdict
from fencepost.checks.export.command import tla
from fencepost.model.kernel.search import crew as crew_module
from fencepost.model.kernel.search import search as search_module
from fencepost.model.kernel.search import store as store_module
from fencepost.model.kernel.search.paths import Path as Run
from fencepost.model.kernel.search.results import Limits, Result
from fencepost.model.kernel.search.search import least_memory, search
from fencepost.model.kernel.walks.steered import Steered
from fencepost.model.kernel.walks.walks import random_walks, walk_path
from fencepost.model.language import ModelError
from fencepost.model.language.obligations import prove_domains
from fencepost.properties.machines import Violation
from fencepost.properties.machines import machine as machine_of
from fencepost.properties.observed import Observed
from fencepost.traces.replay import replay_on
from fencepost.traces.trace import Trace, trace_of
from tests.checks.export.tlc import Tlc
from tests.fuzz.plain import Escape, Reading, State, World
from tests.fuzz.syntax import Spec, Statement, Term
from tests.fuzz.truth import Truth
from tests.fuzz.writing import program, run

NODES = 100_000
"""Nodes of terms that plain Python reads of one protocol, about."""

MOST_IN_DOMAINS = 1500
"""Values of all variables together that are looked at one by one, reachable or not."""

PATIENCE = 3.0
"""Seconds that judging what must come about may take: lassos of many actions take long to shrink."""

GIB, MEMORY = 1 << 30, 1 << 23


class Difference(AssertionError):
    """Two ways to run a protocol differ; the message says in what, and has the protocol as a program."""


class Refused(Exception):
    """The language refuses the protocol."""


class Case:
    """One protocol: as it is read in plain Python, and as it is built."""

    def __init__(self, spec: Spec, *, most: int = 300) -> None:
        self.spec, self.text = spec, program(spec)
        self.chance = random.Random(self.text)
        self.reading = Reading(spec)
        self.escape = ""
        self.world = World([], {})
        try:
            self.world = self.reading.explore(min(most, NODES // (1 + self.reading.work)))
        except Escape as escape:
            self.escape = str(escape)
        self.truth = Truth(self.reading, self.world)
        try:
            self.protocol, self.suite = run(self.text)
        except ModelError as error:
            raise Refused(f"{error}\n{self.text}") from error
        self.statements = {statement.name: statement for statement in spec.statements}

    @cached_property
    def observed(self) -> Observed:
        return Observed.of(self.suite, self.suite.properties)

    @cached_property
    def result(self) -> Result:
        """What one thread finds, on its way through all that plain Python has seen."""
        return self.searched(workers=1)

    def searched(self, **options: Any) -> Result:
        """A search that nothing ends but its limits, as far as plain Python has come."""
        options.setdefault("limits", Limits(memory=GIB, depth=None if self.world.whole else len(self.world.levels) - 1))
        return search(self.observed.kernel, watch=self.watch, may_end=next(iter(self.observed.may_end), None), **options)

    @property
    def watch(self) -> list[int]:
        return list(self.formulas)

    @cached_property
    def finite(self) -> Observed:
        """Without what finite runs cannot violate."""
        finite = [p for p in self.suite.properties if p.kind != "leads_to"]
        return self.observed if len(finite) == len(self.suite.properties) else Observed.of(self.suite, finite)

    @cached_property
    def formulas(self) -> dict[int, Term]:
        return self.formulas_of(self.observed)

    def formulas_of(self, observed: Observed) -> dict[int, Term]:
        """The formulas over states that a kernel observes, by number, but for premises that it takes out of formulas."""
        formulas = {number: Term("not", (self._formula(p.name),)) for number, p in observed.states.items()}
        formulas |= {number: self._formula(p.name) for number, p in (observed.goals | observed.may_end).items()}
        pairs = [pair for statement in self.of_kind("leads_to") for pair in _pairs(statement)] if observed.leads else []
        for lead, (premise, conclusion) in zip(observed.leads, pairs, strict=True):
            formulas |= {lead.premise: premise, lead.conclusion: conclusion}
        return formulas

    def of_kind(self, *kinds: str) -> list[Statement]:
        return [statement for statement in self.spec.statements if statement.kind in kinds]

    def _formula(self, name: str) -> Term:
        return self.statements[name].formulas[0]

    # --- what is said of a difference

    def same(self, what: str, engine: object, plain: object) -> None:
        """Raises Difference unless both are the same."""
        if engine != plain:
            raise Difference(f"{what}: {engine!r}, and it should be {plain!r}\n\n{self.text}")

    def sound(self, by: str, trace: Trace | None, statement: Statement | None) -> None:
        """Raises Difference unless a trace is a run that shows what it is said to show, and replays."""
        if trace is None:
            raise Difference(f"{by}: {statement and statement.name} has no trace\n\n{self.text}")
        self.same(f"{by}: a run of {statement and statement.name}", self.truth.flaw(trace, statement), "")
        if self.chance.randrange(4):
            return  # to replay it takes a kernel of its own
        replay = replay_on(trace, self.protocol, self.suite)
        self.same(f"{by}: replay of {statement and statement.name}: {replay}", replay.replays, True)


def _pairs(statement: Statement) -> Iterator[tuple[Term, Term]]:
    return zip(statement.formulas[::2], statement.formulas[1::2], strict=True)


@contextmanager
def in_small() -> Iterator[None]:
    """Searches use all threads, small tables and close looks even where there are few states."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(search_module, "_SMALL", 0))
        stack.enter_context(patch.object(store_module, "_FIRST_LINES", 1))
        stack.enter_context(patch.object(crew_module, "_GLANCE", 0.0))
        yield


# --- what the language promises


def domains(case: Case) -> bool:
    """Whether every action keeps its variables in their domains: what Z3 proves, against a look at states. False if not."""
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
        case.same(f"domains: {why}", any(_escapes(case, state) for state in _every_state(case)), True)
    return proved


def _escapes(case: Case, state: State) -> bool:
    try:
        case.reading.steps(state)
    except Escape:
        return True
    return False


def _every_state(case: Case) -> Iterator[State]:
    """Every state that the domains allow, whether it can be reached or not."""
    return itertools.product(*(range(sort.low, sort.high + 1) for sort in case.reading.sorts))


def _some_states(case: Case) -> Iterator[State]:
    for _ in range(20):
        yield tuple(case.chance.randint(sort.low, sort.high) for sort in case.reading.sorts)


# --- exhaustive search


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
        made = _as_trace(case, path)
        case.sound("a run to a first find", made, None)
        case.same("the end of a run", truth.holds(case.formulas[find.formula], made.states[-1]), True)
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
    _exact(case, "exhaustive", exhaust(case.finite, Budget(workers=1)).verdicts)
    return True


def _exact(case: Case, by: str, found: Iterable[Verdict]) -> None:
    """Whether verdicts are the ones that a breadth-first search comes to."""
    truth = case.truth
    shortest = {s.name: truth.shortest(s) for s in case.spec.statements if s.kind not in ("leads_to", "lemma")}
    ending = [truth.noticed(s, d) for s in case.of_kind("always", "step", "ends") if (d := shortest[s.name]) is not None]
    last = min(ending, default=None)
    for verdict in found:
        statement = case.statements[verdict.property.name]
        about = f"{by}: {statement.name}"
        length = shortest[statement.name]
        met = length is not None and (last is None or truth.noticed(statement, length) <= last)
        if statement.kind == "sometimes":
            case.same(about, verdict.verdict, "proved" if met else "violated" if last is None else "inconclusive")
            continue
        case.same(about, verdict.verdict, "violated" if met else "exhausted" if last is None else "inconclusive")
        if met:
            case.same(f"{about}, steps", verdict.reach["steps"], length)
            case.same(f"{about}, length of its trace", len(verdict.trace.steps), length)
            case.sound(by, verdict.trace, statement)


def liveness(case: Case) -> bool:
    """What must come about, on the graph of all states, against components as networkx finds them."""
    if not case.world.whole or not case.of_kind("leads_to"):
        return False
    found = judge(case.observed, case.result, Means(GIB, case.chance.choice((1, 2)), PATIENCE), "")
    for verdict in found.verdicts:
        if verdict.note != STOPPED:
            _judged(case, "liveness", verdict)
    return True


def _judged(case: Case, by: str, verdict: Verdict) -> None:
    statement, truth = case.statements[verdict.property.name], case.truth
    expected = "inconclusive" if not truth.is_met(statement) else "exhausted" if truth.comes(statement) else "violated"
    case.same(f"{by}: {statement.name}", verdict.verdict, expected)
    if expected == "violated":
        case.sound(by, verdict.trace, statement)


def symmetry(case: Case) -> bool:
    """One state for each orbit: what these stand for, the verdicts, and the orbits themselves, against all permutations."""
    if not case.world.whole:
        return False
    finite = [p for p in case.suite.properties if p.kind != "leads_to"]
    reduction = Reduction.of(case.suite, finite, Reporter(quiet=True))
    observed = Observed.of(case.suite, reduction.observed)
    found = exhaust(observed, Budget(workers=case.chance.choice((1, 2))), reduction=reduction)
    _exact(case, "symmetry", found.verdicts)
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
            made = list(state)
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
                made[places[name, new]] = value
            return tuple(made)

        yield permuted


# --- what is cut short


def cut_short(case: Case) -> bool:
    """Searches that end in the middle of a level, for want of time or because they are told to: open or right, never wrong."""
    looks, most = itertools.count(), case.chance.choice((0, 1, 3, 10, 40))
    seconds = case.chance.choice((0.0, 0.0005, 0.003, None))
    memory, workers = max(1 << 24, least_memory(case.observed.kernel, 2)), case.chance.choice((1, 2))
    with in_small():
        found = exhaust(
            case.observed,
            Budget(memory=memory, seconds=seconds, workers=workers),
            should_stop=lambda: next(looks) >= most,
        )
    _never_wrong(case, "cut short", found)
    return True


def _never_wrong(case: Case, by: str, found: Findings) -> None:
    truth, whole = case.truth, case.world.whole
    for verdict in found.verdicts:
        statement = case.statements[verdict.property.name]
        if statement.kind == "leads_to":
            if verdict.verdict != "inconclusive" and whole:
                _judged(case, by, verdict)
            continue
        met = truth.shortest(statement)
        about = f"{by}: {statement.name} is {verdict.verdict}"
        if statement.kind == "sometimes":
            if verdict.verdict == "proved" and whole:
                case.same(about, True, met is not None)
            if verdict.verdict == "violated":
                case.same(about, None, met)
        elif verdict.verdict == "violated" and verdict.trace is None:
            # of a negative control walks tell only that they have seen it violated
            case.same(about, (by, statement.kind, met is None and whole), ("walks", "strict", False))
        elif verdict.verdict == "violated":
            if met is not None and by != "walks":
                case.same(f"{about}, steps", verdict.reach["steps"], met)
            case.sound(by, verdict.trace, statement)
        elif verdict.verdict in ("exhausted", "proved"):
            case.same(about, None, met)
        elif verdict.verdict == "bounded":
            case.same(about, True, met is None or met > verdict.reach["depth"])


def resumed(case: Case, folder: Path) -> bool:
    """A search that is stopped, goes on, is stopped again and goes on, against one that was not."""
    looks = itertools.count()
    most = case.chance.randrange(1, 4 + len(case.world.levels))
    options: dict[str, Any] = {"checkpoint": folder / "search", "checkpoint_every": case.chance.choice((0.0, 60.0))}
    with in_small():
        case.searched(workers=case.chance.choice((1, 2)), should_stop=lambda: next(looks) >= most, **options)
        case.searched(workers=2, should_stop=lambda: next(looks) >= 2 * most, resume=True, **options)
    case.same("resumed", case.searched(workers=1, resume=True, **options), case.result)
    return True


# --- other engines


def induction(case: Case) -> bool:
    """Proofs against a look at every state that the domains allow, where these are few; else they are not of what is false."""
    proof = prove(case.suite, workers=1, seconds=5.0, budget=20.0, examples=0)
    _never_wrong(case, "induction", Findings(proof.verdicts))
    case.same("induction: violated", [v.verdict for v in proof.verdicts if v.verdict == "violated"], [])
    if proof.failures and any(failure.undecided for failure in proof.failures):
        return True
    if math.prod(sort.size for sort in case.reading.sorts) <= MOST_IN_DOMAINS:
        expected = _inductively(case)
        case.same("induction", {v.property.name: v.verdict for v in proof.verdicts}, expected)
    return True


def _inductively(case: Case) -> dict[str, str]:
    """What follows from the lemmas, by looking at every state in which they hold."""
    holds, lemmas = case.truth.holds, [s.formulas[0] for s in case.of_kind("lemma")]
    inside = {s: case.reading.steps(s) for s in _every_state(case) if all(holds(lemma, s) for lemma in lemmas)}
    inductive = all(state in inside for state in case.reading.initial)
    inductive = inductive and all(after in inside for steps in inside.values() for _, after in steps)
    broken = {
        "always": lambda f: not all(holds(f, s) for s in inside),
        "step": lambda f: not all(after == s or holds(f, s, after) for s, steps in inside.items() for _, after in steps),
        "ends": lambda f: not all(steps or holds(f, s) for s, steps in inside.items()),
    }
    return {
        s.name: "proved" if inductive and not broken[s.kind](s.formulas[0]) else "inconclusive"
        for s in case.of_kind(*broken)
    }


def bounded(case: Case) -> bool:
    """All runs of a few steps: what violates a property, in as few steps as plain Python finds."""
    depth = case.chance.choice((1, 2, 3, 4))
    finite = [p for p in case.suite.properties if p.kind != "leads_to"]
    found = unroll(case.suite, finite, depth, seconds=20.0)
    _never_wrong(case, "bounded", found)
    if not case.world.whole and depth >= len(case.world.levels):
        return True
    for verdict in found.verdicts:
        statement = case.statements[verdict.property.name]
        if verdict.reach["depth"] < depth and "time" in verdict.note:
            continue
        met = case.truth.shortest(statement)
        met = met if met is not None and met <= depth else None
        expected = {"sometimes": ("proved", "inconclusive"), "strict": ("violated", "inconclusive")}.get(
            statement.kind, ("violated", "bounded")
        )
        case.same(f"bounded: {statement.name} within {depth}", verdict.verdict, expected[met is None])
        if met is not None:
            case.same(f"bounded: steps of {statement.name}", len(verdict.trace.steps), met)
            case.sound("bounded", verdict.trace, statement)
    return True


def walks(case: Case) -> bool:
    """Random walks: what they violate is violated, what they see can be reached, and the walks themselves are runs."""
    chance, observed = case.chance, case.finite
    strategy, seed = chance.choice(("uniform", "swarm", "held")), chance.randrange(1000)
    asked: dict[str, Any] = {"seed": seed, "steps": chance.choice((1, 7, 40)), "strategy": strategy}
    result = random_walks(observed.kernel, count=200, workers=chance.choice((1, 2)), **asked)
    for walk in range(3):
        made = _as_trace(case, walk_path(observed.kernel, walk=walk, **asked))
        case.sound("a walk", made, None)
        if case.world.whole:
            case.same("states of a walk that can be reached", set(made.states) <= set(case.world.depth), True)
    if case.world.whole:
        for number, formula in case.formulas_of(observed).items():
            if number in result.seen:
                case.same(f"walks have seen {formula}", case.truth.first(formula) is not None, True)
        may = {case.reading.events[number].label for steps in case.world.steps.values() for number, _ in steps}
        labels = [action.label for action in case.protocol.actions]
        case.same("walks: enabled where it never is", {labels[n] for n in result.enabled} - may, set())
        case.same("walks: taken", {labels[n] for n, count in enumerate(result.taken) if count} - may, set())
    case.same("walks: steps", sum(result.taken), result.steps)
    found = sample(observed, Walks(200, asked["steps"], seed, strategy), workers=1)
    _never_wrong(case, "walks", found)
    return True


def steered(case: Case) -> bool:
    """A run that bytes steer, as machines of Hypothesis do: what is enabled and violated at each step of it."""
    observed = case.observed
    alarm, step_alarm = observed.alarms()
    wheel = Steered(observed.kernel, alarm=alarm, step_alarm=step_alarm, may_end=next(iter(observed.may_end), None))
    labels = [action.label for action in observed.kernel.actions]
    for _ in range(4):
        wheel.begin(case.chance.randrange(len(wheel.initials)))
        wheel.follow(case.chance.randbytes(case.chance.randrange(40)))
        made = _as_trace(case, wheel.path)
        case.sound("a steered run", made, None)
        state, before = made.states[-1], made.states[-2:-1]
        may = [case.reading.events[number].label for number, _ in case.reading.steps(state)]
        case.same("enabled", [label for n, label in enumerate(labels) if wheel.enabled >> n & 1], may)
        states, steps, ends = wheel.violated
        for number, p in observed.states.items():
            if not p.strict:
                case.same(f"{p.name} is violated", number in states, case.truth.holds(case.formulas[number], state))
        for number, p in observed.steps.items():
            formula = case.statements[p.name].formulas[0]
            bad = bool(before) and before[0] != state and not case.truth.holds(formula, before[0], state)
            case.same(f"{p.name} is violated", number in steps, bad)
        over = [not may and not case.truth.holds(case.formulas[number], state) for number in observed.may_end]
        case.same("ends where it may not", ends, any(over))
    return True


def _as_trace(case: Case, path: Run) -> Trace:
    states = [np.array(state, dtype=np.uint64) for state in path.states]
    return trace_of(case.observed.kernel, states, path.actions)


# --- what a process leaves behind, and what is too large for plain Python


def killed(case: Case, folder: Path) -> bool:
    """A search in a process that is killed while it writes, and that goes on from what is on disk."""
    place, fatal = folder / "search", case.chance.randrange(1, 2 * len(case.world.levels) + 3)
    process = os.fork()
    if not process:
        _search_and_die(case, place, fatal)
    os.waitpid(process, 0)
    if not (place / "search.json").exists():
        return False
    case.same("killed and resumed", case.searched(workers=1, checkpoint=place, resume=True), case.result)
    return True


def _search_and_die(case: Case, place: Path, fatal: int) -> None:
    """In a process of its own: searches until it has flushed a file so often, and is killed there; does not return."""
    flushed = itertools.count(1)
    honest = os.fsync

    def fsync(file: int) -> None:
        count = next(flushed)
        if count == fatal and fatal % 3 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        honest(file)
        if count == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        with patch.object(os, "fsync", fsync):
            case.searched(workers=1, checkpoint=place, checkpoint_every=0.0)
    finally:
        os._exit(0)


def large(case: Case, folder: Path) -> bool:
    """More states than plain Python looks at: the kernel against itself, on two threads and where memory ends a level."""
    if case.world.whole:
        return False
    room = Limits(memory=max(MEMORY, least_memory(case.observed.kernel, 2)), seconds=0.05)
    found = case.searched(workers=1, limits=room)
    known = replace(room, seconds=None, depth=None if found.outcome == "exhausted" else found.depth)
    result = found if known.depth is None else case.searched(workers=1, limits=known)
    case.same("large: outcome", result.outcome, "exhausted" if known.depth is None else "depth")
    case.same("large: on two threads", case.searched(workers=2, limits=known), result)
    with in_small():
        least = least_memory(case.observed.kernel, 2)
        half = replace(known, memory=max(least, int(result.bytes_in_use * case.chance.uniform(0.2, 1.0))))
        cut = case.searched(workers=case.chance.choice((1, 2)), limits=half, checkpoint=folder / "search")
        count = len(cut.level_sizes)
        case.same("large: levels before memory ended it", cut.level_sizes, result.level_sizes[:count])
        case.same("large: seen before memory ended it", set(cut.seen) <= set(result.seen), True)
        if cut.outcome != "memory":
            case.same("large: within less memory", cut, result)
        again = case.searched(workers=2, limits=known, checkpoint=folder / "search", resume=True)
        case.same("large: resumed with more memory", again, result)
    return True


def machine(case: Case) -> bool:
    """Hypothesis on a machine of the protocol: what it finds is violated, and it shows a run that does it."""
    few = settings(
        max_examples=8,
        stateful_step_count=3,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    try:
        run_state_machine_as_test(machine_of(case.finite, stretch=24), settings=few)
    except Violation as found:
        states = [np.array(state, dtype=np.uint64) for state in found.path.states]
        made = trace_of(case.finite.kernel, states, found.path.actions, violated=found.property.name)
        case.sound("Hypothesis", made, case.statements[found.property.name])
    return True


def tlc(case: Case, checker: Tlc, folder: Path) -> bool:
    """The TLA+ module in TLC: states, transitions and depth, and which situations it reaches."""
    if not case.world.whole or not case.spec.variables or re.search(r"[0-9]{9}", case.text):
        return False
    files = tla(case.suite, Reporter(quiet=True))
    (module,) = (name.removesuffix(".tla") for name in files if name.endswith(".tla"))
    reach = "SPECIFICATION Spec\nINVARIANT TypeOK\nCHECK_DEADLOCK FALSE\n"
    report = checker.run(folder, {f"{module}.tla": files[f"{module}.tla"], "Reach.cfg": reach}, "Reach.cfg")
    case.same(f"TLC: {report.output}", report.status, 0)
    world = case.world
    expected = len(world.depth), world.transitions + len(world.levels[0]), len(world.levels) - 1
    case.same("TLC: states, transitions, depth", report.counts, expected)
    shown = checker.run(folder, files, f"{module}_reached.cfg")
    length = case.truth.shortest(case.statements["reached"])
    case.same(f"TLC: reached: {shown.output}", shown.status, 0 if length is None else 12)
    if length is not None:
        case.same("TLC: steps to what is reached", max(shown.steps, 0), length)  # of an initial state it numbers none
    return True
