"""Protocols and properties that are read from disk are those that are built, term by term."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from fencepost.model.kernel.compiler import product_store
from fencepost.model.language import Not, Protocol, grounding
from fencepost.model.language.building import wanting
from fencepost.model.language.nodes import Nodes
from fencepost.model.language.stored_terms import Recording, StrangerError, reading
from fencepost.properties import stored_builds
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.stored_builds import builds_stored
from fencepost.properties.vocabulary import Suite
from tests.marking import first_at_once


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of what is kept."""
    monkeypatch.setattr(product_store, "FOLDER", str(tmp_path / "protocols"))
    return tmp_path / "protocols"


def _called(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[str]:
    """What a function is called for from now on, which is its second argument."""
    places, function = list[str](), getattr(owner, name)

    def noted(first: Any, where: str, *rest: Any) -> Any:
        places.append(where)
        return function(first, where, *rest)

    monkeypatch.setattr(owner, name, noted)
    return places


@pytest.fixture
def stated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The properties whose functions are called from now on."""
    return _called(monkeypatch, Suite, "_formulated")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The actions whose functions are called from now on."""
    return _called(monkeypatch, grounding, "_worked_out")


def _terms(values: Any) -> list[Any]:
    return [(value.as_ast().value, type(value), getattr(value, "names", None)) for value in values]


def described(protocol: Protocol, suite: Suite) -> list[Any]:
    """All that there is to a protocol and its properties; a term is known by where Z3 has it."""
    actions = []
    for a in protocol.actions:
        texts = a.label, a.actor, a.grounding, a.fault, a.fair, a.doc, a.location, a.mirrors, a.hears, a.to, a.conditions
        terms = _terms([a.guard, *a.updates.values()]), [v.name for v in a.updates], {k: v.name for k, v in a.posts.items()}
        moves = [(m.name, m.doc, m.mirrors, m.conditions, m.fair, m.fault) for m in a.moves]
        actions.append((texts, terms, moves))
    variables = [(v.name, v.domain, v.initial, _terms([v.term, v.next])) for v in protocol.variables]
    offers = {name: offer.taken for name, offer in protocol.offers.items()}
    properties = []
    for p in [*suite.properties, *suite.lemmas]:
        stated = _terms(t for t in (p.formula, p.unless, *chain.from_iterable(p.leads)) if t is not None)
        properties.append((p.name, p.kind, p.doc, p.location, p.strict, p.unfair, len(p.leads), p.unless is None, stated))
    return [actions, variables, offers, properties, protocol.mirrors, protocol.conditions, protocol.steps, protocol.budgets]


def nodes_of(nodes: Nodes, protocol: Protocol) -> list[Any]:
    """The digests of the terms of a protocol, and all their nodes, each with those that are right below it."""
    terms, seen = [term for a in protocol.actions for term in (a.guard, *a.updates.values())], set[int]()
    below = [node for term in terms for node in nodes.below(term, seen)]
    places = [([a.identity for a in node.arguments], [a.identity for a in node.in_turn]) for node in below]
    of_nodes = [(n.identity, n.kind, n.sort, n.bits, n.detail, n.size, each) for n, each in zip(below, places, strict=True)]
    return [*map(nodes.digest, terms), *of_nodes]


CI = [(name, instance) for name in PROTOCOLS for instance in PROTOCOLS[name].sizes["ci"] if not instance.any]


@pytest.mark.parametrize(("name", "instance"), first_at_once(CI, 3), ids=str)
def test_what_is_read_is_what_was_built(name: str, instance: Instance, calls: list[str], stated: list[str]) -> None:
    entry = PROTOCOLS[name]
    built = entry.build(instance.parameters)
    first = entry.suite(built)  # which holds on to its terms: a place in Z3 names a term as long as that is there
    was = described(built, first)
    with builds_stored():
        entry.suite(entry.build(instance.parameters))
        called, formulated = len(calls), len(stated)
        read = entry.build(instance.parameters)
        suite = entry.suite(read)
    assert len(calls) == called > 0
    assert len(stated) == formulated > 0
    assert described(read, suite) == was
    assert nodes_of(read.constants.nodes, read) == nodes_of(Nodes(), read)


def test_with_a_bug_it_is_another(calls: list[str]) -> None:
    entry = PROTOCOLS["election"]
    first, bug = entry.sizes["ci"][0].parameters, next(iter(entry.shown_by))
    with builds_stored():
        for bugs in ((), (bug,)):
            before = len(calls)
            entry.build(first, bugs)
            assert len(calls) > before
        again = entry.build(first, (bug,))
    assert list(again.active) == [bug]


@pytest.mark.parametrize("floor", ["model", "properties"])
def test_other_sources_are_read(floor: str, calls: list[str], stated: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a guard has changed, and where a property has."""
    entry, usual = PROTOCOLS["election"], stored_builds._sources
    with builds_stored():
        entry.suite(entry.build({}))
        before, formulated = len(calls), len(stated)
        monkeypatch.setattr(stored_builds, "_sources", lambda of: "changed" if of == floor else usual(of))
        entry.suite(entry.build({}))
    assert len(calls) == (2 * before if floor == "model" else before)
    assert len(stated) == 2 * formulated


def test_properties_that_are_wanted_are_others_than_all(stated: list[str]) -> None:
    entry, names = PROTOCOLS["election"], ("leader_holds_the_node",)
    with builds_stored():
        protocol = entry.build({})
        entry.suite(protocol)
        before = len(stated)
        for is_made in (True, False):
            with wanting(names):
                suite = entry.suite(protocol)
            assert [p.name for p in suite.properties if p.formula is not None] == list(names)
            assert (len(stated) > before) == is_made
            before = len(stated)


def test_of_another_protocol_properties_are_made_anew(stated: list[str]) -> None:
    """As of one that differs in nothing but a guard."""
    entry = PROTOCOLS["election"]
    with builds_stored():
        protocol = entry.build({})
        entry.suite(protocol)
        before = len(stated)
        action = protocol.actions[0]
        protocol.actions[0] = replace(action, guard=Not(action.guard))
        entry.suite(protocol)
    assert len(stated) == 2 * before


def test_only_a_command_stores_and_only_what_is_of_the_package(folder: Path) -> None:
    def clock(*, bugs: tuple[str, ...] = ()) -> Protocol:
        p = Protocol("clock", active=bugs)
        p.flag("on")

        @p.step(by="clock")
        def strike() -> Any:
            """Strikes."""
            return ~p.state.on, {p.state.on: True}

        return p

    PROTOCOLS["election"].suite(PROTOCOLS["election"].build({}))
    with builds_stored():
        of_the_user = Entry("clock", "", clock, lambda p: Suite(p), {})
        of_the_user.suite(of_the_user.build({}))
        PROTOCOLS["election"].outline({})
    assert not folder.exists()


def test_what_is_of_another_protocol_is_not_taken(calls: list[str], stated: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    entry, recording = PROTOCOLS["election"], Recording()
    with recording.recorded():
        PROTOCOLS["metadata_store"].build({})
    content = recording.encoded()
    with pytest.raises(StrangerError), reading(content):
        entry.build({})
    with pytest.raises(StrangerError), reading(content):
        pass
    monkeypatch.setattr(stored_builds, "product", lambda what, make: content)
    before, formulated = len(calls), len(stated)
    with builds_stored():
        entry.suite(entry.build({}))
    assert len(calls) > before
    assert len(stated) > formulated
