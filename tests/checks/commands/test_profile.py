"""A profile says which cluster it is; namespaces have their own answer where their policies make another cluster of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fencepost.checks.commands.check.asked_again import in_short
from fencepost.checks.commands.check.profile import namespaces_of, with_profile
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.settings.cluster_settings import read_settings
from tests.command import fencepost

STOCK = "managedLedgerDefaultEnsembleSize=2\nmanagedLedgerDefaultWriteQuorum=2\nmanagedLedgerDefaultAckQuorum=2\n"
POLICIES = {
    "replication_clusters": ["eu", "us"],
    "bundles": {"numBundles": 4},
    "persistence": {"bookkeeperEnsemble": 2, "bookkeeperWriteQuorum": 2, "bookkeeperAckQuorum": 1},
    "deduplicationEnabled": True,
    "message_ttl_in_seconds": 60,
    "retention_policies": None,
    "backlog_quota_map": {"destination_storage": {"limitSize": 100, "limitTime": -1, "policy": "consumer_backlog_eviction"}},
}


def test_policies_count_before_the_settings_that_they_override(tmp_path: Path) -> None:
    conf, policies = tmp_path / "broker.conf", tmp_path / "orders.json"
    conf.write_text(STOCK)
    policies.write_text(json.dumps(POLICIES, indent=1))
    settings = read_settings(conf, policies)
    assert (settings.ledger.ack_quorum.value, settings.ledger.write_quorum.value) == (1, 2)
    assert settings.topic.deduplication.value
    assert {"ttl", "evicting_quota", "forgotten_producers"} == {each.feature.name for each in settings.orders}
    assert settings.configuration().topics.replicated
    assert not settings.not_modelled
    assert all(str(each.place).startswith(f"{policies}:") for each in settings.orders)


def test_ledgers_of_size_zero_are_those_of_the_broker(tmp_path: Path) -> None:
    conf, policies = tmp_path / "broker.conf", tmp_path / "orders.json"
    conf.write_text(STOCK)
    sizes = {"bookkeeperEnsemble": 0, "bookkeeperWriteQuorum": 0, "bookkeeperAckQuorum": 0}
    policies.write_text(json.dumps({**POLICIES, "persistence": sizes}))
    assert read_settings(conf, policies).ledger.ensemble.value == 2


def test_a_profile_is_the_command(tmp_path: Path) -> None:
    profile = tmp_path / "cluster.toml"
    of_cluster = 'conf = ["broker.conf"]\nnever = ["termination"]\nbookies = 5\npulsar = "4.0.8"\n'
    profile.write_text(of_cluster + '[namespaces]\norders = "orders.json"\n[odds]\n')
    asked = with_profile(CheckRequest(profile=profile, bookies=4, never=["migration"]))
    assert [*asked.conf] == [tmp_path / "broker.conf"]
    assert (asked.never, asked.bookies, asked.pulsar) == (["migration", "termination"], 4, "4.0.8")
    assert namespaces_of(asked) == {"orders": tmp_path / "orders.json"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("conf = [", "is not TOML"),
        ('conf = ["a"]\nbooks = 3\n', "there is no key 'books' (did you mean bookies?); a profile has conf, never, pulsar"),
        ('conf = ["a"]\nbookies = "five"\n', "bookies: input should be a valid integer"),
        ("never = []\n", "conf: "),
        ("conf = []\n", "cluster.toml:1: conf names no file; name the settings of the cluster"),
        ('conf = ["a"]\nbookies = 0\n', "cluster.toml:2: bookies = 0 is not a whole number from 1 on"),
    ],
)
def test_a_profile_that_cannot_be_used_says_why(tmp_path: Path, text: str, why: str) -> None:
    profile = tmp_path / "cluster.toml"
    profile.write_text(text)
    with pytest.raises(InputError, match=re.escape(why)):
        with_profile(CheckRequest(profile=profile))
    assert fencepost("check", "--profile", profile).returncode == 150


@pytest.mark.long
def test_a_namespace_with_other_settings_has_a_line(tmp_path: Path) -> None:
    (tmp_path / "broker.conf").write_text(STOCK)
    (tmp_path / "orders.json").write_text(json.dumps(POLICIES))
    plain = {"replication_clusters": ["eu"], "bundles": {"numBundles": 4}}
    (tmp_path / "logs.json").write_text(json.dumps(plain))
    profile = tmp_path / "cluster.toml"
    profile.write_text('conf = ["broker.conf"]\n[namespaces]\norders = "orders.json"\nlogs = "logs.json"\n')
    run = fencepost("check", "--profile", profile, "--quiet", "--way", "1")
    assert run.returncode == 14 or run.returncode == 0
    first = " ".join(fencepost("check", "--profile", profile, "--quiet").stdout.split("\n\n", 1)[0].split())
    line = first.partition("orders (2/2/1, deduplication): ")[2]
    assert re.match(r"\d+ ways, \d+ by a lost disk instead", line), "what needs no bug is named first"
    assert re.search(r"missing in the other cluster: \d+ ways?", line), "where a policy says that there is one"
    assert "logs: as the cluster" in first


def test_namespaces_that_are_all_of_a_tenant_are_one_name() -> None:
    every = ["acme/a", "acme/b", "public/default", "public/logs", "one/one"]
    assert in_short(["acme/a", "acme/b", "public/logs", "one/one"], every) == ("acme/*", "public/logs", "one/one")
    assert in_short(["orders"], ["orders", "logs"]) == ("orders",)


def profile_of(folder: Path, text: str) -> CheckRequest:
    (folder / "cluster.toml").write_text(f'conf = ["broker.conf"]\n{text}')
    return with_profile(CheckRequest(profile=folder / "cluster.toml"))


ACCEPTED = '[[accepted]]\nbug = "same_value"\nreason = "no two brokers have one address"\n'


def test_a_known_bug_is_accepted_until_its_day(tmp_path: Path) -> None:
    reason = {"same_value": "no two brokers have one address"}
    assert profile_of(tmp_path, ACCEPTED).accepted == reason
    assert profile_of(tmp_path, f"{ACCEPTED}until = 9999-12-31\n").accepted == reason
    over = profile_of(tmp_path, f"{ACCEPTED}until = 2020-01-31\n")
    assert over.accepted == {}
    expired = "# same_value was accepted until 2020-01-31, and is no longer: no two brokers have one address"
    assert list(over.facts) == [expired]


def test_a_group_has_bookies_of_the_racks(tmp_path: Path) -> None:
    racks = '[racks]\n"/a" = ["b0", "b1"]\n[groups]\n'
    assert profile_of(tmp_path, f'{racks}orders = ["b1"]\n').groups == {"orders": ["b1"]}
    with pytest.raises(InputError, match=r"cluster\.toml:\d+: group orders: no rack has a bookie 'b2'"):
        profile_of(tmp_path, f'{racks}orders = ["b2"]\n')


def test_racks_say_how_many_bookies_there_are_and_what_is_lost_at_once(tmp_path: Path) -> None:
    asked = profile_of(tmp_path, '[racks]\n"/a" = ["b0", "b1"]\n"/b" = ["b2"]\n')
    assert asked.bookies == 3
    assert list(asked.facts) == ["2 racks: if /a is lost, 2 bookies are lost at once"]
    assert profile_of(tmp_path, 'bookies = 7\n[racks]\n"/a" = ["b0"]\n').bookies == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ACCEPTED.replace("_value", "_valeu"), "cluster.toml:3: there is no known bug 'same_valeu' (did you mean same_value"),
        ("\nnevr = []\n", "cluster.toml:3: there is no key 'nevr' (did you mean never?); a profile has"),
        ('never = ["terminatoin"]\n', "cluster.toml:2: there is no event 'terminatoin' (did you mean termination?)"),
        (
            ACCEPTED.replace("reason", "reasn"),
            "there is no key 'reasn' (did you mean reason?); an accepted bug has bug, reason",
        ),
        ('bookies = "many"\n', "cluster.toml:2: bookies: "),
        ("bookies =\n", "cluster.toml:2: is not TOML: "),
    ],
)
def test_what_cannot_be_used_is_said_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        profile_of(tmp_path, text)


@pytest.mark.long
def test_what_a_profile_accepts_fails_nothing_and_leaves_the_count(tmp_path: Path) -> None:
    profile = tmp_path / "cluster.toml"
    (tmp_path / "broker.conf").write_text("managedLedgerDefaultEnsembleSize=2\n")
    profile.write_text(f'conf = ["broker.conf"]\npulsar = "4.0.8"\n{ACCEPTED}')
    ran = fencepost("check", "election", "--profile", profile, "--quiet", "--json", "-")
    bugs = {row["property"]: row["bug"]["accepted"] for row in json.loads(ran.stdout)["verdicts"] if row["bug"]}
    assert bugs.pop("same_value") == "no two brokers have one address"
    assert set(bugs.values()) == {None}
    assert json.loads(ran.stdout)["baseline"] is None
