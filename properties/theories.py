"""The arithmetic that Fencepost knows theorems about, by name."""

from __future__ import annotations

from properties.hash_range import THEORY
from properties.theorems import Theory

THEORIES: dict[str, Theory] = {THEORY.name: THEORY}
"""The theories by name, in the order in which they are listed."""
