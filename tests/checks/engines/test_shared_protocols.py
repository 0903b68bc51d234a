"""Protocols that checks share: the same to whoever asks for the same, and nobody's changes reach anybody else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.checks.engines import shared_protocols
from fencepost.checks.engines.plan import Approach, Task
from fencepost.checks.engines.shared_protocols import SharedProtocols
from fencepost.model import own_sources
from fencepost.model.language.circumstances import in_outline
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value

ELECTION = PROTOCOLS["election"]
NAMED = Approach(by="exhaustive", properties=("election_ends",))


def task(bugs: tuple[str, ...] = (), **parameters: Value) -> Task:
    return Task(ELECTION, Instance("small", {"brokers": 2, **parameters}), bugs)


def test_who_asks_for_the_same_instance_gets_the_same_protocol_and_the_properties_that_are_named() -> None:
    shared = SharedProtocols()
    suite = shared.suite(task())
    again = shared.suite(replace(task(crashes=0), approach=NAMED, instance=Instance("another name", {"brokers": 2})))
    assert again.protocol is suite.protocol
    made = {p.name for p in again.properties if p.formula is not None}
    assert made == {"election_ends"}
    assert all(p.formula is not None for p in suite.properties)


def test_who_asks_for_another_gets_another() -> None:
    shared = SharedProtocols()
    one = shared.suite(task()).protocol
    others = [shared.suite(other).protocol for other in (task(("same_value",)), task(brokers=3))]
    with in_outline():
        others.append(shared.suite(task()).protocol)
    assert len({id(protocol) for protocol in (one, *others)}) == 4
    assert [bool(protocol.actions) for protocol in others] == [True, True, False]
    assert shared.suite(task()).protocol is one


@pytest.mark.parametrize("change", ["actions", "variables", "universes"])
def test_what_somebody_has_changed_is_built_again(change: str) -> None:
    shared = SharedProtocols()
    changed = shared.suite(task()).protocol
    labels = [action.label for action in changed.actions]
    getattr(changed, change).popitem() if change == "universes" else getattr(changed, change).pop()
    protocol = shared.suite(task()).protocol
    assert protocol is not changed
    assert [action.label for action in protocol.actions] == labels


def test_only_the_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_protocols, "KEPT", 2)
    shared = SharedProtocols()
    first, second = task(), task(("same_value",))
    built = [shared.suite(each).protocol for each in (first, second, first, task(brokers=3))]
    assert built[2] is built[0]
    assert shared.suite(first).protocol is built[0]
    assert shared.suite(second).protocol is not built[1]


def test_where_code_of_a_user_has_run_nothing_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = SharedProtocols()
    protocol = shared.suite(task()).protocol
    monkeypatch.setattr(own_sources, "_users", ["mine.py"])
    assert shared.suite(task()).protocol is not protocol
