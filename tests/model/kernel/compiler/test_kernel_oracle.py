"""The compiler's oracle: kernel, plain Python (twice) and Z3's own evaluation agree on every operator and on states."""

from __future__ import annotations

import itertools
import random
from functools import cache
from typing import Any, get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fencepost.model.bookkeeper.ledger import ledger
from fencepost.model.kernel.compiler.operations import RULES
from fencepost.model.kernel.compiler.plane_terms import RULES as IN_PLANES
from fencepost.model.language import And, If, Implies, Not, Or, Protocol, Universe
from fencepost.model.terms.nodes import ONLY_PROVED, Op, bits
from fencepost.model.terms.values import concatenation, extract
from fencepost.properties.ledger.suite import ledger as ledger_properties
from tests.model.kernel.compiler.agreeing import Ways, agree, draw_state, those_with
from tests.model.kernel.compiler.drawn_terms import BY_SORT, CASES, Terms

OPERATORS = [op for op in get_args(Op) if op not in ONLY_PROVED]
"""What a term that is searched may be made of."""

EXAMPLES = settings(max_examples=2, phases=[Phase.explicit, Phase.generate])  # shrinking would compile thousands of kernels


def test_the_generator_knows_every_operator() -> None:
    assert set(CASES) == set(OPERATORS) == {kind for kinds in BY_SORT.values() for kind in kinds}


def test_the_compiler_knows_every_operator() -> None:
    handled_apart = {"literal", "extract", "constant"}
    assert set(RULES) | handled_apart == set(OPERATORS)
    assert not set(RULES) & handled_apart
    assert set(IN_PLANES) == set(RULES)


EACH_OPERATOR = pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: kind.replace(" ", "_"))


@EACH_OPERATOR
@EXAMPLES
@given(data=st.data())
def test_every_operator(kind: str, data: st.DataObject) -> None:
    _agree_on(kind, data)


@pytest.mark.long
@EACH_OPERATOR
@settings(EXAMPLES, max_examples=8)
@given(data=st.data())
def test_every_operator_in_more_terms(kind: str, data: st.DataObject) -> None:
    _agree_on(kind, data)


def _agree_on(kind: str, data: st.DataObject) -> None:
    terms = Terms(data.draw)
    sort = terms.one_of([sort for sort, kinds in BY_SORT.items() if kind in kinds])
    width = terms.integer(2, 64) if kind == "concat" else 5 if kind == "constant" else terms.width()
    term = CASES[kind](terms, terms.integer(0, 2), width if sort == "bits" else sort)
    assert term.op == kind
    p = terms.p

    def act() -> Any:
        """Puts the value of the term where it can be read, and any flag and number beside it."""
        if sort == "truth":
            return Or(term, p.state.wet[0]), {p.state.truth: term, p.state.small: If(term, 5, p.state.small)}
        if sort == "number":
            return term > 0, {p.state.amount: term, p.state.cold: If(term > 0, -9, -3)}
        wide = concatenation(bits(0, 64 - width), term) if width < 64 else term
        return term == wide_literal, {p.state.bits: wide, p.state.one: extract(0, 0, term)}

    wide_literal = bits(1, width)
    p.step(by="keeper")(act)
    states = [draw_state(p, terms.integer) for _ in range(3)]
    observed = [act()[0], Not(act()[0])]
    ways = Ways(p, observed, [p.primed(f) == f for f in observed])
    assert agree(ways, states) == len(states)


@pytest.mark.long
@EXAMPLES
@given(data=st.data())
def test_many_terms_at_once(data: st.DataObject) -> None:
    """More actions and formulas than one word of a bit set has room for, with nodes shared between them."""
    terms = Terms(data.draw)
    p, pool = terms.p, [terms.truth(2) for _ in range(6)]

    def act(n: int) -> Any:
        """Mixes what the pool has."""
        left, right = pool[n % 6], pool[(n * 5 + 1) % 6]
        return Or(left, Not(right)), {p.state.truth: left ^ right, p.state.mixed: If(right, n, -n)}

    p.step(by="keeper", n=range(70))(act)
    observed = [And(pool[i % 6], pool[(i + 1) % 6]) if i % 2 else Not(pool[i % 6]) for i in range(67)]
    states = [draw_state(p, terms.integer) for _ in range(2)]
    ways = Ways(p, observed, [Implies(f, p.primed(g)) for f, g in itertools.pairwise(observed)])
    assert agree(ways, states) > 0


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
    assert agree(Ways(p, [s.is_empty for s in sets], []), states) == len(states) * len(sizes)


# --- the real protocol

LEDGERS: dict[str, dict[str, int]] = {
    "standard": {},
    "striped": {"bookies": 4, "ensemble": 3, "write_quorum": 2, "changes": 1, "entries": 3},
    "faulty": {"recoverers": 2, "changes": 1, "crashes": 1, "losses": 1, "rots": 1, "explicit_lacs": 1, "deletions": 1},
}


def _cost(name: str) -> list[pytest.MarkDecorator]:
    """One worker compiles an instance; those but the first take seconds."""
    return [pytest.mark.xdist_group(name), *([] if name == next(iter(LEDGERS)) else [pytest.mark.long])]


EACH_LEDGER = pytest.mark.parametrize("name", [pytest.param(name, marks=_cost(name)) for name in LEDGERS])
"""What is made ready of a ledger serves all tests of it, if one worker runs them."""


@cache
def _ways(name: str) -> Ways:
    p = ledger(**LEDGERS[name])  # type: ignore[arg-type]
    suite = ledger_properties(p)
    observed = [q.formula for q in suite.properties + suite.lemmas if q.kind != "step"]
    return Ways(p, observed, [q.formula for q in suite.properties if q.kind == "step"])


@pytest.mark.long
@EACH_LEDGER
def test_random_states_of_the_ledger(name: str) -> None:
    ways, chance = _ways(name), random.Random(7)
    states = [draw_state(ways.p, chance.randint) for _ in range(2)]
    assert agree(ways, states) > len(ways.p.actions)


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
            assert those_with(ways.together.observe_step(ways.together.spread([packed]), action), 0) == held
            raw = expected
            taken.add(action)
    assert len({p.actions[action].name for action in taken}) > len({a.name for a in p.actions}) / 2
