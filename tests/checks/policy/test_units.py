"""One cluster in every documented form: whatever the form and the question, its brokers are as full.

One broker uses 40 % of its network, one 10 %; what they carry is all that uses it, at 1 Gbit/s. Reports have kbit/s,
Prometheus and the extensible manager percentages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from tests.checks.policy.asking import answered, asked, write
from tests.checks.policy.fake_broker import FakeBroker, Refusal, fake_broker

BUNDLES = ("t/n/0x00000000_0x80000000", "t/n/0x80000000_0xffffffff")
SPEED = 1_000_000.0
"""kbit/s."""
SHARES = (0.4, 0.1)
CPU = (0.3, 0.05)
USAGES = (0.4, 0.1)


def throughput(share: float) -> float:
    return share * SPEED * 1000 / 8


def statistics(share: float) -> dict[str, Any]:
    return {"msgRateIn": 1000.0 * share, "msgThroughputIn": throughput(share), "topics": 2}


def report(place: int, address: str = "") -> dict[str, Any]:
    share = SHARES[place]
    return {
        "webServiceUrl": f"http://{address or f'b{place}:8080'}",
        "cpu": {"usage": 400 * CPU[place], "limit": 400.0},
        "memory": {"usage": 700.0, "limit": 2048.0},
        "directMemory": {"usage": 100.0, "limit": 4096.0},
        "bandwidthIn": {"usage": share * SPEED, "limit": SPEED},
        "bandwidthOut": {"usage": 0.0, "limit": SPEED},
        **{rate: figure for rate, figure in statistics(share).items() if rate != "topics"},
        "bundles": [BUNDLES[place]],
        "lastStats": {BUNDLES[place]: statistics(share)},
    }


def of_load_reports(folder: Path) -> list[str | Path]:
    files = [write(folder, report(place), f"b{place}.json") for place in range(2)]
    return [word for file in files for word in ("--load-report", file)]


def of_metadata(folder: Path) -> list[str | Path]:
    nodes = {f"/loadbalance/brokers/b{place}:8080": report(place) for place in range(2)}
    return ["--metadata", write(folder, nodes, "metadata.json")]


def of_prometheus(folder: Path) -> list[str | Path]:
    lines = []
    for place, share in enumerate(SHARES):
        broker = f'cluster="c", broker="b{place}"'
        usages = {"cpu": 100 * CPU[place], "memory": 34.0, "directMemory": 2.4}
        usages |= {"bandwidth_in": 100 * share, "bandwidth_out": 0.0}
        lines += [f"pulsar_lb_{name}_usage{{{broker}}} {value}" for name, value in usages.items()]
        figures = {"msg_rate_in": 1000.0 * share, "msg_rate_out": 0.0, "msg_throughput_in": throughput(share)}
        figures |= {"msg_throughput_out": 0.0, "topics_count": 2, "consumer_count": 0, "producer_count": 0}
        lines += [f'pulsar_bundle_{name}{{{broker}, bundle="{BUNDLES[place]}"}} {value}' for name, value in figures.items()]
    return ["--metrics", write(folder, "\n".join(lines) + "\n", "metrics.txt")]


@pytest.fixture
def extensible() -> Iterator[Callable[[Path], list[str | Path]]]:
    with fake_broker() as one, fake_broker() as other:
        yield lambda folder: of_extensible(one, other)


def of_extensible(*brokers: FakeBroker) -> list[str | Path]:
    for place, (share, broker) in enumerate(zip(SHARES, brokers, strict=True)):
        usage = {"brk_lb_cpu_usage": 100 * CPU[place], "brk_lb_memory_usage": 34.0, "brk_lb_bandwidth_in_usage": 100 * share}
        topic = {"msgRateIn": 500.0 * share, "msgThroughputIn": throughput(share) / 2}
        namespace, _, bundle = BUNDLES[place].rpartition("/")
        broker.answers |= {
            "brokers": [each.address for each in brokers],
            "clusters": ["c"],
            "broker-stats/load-report": Refusal(500, "it has none"),
            "broker-stats/metrics": [{"metrics": usage, "dimensions": {}}],
            "broker-stats/topics": {namespace: {bundle: {"persistent": {"a": topic, "b": topic}}}},
        }
        for each in brokers:
            owned = {BUNDLES[place]: {}} if each is broker else Refusal(307, location=f"{each.url}/x")
            broker.answers[f"brokers/c/{each.address.replace(':', '%3A')}/ownedNamespaces"] = owned
    return [word for broker in brokers for word in ("--admin", broker.url)]


FORMS = {"load reports": of_load_reports, "metadata": of_metadata, "Prometheus": of_prometheus}


def taken(folder: Path, form: str, extensible: Callable[[Path], list[str | Path]]) -> Path:
    """The cluster in that form, as a snapshot."""
    if form == "own JSON":
        brokers = {f"b{place}:8080": report(place) for place in range(2)}
        for place, one in enumerate(brokers.values()):
            one["bandwidthIn"] = {"usage": 100 * SHARES[place], "limit": 100}
        return write(folder, {"brokers": brokers})
    out = folder / "now.json"
    status, _, err = asked("snapshot", "--out", out, "--quiet", *FORMS.get(form, extensible)(folder))
    assert status == 0, err
    return out


@pytest.mark.parametrize("form", [*FORMS, "the extensible manager", "own JSON"])
def test_every_question_finds_the_same_usage(tmp_path: Path, form: str, extensible: Callable[[Path], list[str | Path]]) -> None:
    snapshot = taken(tmp_path, form, extensible)
    names = list(json.loads(snapshot.read_text())["brokers"])
    fullness = sorted(USAGES)
    decided = answered("decide", "--snapshot", snapshot)["rounds"][0]["usage"]
    assert sorted(decided.values()) == pytest.approx(fullness, rel=1e-6)
    still = ("--scenario", "steady", "--hours", "0.02", "--quiet")
    simulated = answered("simulate", "--snapshot", snapshot, *still)
    assert sorted(minutes[0] for minutes in simulated["usage"].values()) == pytest.approx(fullness, rel=1e-6)
    assert list(simulated["usage"]) == names
    compared = answered(
        "compare", "--snapshot", snapshot, *still, "--runs", "10", "--conf", "OverloadShedder", "--out", tmp_path / "compared"
    )
    imbalance = next(row["baseline"] for row in compared["measures"] if row["measure"] == "imbalance")
    assert imbalance == pytest.approx(max(USAGES) / fmean(USAGES), rel=1e-6)
