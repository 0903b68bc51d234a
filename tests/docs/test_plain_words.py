"""What a person reads uses the words of the trade: none of a list stands in the help, in what documents show, or around it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command import fencepost
from tests.docs.examples import DOCUMENTS

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
