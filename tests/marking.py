"""Which marker a test has for what it needs beside Python."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

GROUPS = {
    "real bookkeeper": "java",
    "real bytecode": "java",
    "real brokers": "java",
    "real pulsar": "java",
    "real topic": "java",
    "real subscription": "java",
    "spark": "spark",
    "browser": "browser",
    "tlc": "tlc",
    "package": "package",
}
"""The marker of a group of pytest-xdist."""

FIXTURES = {"jar": "java", "spark": "spark", "chromium": "browser", "tlc": "tlc", "wheel": "package", "clean": "package"}
"""The marker of a fixture."""

PROGRAMS = {
    "java": ("java", "spark", "tlc"),
    "javac": ("java",),
    "mvn": ("java", "tlc"),
    "spark-submit": ("spark",),
    "chromedriver": ("browser",),
    "chromium": ("browser",),
    "firefox": ("browser",),
    "firefox-esr": ("browser",),
}
"""The programs that only tests of a marker start, with these markers."""

COSTLY = frozenset({*GROUPS.values(), "documents", "long"})
TEMPORARY = Path(tempfile.gettempdir()).resolve()


def needed(groups: Iterable[str], fixtures: Iterable[str]) -> set[str]:
    """The markers that the groups and the fixtures of a test stand for."""
    return {GROUPS[name] for name in groups if name in GROUPS} | {FIXTURES[name] for name in fixtures if name in FIXTURES}


def first_at_once(cases: Iterable[Any], count: int = 1) -> list[ParameterSet]:
    """The cases of a test, each a value or a tuple of them: the first ones in the first step, the others in the second."""
    params = [
        case if isinstance(case, ParameterSet) else pytest.param(*(case if isinstance(case, tuple) else (case,)))
        for case in cases
    ]
    long = [pytest.param(*case.values, id=case.id, marks=(*case.marks, pytest.mark.long)) for case in params[count:]]
    return [*params[:count], *long]


def unmarked(program: str, markers: Collection[str]) -> str | None:
    """The marker that a test lacks which starts a program; None if it lacks none.

    A program in a temporary folder is one that the test wrote.
    """
    path = Path(program)
    wanted = PROGRAMS.get(path.name)
    if wanted is None or set(wanted).intersection(markers) or (path.is_absolute() and path.resolve().is_relative_to(TEMPORARY)):
        return None
    return wanted[0]
