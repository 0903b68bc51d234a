"""The controller on Kafka's own classes: no difference, the known bugs of each release, and bugs are noticed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.checks.conformance.java_side.jars import jars
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.kafka.controller import ControllerAdapter
from fencepost.checks.conformance.kafka.target import KAFKA_CONTROLLER, kafka_controller, start
from fencepost.checks.conformance.running.campaign import campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.differences import unexplained
from tests.checks.conformance.real import tools

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("real kafka")]

ENTRY = PROTOCOLS["kafka_controller"]
OF_0_10_2 = ("resigns_without_cleanup", "epoch_swallowed", "deletes_any")
ELECTED = "elect(b0); read_epoch(b0); fail_over(b0)"
ZOMBIE = "learn_of_expiry(b0); reestablish(b0)"

TWO_ACT = f"{ELECTED}; elect(b1); resign(b0); hear_node(b1); elect(b1); read_epoch(b1); fail_over(b1); hear_node(b0)"
"""resigns_without_cleanup: both brokers act, and the first has nothing left to hear of."""

OLD_EPOCH = f"elect(b0); read_epoch(b0); expire(b0); elect(b1); read_epoch(b1); fail_over(b1); {ZOMBIE}; fail_over(b0)"
"""epoch_swallowed: the compare-and-set fails, and the broker acts with the epoch before that of its successor."""

DEPOSED = f"elect(b0); read_epoch(b0); expire(b0); {ZOMBIE}; elect(b1); fail_over(b0); resign(b0)"
"""deletes_any: a zombie resigns, and deletes the node of its successor."""

OVERTAKES = f"elect(b0); expire(b0); elect(b1); read_epoch(b1); fail_over(b1); {ZOMBIE}; read_epoch(b0); fail_over(b0)"
"""None of these: the zombie's epoch is above that of its successor."""


@pytest.fixture(scope="module")
def adapter() -> Iterator[ControllerAdapter]:
    tools()
    with start(Asked("0.10.2.2")) as adapter:
        yield adapter


@pytest.fixture(scope="module")
def older() -> Iterator[ControllerAdapter]:
    tools()
    with start(Asked("0.10.1.1")) as adapter:
        yield adapter


def follow(adapter: ControllerAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    kernel = Kernel(ENTRY.build({"expiries": 1, "resignations": 1, **parameters}, bugs))
    return Pair(kernel, adapter).follow([label.strip() for label in script.split(";")])


def brokers(outcome: Outcome, name: str) -> list[object]:
    """What the code shows of each broker in the end."""
    assert outcome.seen is not None
    return [shown[name] for shown in outcome.seen.values["brokers"].values()]


def test_a_distribution_takes_the_place_of_kafka_and_not_of_zookeeper(tmp_path: Path) -> None:
    """Its ZooKeeper connects to nothing on the JDKs of today, and what Gradle leaves beside a jar is none of it."""
    (core,) = (jar for jar in jars(kafka_controller("0.10.2.2"), tools()) if jar.name.startswith("kafka_2.11-"))
    shutil.copy(core, tmp_path / "kafka_2.11-0.10.3.0-SNAPSHOT.jar")
    for name in ("zookeeper-3.4.9", "kafka_2.11-0.10.3.0-SNAPSHOT-test", "kafka_2.11-0.10.3.0-SNAPSHOT-scaladoc"):
        (tmp_path / f"{name}.jar").write_bytes(b"none")
    build = OwnBuild(tmp_path)
    path = start.harness("0.10.2.2", own=build).command
    (own,) = (part for part in path[path.index("-cp") + 1].split(os.pathsep) if Path(part).parent == tmp_path)
    assert Path(own).name == "kafka_2.11-0.10.3.0-SNAPSHOT.jar"
    protocols = [ENTRY.build(each, OF_0_10_2) for each in KAFKA_CONTROLLER.instances]
    with start(Asked("0.10.2.2", own=build)) as adapter:
        result = campaign(protocols, adapter, runs=2, steps=40, seed=5, weights=KAFKA_CONTROLLER.weights, stop_after=1)
    assert result.agreeing == 2, unexplained(result)


def test_runs_agree(adapter: ControllerAdapter) -> None:
    protocols = [ENTRY.build(each, OF_0_10_2) for each in KAFKA_CONTROLLER.instances]
    result = campaign(protocols, adapter, runs=10, steps=40, seed=5, weights=KAFKA_CONTROLLER.weights, stop_after=1)
    assert result.agrees, unexplained(result)
    assert result.agreeing == 10


@pytest.mark.parametrize("script", [TWO_ACT, OLD_EPOCH, DEPOSED], ids=OF_0_10_2)
@pytest.mark.parametrize("release", ["adapter", "older"], ids=["0.10.2.2", "0.10.1.1"])
def test_the_known_bugs_of_0_10_are_there(release: str, script: str, request: pytest.FixtureRequest) -> None:
    outcome = follow(request.getfixturevalue(release), script, *OF_0_10_2)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    if script == DEPOSED:
        assert outcome.seen.values["holder"] == "nobody"
    else:
        assert brokers(outcome, "active") == [True, True]
    if script == OLD_EPOCH:
        assert brokers(outcome, "epoch") == [0, 1]


@pytest.mark.parametrize(
    ("script", "bug"), [(TWO_ACT, OF_0_10_2[0]), (OLD_EPOCH, OF_0_10_2[1]), (DEPOSED, OF_0_10_2[2])], ids=OF_0_10_2
)
def test_a_model_without_a_known_bug_differs(adapter: ControllerAdapter, script: str, bug: str) -> None:
    outcome = follow(adapter, script, *(each for each in OF_0_10_2 if each != bug))
    assert outcome.verdict == "differs"


def test_a_zombie_overtakes_its_successor(adapter: ControllerAdapter) -> None:
    outcome = follow(adapter, OVERTAKES)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["holder"] == "b1"
    assert (brokers(outcome, "epoch"), brokers(outcome, "active")) == ([2, 1], [True, True])


def test_the_second_of_two_sessions_leaves_nobody_in_0_10_1(older: ControllerAdapter, adapter: ControllerAdapter) -> None:
    again = "expire(b0); learn_of_expiry(b0); reestablish(b0)"
    script = f"{ELECTED}; {again}; {again}; handle_new_session(b0); {ELECTED}; handle_new_session(b0); elect(b0)"
    outcome = follow(older, script, "new_session_resigns", brokers=1, expiries=2, resignations=0)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert (outcome.seen.values["holder"], brokers(outcome, "active")) == ("b0", [False])
    assert follow(adapter, script, "new_session_resigns", brokers=1, expiries=2, resignations=0).verdict == "differs"
