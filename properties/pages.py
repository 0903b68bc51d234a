"""The page with which the room of a protocol opens: what it mirrors, what is not modelled, and each variable and action with
a line.

It is the docstring of the module that builds the protocol or, if that has no such sections, of the package by which it is
imported. A reader of TLA+ can read it alone. Below a heading such as ``Variables of a bookie`` each entry has four spaces,
names, and what they are::

    Variables of a bookie
        up                   it runs
        stored, rotten       the entries on its disk, and those whose digest does not match

``Parts`` names the protocols on whose pages the rest is.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fencepost.model.language import Protocol

HEADING = re.compile(r"(Constants|Variables?|Actions?|Parts)\b")
SECTION = re.compile(rf"^{HEADING.pattern}.*\n {{4}}\w", re.MULTILINE)
ENTRY = re.compile(r" {4}(?P<names>\w[\w.]*(?:, \w[\w.]*)*)(?: +(?P<line>.*))?")
CONTINUED = re.compile(r" {5,}(?P<line>.*)")


@dataclass(frozen=True)
class Page:
    """A page as it is written, and what it says of each name."""

    text: str
    constants: Mapping[str, str]
    variables: Mapping[str, str]
    actions: Mapping[str, str]
    parts: Mapping[str, str]


def page_of(function: Callable[..., Protocol]) -> Page:
    """The page of the protocol that a function builds; one without sections is a text alone.

    ValueError for an entry that no line explains, and for a name that has two entries of a kind.
    """
    text = inspect.cleandoc(_docstring(function))
    kinds: dict[str, dict[str, list[str]]] = {kind: {} for kind in ("constant", "variable", "action", "part")}
    names: list[str] = []
    section: dict[str, list[str]] | None = None  # none outside the sections
    for line in text.splitlines():
        if heading := HEADING.match(line):
            section, names = kinds[heading[1].lower().removesuffix("s")], []
        elif section is not None and (entry := ENTRY.fullmatch(line)):
            names = entry["names"].split(", ")
            if twice := [name for name in names if name in section or names.count(name) > 1]:
                raise ValueError(f"{', '.join(twice)}: two entries of one page")
            section.update((name, [entry["line"] or ""]) for name in names)
        elif section is not None and (more := CONTINUED.fullmatch(line)):
            for name in names:
                section[name].append(more["line"])
        elif line:
            section = None
    lines = [{name: " ".join(filter(None, told)) for name, told in kind.items()} for kind in kinds.values()]
    if unexplained := [name for kind in lines for name, told in kind.items() if not told]:
        raise ValueError(f"{', '.join(unexplained)}: no line explains it")
    return Page(text, *lines)


def _docstring(function: Callable[..., Protocol]) -> str:
    name = function.__module__
    module, package = sys.modules.get(name), sys.modules.get(name.rpartition(".")[0])
    text = (module.__doc__ if module else function.__globals__.get("__doc__")) or ""
    of_the_room = package.__doc__ if package and callable(getattr(package, function.__name__, None)) else None
    return text if SECTION.search(text) or not of_the_room else of_the_room
