"""What all targets of ``fencepost conform`` have: words that are the model's, and a step or a reason for each action."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from fencepost.checks.conformance.bookkeeper.bookie import BookieAdapter
from fencepost.checks.conformance.bookkeeper.ledger import LedgerAdapter
from fencepost.checks.conformance.bookkeeper.replication import ReplicationAdapter
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.kafka.controller import ControllerAdapter
from fencepost.checks.conformance.pulsar.election import ElectionAdapter
from fencepost.checks.conformance.pulsar.ownership import OwnershipAdapter
from fencepost.checks.conformance.pulsar.split import SplitAdapter
from fencepost.checks.conformance.pulsar.store import StoreAdapter
from fencepost.checks.conformance.pulsar.unload import UnloadAdapter
from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.running.adapter import Adapter
from fencepost.checks.conformance.service_unit.channel import ChannelAdapter
from fencepost.checks.conformance.topic.adapter import TopicAdapter
from fencepost.checks.conformance.topic.cursor import SubscriptionAdapter
from fencepost.model.language import Protocol
from fencepost.model.language.circumstances import in_outline
from fencepost.properties.protocols import PROTOCOLS

SESSION = cast(Session, None)
"""An adapter says what it covers before it is asked for a step."""

ADAPTERS: dict[str, Callable[[], Adapter]] = {
    "ledger": lambda: LedgerAdapter(SESSION, storage="db"),
    "bookie": lambda: BookieAdapter(lambda: SESSION),
    "replication": lambda: ReplicationAdapter(SESSION),
    "metadata-store": lambda: StoreAdapter(SESSION),
    "election": lambda: ElectionAdapter(SESSION),
    "ownership": lambda: OwnershipAdapter(SESSION),
    "unload": lambda: UnloadAdapter(SESSION),
    "split": lambda: SplitAdapter(SESSION),
    "service-unit": lambda: ChannelAdapter(SESSION),
    "topic": lambda: TopicAdapter(SESSION),
    "subscription": lambda: SubscriptionAdapter(SESSION),
    "kafka-controller": lambda: ControllerAdapter(SESSION),
}

ELSEWHERE = {
    "ledger": {"journal_fence"},  # the harness answers in the place of ReadEntryProcessor: the target bookie has it
    "replication": {"start_empty", "lose_clients", "lose_store", "end_cut"},  # of a bookie that comes back
    # with an empty disk, and of bookies that are cut off
    "ownership": {"look_again"},  # of a store that reports no lost session; here it is ZooKeeper, as below
    "unload": {"look_again"},
    "split": {"look_again"},
    "service-unit": {"compact", "store_again"},  # of records in a topic; here they are in the metadata store
    "topic": {"leave"},  # of a topic in a cluster
    "kafka-controller": {"lose", "resume"},  # Kafka's client gives no session up by itself
}
"""Actions that a protocol has, and no instance of the target."""


def test_every_target_has_its_adapter() -> None:
    assert ADAPTERS.keys() == TARGETS.keys()


def _instances(name: str) -> list[Protocol]:
    """Whatever is checked of the protocol, shows a bug of it or is held against the code, as any release has it."""
    target, entry = TARGETS[name], PROTOCOLS[TARGETS[name].protocol]
    checked = [instance.parameters for size in entry.sizes.values() for instance in size if not instance.any]
    checked += [{**parameters, **behaviour} for parameters in target.instances for behaviour in ({}, *entry.releases.values())]
    with in_outline():
        built = [entry.build({**target.settings, **parameters}) for parameters in checked]
        return built + [entry.build(shown, [bug]) for bug, shown in entry.shown_by.items()]


@pytest.mark.parametrize("name", TARGETS)
def test_each_action_has_a_step_or_a_reason_why_it_has_none(name: str) -> None:
    """And no other has: a name that is gone would leave a hole."""
    adapter, instances = ADAPTERS[name](), _instances(name)
    actions = {action for protocol in instances for action in protocol.mirrors}
    taken, left_out = {*adapter.covered, *adapter.eager}, set(adapter.not_covered)
    assert taken | left_out == actions - ELSEWHERE.get(name, set())
    families = {variable.family for protocol in instances for variable in protocol.variables}
    observed = {family for observable in adapter.observables for family in observable.variables}
    assert observed | {*adapter.shown_by_requests} <= families
