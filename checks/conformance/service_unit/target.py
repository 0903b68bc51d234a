"""The channel of service units as a target: how a harness for it is started, and what is tried."""

from __future__ import annotations

from fencepost.checks.conformance.java_side.harness import EXECUTORS, OF_PULSAR, OF_ZOOKEEPER, harness
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.policy.code import OPTIONS, pulsar_broker
from fencepost.checks.conformance.service_unit.channel import ChannelAdapter
from fencepost.checks.conformance.targets import Asked, Target
from fencepost.model.releases import held

MAIN = "org.apache.pulsar.metadata.coordination.impl.ChannelBench"


def start(asked: Asked, *, keep_log: bool = False) -> ChannelAdapter:
    """A harness with a server and no broker yet. Raises ToolchainError or SessionError."""
    options = (*OPTIONS, *OF_ZOOKEEPER, EXECUTORS, *asked.options)
    release = pulsar_broker(asked.release)
    bench = harness("service_unit", MAIN, release, besides=OF_PULSAR, options=options, own=asked.own)
    return ChannelAdapter(Session(bench, keep_log=keep_log))


VERSIONS = 99
"""More than a run writes of one unit: those of Pulsar begin again only after 2^63 - 1."""

_INSTANCES = (
    {"brokers": 3, "unloads": 2},
    {"brokers": 3, "burials": 1},
    {"brokers": 3, "crashes": 1},
    {"brokers": 3, "expiries": 1},
    {"brokers": 3, "disconnects": 1},
    {"brokers": 2, "slow": True, "unloads": 2},
    {"brokers": 2, "expiries": 1, "crashes": 1},
    {"brokers": 2, "timeouts": 1, "unloads": 2, "multi_phase": False},
    {"brokers": 2, "timeouts": 1, "unloads": 2},
    {"brokers": 2, "units": 2},
    {"brokers": 3, "shutdowns": 1},
    {"brokers": 2, "shutdowns": 1, "crashes": 1},
    {"brokers": 3, "units": 2, "splits": 1, "conflicts": 7},
    {"brokers": 2, "units": 2, "splits": 1, "conflicts": 1, "attempts": 1, "crashes": 1},
)

CHANNEL = Target(
    name="service-unit",
    protocol="service_unit",
    system="pulsar",
    releases=held("pulsar", usual="4.2.4"),
    start=start,
    settings={"store": "metadata"},
    instances=tuple({**each, "versions": VERSIONS} for each in _INSTANCES),
    weights={
        "unload": 0.3,
        "stop_waiting": 0.3,
        "disconnect": 0.3,
        "expire": 0.3,
        "crash": 0.3,
        "shut_down": 0.1,
        "hand_over": 5.0,
        "give_up": 5.0,
        "own_child": 3.0,
        "change_layout": 3.0,
        "delete_parent": 3.0,
        "schedule_clean_up": 5.0,
        "clean_up": 5.0,
        "pass_over": 5.0,
        "tombstone_old": 20.0,
    },
)
