"""The reproductions, by name."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.checks.conformance.reproductions.fence_forgotten import FENCE_FORGOTTEN
from fencepost.checks.conformance.reproductions.reproduction import Reproduction

REPRODUCTIONS: Mapping[str, Reproduction] = {each.name: each for each in (FENCE_FORGOTTEN,)}
