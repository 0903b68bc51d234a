"""What the findings have only read in a release is so in its bytecode: a change in the next release is noticed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import pytest

from fencepost.checks.conformance.java_side.jars import jars
from fencepost.checks.conformance.pulsar.target import OWNERSHIP, pulsar_ownership
from tests.checks.conformance.real import each_release, tools

pytestmark = [pytest.mark.xdist_group("real pulsar"), pytest.mark.later]

TOPIC = "org.apache.pulsar.broker.service.persistent.PersistentTopic"
EXTENSIBLE = "org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl"
MODULAR = "org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl"
OWNED = "org.apache.pulsar.broker.namespace.OwnershipCache"
METHOD = re.compile(r"^  [\w<].*?([\w$<>]+)\(.*\).*;$")


@cache
def listing(release: str, name: str) -> dict[str, str]:
    """The instructions of a class's methods, by their names; those of one name together."""
    javap = tools().javac.with_name("javap")
    path = ":".join(map(str, jars(pulsar_ownership(release), tools())))
    text = subprocess.run([javap, "-p", "-c", "-classpath", path, name], capture_output=True, text=True, check=True).stdout
    methods: dict[str, str] = {}
    current = ""
    for line in text.splitlines():
        if (begins := METHOD.match(line)) is not None:
            current = begins[1]
        methods[current] = methods.get(current, "") + line + "\n"
    return methods


def written(release: str, name: str, field: str) -> Iterator[tuple[str, str]]:
    """The methods that write a field, each with the instruction before."""
    for method, text in listing(release, name).items():
        for before, line in pairwise(text.splitlines()):
            if "putfield" in line and re.search(rf"\b{field}:", line):
                yield method, before.split(":", 1)[1].strip()


@each_release(OWNERSHIP.releases)
def test_nothing_takes_the_flag_of_a_transfer_back(release: str) -> None:
    assert list(written(release, TOPIC, "transferring")) == [("close", "iconst_1")]
    fences = [(method, value) for method, value in written(release, TOPIC, "isFenced") if method == "unfenceTopicToResume"]
    assert fences == [("unfenceTopicToResume", "iconst_0")]


@each_release(OWNERSHIP.releases)
def test_the_load_manager_does_not_listen_to_the_loss_of_its_lock(release: str) -> None:
    assert any("ResourceLock.release" in text for text in listing(release, MODULAR).values())
    assert not any("getLockExpiredFuture" in text for text in listing(release, MODULAR).values())
    assert "getLockExpiredFuture" in "".join(listing(release, f"{OWNED}$OwnedServiceUnitCacheLoader").values())


@each_release(OWNERSHIP.releases)
def test_a_leader_tries_again_on_the_thread_of_the_monitor(release: str) -> None:
    assert "Thread.sleep" in listing(release, EXTENSIBLE)["playLeader"]
    starts = "".join(text for method, text in listing(release, EXTENSIBLE).items() if method.startswith(("lambda$", "start")))
    assert "getLoadManagerExecutor" in starts
    assert re.search(r"(playLeader|lambda\$\w+):?\(\)V", starts)
    channel = EXTENSIBLE.replace("ExtensibleLoadManagerImpl", "channel.ServiceUnitStateChannelImpl")
    assert "getLoadManagerExecutor" in listing(release, channel)["scheduleOwnershipMonitor"]


@each_release(OWNERSHIP.releases)
def test_a_closed_election_is_started_without_a_look_at_whether_the_broker_is_disabled(release: str) -> None:
    text = listing(release, EXTENSIBLE)["handleNoChannelOwnerError"]
    assert "LeaderElectionService.start" in text
    assert "disabled:" not in text
