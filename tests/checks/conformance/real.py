"""Real code for tests: what a test needs of Java and Maven, or the reason why it is skipped."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from fencepost.checks.conformance.java_side import jars
from fencepost.checks.conformance.java_side.toolchain import Toolchain, ToolchainError, toolchain


def each_release(releases: Sequence[str]) -> pytest.MarkDecorator:
    """One test for each release, oldest first; all but the newest are deep."""
    *others, newest = releases
    marked = [*(pytest.param(release, marks=pytest.mark.deep) for release in others), pytest.param(newest)]
    return pytest.mark.parametrize("release", marked)


OFFLINE = re.compile("Could not transfer|Unknown host|Connection refused|Network is unreachable|name resolution|offline mode")
"""What Maven prints where no repository can be reached."""

_fetched = jars._fetched


def skipping_offline(release: jars.Release, tools: Toolchain, folder: Path) -> None:
    """Fetches as always; where there is no network the test is skipped with what Maven prints, and fails in continuous
    integration."""
    try:
        _fetched(release, tools, folder)
    except ToolchainError as error:
        if OFFLINE.search(str(error)) and not os.environ.get("CI"):
            pytest.skip(str(error))
        raise


@cache
def _toolchain() -> Toolchain | str:
    jars._fetched = skipping_offline
    try:
        return toolchain()
    except ToolchainError as error:
        return str(error)


def tools() -> Toolchain:
    """The JDK and Maven of this machine; without them the test is skipped, and fails in continuous integration."""
    result = _toolchain()
    if isinstance(result, Toolchain):
        return result
    if os.environ.get("CI"):
        pytest.fail(result)
    pytest.skip(result)
