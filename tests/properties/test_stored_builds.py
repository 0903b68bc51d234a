"""A protocol that is read from disk is the one that is built, term by term."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fencepost.model.kernel.compiler import product_store
from fencepost.model.language import Protocol, grounding
from fencepost.model.language.groundings import Recording, StrangerError, reading
from fencepost.model.language.nodes import Nodes
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


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The actions whose functions are called from now on."""
    names, work_out = list[str](), grounding._worked_out

    def noted(p: Protocol, where: str, *rest: Any) -> Any:
        names.append(where)
        return work_out(p, where, *rest)

    monkeypatch.setattr(grounding, "_worked_out", noted)
    return names


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
    properties = [(p.name, p.kind, p.doc, p.location, p.strict, p.formula.as_ast().value) for p in suite.properties]
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
def test_what_is_read_is_what_was_built(name: str, instance: Instance, calls: list[str]) -> None:
    entry = PROTOCOLS[name]
    built = entry.build(instance.parameters)
    was = described(built, entry.suite(built))
    with builds_stored():
        entry.build(instance.parameters)
        called = len(calls)
        read = entry.build(instance.parameters)
    assert len(calls) == called > 0
    assert described(read, entry.suite(read)) == was
    assert nodes_of(read.constants.nodes, read) == nodes_of(Nodes(), read)


def test_with_a_defect_it_is_another(calls: list[str]) -> None:
    entry = PROTOCOLS["election"]
    first, defect = entry.sizes["ci"][0].parameters, next(iter(entry.shown_by))
    with builds_stored():
        for defects in ((), (defect,)):
            before = len(calls)
            entry.build(first, defects)
            assert len(calls) > before
        again = entry.build(first, (defect,))
    assert list(again.active) == [defect]


def test_other_sources_are_read(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with builds_stored():
        PROTOCOLS["election"].build({})
        before = len(calls)
        monkeypatch.setattr(stored_builds, "_sources", lambda: "a guard has changed")
        PROTOCOLS["election"].build({})
    assert len(calls) == 2 * before


def test_only_a_command_stores_and_only_what_is_of_the_package(folder: Path) -> None:
    def clock(*, defects: tuple[str, ...] = ()) -> Protocol:
        p = Protocol("clock", active=defects)
        p.flag("on")

        @p.step(by="clock")
        def strike() -> Any:
            """Strikes."""
            return ~p.state.on, {p.state.on: True}

        return p

    PROTOCOLS["election"].build({})
    with builds_stored():
        Entry("clock", "", clock, Suite, {}).build({})
        PROTOCOLS["election"].outline({})
    assert not folder.exists()


def test_what_is_of_another_protocol_is_not_taken(calls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    entry, recording = PROTOCOLS["election"], Recording()
    with recording.recorded():
        PROTOCOLS["metadata_store"].build({})
    content = recording.encoded()
    with pytest.raises(StrangerError), reading(content):
        entry.build({})
    with pytest.raises(StrangerError), reading(content):
        pass
    monkeypatch.setattr(stored_builds, "product", lambda what, make: content)
    before = len(calls)
    with builds_stored():
        entry.build({})
    assert len(calls) > before
