"""What an operator types into the site's search is in a heading: the search ranks headings first."""

from __future__ import annotations

import re

import pytest

from tests.docs.examples import ROOT

PAGE = ROOT / "docs" / "how-to" / "how-do-i.md"
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
QUERIES = (
    "messages lost",
    "ack quorum 1 safe",
    "turn off journalSyncData",
    "loss disk",
    "lose rack loss",
    "upgrade pulsar",
    "known bugs release",
    "pull request github",
    "jenkins",
    "cluster not balanced",
    "snapshot without token prometheus",
    "change shedder threshold",
    "logs",
    "limit time",
)


def _answering(query: str, headings: list[str]) -> list[str]:
    """The headings that have a word of the query, by how many of them: those with the most."""
    words = query.lower().split()
    scores = {heading: sum(word in heading.lower() for word in words) for heading in headings}
    return [heading for heading, score in scores.items() if score >= min(2, len(words)) and score >= len(words) - 1]


@pytest.mark.parametrize("query", QUERIES)
def test_the_search_finds_a_question_in_an_operators_words(query: str) -> None:
    assert _answering(query, HEADING.findall(PAGE.read_text(encoding="utf-8")))


def test_what_nobody_answers_is_not_found() -> None:
    assert not _answering("geo replication lag", HEADING.findall(PAGE.read_text(encoding="utf-8")))


def test_each_question_leads_to_a_page_that_explains_it() -> None:
    title, *questions = PAGE.read_text(encoding="utf-8").split("\n## ")
    assert title.startswith("# How do I")
    assert len(questions) >= 10
    for question in questions:
        assert question.startswith("How do I ")
        assert re.search(r"\]\((\.\./explanation/)?[a-z-]+\.md[#)]", question), question
