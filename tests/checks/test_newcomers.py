"""What people write who write their first protocol: each mistake is told in one line, with file, line and the remedy."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from fencepost.checks.cli import main
from fencepost.checks.pytest_fixtures import Checking
from fencepost.checks.questions import planning
from fencepost.properties.registry import Entry

MODEL = '''
from fencepost.model.language import And, If, Implies, Not, Or, Protocol, any_of, how_many
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite


def guests(rooms=2, bugs=()):
    p = Protocol("guests", parameters={"rooms": rooms}, bugs={"twice": "a room is let twice"}, active=bugs)
    room = p.universe("room", rooms)
    let = p.flag("let", per=room)
    price = p.number("price", 0, 9)
    open_ = p.flag("open")
    mood = p.choice("mood", ["good", "bad"])
    p.budget("moves", 1)

    @p.step(by="desk")
    def welcome():
        """Opens."""
        return Not(open_), {open_: True}

    @p.step(by="service", r=room)
    def clean(r):
        """Cleans a room."""
        return let[r], {let[r]: False}

    @p.step(by="desk", r=room)
    def rent(r):
        """Lets a room."""
        return And(open_, Not(let[r])), {let[r]: True}

    return p


def properties(p):
    suite = Suite(p)
    s = p.state

    @suite.always
    def closed_is_empty():
        """Nothing is let before the house opens."""
        return Implies(s.let[0], s.open)

    return suite


ENTRY = Entry(name="guests", summary="rooms", function=guests, suite=properties, sizes={"ci": (Instance("small", {}),)})
'''

RENT = "        return And(open_, Not(let[r])), {let[r]: True}"
CLOSED = "        return Implies(s.let[0], s.open)"
STEP = '    @p.step(by="desk", r=room)'

MISTAKES = {
    # what is replaced, by what, what is said; the line is that of the first line of the replacement. What else the language
    # refuses is in tests/model/language/test_mistakes.py
    "and": (RENT, "        return open_ and Not(let[r]), {let[r]: True}", "cannot see the value of open: write And, Or"),
    "if": (RENT, "        return (open_ if let[r] else True), {let[r]: True}", "cannot see the value of let[r0]: write"),
    "any": (RENT, "        return any(let[i] for i in room), {let[r]: True}", "write And, Or, Not, If, any_of or all_of"),
    "max": (RENT, "        return open_, {price: max(price, 3)}", "cannot see the value of "),
    "and outside an action": (
        "    return p\n",
        "    assert mood == 'good' and open_\n    return p\n",
        "cannot see the value of",
    ),
    "family in a guard": (
        RENT,
        "        return And(open_, Not(let)), {let[r]: True}",
        "Not joins formulas, and let without its index",
    ),
    "family compared": (
        RENT,
        "        return let == False, {let[r]: True}",
        "let is a family of variables: say of which member",
    ),
    "family as truth": (
        RENT,
        "        return (open_ if let else True), {let[r]: True}",
        "let is a family of variables: say of",
    ),
    "family as key": (RENT, "        return open_, {let: True}", "it updates let without its index", STEP),
    "family as value": (
        RENT,
        "        return open_, {open_: let}",
        "new value of open: let without its index is not a flag",
        STEP,
    ),
    "forgotten return": (
        RENT,
        "        And(open_, Not(let[r])), {let[r]: True}",
        "and this returns nothing: is its return forgotten?",
        STEP,
    ),
    "swapped order": (
        RENT,
        "        return {let[r]: True}, And(open_, Not(let[r]))",
        "it returns updates before its guard: write (guard, updates)",
        STEP,
    ),
    "tuple for dict": (
        RENT,
        "        return And(open_, Not(let[r])), (let[r], True)",
        "(let[r0], True) is a tuple of conditions: updates are a dict, {variable: new value}",
        STEP,
    ),
    "condition for dict": (
        RENT,
        "        return And(open_, Not(let[r])), price == 3",
        "price == 3 is a condition: updates are a dict, {variable: new value}",
        STEP,
    ),
    "comprehension in And": (
        RENT,
        "        return And(let[i] for i in room), {let[r]: True}",
        "And joins formulas; those of a comprehension are joined by all_of or any_of",
    ),
    "comprehension as guard": (
        RENT,
        "        return (let[i] for i in room), {let[r]: True}",
        "its guard is several formulas: join them by all_of or any_of",
        STEP,
    ),
    "list as property": (
        CLOSED,
        "        return [Implies(s.let[r], s.open) for r in p.universes['room']]",
        "always closed_is_empty returns several formulas: join them by all_of or any_of",
        "    @suite.always",
    ),
    "one index too many": (RENT, "        return let[r, r], {let[r]: True}", "let has no member 0, 0; it has one index, not 2"),
    "swapped indices": (
        '    open_ = p.flag("open")',
        '    open_ = p.flag("open")\n    paid = p.flag("paid", per=(room, p.universe("guest", 3)))\n    paid[2, 0]',
        "paid has no member 2, 0; its indices come in the order in which per= names their universes",
        "    paid[",
    ),
    "index in brackets": (
        RENT,
        "        return let(r), {let[r]: True}",
        "'Family' object is not callable; an index is in square",
    ),
    "word misspelt": (STEP, '    @p.stpe(by="desk", r=room)', "object has no attribute 'stpe' (did you mean step?)"),
    "guard alone": (RENT, "        return And(open_, Not(let[r]))", "an action returns (guard, updates), not And(", STEP),
    "forgotten return of a property": (
        CLOSED,
        "        Implies(s.let[0], s.open)",
        "always closed_is_empty returns nothing: is its",
        "    @suite.always",
    ),
    "forgotten return of the protocol": (
        "    return p\n",
        "",
        "guests: it returns a Protocol, not nothing: is its return",
        "def guests",
    ),
    "forgotten return of the suite": (
        "    return suite\n",
        "",
        "guests: its properties: it returns a Suite, not nothing",
        "def properties",
    ),
    "actor misspelt": (
        STEP,
        '    @p.step(by="servce", r=room)',
        "by='servce' is neither a parameter nor an actor so far (did you mean service?)",
    ),
    "no actor": (STEP, "    @p.step(r=room)", "keyword-only argument: 'by'; write @p.step(by="),
    "step without parentheses": (STEP, "    @p.step", "step() takes 1 positional argument but 2 were given"),
    "number as parameter": (STEP, '    @p.step(by="desk", r=3)', "'int' object is not iterable"),
    "parameter misspelt": (STEP, '    @p.step(by="desk", room=room)', "unexpected keyword argument 'room'"),
    "size as family": (
        '    let = p.flag("let", per=room)',
        '    let = p.flag("let", per=rooms)',
        "'int' object is not iterable",
    ),
    "highest forgotten": (
        '    price = p.number("price", 0, 9)',
        '    price = p.number("price", 9)',
        "missing 1 required positional argument",
    ),
    "variable misspelt": (CLOSED, "        return Implies(s.let[0], s.opne)", "no variable 'opne' (did you mean open?)"),
    "name misspelt": (RENT, "        return And(opne_, Not(let[r])), {let[r]: True}", "name 'opne_' is not defined"),
    "out of its domain": (
        RENT,
        "        return open_, {price: price + 1}",
        "takes price out of 0..9: it becomes 10 where price = 9",
        STEP,
    ),
    "parameter without default": (
        "def guests(rooms=2, bugs=()):",
        "def guests(rooms, bugs=()):",
        "parameter rooms: give it a default",
    ),
    "no bugs": ("def guests(rooms=2, bugs=()):", "def guests(rooms=2):", "unexpected keyword argument 'bugs'"),
    "zero division": (RENT, "        return price > 1 // 0, {let[r]: True}", "integer division or modulo by zero"),
}


def written(folder: Path, wrong: str, written_instead: str, at: str | None) -> tuple[Entry, str]:
    """The model with a mistake, and where that is."""
    assert MODEL.count(wrong) == 1, wrong
    text = MODEL.replace(wrong, written_instead)
    place = at if at is not None else written_instead.splitlines()[0]
    line = max(number for number, row in enumerate(text.splitlines(), start=1) if row.startswith(place))
    file = folder / "guests.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("guests_of_a_newcomer", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ENTRY, f"{file}:{line}: "


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_a_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong, instead, message, *at = MISTAKES[name]
    entry, place = written(tmp_path, wrong, instead, at[0] if at else None)
    with pytest.raises(pytest.fail.Exception) as failed:
        Checking({"guests": entry})("guests", by="exhaustive")
    error = str(failed.value)
    assert message in error
    assert error.startswith(place), (error, place)
    assert "\n" not in error
    assert not re.search(r"0x[0-9a-f]{6}", error)
    monkeypatch.setattr(planning, "EVERYTHING", {"guests": entry})
    assert main(["check", "guests", "--by", "exhaustive", "--quiet"]) == 2
    assert capsys.readouterr().err == f"fencepost: {error}\n"


def test_without_a_mistake_it_is_checked(tmp_path: Path) -> None:
    entry, _ = written(tmp_path, "    return suite\n", "    return suite\n", None)
    (checked,) = Checking({"guests": entry})("guests")
    assert [verdict.verdict for verdict in checked.verdicts] == ["exhausted"]


def test_what_is_asked_amiss_is_no_mistake_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "ledger", "--bug", "foo"]) == 2
    stderr = capsys.readouterr().err
    assert stderr == "fencepost: there is no bug 'foo'; to see those that there are: fencepost list ledger\n"
    assert main(["explore", "ledger", "--bug", "foo", "--out", "nowhere"]) == 2
    stderr = capsys.readouterr().err
    assert stderr.startswith("fencepost: ledger has no bug 'foo'; it has: ")
    assert stderr.endswith(" more: fencepost list ledger\n")
    assert len(stderr) < 300
