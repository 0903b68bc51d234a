"""The pytest plug-in: checks and pinned traces as part of another project's test suite.

pytest loads it in every run where Fencepost is installed, so that it imports nothing until one of its fixtures is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fencepost.checks.pytest_fixtures import Checking, Replaying
    from fencepost.properties.registry import Entry


@pytest.fixture(scope="session")
def fencepost_protocols() -> Mapping[str, Entry]:
    """The protocols by name: Fencepost's own. A suite with others overrides this fixture."""
    from fencepost.properties.protocols import PROTOCOLS

    return PROTOCOLS


@pytest.fixture(scope="session")
def fencepost_replay(fencepost_protocols: Mapping[str, Entry]) -> Replaying:
    """Replays a trace file: ``fencepost_replay(file)``, or ``fencepost_replay(file, bugs=())`` with other bugs; of a protocol
    of one's own with ``protocol=``, its file."""
    from fencepost.checks.pytest_fixtures import Replaying

    return Replaying(fencepost_protocols)


@pytest.fixture(scope="session")
def fencepost_check(fencepost_protocols: Mapping[str, Entry]) -> Checking:
    """Checks a protocol and fails the test unless everything holds: ``fencepost_check("ledger", size="ci")``."""
    from fencepost.checks.pytest_fixtures import Checking

    return Checking(fencepost_protocols)
