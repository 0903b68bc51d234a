"""Symmetry: what an exchange of members does, what is proved interchangeable, and what stands in the way elsewhere."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from fencepost.model.analysis.exchange import Equivalence, Transposition
from fencepost.model.analysis.symmetry import Interchangeable, Symmetry, anywhere, symmetry_of
from fencepost.model.language import And, Implies, ModelError, Protocol, all_of, any_of
from fencepost.model.terms.evaluation import Evaluation
from tests.model.locks import exchanged, locks


def classes(symmetry: Symmetry) -> list[str]:
    return [str(c) for c in symmetry.classes]


def test_an_exchange_moves_members_of_families_choices_and_subsets() -> None:
    p = locks()
    start = dict.fromkeys((v.name for v in p.variables), 0)
    before = {"up[b0]": 1, "owner": 2, "last[b0]": 2, "knows[b0, p0]": 0b001, "knows[b1, p1]": 0b110, "seats[b1]": 3}
    after = {"up[b1]": 1, "owner": 1, "last[b1]": 2, "knows[b1, p0]": 0b010, "knows[b0, p1]": 0b101, "seats[b0]": 3}
    after |= {"last[b0]": 1, "last[b2]": 1}  # they were b0
    exchange = Transposition(p.universes["broker"], 0, 1)
    states = [tuple({**start, **changed}[v.name] for v in p.variables) for changed in (before, after)]
    assert exchanged(p, exchange, states[0]) == states[1]
    assert exchanged(p, exchange, states[1]) == states[0]


def test_terms_and_values_are_exchanged_alike() -> None:
    p = locks()
    for one, other in itertools.permutations(range(3), 2):
        exchange = Transposition(p.universes["broker"], one, other)
        for domain in {v.domain for v in p.variables}:
            for raw in range(domain.low, domain.low + domain.size):
                assert Evaluation({})(exchange.term(domain, domain.literal(raw))) == exchange.value(domain, raw)


@pytest.mark.parametrize("brokers", [2, 3, 4])
def test_the_members_of_a_symmetric_protocol_are_interchangeable(brokers: int) -> None:
    p = locks(brokers)
    s = p.state
    together = all_of(Implies(s.owner == f"b{b}", s.up[b]) for b in range(brokers))
    symmetry = symmetry_of(p, {"together": together})
    assert classes(symmetry) == ["broker " + ", ".join(f"b{b}" for b in range(brokers))]
    assert symmetry.order == {2: 2, 3: 6, 4: 24}[brokers]
    assert symmetry.obstacles == ("place p0 and p1 are not interchangeable: action tell(b0, b1) tells them apart",)


@pytest.mark.parametrize(
    ("spoiled", "left", "apart", "obstacle"),
    [
        ("start", ["broker b0, b2"], "b0 and b1", "up[b0] tells them apart at the beginning"),
        ("action", ["broker b0, b2"], "b0 and b1", "action take(b0) with the two exchanged is not take(b1)"),
        ("missing", [], "b0 and b1", "action tell(b0, b1) has no counterpart"),
        ("order", [], "b0 and b1", "action leave(b0) with the two exchanged is not leave(b1)"),
        ("effect", ["broker b0, b1"], "b1 and b2", "action tell(b0, b1) with the two exchanged is not tell(b0, b2)"),
    ],
)
def test_what_tells_members_apart_is_named(spoiled: str, left: list[str], apart: str, obstacle: str) -> None:
    symmetry = symmetry_of(locks(spoiled=spoiled), {})
    assert classes(symmetry) == left
    assert symmetry.obstacles[0] == f"broker {apart} are not interchangeable: {obstacle}"


def test_a_formula_tells_members_apart() -> None:
    p = locks()
    s, n = p.state, p.next
    symmetry = symmetry_of(p, {"property of_the_first": s.up[0]})
    assert classes(symmetry) == ["broker b1, b2"]
    assert symmetry.obstacles[0] == "broker b0 and b1 are not interchangeable: property of_the_first tells them apart"
    stays = [Implies(And(s.owner == f"b{b}", n.owner != f"b{b}"), n.last[b] == b) for b in range(3)]
    assert classes(symmetry_of(p, {"stays": all_of(stays)})) == ["broker b0, b1, b2"]
    assert classes(symmetry_of(p, {"stays": all_of(stays[1:])})) == ["broker b1, b2"]


@pytest.mark.parametrize("possible", [False, True])
def test_only_an_action_that_never_happens_needs_no_counterpart(possible: bool) -> None:
    p = Protocol("halves")
    half = p.universe("half", 2)
    on = p.flag("on", per=half)

    @p.step(by="it", h=half)
    def switch(h: int) -> Any:
        """Both halves are switched on, and off again; one alone could be."""
        together = on[0] == on[1]
        return And(h == 0, together if possible else And(together, on[0] != on[1])), {on[0]: True}

    obstacles = ("half h0 and h1 are not interchangeable: action switch(h0) has no counterpart",)
    assert symmetry_of(p, {}).obstacles == (obstacles if possible else ())


def test_numbers_are_no_members() -> None:
    """Entries that are counted are not interchangeable, and nobody has to say so."""
    p = Protocol("log")
    entry = p.universe("entry", 3)
    sent = p.number("sent", -1, 2)

    @p.step(by="writer", e=entry)
    def send(e: int) -> Any:
        """The next entry is sent."""
        return sent == e - 1, {sent: e}

    symmetry = symmetry_of(p, {})
    assert symmetry.classes == ()
    (obstacle,) = symmetry.obstacles
    assert obstacle == "entry e0 and e1 are not interchangeable: action send(e0) with the two exchanged is not send(e1)"


def test_a_formula_of_particular_members_is_said_of_any() -> None:
    p = locks(3)
    s, symmetry = p.state, symmetry_of(p, {})
    some = anywhere(p, symmetry, And(s.owner == "b0", s.knows[2, 0].has(0)))
    every = any_of(And(s.owner == f"b{b}", s.knows[o, 0].has(b)) for b in range(3) for o in range(3) if o != b)
    assert Equivalence(p).same(some, every)
    assert anywhere(p, symmetry, every) is every
    assert not Equivalence(p).same(anywhere(p, Symmetry(()), s.up[0]), any_of(s.up))


def test_a_formula_of_very_many_particular_members_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.model.analysis.symmetry.MOST_IMAGES", 6)
    p = Protocol("crowd")
    crowd = p.universe("crowd", 5)
    place = p.number("place", 0, 9, per=crowd)
    symmetry = symmetry_of(p, {})
    assert symmetry.order == 120
    with pytest.raises(ModelError, match="over 6 permutations: say it of any members, or search without symmetry"):
        anywhere(p, symmetry, all_of(place[c] == c for c in crowd))


def test_a_large_symmetry_has_parts() -> None:
    p = Protocol("crowd")
    crowd, pair = p.universe("crowd", 7), p.universe("pair", 2)
    whole = Symmetry((Interchangeable(crowd, tuple(crowd)), Interchangeable(pair, (0, 1))), ("why",))
    assert whole.order == 10080
    assert whole.within(10080) == whole
    part = whole.within(1000)
    assert [c.members for c in part.classes] == [(0, 1, 2, 3), (4, 5, 6), (0, 1)]
    assert (part.order, part.obstacles) == (288, ("why",))
    assert whole.within(1).classes == ()


def test_progress_counts_the_members() -> None:
    reports: list[tuple[int, int]] = []
    symmetry_of(locks(2), {}, lambda done, count: reports.append((done, count)))
    assert reports == [(done, 5) for done in range(1, 6)]
