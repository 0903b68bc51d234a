"""Slices: what a formula can see of a protocol, and nothing else."""

from __future__ import annotations

import pytest

from fencepost.model.analysis.slices import sliced
from fencepost.model.analysis.symmetry import symmetry_of
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.results import Sought
from fencepost.model.kernel.search.search import search
from fencepost.model.language import And, If, ModelError, Not, OneOf, Protocol


def relay(*, wide: bool = True) -> Protocol:
    """A lamp that a switch lights, while there is current; a clock; a log of what the lamp did, which nobody reads."""
    p = Protocol("relay")
    lamp = p.flag("lamp")
    switch = p.number("switch", 0, 3)
    current = p.flag("current", init=OneOf((True, False)))
    clock = p.number("clock", 0, 9, init=OneOf((0, 5)))
    log = p.number("log", 0, 9 if wide else 1)

    @p.step(by="hand")
    def turn() -> object:
        """Turns the switch."""
        return switch < 3, {switch: switch + 1}

    @p.step(by="hand")
    def light() -> object:
        """Lights the lamp."""
        return And(Not(lamp), switch == 2), {lamp: current, log: If(log < 9, log + 1, 9)}

    @p.step(by="wall")
    def tick() -> object:
        """Goes on."""
        return clock < 9, {clock: clock + 1}

    return p


def names(p: Protocol) -> tuple[list[str], list[str]]:
    return [v.name for v in p.variables], [action.label for action in p.actions]


def test_what_is_kept_is_what_guards_and_new_values_of_the_kept_mention() -> None:
    p = relay()
    part = sliced(p, [p.state.lamp])
    assert names(part) == (["lamp", "switch", "current"], ["turn", "light"])
    assert part.whole is p
    assert [v.name for action in part.actions for v in action.updates] == ["switch", "lamp"]
    assert names(sliced(p, [p.state.switch == 3])) == (["switch"], ["turn"])
    assert names(sliced(p, [p.next.clock >= p.state.clock])) == (["clock"], ["tick"])
    assert names(p)[0] == ["lamp", "switch", "current", "clock", "log"]


def test_a_slice_of_everything_is_the_protocol_itself() -> None:
    p = relay()
    assert sliced(p, [p.state.lamp, p.state.log == 0, p.state.clock == 0]) is p
    assert sliced(p, [Not(Not(True))]) is p  # of a formula that sees nothing there is nothing to search
    whole = Protocol("constant")
    moved, still = whole.flag("moved"), whole.number("still", 4, 9)

    @whole.step(by="hand")
    def move() -> object:
        """Moves."""
        return Not(moved), {moved: True}

    assert sliced(whole, [moved]) is whole, still


def test_a_search_of_a_slice_reaches_what_the_whole_does_as_soon() -> None:
    p = relay()
    whole = search(Kernel(p, [p.state.lamp]), Sought(alarm=[0]), workers=1)
    part = search(Kernel(sliced(p, [p.state.lamp]), [p.state.lamp]), Sought(alarm=[0]), workers=1)
    assert part.distinct < whole.distinct
    assert [find.depth for find in part.violations] == [find.depth for find in whole.violations] == [3]


def test_domains_are_those_of_the_whole_protocol() -> None:
    p = relay(wide=False)
    part = sliced(p, [p.state.lamp])
    with pytest.raises(ModelError, match=r"light takes log out of 0\.\.1"):
        search(Kernel(part), workers=1)


def test_universes_that_concern_nothing_that_is_kept_are_left_out() -> None:
    p = Protocol("shelves")
    shelf, book = p.universe("shelf", 2), p.universe("book", 3)
    dusty, borrowed = p.flag("dusty", per=shelf), p.subset("borrowed", book)

    @p.step(by="wind", s=shelf)
    def settle(s: int) -> object:
        """Dust settles."""
        return Not(dusty[s]), {dusty[s]: True}

    @p.step(by="reader", b=book)
    def borrow(b: int) -> object:
        """Takes a book."""
        return Not(borrowed.has(b)), {borrowed: borrowed.plus(b)}

    assert list(sliced(p, [dusty[0]]).universes) == ["shelf"]
    assert list(sliced(p, [borrowed.has(1)]).universes) == ["book"]
    one = sliced(p, [dusty[0]])
    assert names(one) == (["dusty[s0]"], ["settle(s0)"])
    obstacle = "dusty[s0] has no counterpart in the slice"
    assert symmetry_of(one, {}).obstacles == (f"shelf s0 and s1 are not interchangeable: {obstacle}",)
