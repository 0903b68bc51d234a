"""The documentation as a site: it builds without a warning, has every document, and shows the runs of the findings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.docs.examples import DOCUMENTS, ROOT


def _leaves(nav: Any) -> Iterator[str]:
    """The documents of the navigation, in order."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from _leaves(part)


@pytest.fixture(scope="module")
def site() -> Iterator[ModuleType]:
    """The hook of the site, with the module that it imports."""
    folder = str(ROOT / "docs" / "site")
    sys.path.insert(0, folder)
    import hook

    yield hook
    sys.path.remove(folder)


def test_the_navigation_has_every_document_once(site: ModuleType) -> None:
    contents = (ROOT / "docs" / "contents.md").read_text(encoding="utf-8")
    here, *tabs = site.navigation(contents)
    assert set(_leaves(here)) == {"index.md", "contents.md", "CHANGELOG.md", "CONTRIBUTING.md"}
    assert [name for tab in tabs for name in tab] == ["Learn", "How to", "Reference", "Findings", "Explanation"]
    documents = {document.relative_to(ROOT).as_posix() for document in DOCUMENTS if document.parent != ROOT}
    assert sorted(f"docs/{leaf}" for leaf in _leaves(tabs)) == sorted(documents - {"docs/contents.md"})


@pytest.mark.documents
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    assert {line.split()[0] for line in built.stderr.splitlines()} == {"INFO"}  # with --quiet it would not count warnings
    pages = {page.relative_to(folder).as_posix() for page in folder.rglob("*.html")}
    assert pages >= {"index.html", "tutorial.html", "reference/ledger.html", "CHANGELOG.html"}


SHOWN = """Text.

```console
$ fencepost check ledger --set entries=2 bookies=2 \\
    --property reads_stay --trace-dir traces --quiet
...
$ fencepost check hash_range
...
```

More.

```console
$ fencepost trace show traces/x.itf.json
```
"""


def test_explorers_are_embedded_below_the_commands_that_have_one(
    site: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorers = sys.modules["explorers"]
    monkeypatch.setattr(explorers, "FOLDER", tmp_path)
    source = "findings/ledger/read-that-does-not-stay.md"
    assert site.embedded(SHOWN, source) == SHOWN
    (tmp_path / "ledger-entries-2-bookies-2-reads_stay.html").touch()
    (tmp_path / "more.html").touch()
    before, after = site.embedded(SHOWN, source).split("\n\nMore.")
    assert before.startswith(SHOWN.partition("\n\nMore.")[0])
    (address,) = re.findall(r'<iframe class="explorer" src="([^"]+)"', before)
    assert address == "../../explorer/ledger-entries-2-bookies-2-reads_stay.html"
    assert "iframe" not in after
    assert site.embedded(SHOWN, "tutorial.md") == SHOWN


def test_each_command_of_the_findings_has_a_page_of_its_own(site: ModuleType) -> None:
    explorers = sys.modules["explorers"]
    named: dict[str, list[str]] = {}
    for document in explorers.FINDINGS.rglob("*.md"):
        markdown = document.read_text(encoding="utf-8")
        pages, commands = explorers.pages_of(markdown), explorers.commands_of(markdown)
        for place, lines in commands.items():
            for words, page in zip(lines, pages[place], strict=True):
                assert named.setdefault(page.name, words) == words
    assert len(named) >= 10


@pytest.mark.documents
def test_a_command_makes_its_page(site: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explorers = sys.modules["explorers"]
    monkeypatch.setattr(explorers, "FOLDER", tmp_path / "explorer")
    small = ["check", "election", "--set", "brokers=2", "crashes=1", "leads=confirmed", "--property"]
    page = tmp_path / "explorer" / "election-brokers-2-crashes-1-leads-confirmed-leader_is_alone.html"
    assert explorers.make([*small, "leader_is_alone"]) == f"page: {page}"
    assert "leader_is_alone" in page.read_text(encoding="utf-8")
    assert explorers.make([*small, "election_ends"]) == "page: none, since nothing is violated"
    with pytest.raises(subprocess.CalledProcessError):
        explorers.make([*small, "absent"])
