"""``fencepost policy snapshot --metrics``: what Prometheus scrapes of brokers, and what is said where it lacks something.

``scrapes/`` has the lines about load, and some beside them, that brokers of 4.0.8 and 4.2.4 answered at /metrics.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.checks.policy.asking import asked
from tests.checks.policy.brokers import EXTENSIBLE, MODULAR, brokers

SCRAPES = Path(__file__).parent / "scrapes"
OLD, NEW = SCRAPES / "pulsar-4.0.8.txt", SCRAPES / "pulsar-4.2.4.txt"
BUNDLE = "t/n/0x40000000_0x80000000"
NEEDS = "set exposeBundlesMetricsInPrometheus=true on the brokers, or read the cluster with --admin"


def taken(folder: Path, *files: Path) -> dict[str, Any]:
    out = folder / "now.json"
    status, printed, err = asked("snapshot", "--out", out, *(word for file in files for word in ("--metrics", file)))
    assert status == 0, err
    assert "a scrape has no isolation policies" in printed
    snapshot: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return snapshot


def refused(folder: Path, text: str, *others: Path) -> str:
    """What is said of a scrape, without its name."""
    file = folder / "scrape.txt"
    file.write_text(text, encoding="utf-8")
    files = (word for one in (*others, file) for word in ("--metrics", one))
    status, out, err = asked("snapshot", "--out", folder / "now.json", "--quiet", *files)
    assert (status, out, err.count("\n")) == (150, "", 1)
    assert not (folder / "now.json").exists()
    return err.removeprefix(f"fencepost: {file}:").strip()


def of(text: str, broker: str) -> str:
    """The scrape as a broker of another address would answer it."""
    return text.replace('broker="127.0.0.1"', f'broker="{broker}"')


def federated(text: str, instance: str, at: int) -> str:
    """The scrape as Prometheus answers it at /federate: with the label ``instance``, the time, and its own order."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    labelled = (re.sub(r"\{(.*)\} (\S+)$", rf'{{\1,instance="{instance}",job="p"}} \2 {at}', line) for line in sorted(lines))
    return "".join(f"{line}\n" for line in labelled)


@pytest.mark.parametrize("scrape", [OLD, NEW])
def test_a_scrape_of_a_real_broker_is_its_load_report(tmp_path: Path, scrape: Path) -> None:
    text = scrape.read_text()
    report = taken(tmp_path, scrape)["brokers"]["127.0.0.1"]
    [cpu] = re.findall(r"pulsar_lb_cpu_usage\{.*\} (.*)", text)
    assert report["cpu"] == {"usage": float(cpu), "limit": 100.0, "unit": "percent"}
    assert report["bandwidthIn"] == {"usage": 0.0, "limit": 100.0, "unit": "percent"}
    rates = {bundle: float(rate) for bundle, rate in re.findall(r'pulsar_bundle_msg_rate_in\{.*bundle="(.*?)".*\} (.*)', text)}
    assert {bundle: stats["msgRateIn"] for bundle, stats in report["lastStats"].items()} == rates
    assert report["bundles"] == sorted(rates)
    assert report["msgRateIn"] == pytest.approx(sum(rates.values()))
    assert report["numTopics"] == 2 * len(rates)
    assert asked("decide", "--snapshot", tmp_path / "now.json").returncode == 0


def test_a_file_each_and_a_broker_without_bundles(tmp_path: Path) -> None:
    text = NEW.read_text()
    (tmp_path / "b1.txt").write_text(of(text, "b1"))
    empty = re.sub(r"pulsar_broker_topics_count.*\} \d+", 'pulsar_broker_topics_count{cluster="c"} 0', of(text, "b2"))
    (tmp_path / "b2.txt").write_text("".join(line for line in empty.splitlines(True) if "pulsar_bundle_" not in line))
    brokers = taken(tmp_path, tmp_path / "b1.txt", tmp_path / "b2.txt")["brokers"]
    assert [len(brokers[name]["bundles"]) for name in ("b1", "b2")] == [text.count("\npulsar_bundle_msg_rate_in{"), 0]


def test_what_prometheus_federates_has_all_brokers_by_their_instances_and_the_time(tmp_path: Path) -> None:
    one = federated(NEW.read_text(), "10.0.0.1:8080", 1795471397000)
    two = federated(OLD.read_text(), "10.0.0.2:8080", 1795471398000)
    (tmp_path / "all.txt").write_text("# TYPE pulsar_lb_cpu_usage gauge\n" + one + two)
    brokers = taken(tmp_path, tmp_path / "all.txt")["brokers"]
    assert {name: report["lastUpdate"] for name, report in brokers.items()} == {
        "10.0.0.1:8080": 1795471397000,
        "10.0.0.2:8080": 1795471398000,
    }


def test_what_a_scrape_lacks_is_named_with_the_remedy(tmp_path: Path) -> None:
    text = NEW.read_text()
    without = "".join(line for line in text.splitlines(True) if "pulsar_bundle_" not in line)
    assert refused(tmp_path, without) == f"has no pulsar_bundle_* of broker 127.0.0.1: {NEEDS}"
    assert refused(tmp_path, of(without, "b2"), OLD) == f"has no pulsar_bundle_* of broker b2: {NEEDS}", "though it has topics"
    extensible = without + 'pulsar_lb_resource_usage{broker="127.0.0.1", feature="max", metric="loadBalancing"} 0.8\n'
    assert refused(tmp_path, extensible).endswith("the extensible load manager exposes none; read its cluster with --admin")
    assert refused(tmp_path, re.sub("pulsar_lb_cpu.*\n", "", text)) == "has no pulsar_lb_cpu_usage of broker 127.0.0.1"
    bundle = re.search(r'pulsar_bundle_topics_count\{.*bundle="(.*?)".*\n', text)
    assert bundle is not None
    part = f"has no pulsar_bundle_topics_count of bundle {bundle[1]} of broker 127.0.0.1"
    assert refused(tmp_path, text.replace(bundle[0], "")) == part
    assert refused(tmp_path, "up 1\n") == "has no pulsar_lb_cpu_usage: give what a Pulsar broker answers at /metrics"


def test_what_is_no_scrape_is_named_by_its_line(tmp_path: Path) -> None:
    text = NEW.read_text()
    assert refused(tmp_path, "<html>\n") == "1: is not a sample in Prometheus' text format: '<html>'"
    assert refused(tmp_path, 'pulsar_lb_cpu_usage{broker="b"} NaN\n') == "1: pulsar_lb_cpu_usage is nan; it must be a number"
    assert refused(tmp_path, "\npulsar_lb_cpu_usage 1\n").startswith("2: pulsar_lb_cpu_usage has no label broker")
    line = text.count("\n") + 1
    again = f"{line}: broker 127.0.0.1 has pulsar_lb_cpu_usage twice; give each broker a file of its own"
    assert refused(tmp_path, text + 'pulsar_lb_cpu_usage{broker="127.0.0.1"} 1\n') == again
    both = f"broker 127.0.0.1 is also in {OLD}; the label instance of Prometheus tells brokers of one host apart"
    assert refused(tmp_path, text, OLD) == both


def test_a_scrape_goes_alone(tmp_path: Path) -> None:
    status, _, err = asked("snapshot", "--out", tmp_path / "now.json", "--metrics", NEW, "--admin", "http://b:8080")
    assert status == 2
    assert err.endswith("names brokers as Prometheus does; leave --admin, --load-report and --metadata out\n")


@pytest.mark.xdist_group("real brokers")
@pytest.mark.deep  # a broker takes a quarter of a minute to start
@pytest.mark.parametrize(("manager", "version"), [(MODULAR, "4.0.8"), (MODULAR, "4.2.4"), (EXTENSIBLE, "4.2.4")])
def test_real_brokers(tmp_path: Path, manager: str, version: str) -> None:
    """What a broker exposes is what it reports over its Admin REST interface."""
    (tmp_path / "classes").mkdir()
    with brokers(tmp_path / "classes", 1, manager, version) as [url]:
        if manager == EXTENSIBLE:
            assert "the extensible load manager exposes none" in refused(tmp_path, _scraped(url))
            return
        # the broker measures for this report, and exposes the same
        with urlopen(f"{url}/admin/v2/broker-stats/load-report", timeout=60) as answer:
            own = json.loads(answer.read())
        scrape = _scraped(url)
    (tmp_path / "scrape.txt").write_text(scrape)
    [report] = taken(tmp_path, tmp_path / "scrape.txt")["brokers"].values()
    assert f'version="{version}"' in scrape
    names = ("msgRateIn", "msgRateOut", "msgThroughputIn", "msgThroughputOut", "topics", "producerCount", "consumerCount")
    assert report["bundles"] == sorted(own["bundles"])
    assert {bundle: {name: stats[name] for name in names} for bundle, stats in own["lastStats"].items()} == {
        bundle: pytest.approx(stats) for bundle, stats in report["lastStats"].items()
    }
    assert report["numTopics"] == own["numTopics"]


def _scraped(url: str) -> str:
    """What a broker answers at /metrics, once its load manager has measured."""
    for _ in range(60):
        with urlopen(f"{url}/metrics", timeout=60) as answer:
            text: str = answer.read().decode()
        if "pulsar_lb_cpu_usage" in text:
            return text
        time.sleep(1)
    raise AssertionError(f"{url} does not expose its load")
