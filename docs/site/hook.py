"""What the site has beside docs/: the README as its first page, what else stands at the top, explorers, and a navigation.

MkDocs calls these functions (``hooks`` in mkdocs.yml). A page of findings shows the commands that find each run; where
``explorers.py`` has made the explorer's page of such a command, it is embedded below the passage that shows it. The search
finds words with digits beside each other, which lunr mixes up (olivernn/lunr.js#503).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs" / "site"), str(ROOT)]

from explorers import FOLDER, SESSION, pages_of  # noqa: E402

from fencepost.properties.protocols import PROTOCOLS  # noqa: E402
from tests.docs.tables import of_protocol, with_options  # noqa: E402

AT_THE_TOP = {"README.md": "index.md", "CHANGELOG.md": "CHANGELOG.md", "CONTRIBUTING.md": "CONTRIBUTING.md"}
"""Files at the top of the repository that are pages of the site, and their names there."""

SEARCH: dict[str, dict[str, Any]] = {"how-to/how-do-i.md": {"boost": 3}, "contents.md": {"exclude": True}}
"""What the search does with a page: questions in an operator's words come first, a list of links never."""

FRAME = (
    '<iframe class="explorer" src="{address}" title="The run, step by step" loading="lazy"></iframe>\n\n'
    '[The run on a page of its own]({address}){{ target="_blank" }}\n'
)

IDENTITY = re.compile(r"(TokenSet\.prototype\.toString=function\(\)\{[^}]*?(\w)=\2\+\w\+\w\.id)\}")
"""What lunr identifies a node of its index by: each letter that follows, and the number of the node there, without a gap.

Where a letter is a digit, two nodes that differ count as the same, and a search for either fails.
"""


LINK = re.compile(r"\[([^]]+)\]\(([^)#]+\.md)\)")
LISTED = re.compile(r"^\| \[[^]]*\]\((findings/[a-z-]+/[a-z0-9-]+\.md)\)", re.MULTILINE)
"""A finding in the table of the page in front of it."""


def navigation(contents: str) -> list[dict[str, list[Any]]]:
    """The navigation: a tab for each heading of the page of contents, or for what several have before a colon; below a page
    with a table of findings these follow."""
    tabs: dict[str, list[Any]] = {"Fencepost": ["index.md", {"All pages": "contents.md"}]}
    tabs["Fencepost"] += [{"Changes": "CHANGELOG.md"}, {"Contributing": "CONTRIBUTING.md"}]
    for section in contents.split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        tab, _, group = heading.partition(": ")
        pages = [_with_findings(" ".join(title.split()), page) for title, page in LINK.findall(text)]
        tabs.setdefault(tab, []).extend([{group.capitalize(): pages}] if group else pages)
    return [{tab: pages} for tab, pages in tabs.items()]


def _with_findings(title: str, page: str) -> Any:
    listed = dict.fromkeys(LISTED.findall((ROOT / "docs" / page).read_text(encoding="utf-8")))
    return {title[0].upper() + title[1:]: [page, *listed]} if listed else page


def on_config(config: Any) -> Any:
    """Makes the navigation of the page of contents."""
    config["nav"] = navigation((ROOT / "docs" / "contents.md").read_text(encoding="utf-8"))
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages and files that do not lie in docs/."""
    for name, place in AT_THE_TOP.items():
        files.append(File.generated(config, place, content=(ROOT / name).read_text(encoding="utf-8")))
    files.append(File.generated(config, "LICENSE", abs_src_path=str(ROOT / "LICENSE")))
    for name in ("site.css", "iframe-worker.js"):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / "docs" / "site" / name)))
    files.append(File.generated(config, "palette.css", abs_src_path=str(ROOT / "traces" / "pages" / "palette.css")))
    for page in sorted(FOLDER.glob("*.html")):
        files.append(File.generated(config, f"explorer/{page.name}", abs_src_path=str(page)))
    return files


def on_post_build(config: Any) -> None:
    """Sets the numbers of lunr's nodes apart by commas; PluginError if its code is no longer the code that needs it."""
    for worker in Path(config["site_dir"]).glob("assets/javascripts/workers/search.*.js"):
        code, count = IDENTITY.subn(r'\1+","}', worker.read_text(encoding="utf-8"))
        if count != 1:
            raise PluginError(f"{worker.name}: lunr identifies nodes in another way; is IDENTITY in {__file__} still needed?")
        worker.write_text(code, encoding="utf-8")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The page as the site has it: links from and to the top follow the files, the tables of a protocol follow its text, the
    options of a command its heading, and explorers are embedded."""
    source = page.file.src_uri
    page.meta["search"] = SEARCH.get(source, {})
    page.meta["hide"] = ["navigation"] if source == "index.md" else []  # what its examples print is 120 columns wide
    if source in AT_THE_TOP.values():
        markdown = re.sub(r"\]\(docs/", "](", markdown)
    markdown = re.sub(r"\]\(((?:\.\./)*)\.\./README\.md", r"](\1index.md", markdown)
    name = source.removeprefix("reference/").removesuffix(".md")
    if name in PROTOCOLS:
        markdown += of_protocol(name)
    if name == "command-line":
        markdown = with_options(markdown)
    return embedded(without_escapes(markdown), source)


def without_escapes(markdown: str) -> str:
    """A page whose tables have bars within code as they are: GitHub wants them escaped, Python-Markdown shows the escape."""
    code = re.compile(r"`[^`\n]*`")
    rows = re.compile(r"^\|.*$", re.MULTILINE)
    return rows.sub(lambda row: code.sub(lambda span: span[0].replace("\\|", "|"), row[0]), markdown)


def embedded(markdown: str, source: str) -> str:
    """A page with the explorers of its commands, below the sessions that show them, if it is a page of findings."""
    if not source.startswith("findings/"):
        return markdown
    made = {place: [page for page in found if page.exists()] for place, found in pages_of(markdown).items()}
    up = "../" * source.count("/")

    def with_frames(session: re.Match[str]) -> str:
        frames = "\n".join(FRAME.format(address=f"{up}explorer/{page.name}") for page in made.get(session.start(), ()))
        return f"{session[0]}\n\n{frames}" if frames else session[0]

    return SESSION.sub(with_frames, markdown)
