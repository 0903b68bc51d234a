"""A name says what its value is: no value, parameter or function has one of the participles that fit all of them alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("model", "properties", "traces", "checks", "tests")
PARTICIPLES = ("found", "told", "made", "said", "kept")
"""Each has better nouns, by what the value is: findings, message, result, output, rest, and what else the field calls it."""

WORD = re.compile(rf"\b_*(?:{'|'.join(PARTICIPLES)})_*\b")
TEXT = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#.*')
"""A string or a comment."""


def _name(node: ast.AST) -> str | None:
    """The name that a node gives to something."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.ExceptHandler(name=name) | ast.alias(asname=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return name
    return None


def _variables(node: ast.AST) -> list[ast.AST]:
    """The attributes that are variables of a protocol, each by the name that it is declared with and that users read."""
    match node:
        case ast.Assign(targets=targets, value=ast.Call(args=[ast.Constant(value=declared), *_])):
            return [target for target in targets if isinstance(target, ast.Attribute) and target.attr == declared]
    return []


def mentions(source: str) -> bool:
    """Whether one of the participles is in the code of a module. It spares most modules being parsed."""
    return WORD.search(TEXT.sub("", source)) is not None


def participles(source: str) -> Iterator[tuple[int, str]]:
    """The participles that a module gives as names, each with its line."""
    nodes = list(ast.walk(ast.parse(source)))
    variables = {id(variable) for node in nodes for variable in _variables(node)}
    for node in nodes:
        name = _name(node)
        if name is not None and name.strip("_") in PARTICIPLES and id(node) not in variables:
            yield node.lineno, name  # type: ignore[attr-defined]


@pytest.mark.parametrize("floor", FLOORS)
def test_a_name_says_what_its_value_is(floor: str) -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / floor).rglob("*.py"))}
    assert sources
    assert [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, source in sources.items()
        if mentions(source)
        for line, name in participles(source)
    ] == []


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "(told, rest) = pair",
        "[said for said in words]",
        "if (kept := rest): pass",
        "def made(): pass",
        "def look(*, found): pass",
        "lambda *told: 0",
        "class Held:\n    _kept: int",
        "self._made: dict = {}",
        "self.kept = p.flag('lasts')",
        "from this import that as said",
        "try: pass\nexcept OSError as found: pass",
        "match it:\n    case {'at': told}: pass",
    ],
)
def test_a_participle_is_seen(source: str) -> None:
    assert mentions(source)
    assert len(list(participles(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "found_at, is_found, well_made = 1, 2, 3",
        "print('found', result.found, {'told': 1})",
        "look(kept=True)",
        "self.found = p.subset('found', entry)",
    ],
)
def test_other_names_are_not(source: str) -> None:
    assert list(participles(source)) == []
