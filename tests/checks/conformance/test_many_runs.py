"""Ten thousand runs each of the ledger, the election and ownership on every release that they are tried with."""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest

from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.running.campaign import campaign
from fencepost.checks.conformance.targets import Asked
from fencepost.properties.protocols import PROTOCOLS
from tests.checks.conformance.differences import unexplained
from tests.checks.conformance.real import tools

RUNS = 10_000
WORKERS = min(8, (os.cpu_count() or 1) + 1)
OF_OTHER_RELEASES = {"create_concurrently", "confirm", "retake", "find_own"}
"""Actions that the code of some releases never takes."""


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "release"), [(name, release) for name in ("election", "ownership", "ledger") for release in TARGETS[name].releases]
)
def test_many_runs_differ_only_where_it_is_known(name: str, release: str) -> None:
    tools()
    target = TARGETS[name]
    storage = next(iter(target.storages), "")
    instances = [target.model(PROTOCOLS[target.protocol], release, each) for each in target.instances_on(storage)]
    with ExitStack() as ended:
        adapter, *besides = [ended.enter_context(target.start(Asked(release, storage))) for _ in range(WORKERS)]
        result = campaign(
            instances, adapter, besides=besides, runs=RUNS, steps=60, seed=1, weights=target.weights, stop_after=1
        )
        covered = set(adapter.covered)
    assert result.agrees, unexplained(result)
    assert result.runs == RUNS
    in_instances = {action.name for protocol in instances for action in protocol.actions}
    taken = result.coverage.names()
    assert {action for action in covered & in_instances if not taken[action]} <= OF_OTHER_RELEASES
