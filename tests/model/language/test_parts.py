"""Protocols made of parts: what they declare, how steps take their moves, and mistakes in that."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from fencepost.model.language import And, If, ModelError, Not, Protocol, at, either
from fencepost.model.language.moves import untaken

TEXTS = {"leaks": "a cell leaks", "sticks": "a cell sticks"}


class Cell:
    """A cell that is filled, and that may rot."""

    def __init__(self, p: Protocol, most: int = 2, fair: bool = False) -> None:
        self.n = n = p.number("n", 0, most)
        p.budget("rots", 1)

        @p.move(by="filler", mirrors="Cell.fill", fair=fair, k=range(1, most + 1))
        def fill(k: Any) -> Any:
            """So much is filled in."""
            return n + k <= most, {n: n + k}

        @p.fault(by="disk", spends="rots", mirrors="Cell.rot")
        def rot() -> Any:
            """It rots."""
            return n > 0, {n: 0}

        @p.move(by="filler", alone=False)
        def clear() -> Any:
            """It is emptied."""
            return True, {n: 0}

        self.fill, self.clear, self.rot = fill, clear, rot


def labels(p: Protocol) -> list[str]:
    return [action.label for action in p.actions]


def guard(p: Protocol, label: str) -> str:
    return " ".join(str(next(action.guard for action in p.actions if action.label == label)).split())


def updates(p: Protocol, label: str) -> dict[str, str]:
    action = next(action for action in p.actions if action.label == label)
    return {variable.name: " ".join(str(value).split()) for variable, value in action.updates.items()}


def test_a_part_alone_is_a_protocol_whose_moves_are_steps() -> None:
    p = Protocol("cell")
    Cell(p)
    assert labels(p) == ["fill(1)", "fill(2)", "rot"]


def test_in_the_whole_its_moves_happen_within_steps_and_its_names_have_a_prefix() -> None:
    p = Protocol("whole")
    cell = p.include("cell", Cell)
    full = p.flag("full")

    @p.step(by="user", mirrors="User.use")
    def use() -> Any:
        """Somebody uses it."""
        return Not(full), cell.fill(2), {full: True}

    assert [v.name for v in p.variables] == ["cell.n", "cell.rots", "full"]
    assert p.budgets == {"cell.rots": 1}
    assert {v.name for v in p.counters} == {"cell.rots"}
    assert p.state.cell.n is cell.n
    assert str(p.next.cell.n) == "cell.n'"
    assert labels(p) == ["cell.rot", "use"]
    assert guard(p, "use") == "And(Not(full), cell.n + 2 <= 2)"
    assert updates(p, "use") == {"cell.n": "cell.n + 2", "full": "True"}
    assert guard(p, "cell.rot") == "And(cell.n > 0, cell.rots < 1)"


def test_what_a_move_does_and_mirrors_is_shown_where_it_is_taken() -> None:
    p = Protocol("whole")
    cell = p.include("cell", Cell)

    @p.step(by="user", mirrors="User.use")
    def use() -> Any:
        """Somebody uses it."""
        return cell.fill(1)

    (taking,) = (action for action in p.actions if action.name == "use")
    assert taking.mirrors == p.mirrors["use"] == ("User.use", "Cell.fill")
    assert taking.meaning == "Somebody uses it.\n\ncell.fill: So much is filled in."
    assert [taken.name for taken in taking.moves] == ["cell.fill"]


def copies() -> tuple[Protocol, Any]:
    p = Protocol("whole")
    box = p.universe("box", 2)
    current = p.choice("current", box, none="none")
    cells = p.include("cell", Cell, per=box)

    @p.step(by="user", one=box, other=box)
    def use(one: int, other: int) -> Any:
        """Two of them are used at once."""
        return one != other, cells[one].fill(1), cells[other].fill(2)

    @p.step(by="user", c=lambda: current)
    def use_current(c: int) -> Any:
        """The current one is used."""
        return Not(p.state.cell.n[c] == 1), cells[c].fill(2), {current: "none"}

    return p, cells


def test_copies_are_families_in_their_order_and_each_has_its_budget() -> None:
    p, cells = copies()
    assert [v.name for v in p.variables] == ["current", "cell.n[b0]", "cell.n[b1]", "cell.rots[b0]", "cell.rots[b1]"]
    assert p.budgets == {"cell.rots[b0]": 1, "cell.rots[b1]": 1}
    assert p.state.cell.n[1] is cells[1].n
    assert labels(p) == ["cell.rot(b0)", "cell.rot(b1)", "use(b0, b1)", "use(b1, b0)", "use_current(b0)", "use_current(b1)"]
    assert updates(p, "use(b1, b0)") == {"cell.n[b1]": "cell.n[b1] + 1", "cell.n[b0]": "cell.n[b0] + 2"}


def test_a_parameter_may_be_the_member_that_a_variable_holds() -> None:
    p, _ = copies()
    assert guard(p, "use_current(b1)") == "And(current == 'b1', Not(cell.n[b1] == 1), cell.n[b1] + 2 <= 2)"


def test_parts_have_parts() -> None:
    class Shelf:
        def __init__(self, p: Protocol) -> None:
            cell = p.include("cell", Cell)
            assert p.state.cell.n is cell.n

            @p.step(by="clerk")
            def put() -> Any:
                """Something is put there."""
                return cell.fill(1)

    p = Protocol("shop")
    shelf = p.universe("shelf", 2)
    p.include("shelf", Shelf, per=shelf)
    assert labels(p) == ["shelf.cell.rot(s0)", "shelf.cell.rot(s1)", "shelf.put(s0)", "shelf.put(s1)"]
    assert str(p.state.shelf.cell.n[1]) == "shelf.cell.n[s1]"


def test_either_of_two_happens() -> None:
    p = Protocol("whole")
    cell, dry = p.include("cell", Cell), p.flag("dry")

    @p.step(by="user")
    def use() -> Any:
        """It is filled or emptied."""
        return True, either(dry, (cell.fill(1), {dry: False}), cell.clear())

    assert guard(p, "use") == "Or(Not(dry), cell.n + 1 <= 2)"
    assert updates(p, "use") == {"cell.n": "If(dry, cell.n + 1, 0)", "dry": "If(dry, False, dry)"}


def test_a_move_without_budget_takes_its_steps_with_it() -> None:
    class Mortal:
        def __init__(self, p: Protocol, deaths: int) -> None:
            dead = p.flag("dead")
            p.budget("deaths", deaths)

            @p.move(by="it", spends="deaths")
            def die() -> Any:
                """It dies."""
                return Not(dead), {dead: True}

            self.die = die

    def whole(deaths: int) -> Protocol:
        p = Protocol("whole")
        mortal, seen = p.include("mortal", Mortal, deaths), p.flag("seen")

        @p.step(by="god")
        def strike() -> Any:
            """It is made to die."""
            return True, mortal.die(), {seen: True}

        return p

    assert labels(whole(0)) == []
    assert guard(whole(2), "strike") == "And(Not(mortal.dead), mortal.deaths < 2)"
    assert updates(whole(2), "strike")["mortal.deaths"] == "mortal.deaths + 1"


def test_a_budget_may_be_that_of_the_whole() -> None:
    class Rotting:
        def __init__(self, p: Protocol) -> None:
            n = p.number("n", 0, 1)

            @p.fault(by="disk", spends="rots")
            def rot() -> Any:
                """It rots."""
                return n == 0, {n: 1}

    p = Protocol("whole")
    p.budget("rots", 1)
    p.include("cell", Rotting, per=p.universe("box", 2))
    assert updates(p, "cell.rot(b1)") == {"cell.n[b1]": "1", "rots": "rots + 1"}


def test_a_step_of_a_part_can_be_taken_and_then_is_none_of_the_whole() -> None:
    p = Protocol("whole")
    cell = p.include("cell", Cell, takes=("rot",))

    @p.fault(by="heat")
    def heat() -> Any:
        """What is there rots."""
        return cell.rot()

    assert labels(p) == ["heat"]
    assert guard(p, "heat") == "And(cell.n > 0, cell.rots < 1)"


def test_nobody_takes() -> None:
    with_none, with_fill = Protocol("whole"), Protocol("whole")
    with_none.include("cell", Cell)
    cell = with_fill.include("cell", Cell)

    @with_fill.step(by="user")
    def use() -> Any:
        """It is used."""
        return cell.fill(1)

    (message,) = untaken([with_none, with_fill])
    assert re.fullmatch(r"tests/model/language/test_parts.py:\d+: nobody takes cell.clear", message)
    assert len(untaken([with_none])) == 2


def step_of(p: Protocol, function: Callable[[], Any], **manner: Any) -> Protocol:
    def act() -> Any:
        """It acts."""
        return function()

    p.step(by="user", **manner)(act)
    return p


MISTAKES: dict[str, tuple[Callable[[Protocol, Any, Any], Any], str]] = {
    "an update of what is a part's": (lambda p, cell, x: (True, {cell.n: 1}), "changes cell.n, a variable of the part cell"),
    "two values": (lambda p, cell, x: (True, {x: 1}, {x: 2}), "x gets two values: 1 (an update) and 2 (an update)"),
    "two values, one a move's": (lambda p, cell, x: (cell.fill(1), {cell.n: 1}), "cell.n gets two values: cell.n + 1 (cell"),
    "one move twice": (lambda p, cell, x: (True, cell.fill(1), cell.fill(1)), "cell.n gets two values"),
    "a move that is not called": (lambda p, cell, x: (True, cell.fill), "cell.fill is not called"),
    "a move that is forgotten": (lambda p, cell, x: (cell.fill(1) is not None, {x: 1}), "it calls cell.fill and leaves"),
    "and on a move": (lambda p, cell, x: (cell.fill(1) and x == 1, {x: 2}), "Python's and, or, not and if cannot see into"),
    "and on a move not called": (lambda p, cell, x: (cell.fill and x == 1, {x: 2}), "cannot see into a move: call cell.fill"),
    "a move in And": (lambda p, cell, x: (And(cell.fill(1), x == 1), {x: 2}), "And joins formulas"),
    "an argument out of range": (lambda p, cell, x: cell.fill(3), "cell.fill is called with k=3, which is none of its values"),
    "an argument too many": (lambda p, cell, x: cell.clear(1), "too many positional arguments"),
    "a list": (lambda p, cell, x: (True, [cell.fill(1)]), "and after these updates and moves, with commas, not ["),
    "a mapping alone": (lambda p, cell, x: {x: 1}, "an action returns (guard, updates)"),
}


class Door:
    """A door whose lock and hinge take numbers of their own."""

    def __init__(self, p: Protocol) -> None:
        self.locked, self.open = locked, open_ = p.flag("locked"), p.flag("open")

        @p.move(by="hand", takes="lock")
        def lock() -> Any:
            """It is locked."""
            return Not(locked), {locked: True}

        @p.move(by="hand", takes="hinge")
        def swing() -> Any:
            """It opens."""
            return Not(locked), {open_: True}

        self.lock, self.swing = lock, swing


def test_an_action_takes_the_number_that_it_names_or_that_its_moves_agree_on() -> None:
    p = Protocol("house")
    door = p.include("door", Door)

    @p.step(by="user")
    def leave() -> Any:
        """Somebody leaves."""
        return True, door.lock()

    @p.step(by="user", takes="hurry")
    def run() -> Any:
        """Somebody runs."""
        return True, door.lock()

    @p.step(by="user")
    def do_both() -> Any:
        """Somebody does both."""
        return True, door.lock(), door.swing()

    @p.fault(by="weather", takes="storms")
    def storm() -> Any:
        """A storm comes."""
        return Not(door.open), {}

    assert {action.name: action.takes for action in p.actions} == {
        "leave": "lock",
        "run": "hurry",
        "do_both": "",
        "storm": "storms",
    }


@pytest.mark.parametrize(("returns", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_what_a_step_returns(returns: Callable[[Protocol, Any, Any], Any], message: str) -> None:
    p = Protocol("whole")
    cell, x = p.include("cell", Cell), p.number("x", 0, 2)
    with pytest.raises(ModelError, match=re.escape(message)) as caught:
        step_of(p, lambda: returns(p, cell, x))
    assert caught.value.location is not None
    assert str(caught.value).startswith("tests/model/language/test_parts.py:")
    assert "\n" not in str(caught.value)


def test_one_value_given_twice_is_no_mistake() -> None:
    p = Protocol("whole")
    x = p.number("x", 0, 2)
    assert updates(step_of(p, lambda: (True, {x: 1}, {x: 1})), "act") == {"x": "1"}


def test_what_a_part_changes_is_changed_by_it_alone_also_without_a_prefix() -> None:
    p = Protocol("whole")
    cell = p.include("", Cell)
    with pytest.raises(ModelError, match="it changes n, a variable of the part Cell: take a move of the part Cell"):
        step_of(p, lambda: (True, {cell.n: 1}))


def test_a_fair_move_is_taken_by_a_fair_step_and_a_fault_by_a_fault() -> None:
    p = Protocol("whole")
    fair = p.include("cell", Cell, fair=True)
    with pytest.raises(ModelError, match=r"it takes cell.fill, which is fair, and is not fair itself: write fair=True"):
        step_of(p, lambda: fair.fill(1))
    p = Protocol("whole")
    rotting = p.include("other", Cell, takes=("rot",))
    with pytest.raises(ModelError, match=r"it takes other.rot, which is a fault: declare it with @p.fault"):
        step_of(p, rotting.rot)


def test_mistakes_in_how_a_part_is_included() -> None:
    p = Protocol("whole")
    p.flag("cell")
    with pytest.raises(ModelError, match="whole: part cell: the name is taken by a variable"):
        p.include("cell", Cell)
    with pytest.raises(ModelError, match=r"part one has no step 'rots' to take \(did you mean rot\?\)"):
        p.include("one", Cell, takes=("rots",))
    with pytest.raises(ModelError, match=r'part two takes \'rot\': write takes=\("rot",\)'):
        p.include("two", Cell, takes="rot")
    box = p.universe("box", 2)
    current = p.choice("current", box)
    cells = p.include("three", Cell, per=box)
    with pytest.raises(ModelError, match="three has a copy for each box, and current is none; for the one that"):
        _ = cells[current]  # type: ignore[index]


def test_mistakes_in_a_parameter_that_a_variable_holds() -> None:
    p = Protocol("whole")
    box, x = p.universe("box", 2), p.number("x", 0, 2)
    with pytest.raises(ModelError, match="c is the member that a variable holds, a choice of a universe, not x"):

        @p.step(by="user", c=lambda: x)
        def use(c: int) -> Any:
            """It is used."""
            return True, {x: 1}

    with pytest.raises(ModelError, match="a parameter depends on b, which is no parameter before it"):

        @p.step(by="user", c=lambda b: x, b=box)
        def use_other(b: int, c: int) -> Any:
            """It is used."""
            return True, {x: 1}


def test_the_member_of_a_family_that_a_choice_names() -> None:
    p = Protocol("whole")
    box = p.universe("box", 2)
    n = p.number("n", 0, 3, per=box)
    sure, unsure = p.choice("sure", box), p.choice("unsure", box, none="none")
    assert str(at(n, sure)) == "If(sure == 'b0', n[b0], n[b1])"
    assert str(at(n, unsure, none=3)) == "If(unsure == 'b0', n[b0], If(unsure == 'b1', n[b1], 3))"
    with pytest.raises(ModelError, match="at: unsure may be 'none': say by none= what the value is then"):
        at(n, unsure)
    with pytest.raises(ModelError, match="may be out of range: say by none="):
        at(n, n[0])
    states = p.choice("state", ("idle", "busy"), per=box)
    assert str(at(states, sure) == "busy") == "If(sure == 'b0', state[b0], state[b1]) == 'busy'"
    assert str(at([1, 2], 1)) == "2"


def test_bugs_of_parts_keep_their_names_and_have_one_text_each() -> None:
    p = Protocol("whole", bugs=(TEXTS, {"leaks": "a cell leaks"}), active=("leaks",))
    assert p.has("leaks")
    assert p.bugs == TEXTS
    with pytest.raises(ModelError, match="whole: bug leaks has two texts: 'a cell leaks' and 'it drips'"):
        Protocol("whole", bugs=(TEXTS, {"leaks": "it drips"}))


def test_conditional_values_of_two_sides() -> None:
    p = Protocol("whole")
    x, kind = p.number("x", 0, 2), p.choice("kind", ("a", "b", "c"))
    step_of(p, lambda: (True, either(x == 1, {kind: If(x == 2, "a", "b")}, {kind: "c"})))
    assert updates(p, "act") == {"kind": "If(x == 1, If(x == 2, 'a', 'b'), 'c')"}
