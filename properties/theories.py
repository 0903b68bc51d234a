"""The arithmetic that Fencepost knows theorems about, by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from fencepost.properties.loading import Loaded
from fencepost.properties.theorems import Theory

_MODULES = {
    "hash_range": "hash_range.arithmetic",
    "load_balancing": "balance.arithmetic",
    "service_unit_resolver": "service_unit.resolver",
}


def _theory(name: str) -> Theory:
    theory: Theory = import_module(f"{__package__}.{_MODULES[name]}").THEORY
    assert theory.name == name, f"{theory.name} is listed as {name}"
    return theory


THEORIES: Mapping[str, Theory] = Loaded(_MODULES, _theory)
"""The theories by name, in the order in which they are listed; each is loaded when it is looked up."""
