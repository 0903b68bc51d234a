"""The files of a configuration in every form in which they are found, one over the other, each value with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.settings.broker_settings import ACK_QUORUM, ENSEMBLE, WRITE_QUORUM
from fencepost.checks.settings.cluster_settings import Settings, read_settings
from tests.command import fencepost

CONFIG_MAP = f"""\
apiVersion: v1
kind: ConfigMap
metadata:
  name: pulsar-broker
data:
  # as Apache's chart renders it
  clusterName: pulsar
  {ENSEMBLE}: "3"
  PULSAR_PREFIX_{WRITE_QUORUM}: '3'
  {WRITE_QUORUM}: "1"
"""
WITH_FILE = f"""\
apiVersion: v1
kind: ConfigMap
metadata: {{name: conf}}
data:
  bookkeeper.conf: |
    {ENSEMBLE}=9
  broker.conf: |
    # the first line is a comment

    {ENSEMBLE}=4
    {ACK_QUORUM}=1
"""
VALUES = f"""\
bookkeeper:
  configData: {{{ENSEMBLE}: "7"}}
broker:
  replicaCount: 3
  configData:
    PULSAR_MEM: >
      -Xms128m
      -Xmx256m
    {ENSEMBLE}: "3"
    {WRITE_QUORUM}: 3
    {ACK_QUORUM}: ~
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def quorums(settings: Settings) -> list[tuple[int, str]]:
    return [(one.value, one.source.rpartition("/")[2]) for one in settings.ledger.taken]


def refused(*paths: Path) -> InputError:
    with pytest.raises(InputError) as error:
        read_settings(*paths)
    return error.value


DEFAULT = (2, "Pulsar's default")


LIST = f"""\
kind: List
items:
- kind: ConfigMap
  metadata: {{name: zookeeper}}
  data: {{{ENSEMBLE}: '8'}}
- kind: ConfigMap
  metadata: {{name: b, labels: {{component: broker}}}}
  data:
    {ENSEMBLE}: '5'
"""
ENVIRONMENT = f"""\
# ours
export PULSAR_PREFIX_{ENSEMBLE}='5'
{WRITE_QUORUM}=1
PULSAR_PREFIX_{WRITE_QUORUM}="4"\x20
not a line
"""
PARENT = "pulsar:\n" + "".join(f"  {line}\n" for line in VALUES.splitlines())
STANDALONE = f"{ENSEMBLE}=1\n{WRITE_QUORUM}=1\n{ACK_QUORUM}=1\n"
RENDERED = f"kind: Service\napiVersion: v1\n---\n# Source: x\n---\n{CONFIG_MAP}"
JSON = f'{{"kind": "ConfigMap",\n "data": {{\n  "{ENSEMBLE}": "5"}}}}'


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("standalone.conf", STANDALONE, [(1, f"standalone.conf:{line}") for line in (1, 2, 3)]),
        ("map.yaml", CONFIG_MAP, [(3, "map.yaml:8"), (3, "map.yaml:9"), DEFAULT]),
        ("found", CONFIG_MAP, [(3, "found:8"), (3, "found:9"), DEFAULT]),
        ("file.yml", WITH_FILE, [(4, "file.yml:10"), DEFAULT, (1, "file.yml:11")]),
        ("values.yaml", VALUES, [(3, "values.yaml:9"), (3, "values.yaml:10"), DEFAULT]),
        ("parent.yaml", PARENT, [(3, "parent.yaml:10"), (3, "parent.yaml:11"), DEFAULT]),
        ("list.yaml", LIST, [(5, "list.yaml:9"), DEFAULT, DEFAULT]),
        ("rendered", RENDERED, [(3, "rendered:13"), (3, "rendered:14"), DEFAULT]),
        ("map.json", JSON, [(5, "map.json:3"), DEFAULT, DEFAULT]),
        ("broker.env", ENVIRONMENT, [(5, "broker.env:2"), (4, "broker.env:4"), DEFAULT]),
    ],
)
def test_every_form_is_read_with_its_lines(tmp_path: Path, name: str, text: str, expected: list[tuple[int, str]]) -> None:
    assert quorums(read_settings(write(tmp_path, name, text))) == expected


def test_a_later_file_counts_before_an_earlier_one(tmp_path: Path) -> None:
    base = write(tmp_path, "broker.conf", f"{ENSEMBLE}=3\n{WRITE_QUORUM}=3\n{ACK_QUORUM}=2\n")
    values = write(tmp_path, "values.yaml", VALUES.replace(f"    {ACK_QUORUM}: ~\n", ""))
    env = write(tmp_path, "broker.env", f"PULSAR_PREFIX_{ACK_QUORUM}=3\nPULSAR_PREFIX_clusterName=a\n")
    settings = read_settings(base, values, env)
    assert quorums(settings) == [(3, "values.yaml:9"), (3, "values.yaml:10"), (3, "broker.env:1")]
    assert f"{env}:1: {ACK_QUORUM} = '3' replaces '2' ({base}:3)" in settings.ledger_notes
    assert not any(ENSEMBLE in note for note in settings.ledger_notes), "the same value, twice"
    assert f"{values}: only broker.configData and bookkeeper.configData are read" in settings.notes
    assert any(f"{values}:10: is not in quotes" in note for note in settings.notes)
    assert quorums(read_settings(env, base))[2] == (2, "broker.conf:3")


def test_a_file_that_says_nothing_of_the_settings_is_refused_beside_others(tmp_path: Path) -> None:
    base, other = write(tmp_path, "broker.conf", f"{ENSEMBLE}=3\n"), write(tmp_path, "other.conf", "port=3181\n")
    for files in ((base, other), (other, base), (other,)):
        with pytest.raises(InputError, match=r"other\.conf.*: has none of the settings that are read here"):
            read_settings(*files)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("broker: [a, b\n", 2, "is not YAML"),
        ("broker:\n  configData:\n    a: {b: 1}\n", 3, "a is no text"),
        ("broker:\n  configData:\n    {a: b}: '1'\n", 3, "a key is no text"),
        ("{a: b}: {broker: 1}\n? [broker, configData]\n: {broker: 1}\n", 0, "has neither broker.configData nor"),
        ("x: &x {a: '1'}\nbroker:\n  configData:\n    <<: *x\n", 4, "merges another mapping"),
        ("proxy:\n  configData:\n    a: b\n", 0, "has neither broker.configData nor bookkeeper.configData nor a ConfigMap"),
        ("kind: ConfigMap\nmetadata: {name: x}\n", 1, "ConfigMap x has no data"),
        ("kind: ConfigMap\nmetadata: {name: x}\n---\nkind: ConfigMap\nmetadata: {name: y}\n", 4, "several ConfigMaps"),
        ("a: {broker: {configData: {b: '1'}}}\nc:\n  broker:\n    configData:\n      b: '1'\n", 5, "has a.broker.configData"),
        (f"broker:\n  configData:\n    {ACK_QUORUM}: '{{{{ .Values.ack }}}}'\n", 3, "is not a whole number"),
        (WITH_FILE.replace("=1\n", "=\\u12\n"), 11, "four hexadecimal digits"),
        pytest.param("[" * 5000, 0, "is nested too deeply", marks=pytest.mark.long),
        ("\x07", 0, "is not YAML"),
    ],
)
def test_what_yaml_cannot_mean_is_refused_at_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = write(tmp_path, "values.yaml", text)
    error = refused(path)
    assert message in str(error)
    assert str(error).startswith(f"{path}:{line}: " if line and f"{path}:{line}: " in str(error) else f"{path}: ")
    assert error.place is not None
    assert (error.place.file, error.place.line) == (path, line)


def test_two_files_of_the_command_line(tmp_path: Path) -> None:
    base = write(tmp_path, "broker.conf", f"{ENSEMBLE}=3\nloadBalancerBrokerMaxTopics=7\n")
    env = write(tmp_path, "broker.env", f"PULSAR_PREFIX_{ENSEMBLE}=two\nPULSAR_PREFIX_loadBalancerBrokerMaxTopics=many\n")
    ran = fencepost("check", "--conf", base, "--conf", env)
    assert (ran.returncode, ran.stdout) == (150, "")
    assert ran.stderr.startswith(f"fencepost: {env}:1: {ENSEMBLE} = 'two' is not a whole number")
    snapshot = write(tmp_path, "snapshot.json", '{"brokers": {}}')
    ran = fencepost("policy", "decide", "--snapshot", snapshot, "--conf", base, "--conf", env)
    assert ran.stderr.startswith(f"fencepost: {env}:2: loadBalancerBrokerMaxTopics = 'many' is not a whole number")
    asked = ["policy", "compare", "--conf", f"both={base},{env}", "--out", tmp_path / "out", "--runs", "1"]
    assert fencepost(*asked).stderr.startswith(f"fencepost: {env}:2: loadBalancerBrokerMaxTopics")
