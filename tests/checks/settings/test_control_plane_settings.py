"""The control plane's part of a broker.conf: what is taken from where, what is refused and what is noted."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.settings.broker_conf import ConfigurationError
from fencepost.checks.settings.broker_settings import (
    ALGORITHM,
    FIRST_BUNDLES,
    FORMER_SESSION_TIMEOUT,
    MOST_BUNDLES,
    SESSION_POLICY,
    SESSION_TIMEOUT,
    SUPPORTED,
    UNLOADS,
    ControlPlaneSettings,
)
from fencepost.checks.settings.cluster_settings import read_settings
from fencepost.model.pulsar.hash_range import ALGORITHMS
from fencepost.properties.configuration import fitting
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance


def conf(folder: Path, content: str) -> Path:
    path = folder / "broker.conf"
    path.write_text(content)
    return path


def taken(folder: Path, content: str) -> tuple[ControlPlaneSettings, tuple[str, ...]]:
    settings = read_settings(conf(folder, f"clusterName=a\n{content}\n"))
    return settings.control_plane, settings.control_plane_notes


def refusal(folder: Path, content: str) -> str:
    path = conf(folder, f"clusterName=a\n{content}\n")
    with pytest.raises(ConfigurationError) as error:
        read_settings(path)
    message = str(error.value).replace(str(path), "FILE")
    assert message.startswith("FILE:")
    assert "\n" not in message
    return message


def test_what_is_not_set_is_pulsars_default(tmp_path: Path) -> None:
    settings, notes = taken(tmp_path, "managedLedgerDefaultEnsembleSize=2")
    assert [value.value for value in settings.taken] == [4, 128, ALGORITHMS[0], ALGORITHMS, True, "reconnect", 30_000]
    assert {value.source for value in settings.taken} == {"Pulsar's default"}
    assert notes == ()


def test_what_is_set_is_taken_with_its_place(tmp_path: Path) -> None:
    lines = {
        FIRST_BUNDLES: "16",
        MOST_BUNDLES: " 64 ",
        ALGORITHM: "topic_count_equally_divide",
        SUPPORTED: "range_equally_divide, topic_count_equally_divide",
        UNLOADS: "FALSE",
        SESSION_POLICY: "shutdown",
        SESSION_TIMEOUT: "30000",
    }
    settings, notes = taken(tmp_path, "\n".join(f"{key}={value}" for key, value in lines.items()))
    assert [str(value).replace(str(tmp_path), "") for value in settings.taken] == [
        f"{FIRST_BUNDLES} = 16 (/broker.conf:2)",
        f"{MOST_BUNDLES} = 64 (/broker.conf:3)",
        f"{ALGORITHM} = topic_count_equally_divide (/broker.conf:4)",
        f"{SUPPORTED} = range_equally_divide,topic_count_equally_divide (/broker.conf:5)",
        f"{UNLOADS} = false (/broker.conf:6)",
        f"{SESSION_POLICY} = shutdown (/broker.conf:7)",
        f"{SESSION_TIMEOUT} = 30000 (/broker.conf:8)",
    ]
    assert notes == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{FIRST_BUNDLES}=0", "FILE:2: defaultNumberOfNamespaceBundles = 0 is not from 1 to 2147483647; write the number of"),
        (f"{MOST_BUNDLES}=many", "FILE:2: loadBalancerNamespaceMaximumBundles = 'many' is not a whole number; write the"),
        (f"{ALGORITHM}=halves", f"FILE:2: {ALGORITHM} = 'halves' is not range_equally_divide or "),
        (f"{SUPPORTED}=range_equally_divide,halves", f"FILE:2: {SUPPORTED} has 'halves', which is none of range_equally"),
        (f"{SESSION_POLICY}=Reconnect", f"FILE:2: {SESSION_POLICY} = 'Reconnect' is not reconnect or shutdown; write one of"),
        (f"{SESSION_TIMEOUT}=0", f"FILE:2: {SESSION_TIMEOUT} = 0 is not from 1 to 2147483647; write milliseconds, such as"),
        (f"{FORMER_SESSION_TIMEOUT}=3000000000", f"FILE:2: {FORMER_SESSION_TIMEOUT} = 3000000000 is not from -2147483647 to "),
        (
            f"{SUPPORTED}=topic_count_equally_divide",
            f"FILE: {ALGORITHM} = range_equally_divide (Pulsar's default) is not one of {SUPPORTED} = topic_count_equally",
        ),
    ],
)
def test_what_pulsar_does_not_take_is_refused(tmp_path: Path, line: str, message: str) -> None:
    assert refusal(tmp_path, line).startswith(message)


@pytest.mark.parametrize("text", ["yes", "1", "true ", "on"])
def test_what_is_not_true_is_false_and_noted(tmp_path: Path, text: str) -> None:
    """Java neither trims a flag nor refuses anything for it."""
    settings, (note,) = taken(tmp_path, f"{UNLOADS}={text}")
    assert settings.unloads.value is False
    assert note.endswith(f"broker.conf:2: {UNLOADS} = {text!r} is neither 'true' nor 'false'; Java takes it for false")


def test_a_maximum_that_leaves_no_splits_is_noted(tmp_path: Path) -> None:
    _, (note,) = taken(tmp_path, f"{FIRST_BUNDLES}=128")
    assert "no new namespace is split automatically" in note
    _, notes = taken(tmp_path, f"{FIRST_BUNDLES}=127")
    assert notes == ()


@pytest.mark.parametrize(
    ("content", "milliseconds"),
    [
        (f"{FORMER_SESSION_TIMEOUT}=-1", 30_000),
        (f"{FORMER_SESSION_TIMEOUT}=0\n{SESSION_TIMEOUT}=60000", 60_000),
        (f"{FORMER_SESSION_TIMEOUT}=6000\n{SESSION_TIMEOUT}=60000", 6_000),
    ],
)
def test_the_former_key_of_the_session_timeout_counts_first(tmp_path: Path, content: str, milliseconds: int) -> None:
    settings, notes = taken(tmp_path, content)
    assert settings.session_timeout.value == milliseconds
    assert any("prefers the older key" in note for note in notes) is (milliseconds == 6_000)


def test_another_session_timeout_says_what_it_leaves(tmp_path: Path) -> None:
    _, (note,) = taken(tmp_path, f"{SESSION_TIMEOUT}=6000")
    assert "lost after 5000 ms, 5/6 of that" in note
    assert "the remaining 1000 ms" in note


def test_an_empty_value_is_the_default_and_noted(tmp_path: Path) -> None:
    settings, (note,) = taken(tmp_path, f"{SUPPORTED}=")
    assert settings.supported.value == ALGORITHMS
    assert "broker.conf:2 leaves it empty, so it is Pulsar's default, range_equally_divide,topic_count" in note


@pytest.mark.parametrize("policy", ["reconnect", "shutdown"])
def test_instances_take_the_settings_unless_they_are_about_another(policy: str, tmp_path: Path) -> None:
    cluster = read_settings(conf(tmp_path, f"{SESSION_POLICY}={policy}")).configuration()
    instances = (
        Instance("many", {"brokers": 5}, by="induction"),
        Instance("of reconnect", {"brokers": 3, "on_session_loss": "reconnect"}),
        Instance("of shutdown", {"on_session_loss": "shutdown", "brokers": 2}),
        Instance("fixed", {"fixed": True}),
    )
    result = fitting(instances, PROTOCOLS["election"].taken(cluster, {}))
    assert [(i.name, i.parameters["on_session_loss"], i.by) for i in result] == [
        ("many", policy, "induction"),
        (f"of {policy}", policy, ""),
    ]


def test_the_election_can_be_built_with_what_it_takes(tmp_path: Path) -> None:
    for policy in ("reconnect", "shutdown"):
        cluster = read_settings(conf(tmp_path, f"{SESSION_POLICY}={policy}")).configuration()
        parameters = PROTOCOLS["election"].taken(cluster, {})
        assert PROTOCOLS["election"].build({"brokers": 2, **parameters}).parameters["on_session_loss"] == policy
