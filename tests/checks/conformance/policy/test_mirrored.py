"""What the functions of load balancing mirror: each place is there, whatever is compared with the classes is listed, and each
method of load balancing is found with the place that mirrors it, or with the reason why none does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pkgutil import resolve_name

import pytest

from fencepost.checks.commands.list.run import mirrored as told_of
from fencepost.checks.conformance.java_side.classfiles import Classes
from fencepost.checks.conformance.java_side.jars import jars
from fencepost.checks.conformance.java_side.mirrors import classes_of, mirrored
from fencepost.checks.conformance.policy.registry import RULES
from fencepost.checks.settings.load_manager import MIRRORED as OF_SETTINGS
from fencepost.model.balance.beyond import BEYOND, beyond
from fencepost.model.balance.mirrored import MIRRORED
from fencepost.model.releases import PULSAR
from fencepost.properties.protocols import PROTOCOLS
from tests.checks.conformance.real import tools
from tests.marking import first_at_once

OF_BUNDLES = {"NamespaceBundleFactory.getLongHashCode", "NamespaceBundles.getBundle"}
"""Lookups, which the hash range has."""
NOTHING_OF_ITS_OWN = re.compile(
    r"(?:get|set|is|has|can|to)[A-Z].*|toString|equals|hashCode|values|valueOf|builder|(?:can)?[eE]qual|main|.*[$<].*"
)
"""Accessors, what every object has, and what compilers make."""


@pytest.mark.parametrize("place", MIRRORED)
def test_each_place_is_there(place: str) -> None:
    assert callable(resolve_name(f"fencepost.model.balance.{place}"))


def test_what_is_compared_with_the_classes_is_listed() -> None:
    listed = {name for names in MIRRORED.values() for name in names}
    classes = {name.partition(".")[0] for name in listed}
    for rule in RULES:
        for name in map(str.strip, rule.mirrors.split(",")):
            assert name in listed or name in OF_BUNDLES or ("." not in name and name in classes), name


def test_what_is_not_modelled_says_why() -> None:
    assert told_of("UnloadManager.waitAsync") == (
        "not modelled  UnloadManager.waitAsync  "
        "what a request for an unload or a split is answered, and when: no rule and no protocol asks for that\n"
    )
    assert "settings  load_manager.mismatches  LoadManager.create\n" in told_of("loadmanager.create")
    assert [name for name, _ in beyond("UnloadDecision.skip")] == ["UnloadDecision.*"]
    assert "service_unit  read  ServiceUnitStateChannelImpl.handleOwnEvent\n" in told_of("handleOwnEvent")


def test_nothing_is_both_modelled_and_not() -> None:
    names = list(chain.from_iterable(BEYOND.values()))
    assert len(names) == len(set(names))
    assert sorted(modelled().intersection(names)) == []


@cache
def modelled() -> frozenset[str]:
    """What a rule, a protocol or a check of settings mirrors."""
    of_protocols = (mirrored(entry) for entry in PROTOCOLS.values() if entry.project == "pulsar")
    return frozenset(chain(OF_SETTINGS, *MIRRORED.values(), *of_protocols))


def methods_of_load_balancing(release: str) -> Iterator[str]:
    """Every method that a class of the broker's packages of load balancing declares and does something, as Class.method."""
    with Classes(jars(classes_of("pulsar", release), tools())) as classes:
        for one in classes.under("org.apache.pulsar.broker.loadbalance."):
            name = one.name.rpartition(".")[2].replace("$", ".")
            if not re.search(r"\.\d+$", name):
                yield from (f"{name}.{method}" for method in one.methods if not NOTHING_OF_ITS_OWN.fullmatch(method))


@pytest.mark.java
@pytest.mark.parametrize("release", first_at_once(reversed(PULSAR)))
def test_every_method_is_found(release: str) -> None:
    methods = list(methods_of_load_balancing(release))
    assert len(methods) > 100, "the packages are there"
    assert [name for name in methods if name not in modelled() and not list(beyond(name))] == []


@pytest.mark.java
@pytest.mark.deep
def test_what_is_listed_is_there_in_some_release() -> None:
    there = set(chain.from_iterable(map(methods_of_load_balancing, PULSAR)))
    classes = {name.rpartition(".")[0] for name in there}

    def is_there(name: str) -> bool:
        method = name.rpartition(".")[2]
        return name in there or name.removesuffix(".*") in classes or bool(NOTHING_OF_ITS_OWN.fullmatch(method))

    of_rules = (name for name in chain.from_iterable(MIRRORED.values()) if name.rpartition(".")[0] in classes)
    listed = (*chain.from_iterable(BEYOND.values()), *OF_SETTINGS, *of_rules)
    assert [name for name in listed if not is_there(name)] == []
