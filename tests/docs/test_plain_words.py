"""What a person reads is plain: no banned word is in the help or in a document, and no sentence of either is long."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command import fencepost
from tests.docs.examples import DOCUMENTS, ROOT

WORDS = [
    "anew",
    "for ever",
    "unmended",
    "mended",
    "mends?",
    "but for",
    "such a one",
    "makes known",
    "hazard of (?:Pulsar|BookKeeper)",
]
BANNED = re.compile(rf"\b({'|'.join(WORDS)})\b", re.I)
"""Each has a better word: again, forever, open, fixed, fixes, except for, one, prints, known bug of."""

COMMANDS = [
    "list",
    "check",
    "explore",
    "teeth",
    "lemmas",
    "play",
    "new",
    "trace",
    "conform",
    "reproduce",
    "export",
    "certify",
    "policy",
]


def test_a_banned_word_is_seen() -> None:
    assert BANNED.findall("It is mended anew, but for one.") == ["mended", "anew", "but for"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_plain(command: str) -> None:
    assert BANNED.findall(fencepost(command, "--help").stdout) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_documents_are_plain(document: Path) -> None:
    assert BANNED.findall(document.read_text(encoding="utf-8")) == []


MOST_WORDS = 30
"""Words of one sentence. A colon ends a sentence; code, a link or a formula is one word."""
FENCED = re.compile(r"^([ ]*)(`{3,}|~{3,}).*?^[ ]*\2", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(r"^\|.*after .*;.*\|$", re.MULTILINE)
"""A row that shows a run: its steps and the state after them."""


def prose(document: str) -> list[str]:
    """The paragraphs, items and cells of a document in Markdown, without code, comments, headings and link targets."""
    text = re.sub(r"<!--.*?-->", "", GENERATED.sub("", FENCED.sub("", document)), flags=re.DOTALL)
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "x", re.sub(r"!?\[[^]]*\]\([^)]*\)", "link", text), flags=re.DOTALL)
    text = re.sub(r"^ *(#.*|\|[-: |]+)$", "", text, flags=re.MULTILINE)
    return [part for part in re.split(r"\n\s*\n|\n\s*(?:[-*+]|\d+\.) |\|", text) if part.strip()]


def long_sentences(parts: list[str]) -> list[str]:
    """The sentences that have more than MOST_WORDS words."""
    sentences = [sentence for part in parts for sentence in re.split(r"(?<=[.!?:])[)*\"]*\s", " ".join(part.split()))]
    return [sentence for sentence in sentences if len(re.findall(r"\S*\w\S*", sentence)) > MOST_WORDS]


def test_a_long_sentence_is_seen() -> None:
    words = "word " * (MOST_WORDS - 1)
    item = f"# A title\n\n- [a link of some words](docs/x.md) {words}\n  and more: {words}.\n"
    assert len(long_sentences(prose(item))) == 1
    assert long_sentences(prose(f"{words}.\n\n```text\n{words}{words}\n```\n\n| {words} | {words} |\n")) == []


def test_the_readme_is_read_in_two_minutes() -> None:
    parts = prose((ROOT / "README.md").read_text(encoding="utf-8"))
    assert sum(len(re.findall(r"\S*\w\S*", part)) for part in parts) <= 600, "docs/contents.md has room for more"


@pytest.mark.parametrize("command", COMMANDS)
def test_descriptions_have_short_sentences(command: str) -> None:
    description = re.split(r"\n(?:positional arguments|options):", fencepost(command, "--help").stdout)[0].partition("\n\n")[2]
    assert long_sentences(description.split("\n\n")) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_documents_have_short_sentences(document: Path) -> None:
    assert long_sentences(prose(document.read_text(encoding="utf-8"))) == []
