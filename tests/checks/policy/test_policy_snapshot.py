"""``fencepost policy snapshot``: what is read of a cluster, from where alone, and what is said where that fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fencepost.checks.policy.cluster.admin import Admin
from tests.checks.policy.asking import asked, write
from tests.checks.policy.brokers import EXTENSIBLE, MODULAR, brokers
from tests.checks.policy.fake_broker import FakeBroker, Refusal, fake_broker, report

BUNDLE = "t/n/0x00000000_0x40000000"
EMPTY = "t/n/0x40000000_0x80000000"
CARRIED = {"msgRateIn": 9.0, "msgRateOut": 0.0, "msgThroughputIn": 900.0, "msgThroughputOut": 0.0, "topics": 2}
ISOLATION = {
    "own": {
        "namespaces": ["t/other"],
        "primary": ["127.*"],
        "secondary": [],
        "auto_failover_policy": {"policy_type": "min_available", "parameters": {"min_limit": "1", "usage_threshold": "90"}},
    }
}


@pytest.fixture
def first() -> Iterator[FakeBroker]:
    with fake_broker() as broker:
        yield broker


@pytest.fixture
def second() -> Iterator[FakeBroker]:
    with fake_broker() as broker:
        yield broker


def cluster(*brokers: FakeBroker) -> None:
    """Makes them the brokers of one cluster with the modular manager, of which the first owns a bundle."""
    for place, broker in enumerate(brokers):
        owned: dict[str, Any] = {} if place else {"lastStats": {BUNDLE: CARRIED}, "bundles": [BUNDLE]}
        broker.answers |= {
            "brokers": [b.address for b in brokers],
            "clusters": ["global", "c"],
            "broker-stats/load-report": report(broker.address, **owned),
            "namespaces/t/n/antiAffinity": Refusal(200, raw=b"group"),
            "clusters/c/namespaceIsolationPolicies": ISOLATION,
            "clusters/c/failureDomains": {"rack": {"brokers": [brokers[0].address]}},
        }


def taken(folder: Path, *arguments: str | Path) -> dict[str, Any]:
    out = folder / "now.json"
    status, _, err = asked("snapshot", "--out", out, *arguments)
    assert status == 0, err
    snapshot: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return snapshot


def refused(folder: Path, *arguments: str | Path) -> str:
    status, out, err = asked("snapshot", "--out", folder / "now.json", "--quiet", *arguments)
    assert (status, out) == (150, "")
    assert err.startswith("fencepost: ")
    assert err.count("\n") == 1
    assert not (folder / "now.json").exists()
    return err.removeprefix("fencepost: ").rstrip("\n")


def test_a_cluster_in_one_command(tmp_path: Path, first: FakeBroker, second: FakeBroker) -> None:
    cluster(first, second)
    snapshot = taken(tmp_path, "--admin", first.url, "--admin", second.url)
    assert snapshot["brokers"] == {b.address: b.answers["broker-stats/load-report"] for b in (first, second)}, "as they are"
    assert snapshot["isolation"] == ISOLATION
    assert snapshot["failure_domains"] == {"rack": {"brokers": [first.address]}}
    assert snapshot["anti_affinity"] == {"t/n": "group"}
    assert {one.method for broker in (first, second) for one in broker.asked} == {"GET"}
    status, out, _ = asked("decide", "--snapshot", tmp_path / "now.json")
    assert status == 0
    assert f"{first.address} " in out


def test_one_address_behind_which_all_brokers_answer(tmp_path: Path, first: FakeBroker) -> None:
    cluster(first)
    first.answers["brokers"] = ["a:8080", "b:8080"]

    class InTurn(dict[str, Any]):
        turn = 0

        def get(self, path: str, other: Any = None) -> Any:
            if path == "broker-stats/load-report":
                InTurn.turn += 1
                return report("ab"[InTurn.turn % 2] + ":8080")
            return super().get(path, other)

    first.answers = InTurn(first.answers)
    assert list(taken(tmp_path, "--admin", first.url)["brokers"]) == ["a:8080", "b:8080"]


def test_a_broker_that_tells_nothing_is_named(tmp_path: Path, first: FakeBroker) -> None:
    cluster(first)
    first.answers["brokers"] = [first.address, "b2:8080"]
    refusal = refused(tmp_path, "--admin", first.url)
    assert refusal.startswith("there is no load report of b2:8080, and each broker reports only its own load; give --admin")
    snapshot = taken(tmp_path, "--admin", first.url, "--partial")
    assert snapshot["brokers"]["b2:8080"] is None
    of_file = write(tmp_path, report("b2:8080", cpu={"usage": 1.0, "limit": 200.0}), "b2.json")
    snapshot = taken(tmp_path, "--admin", first.url, "--load-report", of_file)
    assert snapshot["brokers"]["b2:8080"]["cpu"]["usage"] == 1.0


def test_the_extensible_manager(tmp_path: Path, first: FakeBroker, second: FakeBroker) -> None:
    cluster(first, second)
    topic = {"msgRateIn": 4.5, "msgRateOut": 1.0, "msgThroughputIn": 450.0, "msgThroughputOut": 10.0, "publishers": [{}]}
    usage = {"brk_lb_cpu_usage": 50.0, "brk_lb_memory_usage": 20.0, "brk_lb_bandwidth_in_usage": 0.0}
    for broker, other in ((first, second), (second, first)):
        broker.answers |= {
            "broker-stats/load-report": Refusal(500, "\n --- An unexpected error occurred in the server ---\n"),
            "broker-stats/topics": {"t/n": {"0x00000000_0x40000000": {"persistent": {"a": topic, "b": topic}}}},
            "broker-stats/metrics": [{"metrics": usage, "dimensions": {"metric": "loadBalancing"}}],
            f"brokers/c/{broker.address.replace(':', '%3A')}/ownedNamespaces": {BUNDLE: {}, EMPTY: {}},
            f"brokers/c/{other.address.replace(':', '%3A')}/ownedNamespaces": Refusal(307, location=f"{other.url}/x"),
        }
    snapshot = taken(tmp_path, "--admin", first.url, "--admin", second.url)
    assert sorted(snapshot["brokers"]) == sorted([first.address, second.address])
    one = snapshot["brokers"][first.address]
    assert one["cpu"] == {"usage": 50.0, "limit": 100.0, "unit": "percent"}
    assert one["lastStats"] == {
        BUNDLE: {"msgRateIn": 9.0, "msgRateOut": 2.0, "msgThroughputIn": 900.0, "msgThroughputOut": 20.0, "topics": 2}
        | {"producerCount": 2, "consumerCount": 0}
    }
    assert (one["bundles"], one["numBundles"], one["msgRateIn"]) == ([BUNDLE, EMPTY], 2, 9.0)


def test_a_token_is_sent_to_the_given_address_alone_and_never_shown(
    tmp_path: Path, first: FakeBroker, second: FakeBroker
) -> None:
    cluster(first)
    token = tmp_path / "token"
    token.write_text("s3cr3t-token\n")
    asked_with = ["--admin", first.url, "--token-file", token]
    taken(tmp_path, *asked_with)
    assert {one.authorization for one in first.asked} == {"Bearer s3cr3t-token"}
    assert "s3cr3t" not in (tmp_path / "now.json").read_text()
    (tmp_path / "now.json").unlink()
    first.answers["clusters/c/failureDomains"] = Refusal(307, location=f"{second.url}/admin/v2/clusters/c/failureDomains")
    answer = refused(tmp_path, *asked_with)
    where = f"is answered by {second.address}, which was not given: --admin {second.url}"
    assert answer == f"{first.url}: /admin/v2/clusters/c/failureDomains {where}"
    assert second.asked == []
    for refusal in (Refusal(401), Refusal(500, "s3cr3t"), Refusal(200, raw=b"<html>")):
        first.answers["brokers"] = refusal
        assert "s3cr3t-token" not in refused(tmp_path, *asked_with)
    assert "s3cr3t" not in repr(Admin(first.url, "s3cr3t"))
    token.write_text("two words\n")
    assert refused(tmp_path, *asked_with) == f"{token}: has no token: write it, and nothing else, on one line"


def test_a_redirect_to_itself_is_followed(tmp_path: Path, first: FakeBroker) -> None:
    cluster(first)
    first.answers["clusters/c/failureDomains"] = Refusal(307, location=f"{first.url}/admin/v2/elsewhere")
    first.answers["elsewhere"] = {"rack": {"brokers": ["x"]}}
    assert taken(tmp_path, "--admin", first.url)["failure_domains"] == {"rack": {"brokers": ["x"]}}


def test_no_proxy_of_the_environment_is_asked(
    tmp_path: Path, first: FakeBroker, second: FakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster(first)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, second.url)
    monkeypatch.setenv("no_proxy", "")
    taken(tmp_path, "--admin", first.url)
    assert second.asked == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Refusal(401), "/admin/v2/brokers is forbidden (401): give a superuser's token with --token-file FILE"),
        (Refusal(403), "/admin/v2/brokers is forbidden (403): give a superuser's token"),
        (Refusal(404), "/admin/v2/brokers does not exist (404)"),
        (Refusal(500, "the\nstore is gone"), "/admin/v2/brokers fails (500: the store is gone)"),
        (Refusal(200, raw=b"<html>hello"), "does not answer in JSON: is this Pulsar's Admin REST interface?"),
        (Refusal(200, raw=b""), "does not answer in JSON"),
        ({"a": 1}, "/admin/v2/brokers is not a list of brokers"),
        (Refusal(302, location="http://elsewhere.example/x"), "is answered by elsewhere.example, which was not given"),
    ],
)
def test_answers_that_cannot_be_used(tmp_path: Path, first: FakeBroker, answer: Any, message: str) -> None:
    cluster(first)
    first.answers["brokers"] = answer
    refusal = refused(tmp_path, "--admin", first.url)
    assert refusal.startswith(f"{first.url}: ")
    assert message in refusal


def test_what_does_not_answer(tmp_path: Path, first: FakeBroker) -> None:
    cluster(first)
    first.answers["brokers"] = Refusal(200, never=True)
    refusal = refused(tmp_path, "--admin", first.url, "--timeout", "0.2")
    assert refusal == f"{first.url}: /admin/v2/brokers does not answer within 0.2 s; see --timeout"
    with fake_broker() as gone:
        url = gone.url
    assert refused(tmp_path, "--admin", url) == f"{url}: /admin/v2/brokers cannot be reached: Connection refused"
    assert "cannot be reached: " in refused(tmp_path, "--admin", "http://no-such-host.invalid")


@pytest.mark.parametrize(
    "url", ["broker:8080", "file:///etc/passwd", "ftp://x", "http://", "http://u:hidden@h:1", "http://h:x"]
)
def test_addresses_that_are_none(tmp_path: Path, url: str) -> None:
    status, _, err = asked("snapshot", "--out", tmp_path / "now.json", "--admin", url)
    assert status == 2
    assert "is not an address of the Admin REST interface" in err
    assert "hidden" not in err


def test_what_tools_print(tmp_path: Path) -> None:
    """A load report of pulsar-admin, and the metadata store's nodes: as JSON, as its text, or as zk-shell mirrors it."""
    average = {"maxSamples": 10, "numSamples": 3, "msgThroughputIn": 900.0}
    data = {"shortTermData": average, "longTermData": average, "topics": 2}
    nodes = {
        "/loadbalance/brokers/b1:8080": {"content": json.dumps(report("b1:8080")), "ephemeral": True},
        "/loadbalance/brokers/b2:8080": json.dumps(report("b2:8080")),
        f"/loadbalance/bundle-data/{BUNDLE}": data,
        "/ledgers/LAYOUT": "1\nhierarchical:1",
    }
    dump = write(tmp_path, nodes, "dump.json")
    newer = write(tmp_path, report("b2:8080", lastStats={BUNDLE: CARRIED}), "b2.json")
    snapshot = taken(tmp_path, "--metadata", dump, "--load-report", newer)
    assert sorted(snapshot["brokers"]) == ["b1:8080", "b2:8080"]
    assert snapshot["brokers"]["b2:8080"]["lastStats"] == {BUNDLE: CARRIED}
    assert snapshot["bundles"] == {BUNDLE: data}


def test_what_tools_print_and_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    assert "$.webServiceUrl is missing" in refused(tmp_path, "--load-report", tmp_path / "x.json")
    assert "has no path below /loadbalance/brokers/" in refused(tmp_path, "--metadata", tmp_path / "x.json")
    lookup = {"/loadbalance/brokers/b1:8080": {"webServiceUrl": "http://b1:8080", "loadManagerClassName": "x"}}
    refusal = refused(tmp_path, "--metadata", write(tmp_path, lookup, "lookup.json"))
    assert refusal.startswith("there is no load report of b1:8080")
    for value in ("nothing", [1]):
        dump = write(tmp_path, {"/loadbalance/brokers/b": value}, "d.json")
        assert f"{dump}: /loadbalance/brokers/b is no" in refused(tmp_path, "--metadata", dump)
    status, _, err = asked("snapshot", "--out", tmp_path / "now.json")
    sources = "--admin URL, --metrics FILE, --load-report FILE or --metadata FILE"
    assert (status, err) == (2, f"fencepost: policy snapshot: give {sources}\n")


@pytest.mark.xdist_group("real brokers")
@pytest.mark.deep  # three brokers of Pulsar 4.2.4 take half a minute to start
@pytest.mark.parametrize("manager", [MODULAR, EXTENSIBLE])
def test_real_brokers(tmp_path: Path, manager: str) -> None:
    (tmp_path / "classes").mkdir()
    with brokers(tmp_path / "classes", 3, manager) as urls:
        data = taken(tmp_path, *(word for url in urls for word in ("--admin", url)), "--timeout", "60")
        (tmp_path / "now.json").rename(tmp_path / "all.json")
        refusal = refused(tmp_path, "--admin", urls[0], "--timeout", "60")
        made_again = taken(tmp_path, "--admin", urls[0], "--partial", "--timeout", "60")
    names = [url.removeprefix("http://") for url in urls]
    assert sorted(data["brokers"]) == sorted(names)
    carried = [stats for one in data["brokers"].values() for name, stats in one["lastStats"].items() if name.startswith("t/n/")]
    assert sum(stats["topics"] for stats in carried) == 8
    assert all(one["cpu"]["limit"] > 0 for one in data["brokers"].values())
    assert data["isolation"]["own"]["namespaces"] == ["t/other"]
    assert data["failure_domains"] == {"rack": {"brokers": [names[0]]}}
    assert all(name in refusal for name in names[1:])
    assert [name for name, one in made_again["brokers"].items() if one] == [names[0]]
    assert asked("decide", "--snapshot", tmp_path / "all.json").returncode == 0
