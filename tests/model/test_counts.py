"""Counts in words: one function makes every plural, and no text has one thing of many."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.model.counts import count_of
from tests.command import ROOT, fencepost

NOUNS = (
    *("actions", "bookies", "brokers", "bundles", "changes", "clauses", "disks", "entries", "events", "files", "guarantees"),
    *("instances", "lemmas", "lines", "messages", "mutants", "obligations", "pairs", "properties", "records", "requests"),
    *("results", "runs", "sessions", "states", "steps", "transitions", "walks"),
)
ONE_OF_MANY = re.compile(rf"(?<![\w.,/>:=-])(?<!\+ )1 (?:{'|'.join(NOUNS)})\b")


@pytest.mark.parametrize(
    ("number", "what", "words"),
    [(0, "state", "0 states"), (1, "bookie", "1 bookie"), (1, "entry", "1 entry"), (2, "entry", "2 entries"),
     (1234, "step", "1,234 steps"), (2, "property", "2 properties"), (2, "day", "2 days")],
)  # fmt: skip
def test_a_count_has_the_plural_that_it_needs(number: int, what: str, words: str) -> None:
    assert count_of(number, what) == words


ALLOWED = {
    "checks/commands/explore/walks.py": {"walks"},  # uniform walks
    "checks/engines/any_size/verdicts.py": {"lemmas"},  # of lemmas and properties together
    "checks/policy/comparison/page.py": {"runs", "actions"},  # constants, and a template
    "checks/policy/comparison/text.py": {"changes"},  # a verb, as the next
    "checks/reports/sheet.py": {"guarantees"},
    "checks/settings/load_manager.py": {"runs"},  # a release runs a manager
    "checks/settings/starting.py": {"runs"},  # the same
    "traces/trace.py": {"actions", "states"},  # a mistake of a caller
}


def plurals(path: Path) -> Iterator[str]:
    """The nouns that stand in the plural behind a value in an f-string."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            for value, text in zip(node.values, node.values[1:], strict=False):
                if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant):
                    if isinstance(value.value, ast.Name) and value.value.id.isupper():
                        continue  # a constant, which is more than one
                    word = re.match(r" (\w+)(?![\w/-])", str(text.value))
                    if word and word[1] in NOUNS:
                        yield word[1]


def test_no_text_makes_its_own_plural() -> None:
    texts = {
        name: words
        for floor in ("checks", "traces")
        for path in sorted((ROOT / floor).rglob("*.py"))
        if "reproductions" not in path.parts
        and (words := set(plurals(path)) - ALLOWED.get(name := path.relative_to(ROOT).as_posix(), set()))
    }
    assert not texts, "count_of of fencepost.model.counts makes plurals"
    own = [path for path in (ROOT / "checks").rglob("*.py") if re.search(r"== 1 else .s.\}", path.read_text(encoding="utf-8"))]
    assert not own


def test_reports_have_one_thing_of_one() -> None:
    for command in (
        "check election --set brokers=1 --by exhaustive",
        "check election --set brokers=1 --by walks --walks 1 --steps 1",
        "list ownership",
    ):
        run = fencepost(*command.split(), *(["--quiet"] if command.startswith("check") else []))
        assert not ONE_OF_MANY.search(run.stdout), ONE_OF_MANY.search(run.stdout)


def test_documents_show_one_thing_of_one() -> None:
    for document in sorted((ROOT / "docs").rglob("*.md")):
        match = ONE_OF_MANY.search(document.read_text(encoding="utf-8"))
        assert not match, (document, match)
