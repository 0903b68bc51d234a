"""Counts in words: one function makes every plural, and reports and documents have no one thing of many."""

from __future__ import annotations

import re

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
