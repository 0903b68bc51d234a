"""Representatives of orbits in machine code, against permutations done one variable at a time, and the counts they predict."""

from __future__ import annotations

import ctypes
import itertools
import random
from collections.abc import Iterator
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fencepost.model.analysis.exchange import Transposition
from fencepost.model.analysis.symmetry import Interchangeable, Symmetry, symmetry_of
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler import permutations, store
from fencepost.model.kernel.compiler.packing import Packing, Words
from fencepost.model.kernel.compiler.permutations import Orbits, plain_changes, tour
from fencepost.model.kernel.search.paths import plain
from fencepost.model.kernel.search.results import Limits, Result, Sought, represented
from fencepost.model.kernel.search.search import search
from fencepost.model.language import And, Not, Protocol, all_of, any_of
from tests.model.locks import Raw, exchanged, locks


def wide(brokers: int = 4, rooms: int = 3) -> Protocol:
    """Variables enough for several words, with families over both universes and subsets and choices of each."""
    p = Protocol("wide")
    broker, room = p.universe("broker", brokers), p.universe("room", rooms)
    p.number("load", -3, 40, per=broker)
    p.subset("inside", broker, per=room)
    p.choice("host", broker, per=room)
    p.number("distance", 5, 9, per=(broker, room))
    p.subset("visited", room, per=broker)
    p.choice("where", ["out", *(room.label(r) for r in room)], per=broker)
    p.number("constant", 7, 7, per=broker)
    p.choice("friend", broker, per=(broker, room))
    p.flag("awake", per=(room, broker, broker))
    return p


def awake(brokers: int) -> Protocol:
    """As many members as locks have, and states as short, in which other bits change places."""
    p = Protocol("awake")
    p.flag("awake", per=p.universe("broker", brokers))
    return p


def all_of_each(p: Protocol) -> Symmetry:
    return Symmetry(tuple(Interchangeable(u, tuple(u)) for u in p.universes.values() if u.size > 1))


def random_states(p: Protocol, count: int) -> Iterator[Raw]:
    dice = random.Random(1)
    for _ in range(count):
        yield tuple(dice.randrange(v.domain.low, v.domain.low + v.domain.size) for v in p.variables)


def orbit(p: Protocol, symmetry: Symmetry, raw: Raw) -> set[Raw]:
    """The states that exchanges make of a state, until they make nothing new."""
    exchanges = [exchange for c in symmetry.classes for exchange in c.transpositions]
    known, fresh = {raw}, {raw}
    while fresh:
        fresh = {exchanged(p, exchange, state) for state in fresh for exchange in exchanges} - known
        known |= fresh
    return known


def called(address: int, state: Words) -> Words:
    out = np.zeros_like(state)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)(state.ctypes.data, out.ctypes.data)
    return out


@pytest.mark.parametrize("count", range(1, 6))
def test_plain_changes_lead_through_every_permutation(count: int) -> None:
    order = list(range(count))
    met = [tuple(order)]
    for change in plain_changes(count):
        order[change], order[change + 1] = order[change + 1], order[change]
        met.append(tuple(order))
    assert len(met) == len(set(met)) == factorial(count)


def test_a_tour_leads_through_every_combination_of_permutations() -> None:
    p = Protocol("sizes")
    universes = [p.universe(name, size) for name, size in (("a", 3), ("b", 2), ("c", 4))]
    symmetry = Symmetry(tuple(Interchangeable(u, tuple(u)) for u in universes))

    def after(state: tuple[tuple[int, ...], ...], exchange: Transposition) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(exchange.member(u, m) for m in row) for u, row in zip(universes, state, strict=True))

    met = list(itertools.accumulate(tour(symmetry), after, initial=tuple(tuple(u) for u in universes)))
    assert len(met) == len(set(met)) == symmetry.order == 288


@pytest.mark.parametrize("protocol", [locks(2), locks(4), wide(), wide(5, 1), wide(2, 4)])
def test_the_representative_is_the_least_of_the_orbit(protocol: Protocol) -> None:
    packing, symmetry = Packing(protocol.variables), all_of_each(protocol)
    orbits = Orbits(packing, symmetry)
    for raw in random_states(protocol, 2):
        states = orbit(protocol, symmetry, raw)
        least = min(plain(packing.pack(state)) for state in states)
        for state in itertools.islice(states, 3):
            packed = packing.pack(state)
            assert plain(called(orbits.canonical, packed)) == least
            assert orbits.order == len(states) * int(called(orbits.stabiliser, packed)[0])


def test_what_was_compiled_is_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept by all that decides what an exchange does to a packed state, and serves no other symmetry."""
    compiled, compile_ = list[str](), permutations.object_code

    def object_code(text: str, *, thorough: bool) -> bytes:
        compiled.append(text)
        return compile_(text, thorough=thorough)

    monkeypatch.setattr(store, "FOLDER", str(tmp_path))
    monkeypatch.setattr(permutations, "object_code", object_code)
    for protocol in (locks(3), locks(3), awake(3), wide(), locks(3)):
        for symmetry in (all_of_each(protocol), all_of_each(protocol).within(2)):
            packing = Packing(protocol.variables)
            orbits, state = Orbits(packing, symmetry), next(random_states(protocol, 1))
            least = min(plain(packing.pack(each)) for each in orbit(protocol, symmetry, state))
            assert plain(called(orbits.canonical, packing.pack(state))) == least
    assert len(compiled) == len(set(compiled)) == 6


def test_wide_states_take_several_words() -> None:
    assert Packing(wide().variables).words == 3
    assert {f.bits for f in Packing(wide().variables).fields.values()} >= {0, 1, 2, 3, 4, 6}


def searched(kernel: Kernel, canonical: int = 0, workers: int = 2, **options: Any) -> Result:
    sought = Sought(**{name: options.pop(name) for name in Sought.__dataclass_fields__ if name in options})
    return search(kernel, sought, canonical=canonical, workers=workers, **options)


@pytest.mark.parametrize(
    ("brokers", "spoiled", "depth", "order"),
    [(2, "", None, 2), (3, "", None, 6), (3, "start", None, 2), (3, "action", None, 2), (4, "", 6, 24), (4, "start", 6, 6)],
)
def test_counts_are_those_that_the_symmetry_predicts(brokers: int, spoiled: str, depth: int | None, order: int) -> None:
    p = locks(brokers, spoiled=spoiled)
    symmetry, kernel, limits = symmetry_of(p, {}), Kernel(p), Limits(depth=depth)
    assert symmetry.order == order
    orbits = Orbits(kernel.packing, symmetry)
    full, reduced = searched(kernel, limits=limits), searched(kernel, orbits.canonical, limits=limits)
    predicted = represented(reduced, orbits.stabiliser, orbits.order, 2)
    assert predicted.level_sizes == full.level_sizes
    assert predicted.states == full.distinct
    assert depth is not None or predicted.transitions == full.transitions
    assert full.distinct / symmetry.order <= reduced.distinct < full.distinct
    assert searched(kernel, orbits.canonical, 1, limits=limits) == reduced
    assert represented(reduced, orbits.stabiliser, orbits.order, 1) == predicted


def test_where_nothing_can_happen_there_are_no_transitions() -> None:
    """What was in memory before must not be taken for a bit set of actions that are enabled."""
    p = Protocol("still")
    p.flag("awake", per=p.universe("broker", 2))
    kernel, symmetry = Kernel(p), symmetry_of(p, {})
    orbits = Orbits(kernel.packing, symmetry)
    counts = represented(searched(kernel, orbits.canonical), orbits.stabiliser, orbits.order)
    assert (orbits.order, counts.states, counts.transitions) == (2, 1, 0)


def test_the_visited_states_are_one_of_each_orbit() -> None:
    p = locks(2)
    symmetry, kernel = symmetry_of(p, {}), Kernel(p)
    orbits = Orbits(kernel.packing, symmetry)
    full = {kernel.packing.unpack(row) for rows in searched(kernel).states() for row in rows}
    reduced = [kernel.packing.unpack(row) for rows in searched(kernel, orbits.canonical).states() for row in rows]
    of_each = [orbit(p, symmetry, raw) for raw in reduced]
    assert set().union(*of_each) == full
    assert sum(map(len, of_each)) == len(full)


def test_finds_are_as_near_as_without_symmetry_and_their_runs_are_real() -> None:
    p = locks(3)
    s, n = p.state, p.next
    all_know = any_of(all_of(s.knows[o, 1].has(b) for o in range(3) if o != b) for b in range(3))
    forgets = any_of(And(s.knows[b, 0].has(o), Not(n.knows[b, 0].has(o))) for b in range(3) for o in range(3))
    returns = any_of(And(s.last[b] == b, n.last[b] != b, Not(s.up[b])) for b in range(3))
    symmetry = symmetry_of(p, {"all_know": all_know, "forgets": forgets, "returns": returns})
    assert symmetry.order == 6
    kernel = Kernel(p, [all_know], [forgets, returns])
    orbits = Orbits(kernel.packing, symmetry)
    for alarms in ({"alarm": [0]}, {"step_alarm": [1]}):
        full, reduced = searched(kernel, **alarms), searched(kernel, orbits.canonical, **alarms)
        (wanted,), (find,) = full.violations, reduced.violations
        assert (wanted.kind, wanted.depth) == (find.kind, find.depth)
        path = reduced.path(find)
        assert path.states[0] in {plain(state) for state in kernel.initial()}
        for before, action, after in zip(path.states, path.actions, path.states[1:], strict=False):
            state = np.array(before, dtype=np.uint64)
            assert action in kernel.enabled(state)
            assert plain(kernel.apply(state, action)) == after
        last = [np.array(state, dtype=np.uint64) for state in path.states[-2:]]
        assert (0 in kernel.observe(last[1])) if "alarm" in alarms else (1 in kernel.observe_step(*last))
    assert not searched(kernel, orbits.canonical, step_alarm=[0]).violations


@pytest.mark.parametrize("spoiled", ["action", "effect", "missing"])
def test_a_symmetry_that_is_none_is_found_out(spoiled: str) -> None:
    """What the proof refuses would give other counts than the search of everything."""
    p = locks(3, spoiled=spoiled)
    whole = Symmetry((Interchangeable(p.universes["broker"], (0, 1, 2)),))
    assert symmetry_of(p, {}).order < whole.order
    kernel = Kernel(p)
    orbits = Orbits(kernel.packing, whole)
    full, reduced = searched(kernel), searched(kernel, orbits.canonical)
    counts = represented(reduced, orbits.stabiliser, orbits.order)
    assert (counts.states, counts.transitions) != (full.distinct, full.transitions)


@pytest.mark.parametrize("forgotten", ["choices", "bits"])
def test_a_wrong_permutation_is_caught(forgotten: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members of families change places and the choices, or the subsets, stay what they were: the proof refuses."""
    p = locks(3)
    assert symmetry_of(p, {}).order == 6
    monkeypatch.setattr(Transposition, forgotten, lambda self, domain: None)
    symmetry = symmetry_of(p, {})
    assert symmetry.classes == ()
    assert "are not interchangeable" in symmetry.obstacles[0]
