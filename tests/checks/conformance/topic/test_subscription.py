"""A subscription on Pulsar's own cursor: no difference without a name, every action taken, and bugs are noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.checks.conformance.topic.cursor import SubscriptionAdapter
from fencepost.checks.conformance.topic.target import SUBSCRIPTION, start_subscription
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.differences import unexplained
from tests.checks.conformance.real import tools

pytestmark = pytest.mark.xdist_group("real subscription")

ENTRY = PROTOCOLS["subscription"]
USUAL = SUBSCRIPTION.releases[0]


@pytest.fixture(scope="module")
def adapter() -> Iterator[SubscriptionAdapter]:
    tools()
    with start_subscription(Asked(USUAL)) as adapter:
        yield adapter


def held(adapter: SubscriptionAdapter, *, runs: int, release: str = USUAL, seed: int = 1) -> Result:
    instances = [SUBSCRIPTION.model(ENTRY, release, each) for each in SUBSCRIPTION.instances]
    return campaign(instances, adapter, runs=runs, steps=40, seed=seed, weights={}, stop_after=1, shrink=False)


def follow(adapter: SubscriptionAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    """Takes these steps of an instance with these bugs."""
    pair = Pair(Kernel(ENTRY.build(parameters, bugs)), adapter)
    return pair.follow([step.strip() for step in script.split(";")])


def test_the_actions_of_the_instances_are_covered_in_every_release() -> None:
    for release in SUBSCRIPTION.releases:
        for parameters in SUBSCRIPTION.instances:
            names = {action.name for action in SUBSCRIPTION.model(ENTRY, release, parameters).actions}
            assert names <= {*SubscriptionAdapter.covered, *SubscriptionAdapter.eager}, (release, parameters)


@pytest.mark.later
def test_runs_differ_only_where_it_is_known(adapter: SubscriptionAdapter) -> None:
    result = held(adapter, runs=20 * len(SUBSCRIPTION.instances))
    assert result.agrees, unexplained(result)
    assert result.agreeing > 10 * len(SUBSCRIPTION.instances)


@pytest.mark.deep
@pytest.mark.parametrize("release", SUBSCRIPTION.releases)
def test_many_runs_differ_only_where_it_is_known(release: str) -> None:
    tools()
    with start_subscription(Asked(release)) as adapter:
        result = held(adapter, runs=10_000, release=release, seed=2)
    assert result.agrees, unexplained(result)


@pytest.mark.later
def test_a_model_without_a_bug_of_the_release_is_noticed(adapter: SubscriptionAdapter) -> None:
    """The close writes the position from before what waits, without the ranges that it took in."""
    script = "load; acknowledge(m1); create_ledger; flush_acks; store; acknowledge_during_read(m0); unload"
    sizes: dict[str, Value] = {"seeks": 0, "crashes": 0}
    mistaken = follow(adapter, script, "position_behind_ranges", **sizes)
    assert mistaken.verdict == "agrees", mistaken
    assert mistaken.seen is not None
    assert mistaken.seen.values["stored"] == {"mark": 0, "acked": []}
    sound = follow(adapter, script, **sizes)
    assert (sound.verdict, [each.what for each in sound.differences]) == ("differs", ["stored mark"])


@pytest.mark.later
def test_a_seek_and_what_waits_behind_it_are_only_answered(adapter: SubscriptionAdapter) -> None:
    """After a seek back an old position is stored during the next one, and what waits there is taken for an older one."""
    first = "load; acknowledge(m2); seek_during_read(1); create_ledger; flush_seek; skip(m1); acknowledge(m0); store"
    second = "seek_during_read(3); acknowledge_during_read(m1); store; end_read; skip_seek"
    pair = Pair(Kernel(SUBSCRIPTION.model(ENTRY, USUAL, {"seeks": 2})), adapter)
    outcome = pair.follow(f"{first}; {second}".split("; "))
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert not outcome.seen.values["seeking"]
    assert not outcome.seen.values["writing"]
