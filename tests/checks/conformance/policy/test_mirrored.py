"""What the functions of load balancing mirror: each place is there, and whatever is compared with the classes is listed."""

from __future__ import annotations

import importlib
from functools import reduce

import pytest

from fencepost.checks.conformance.policy.registry import RULES
from fencepost.model.balance.mirrored import MIRRORED

OF_BUNDLES = {"NamespaceBundleFactory.getLongHashCode", "NamespaceBundles.getBundle"}
"""Lookups, which the hash range has."""


@pytest.mark.parametrize("place", MIRRORED)
def test_each_place_is_there(place: str) -> None:
    module, *names = place.split(".")
    found = reduce(getattr, names, importlib.import_module(f"fencepost.model.balance.{module}"))
    assert callable(found)


def test_what_is_compared_with_the_classes_is_listed() -> None:
    listed = {name for names in MIRRORED.values() for name in names}
    classes = {name.partition(".")[0] for name in listed}
    for rule in RULES:
        for name in map(str.strip, rule.mirrors.split(",")):
            assert name in listed or name in OF_BUNDLES or ("." not in name and name in classes), name
