"""A name that is markup, and whether a page takes it for that."""

from __future__ import annotations

from html.parser import HTMLParser

NAME = "<img src=x onerror=alert(1)>"
"""It is also the name of a file, without its suffix."""


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]


def is_text_in(page: str) -> bool:
    """Whether the page shows such a name, and no element and no attribute comes of it."""
    elements = _Elements()
    elements.feed(page)
    shown = "&lt;img src=x onerror=alert(1)&gt;" in page or "\\u003cimg src=x onerror=alert(1)>" in page
    return shown and "p" in elements.tags and "img" not in elements.tags and "onerror" not in elements.attributes
