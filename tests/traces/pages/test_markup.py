"""Markup from data: what is data is escaped, in one place; the colours of all pages are in one file."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from fencepost.traces.pages.markup import Html, each, filled, html, joined, palette, script_data
from tests.hostile import NAME, is_text_in

ROOT = Path(__file__).resolve().parents[3]
FLOORS = ("model", "properties", "traces", "checks")
TAG = re.compile(r"</?(?:p|li|ol|td|tr|th|h[1-6]|div|span|pre|code|details|summary|table|section|figure|svg|a|strong)[ >]")
LIKE_MARKUP = re.compile(r"</?[a-z]|from html ")
"""What any source has that makes markup; to parse one takes longer."""


def test_data_is_escaped_and_markup_is_not() -> None:
    assert html("<p title='{}'>{:>4}</p>", "'\"<&", 7) == "<p title='&#x27;&quot;&lt;&amp;'>   7</p>"
    assert html("<p>{name}</p>", name=html("<b>{}</b>", "<")) == "<p><b>&lt;</b></p>"
    assert each("<li>{}</li>", ["<", joined([Html("<b>"), Html("</b>")])]) == "<li>&lt;</li><li><b></b></li>"
    assert filled("<p>$text</p>$more", text="<$more>", more=Html("<hr>")) == "<p>&lt;$more&gt;</p><hr>"


@pytest.mark.parametrize("page", [html("<p>{}</p>", NAME), filled("<p>$name</p>", name=NAME)])
def test_a_hostile_name_is_text(page: Html) -> None:
    assert is_text_in(page)
    assert not is_text_in(f"<p>{NAME}</p>")


def test_data_does_not_end_its_script() -> None:
    data = script_data({"name": "</script><!--"})
    assert "<" not in data
    assert json.loads(data) == {"name": "</script><!--"}


def _modules() -> list[Path]:
    return [path for floor in FLOORS for path in sorted((ROOT / floor).rglob("*.py"))]


def _marks_up_by_hand(source: str) -> bool:
    """Whether a formatted string of the source has a tag in it, or the source escapes HTML itself."""
    if not LIKE_MARKUP.search(source):
        return False
    nodes = list(ast.walk(ast.parse(source)))
    parts = [part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values]
    texts = [part for part in parts if isinstance(part, ast.Constant)]
    imports = any(isinstance(node, ast.ImportFrom) and node.module == "html" for node in nodes)
    return imports or any(TAG.search(str(text.value)) for text in texts)


def test_no_other_module_makes_markup_of_data() -> None:
    by_hand = [path.relative_to(ROOT).as_posix() for path in _modules() if _marks_up_by_hand(path.read_text(encoding="utf-8"))]
    assert by_hand == ["traces/pages/markup.py"]


@pytest.mark.parametrize("source", ["x = f'<p>{name}</p>'", "from html import escape"])
def test_markup_by_hand_is_seen(source: str) -> None:
    assert _marks_up_by_hand(source)
    assert not _marks_up_by_hand("x = html('<p>{}</p>', name)")


def test_colours_are_only_in_the_palette() -> None:
    styles = [ROOT / "traces/explorer/style.css", ROOT / "traces/explorer/page.html", ROOT / "checks/reports/report_page.html"]
    styles += [ROOT / "docs/site/site.css", ROOT / "checks/policy/comparison/page.py"]
    texts = {path.name: path.read_text(encoding="utf-8") for path in styles}
    assert [name for name, text in texts.items() if re.search(r"#[0-9a-f]{6}\b", text)] == []
    defined = set(re.findall(r"--([\w-]+): light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\);", palette())) | {"mono", "sans"}
    own = {"row", "before", "digits", "who", "label", "lanes"}
    for name, text in texts.items():
        assert set(re.findall(r"var\(--(?!md-)([\w-]+)\)", text)) <= defined | own, name
