"""The compiler's oracle: kernel, plain Python (twice) and Z3's own evaluation agree on every operator and on states."""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import z3
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fencepost.model.bookkeeper.ledger import ledger
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.code.operations import RULES
from fencepost.model.kernel.code.packing import Words
from fencepost.model.kernel.code.planes import RULES as IN_PLANES
from fencepost.model.kernel.code.program import members
from fencepost.model.kernel.code.transposing import spread
from fencepost.model.language import Protocol, Universe
from fencepost.model.language.operators import OPERATORS
from fencepost.properties.ledger.safety import ledger as ledger_properties
from tests.bench.generated import Generated
from tests.bench.interpreter import Interpreter

Draw = Callable[[Any], Any]
Raw = tuple[int, ...]

EXAMPLES = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # shrinking would compile thousands of kernels
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


# --- a protocol with a variable of every shape, and terms over it


def _zoo() -> Protocol:
    """Several words; among them numbers with negative bounds, variables with one value only, fields that fill a word."""
    p = Protocol("zoo")
    p.flag("wet", per=p.universe("animal", 3))
    p.number("small", 0, 5)
    p.number("cold", -9, -3)
    p.number("mixed", -200, 1000)
    p.number("fixed", -7, -7)
    p.choice("food", ["hay", "fish", "bread"])
    p.choice("home", ["zoo"])
    p.subset("one", p.universe("only", 1, "o"))
    p.subset("few", p.universe("cage", 5))
    p.subset("crowd", p.universe("visitor", 63))
    p.flag("truth")
    p.number("amount", -(1 << 63), (1 << 63) - 1)
    p.subset("bits", p.universe("bit", 64, "i"))
    return p


NAMES = [v.name for v in _zoo().variables]
NUMBERS = ["small", "cold", "mixed", "fixed", "food", "home"]
SUBSETS = {1: ["one"], 5: ["few"], 63: ["crowd"], 64: ["bits"]}
WIDTHS = st.sampled_from([1, 2, 5, 31, 63, 64])


class Terms:
    """Draws well-typed terms of bounded depth; ``CASES`` has one way to draw for every operator of the language."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self.p = _zoo()

    def variable(self, name: str) -> Any:
        return self.p.variable(name).term

    def one_of(self, options: Sequence[Any]) -> Any:
        return self._draw(st.sampled_from(options))

    def integer(self, low: int, high: int) -> int:
        return int(self._draw(st.integers(low, high)))

    def width(self) -> int:
        return int(self._draw(WIDTHS))

    def truth(self, depth: int) -> Any:
        kinds = LEAVES["truth"] if depth <= 0 else BY_SORT["truth"]
        return CASES[self.one_of(kinds)](self, depth - 1, "truth")

    def number(self, depth: int) -> Any:
        kinds = LEAVES["number"] if depth <= 0 else BY_SORT["number"]
        return CASES[self.one_of(kinds)](self, depth - 1, "number")

    def bits(self, depth: int, width: int) -> Any:
        kinds = LEAVES["bits"] if depth <= 0 else BY_SORT["bits"]
        return CASES[self.one_of(kinds)](self, depth - 1, width)

    def several(self, sort: Any, depth: int, most: int = 3) -> list[Any]:
        return [self.of(sort, depth) for _ in range(self.integer(2, most))]

    def of(self, sort: Any, depth: int) -> Any:
        """A term of a sort: "truth", "number", or bits of that width."""
        return self.truth(depth) if sort == "truth" else self.number(depth) if sort == "number" else self.bits(depth, sort)

    def sort(self) -> Any:
        return self.one_of(["truth", "number", self.width()])

    def constant(self, sort: Any) -> Any:
        if sort == "truth":
            return self.variable(self.one_of(["truth", "wet[a0]", "wet[a1]", "wet[a2]"]))
        if sort == "number":
            return self.variable(self.one_of(NUMBERS))
        if sort in SUBSETS:
            return self.variable(self.one_of(SUBSETS[sort]))
        return z3.BitVecVal(self.integer(0, 2**sort - 1), sort)

    def compared(self, depth: int) -> tuple[Any, Any]:
        """Two numbers, at times as large as numbers can be.

        Both are of the base class: Python turns a comparison round if its right side is of a class derived from the left's.
        """
        pair = [self.number(depth), self.number(depth)]
        if self.integer(0, 3) == 0:
            pair = [self.variable("amount"), z3.IntVal(self.integer(-(1 << 63), (1 << 63) - 1))]
        return z3.ArithRef(pair[0].as_ast()), z3.ArithRef(pair[1].as_ast())

    def product(self, depth: int) -> Any:
        return self.number(min(depth, 0)) * self.number(min(depth, 0))

    def extracted(self, depth: int, width: int) -> Any:
        source = self.integer(width, 64)
        low = self.integer(0, source - width)
        return z3.Extract(low + width - 1, low, self.bits(depth, source))

    def joined(self, depth: int, width: int) -> Any:
        if width == 1:
            return self.constant(1)
        cut = self.integer(1, width - 1)
        return z3.Concat(self.bits(depth, cut), self.bits(depth, width - cut))

    def equal(self, depth: int) -> Any:
        sort = self.sort()
        return self.of(sort, depth) == self.of(sort, depth)

    def distinct(self, depth: int) -> Any:
        return z3.Distinct(*self.several(self.sort(), depth))


def _bitwise(join: Callable[[Any, Any], Any]) -> Callable[[Terms, int, Any], Any]:
    return lambda t, d, s: join(z3.BitVecRef(t.bits(d, s).as_ast()), t.bits(d, s))


CASES: dict[int, Callable[[Terms, int, Any], Any]] = {
    z3.Z3_OP_TRUE: lambda t, d, s: z3.BoolVal(True),
    z3.Z3_OP_FALSE: lambda t, d, s: z3.BoolVal(False),
    z3.Z3_OP_AND: lambda t, d, s: z3.And(*t.several("truth", d, 4)),
    z3.Z3_OP_OR: lambda t, d, s: z3.Or(*t.several("truth", d, 4)),
    z3.Z3_OP_NOT: lambda t, d, s: z3.Not(t.truth(d)),
    z3.Z3_OP_IMPLIES: lambda t, d, s: z3.Implies(t.truth(d), t.truth(d)),
    z3.Z3_OP_XOR: lambda t, d, s: z3.Xor(t.truth(d), t.truth(d)),
    z3.Z3_OP_EQ: lambda t, d, s: t.equal(d),
    z3.Z3_OP_DISTINCT: lambda t, d, s: t.distinct(d),
    z3.Z3_OP_ITE: lambda t, d, s: z3.If(t.truth(d), t.of(s, d), t.of(s, d)),
    z3.Z3_OP_ANUM: lambda t, d, s: z3.IntVal(t.integer(-1000, 1000)),
    z3.Z3_OP_ADD: lambda t, d, s: z3.Sum(t.several("number", d)),
    z3.Z3_OP_SUB: lambda t, d, s: t.number(d) - t.number(d),
    z3.Z3_OP_UMINUS: lambda t, d, s: -t.number(d),
    z3.Z3_OP_MUL: lambda t, d, s: t.product(d),
    z3.Z3_OP_LE: lambda t, d, s: (lambda a, b: a <= b)(*t.compared(d)),
    z3.Z3_OP_LT: lambda t, d, s: (lambda a, b: a < b)(*t.compared(d)),
    z3.Z3_OP_GE: lambda t, d, s: (lambda a, b: a >= b)(*t.compared(d)),
    z3.Z3_OP_GT: lambda t, d, s: (lambda a, b: a > b)(*t.compared(d)),
    z3.Z3_OP_BNUM: lambda t, d, s: z3.BitVecVal(t.integer(0, 2**s - 1), s),
    z3.Z3_OP_BAND: _bitwise(lambda a, b: a & b),
    z3.Z3_OP_BOR: _bitwise(lambda a, b: a | b),
    z3.Z3_OP_BXOR: _bitwise(lambda a, b: a ^ b),
    z3.Z3_OP_BNOT: lambda t, d, s: ~z3.BitVecRef(t.bits(d, s).as_ast()),
    z3.Z3_OP_EXTRACT: lambda t, d, s: t.extracted(d, s),
    z3.Z3_OP_CONCAT: lambda t, d, s: t.joined(d, s),
    z3.Z3_OP_UNINTERPRETED: lambda t, d, s: t.constant(s),
}
"""How to draw a term with a given operator at its root: from the depth of what is below it and its sort."""

LEAVES: dict[str, list[int]] = {
    "truth": [z3.Z3_OP_UNINTERPRETED, z3.Z3_OP_TRUE, z3.Z3_OP_FALSE],
    "number": [z3.Z3_OP_UNINTERPRETED, z3.Z3_OP_ANUM],
    "bits": [z3.Z3_OP_UNINTERPRETED, z3.Z3_OP_BNUM],
}
BY_SORT: dict[str, list[int]] = {
    "truth": LEAVES["truth"]
    + [z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_NOT, z3.Z3_OP_IMPLIES, z3.Z3_OP_XOR, z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT]
    + [z3.Z3_OP_ITE, z3.Z3_OP_LE, z3.Z3_OP_LT, z3.Z3_OP_GE, z3.Z3_OP_GT],
    "number": LEAVES["number"] + [z3.Z3_OP_ITE, z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_UMINUS, z3.Z3_OP_MUL],
    "bits": LEAVES["bits"]
    + [z3.Z3_OP_ITE, z3.Z3_OP_BAND, z3.Z3_OP_BOR, z3.Z3_OP_BXOR, z3.Z3_OP_BNOT, z3.Z3_OP_EXTRACT, z3.Z3_OP_CONCAT],
}


def test_the_generator_knows_every_operator() -> None:
    assert set(CASES) == set(OPERATORS) == {kind for kinds in BY_SORT.values() for kind in kinds}


def test_the_compiler_knows_every_operator() -> None:
    handled_apart = {z3.Z3_OP_ANUM, z3.Z3_OP_BNUM, z3.Z3_OP_EXTRACT, z3.Z3_OP_UNINTERPRETED}
    assert set(RULES) | handled_apart == set(OPERATORS)
    assert not set(RULES) & handled_apart
    assert set(IN_PLANES) == set(RULES)


# --- what Z3 says


def _literals(p: Protocol, raw: Raw, after: Raw | None = None) -> list[tuple[Any, Any]]:
    pairs = [(v.term, v.domain.literal(value)) for v, value in zip(p.variables, raw, strict=True)]
    if after is not None:
        pairs += [(v.next, v.domain.literal(value)) for v, value in zip(p.variables, after, strict=True)]
    return pairs


def _values(terms: Sequence[Any], pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Z3's values of the terms, all at once as the arguments of one function, so that what they share is evaluated once."""
    together = z3.Function("together", *(t.sort() for t in terms), z3.BoolSort())
    return list(z3.simplify(z3.substitute(together(*terms), *pairs)).children()) if terms else []


def _holding(p: Protocol, formulas: Sequence[Any], raw: Raw, after: Raw | None = None) -> list[int]:
    values = _values(formulas, _literals(p, raw, after))
    assert all(z3.is_true(value) or z3.is_false(value) for value in values)
    return [number for number, value in enumerate(values) if z3.is_true(value)]


def _after(p: Protocol, action: int, raw: Raw) -> Raw | None:
    """The state after an action, or None where a variable would leave its domain."""
    updates = p.actions[action].updates
    literals = dict(zip(updates, _values(list(updates.values()), _literals(p, raw)), strict=True))
    values = []
    for variable, before in zip(p.variables, raw, strict=True):
        domain = variable.domain
        values.append(domain.read(literals[variable]) if variable in literals else before)
        if not domain.low <= values[-1] < domain.low + domain.size:
            return None
    return tuple(values)


def _draw_state(p: Protocol, choose: Callable[[int, int], int]) -> Raw:
    return tuple(choose(v.domain.low, v.domain.low + v.domain.size - 1) for v in p.variables)


class Ways:
    """A protocol with formulas over states and over steps, made ready to be run in each way."""

    def __init__(self, p: Protocol, observed: Sequence[Any], steps: Sequence[Any]) -> None:
        self.p, self.observed, self.steps = p, observed, steps
        self.kernel = Kernel(p, observed, steps)
        self.generated = Generated(p, observed, steps)
        self.plain = Interpreter(p, observed, steps)
        self.together = Together(self.kernel)


class Together:
    """A kernel's functions for 64 states at once."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self._code = kernel, kernel.code_in_planes

    def spread(self, states: Sequence[Words]) -> Words:
        """The planes of some states."""
        rows, planes = np.stack(states), np.zeros(64 * self.kernel.words, np.uint64)
        spread(rows.ctypes.data, self.kernel.words, len(rows), planes.ctypes.data)
        return planes

    def enabled(self, planes: Words) -> Words:
        """The plane of each action's guard."""
        return self._called("enabled_planes", len(self.kernel.actions), planes)

    def observe(self, planes: Words) -> Words:
        """The plane of each observed formula."""
        return self._called("observe_planes", self.kernel.formulas["observe"], planes)

    def observe_step(self, planes: Words, action: int) -> Words:
        """The plane of each observed formula over two states, where the second is the one after the action."""
        written = np.full(self.kernel.formulas["observe_step"], 0x5555, np.uint64)
        concerned = np.zeros(self.kernel.mask_words["observe_step"], np.uint64)
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p] * 2)
        call = kind(self._code.address("step_planes"))
        call(planes.ctypes.data, action, written.ctypes.data, concerned.ctypes.data)
        said = members(concerned)
        return np.array([written[place] if place in said else 0 for place in range(len(written))], np.uint64)

    def _called(self, name: str, count: int, planes: Words) -> Words:
        written = np.zeros(count, np.uint64)
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._code.address(name))
        call(planes.ctypes.data, written.ctypes.data)
        return written


def _those_with(planes: Words, number: int) -> list[int]:
    """The places of the planes that have the bit of that state."""
    return np.flatnonzero(planes >> np.uint64(number) & np.uint64(1)).tolist()


def _agree(ways: Ways, states: Sequence[Raw]) -> int:
    """Kernel, both ways of Python and Z3 agree on everything about these states; returns how many steps were compared."""
    p, observed, steps = ways.p, ways.observed, ways.steps
    kernel, generated, plain = ways.kernel, ways.generated, ways.plain
    compared = 0
    planes = ways.together.spread([kernel.packing.pack(raw) for raw in states])
    for number, raw in enumerate(states):
        packed = kernel.packing.pack(raw)
        assert kernel.packing.unpack(packed) == raw
        enabled, held = _holding(p, [a.guard for a in p.actions], raw), _holding(p, observed, raw)
        assert kernel.enabled(packed) == generated.enabled(raw) == plain.enabled(raw) == enabled
        assert kernel.observe(packed) == generated.observe(raw) == plain.observe(raw) == held
        assert _those_with(ways.together.enabled(planes), number) == enabled
        assert _those_with(ways.together.observe(planes), number) == held
        for action in range(len(p.actions)):
            after = _after(p, action, raw)
            if after is not None:
                assert kernel.packing.unpack(kernel.apply(packed, action)) == after
                assert _those_with(ways.together.observe_step(planes, action), number) == plain.observe_step(raw, after)
                assert generated.apply(raw, action) == plain.apply(raw, action) == after
                compared += 1
    for raw, after in itertools.pairwise(states):
        both = kernel.packing.pack(raw), kernel.packing.pack(after)
        held = _holding(p, steps, raw, after)
        assert kernel.observe_step(*both) == generated.observe_step(raw, after) == plain.observe_step(raw, after) == held
    return compared


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: OPERATORS[kind].replace(" ", "_"))
@EXAMPLES
@given(data=st.data())
def test_every_operator(kind: int, data: st.DataObject) -> None:
    terms = Terms(data.draw)
    sort = terms.one_of([sort for sort, kinds in BY_SORT.items() if kind in kinds])
    width = terms.integer(2, 64) if kind == z3.Z3_OP_CONCAT else 5 if kind == z3.Z3_OP_UNINTERPRETED else terms.width()
    term = CASES[kind](terms, terms.integer(0, 2), width if sort == "bits" else sort)
    assert term.decl().kind() == kind
    p = terms.p

    def act() -> Any:
        """Puts the value of the term where it can be read, and any flag and number beside it."""
        if sort == "truth":
            return z3.Or(term, p.state.wet[0]), {p.state.truth: term, p.state.small: z3.If(term, 5, p.state.small)}
        if sort == "number":
            return term > 0, {p.state.amount: term, p.state.cold: z3.If(term > 0, -9, -3)}
        wide = z3.Concat(z3.BitVecVal(0, 64 - width), term) if width < 64 else term
        return term == wide_literal, {p.state.bits: wide, p.state.one: z3.Extract(0, 0, term)}

    wide_literal = z3.BitVecVal(1, width)
    p.step(by="keeper")(act)
    states = [_draw_state(p, terms.integer) for _ in range(3)]
    observed = [act()[0], z3.Not(act()[0])]
    ways = Ways(p, observed, [p.primed(f) == f for f in observed])
    assert _agree(ways, states) == len(states)


@settings(EXAMPLES, max_examples=2)
@given(data=st.data())
def test_many_terms_at_once(data: st.DataObject) -> None:
    """More actions and formulas than one word of a bit set has room for, with nodes shared between them."""
    terms = Terms(data.draw)
    p, pool = terms.p, [terms.truth(2) for _ in range(6)]

    def act(n: int) -> Any:
        """Mixes what the pool has."""
        left, right = pool[n % 6], pool[(n * 5 + 1) % 6]
        return z3.Or(left, z3.Not(right)), {p.state.truth: z3.Xor(left, right), p.state.mixed: z3.If(right, n, -n)}

    p.step(by="keeper", n=range(70))(act)
    observed = [z3.And(pool[i % 6], pool[(i + 1) % 6]) if i % 2 else z3.Not(pool[i % 6]) for i in range(67)]
    states = [_draw_state(p, terms.integer) for _ in range(2)]
    ways = Ways(p, observed, [z3.Implies(f, p.primed(g)) for f, g in itertools.pairwise(observed)])
    assert _agree(ways, states) > 0


# --- packing


@pytest.mark.parametrize("sizes", [[64], [1, 64, 1], [33, 33, 33], [63, 1, 1], [32, 32, 32, 32], [1] * 65])
def test_fields_never_cross_words(sizes: list[int]) -> None:
    p = Protocol("packed")
    sets = [p.subset(f"s{i}", Universe(f"u{i}", size, "u")) for i, size in enumerate(sizes)]

    def flip(n: int) -> Any:
        """Complements one set, and leaves all others alone."""
        return True, {sets[n]: ~sets[n]}

    p.step(by="nobody", n=range(len(sizes)))(flip)
    chance = random.Random(1)
    states = [tuple(chance.getrandbits(size) for size in sizes), tuple((1 << size) - 1 for size in sizes), (0,) * len(sizes)]
    assert _agree(Ways(p, [s.is_empty for s in sets], []), states) == len(states) * len(sizes)


# --- the real protocol

LEDGERS: dict[str, dict[str, int]] = {
    "standard": {},
    "striped": {"bookies": 4, "ensemble": 3, "write_quorum": 2, "changes": 1, "entries": 3},
    "faulty": {"recoverers": 2, "changes": 1, "crashes": 1, "losses": 1, "rots": 1, "explicit_lacs": 1, "deletions": 1},
}


EACH_LEDGER = pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in LEDGERS])
"""What is made ready of a ledger serves all tests of it, if one worker runs them."""


@cache
def _ways(name: str) -> Ways:
    p = ledger(**LEDGERS[name])  # type: ignore[arg-type]
    suite = ledger_properties(p)
    observed = [q.formula for q in suite.properties + suite.lemmas if q.kind != "step"]
    return Ways(p, observed, [q.formula for q in suite.properties if q.kind == "step"])


@EACH_LEDGER
def test_random_states_of_the_ledger(name: str) -> None:
    ways, chance = _ways(name), random.Random(7)
    states = [_draw_state(ways.p, chance.randint) for _ in range(2)]
    assert _agree(ways, states) > len(ways.p.actions)


@EACH_LEDGER
def test_random_walks_of_the_ledger(name: str) -> None:
    """Kernel and both ways of plain Python step by step, through states that random draws hardly ever hit."""
    ways, chance = _ways(name), random.Random(11)
    p, kernel, generated, plain = ways.p, ways.kernel, ways.generated, ways.plain
    taken: set[int] = set()
    for start in itertools.islice(itertools.cycle(p.initial_states()), 40):
        raw = start
        for _ in range(60):
            packed = kernel.packing.pack(raw)
            enabled = kernel.enabled(packed)
            assert enabled == generated.enabled(raw) == plain.enabled(raw)
            assert kernel.observe(packed) == generated.observe(raw) == plain.observe(raw)
            if not enabled:
                break
            action = chance.choice(enabled)
            after, expected = kernel.apply(packed, action), generated.apply(raw, action)
            assert kernel.packing.unpack(after) == expected == plain.apply(raw, action)
            held = generated.observe_step(raw, expected)
            assert kernel.observe_step(packed, after) == held == plain.observe_step(raw, expected)
            assert _those_with(ways.together.observe_step(ways.together.spread([packed]), action), 0) == held
            raw = expected
            taken.add(action)
    assert len({p.actions[action].name for action in taken}) > len({a.name for a in p.actions}) / 2
