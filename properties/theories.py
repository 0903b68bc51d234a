"""The arithmetic that Fencepost knows theorems about, by name."""

from __future__ import annotations

from fencepost.properties.balance import arithmetic as load_balancing
from fencepost.properties.hash_range import arithmetic as hash_range
from fencepost.properties.service_unit import resolver
from fencepost.properties.theorems import Theory

THEORIES: dict[str, Theory] = {theory.name: theory for theory in (hash_range.THEORY, load_balancing.THEORY, resolver.THEORY)}
"""The theories by name, in the order in which they are listed."""
