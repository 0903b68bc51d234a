"""ZooKeeper by calls shows what ZooKeeper shows through its sockets: the same runs have the same answers, one for one.

Through sockets every client is asked after every step whether it waits. By calls those that rest are not (``Client.rests``)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.running.adapter import Adapter
from fencepost.checks.conformance.running.campaign import campaign
from fencepost.checks.conformance.targets import Asked
from fencepost.properties.protocols import PROTOCOLS
from tests.checks.conformance.real import tools

pytestmark = [pytest.mark.xdist_group("real pulsar"), pytest.mark.later]

RUNS = {"election": 24, "metadata-store": 18, "ownership": 24, "unload": 14, "split": 16}
"""Runs of each target: two or more of each instance."""


@pytest.mark.parametrize("name", RUNS)
def test_calls_and_sockets_have_the_same_answers(name: str) -> None:
    tools()
    target = TARGETS[name]
    release = target.releases[0]
    instances = [target.model(PROTOCOLS[target.protocol], release, each) for each in target.instances]
    answers: list[list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = []
    for sockets in (False, True):
        heard: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
        with ExitStack() as ended:
            adapter: Adapter = ended.enter_context(target.start(Asked(release, sockets=sockets)))
            adapter.session.listener = lambda request, answer, heard=heard: heard.append((request, answer))
            result = campaign(instances, adapter, runs=RUNS[name], steps=60, seed=5, weights=target.weights, shrink=False)
        assert result.agrees
        answers.append(heard)
    calls, through_sockets = answers
    assert len(calls) > 10 * RUNS[name]
    for one, other in zip(calls, through_sockets, strict=True):
        assert one == other
