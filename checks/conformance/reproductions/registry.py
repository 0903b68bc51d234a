"""The reproductions, by name."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.checks.conformance.reproductions.dedup_loses import DEDUP_LOSES
from fencepost.checks.conformance.reproductions.failed_flush import FAILED_FLUSH
from fencepost.checks.conformance.reproductions.fence_forgotten import FENCE_FORGOTTEN
from fencepost.checks.conformance.reproductions.reproduction import Reproduction

_ALL = (FENCE_FORGOTTEN, DEDUP_LOSES, FAILED_FLUSH)

REPRODUCTIONS: Mapping[str, Reproduction] = {each.name: each for each in _ALL}
