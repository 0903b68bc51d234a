"""Markup from data: the one place where HTML is escaped. What is not ``Html`` is data, and data is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Formatter, Template


class Html(str):
    """Markup, which goes into a page as it is. Only this module makes it of data; elsewhere it is made of literal text, and of
    drawings, whose texts the library that draws them escapes."""

    __slots__ = ()


class _Escaping(Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        return value if isinstance(value, Html) else escape(format(value, format_spec))


_ESCAPING = _Escaping()


def html(template: str, /, *values: object, **named: object) -> Html:
    """The template, which is literal text, with these values at its places: ``html("<p>{}</p>", name)``."""
    return Html(_ESCAPING.vformat(template, values, named))


def joined(parts: Iterable[Html]) -> Html:
    """The parts, one after the other."""
    return Html("".join(parts))


def each(template: str, values: Iterable[object]) -> Html:
    """The template for each of the values, which are its one place, one after the other."""
    return joined(html(template, value) for value in values)


def filled(template: str, **values: object) -> Html:
    """A whole page: the text of its file with these values at its places, ``$name``."""
    return Html(Template(template).substitute({name: _ESCAPING.format_field(value, "") for name, value in values.items()}))


def script_data(data: object) -> Html:
    """Data as JSON for a ``<script type="application/json">``: nothing in it can end that element."""
    return Html(json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


def palette() -> Html:
    """The style sheet with the colours and fonts of all pages, to go before the style of a page."""
    return Html(files("fencepost.traces.pages").joinpath("palette.css").read_text(encoding="utf-8"))
