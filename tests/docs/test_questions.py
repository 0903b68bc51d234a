"""What an operator types into the site's search leads to a question that is answered."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from tests.docs.examples import ROOT

PAGE = ROOT / "docs" / "how-to" / "how-do-i.md"
QUERIES = {
    "messages lost": "lost",
    "ack quorum 1 safe": "ack quorum of 1",
    "turn off journalSyncData": "journalSyncData",
    "loss disk": "loss of a disk",
    "lose rack": "rack",
    "upgrade pulsar": "upgrade Pulsar",
    "known bugs release": "known bugs",
    "pull request github": "pull request",
    "jenkins": "Jenkins",
    "cluster not balanced": "not balanced",
    "snapshot without token prometheus": "Prometheus",
    "change shedder threshold": "shedder",
    "logs": "logs",
    "limit time": "limit the time",
}
"""What is typed, and words of the question that is the first answer."""

FOUND = """return [...document.querySelectorAll('.md-search-result__item article')].map(
    one => one.closest('a').getAttribute('href').split('/').pop() + ' ' + one.querySelector('h1, h2').textContent)"""
"""The results in their order, each the file and the place in it, and the heading."""


class Search:
    """The search of the site, opened from disk, as whoever has built it opens it."""

    def __init__(self, browser: Any, site: Path) -> None:
        browser.get((site / "index.html").as_uri())
        browser.execute_script("document.querySelector('#__search').click()")
        self.browser = browser
        self.box = browser.find_element(By.CSS_SELECTOR, "[data-md-component=search-query]")
        self._await(lambda status: "Type to start" in status)

    def _await(self, wanted: Any) -> None:
        status = "return document.querySelector('.md-search-result__meta').textContent"
        WebDriverWait(self.browser, 20).until(lambda driver: wanted(driver.execute_script(status)))

    def results(self, query: str) -> list[str]:
        self.box.clear()
        self._await(lambda status: "Type to start" in status)
        self.box.send_keys(query)
        self._await(lambda status: "Type to start" not in status)
        titles: list[str] = self.browser.execute_script(FOUND)
        return titles


@pytest.fixture(scope="module")
def search(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Search:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True)
    return Search(chromium, folder)


def test_each_question_leads_to_a_page_that_explains_it() -> None:
    title, *questions = PAGE.read_text(encoding="utf-8").split("\n## ")
    assert title.startswith("# How do I")
    assert len(questions) >= 10
    for question in questions:
        assert question.startswith("How do I ")
        assert re.search(r"\]\((\.\./explanation/)?[a-z-]+\.md[#)]", question), question


@pytest.mark.xdist_group("browser")
def test_the_search_finds_a_question_in_an_operators_words(search: Search) -> None:
    answers = {query: search.results(query) for query in QUERIES}
    questions = {query: [one for one in titles if one.startswith("how-do-i.html#")] for query, titles in answers.items()}
    assert {query: questions[query] for query, words in QUERIES.items() if words not in "".join(questions[query][:1])} == {}
    assert {query: results[0] for query, results in answers.items() if not results[0].startswith("how-do-i.html")} == {}
    assert not [one for titles in answers.values() for one in titles if one.startswith("contents.html")], "links only"
    assert not any(one.startswith("how-do-i.html#") for one in search.results("geo replication lag")), "nobody answers it"


@pytest.mark.xdist_group("browser")
def test_no_word_with_digits_makes_a_search_fail(search: Search) -> None:
    search.browser.get_log("browser")
    for letter in "abcdefghijklmnopqrstuvwxyz0123456789":
        search.results(letter)
    assert [entry["message"] for entry in search.browser.get_log("browser") if "Invalid query" in entry["message"]] == []
