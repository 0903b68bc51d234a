"""What Prometheus scrapes of Pulsar's brokers, read as their load reports: ``pulsar_lb_*`` and ``pulsar_bundle_*``.

A broker exposes what it has put into its own load report, in ModularLoadManagerImpl.updateLoadBalancingMetrics and
updateLoadBalancingBundlesMetrics; PrometheusMetricsGenerator writes ``brk_`` as ``pulsar_``. The extensible manager exposes no
bundles.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.checks.inputs.input_files import InputError, Place
from fencepost.checks.inputs.prometheus import samples
from fencepost.checks.policy.cluster.reports import RATES, USAGES, Report, composed

STATISTICS = {
    "pulsar_bundle_msg_rate_in": "msgRateIn",
    "pulsar_bundle_msg_rate_out": "msgRateOut",
    "pulsar_bundle_msg_throughput_in": "msgThroughputIn",
    "pulsar_bundle_msg_throughput_out": "msgThroughputOut",
    "pulsar_bundle_topics_count": "topics",
    "pulsar_bundle_consumer_count": "consumerCount",
    "pulsar_bundle_producer_count": "producerCount",
}
"""The metrics of a bundle, and the statistics in a load report that they are."""

USAGE_METRICS = {metric.replace("brk_", "pulsar_", 1): metric for metric in USAGES.values()}
"""The metrics of a broker's usage in percent, and their names in its report."""

TOPICS, EXTENSIBLE = "pulsar_broker_topics_count", "pulsar_lb_resource_usage"
METRICS = {*STATISTICS, *USAGE_METRICS, TOPICS, EXTENSIBLE}


@dataclass
class _Scrape:
    """The samples of one broker."""

    usages: dict[str, float] = field(default_factory=dict)
    bundles: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    topics: float = 0
    extensible: bool = False
    time: int = 0


def read_expositions(paths: Iterable[Path]) -> dict[str, Report]:
    """The report of each broker in some scrapes, by the broker's name; raises InputError.

    A file is what a broker answers at ``/metrics``, or what Prometheus answers at ``/federate`` for many. The name is the label
    ``instance`` that Prometheus adds, or else ``broker``, the broker's advertised address without its port.
    """
    sources: dict[str, Path] = {}
    scrapes: dict[str, _Scrape] = {}
    for path in paths:
        for name, scrape in _scrapes(path).items():
            if name in sources:
                remedy = "the label instance of Prometheus tells brokers of one host apart"
                raise _wrong(path, 0, f"broker {name} is also in {sources[name]}; {remedy}")
            sources[name], scrapes[name] = path, scrape
    exposed = any(scrape.bundles for scrape in scrapes.values())
    return {name: _report(sources[name], name, scrape, exposed) for name, scrape in scrapes.items()}


def _scrapes(path: Path) -> dict[str, _Scrape]:
    """What a file has of each broker. Samples without the label ``broker`` belong to the broker of the same instance."""
    scrapes: dict[str, _Scrape] = defaultdict(_Scrape)
    topics: dict[str | None, float] = {}
    instances: dict[str, str | None] = {}
    for sample in samples(path):
        if sample.name not in METRICS:
            continue
        line, metric, labels, value = sample.line, sample.name, sample.labels, sample.value
        if not math.isfinite(value):
            raise _wrong(path, line, f"{metric} is {value}; it must be a number")
        instance = labels.get("instance")
        if metric == TOPICS:
            topics[instance] = value
            continue
        name = instance or labels.get("broker", "")
        if not name:
            raise _wrong(path, line, f"{metric} has no label broker: is this of a Pulsar broker?")
        instances[name] = instance
        scrape = scrapes[name]
        scrape.time = max(scrape.time, sample.time)
        if metric == EXTENSIBLE:
            scrape.extensible = True
            continue
        where, key = scrape.usages, USAGE_METRICS.get(metric, "")
        if metric in STATISTICS:
            where, key = scrape.bundles[labels.get("bundle", "")], STATISTICS[metric]
        if key in where:
            raise _wrong(path, line, f"broker {name} has {metric} twice; give each broker a file of its own")
        where[key] = value
    if not scrapes:
        raise _wrong(path, 0, "has no pulsar_lb_cpu_usage: give what a Pulsar broker answers at /metrics")
    for name, instance in instances.items():
        scrapes[name].topics = topics.get(instance, 0)
    return scrapes


def _wrong(path: Path, line: int, what: str) -> InputError:
    place = Place(path, line)
    return InputError(f"{place}: {what}", place)


def _report(path: Path, name: str, scrape: _Scrape, exposed: bool) -> Report:
    """The report that the samples of a broker are; ``exposed`` is whether any broker exposes its bundles."""
    for metric, key in USAGE_METRICS.items():
        if key not in scrape.usages:
            raise _wrong(path, 0, f"has no {metric} of broker {name}")
    if not scrape.bundles and scrape.extensible:
        remedy = "the extensible load manager exposes none; read its cluster with --admin"
        raise _wrong(path, 0, f"has no pulsar_bundle_* of broker {name}: {remedy}")
    if not scrape.bundles and (scrape.topics or not exposed):
        remedy = "set exposeBundlesMetricsInPrometheus=true on the brokers, or read the cluster with --admin"
        raise _wrong(path, 0, f"has no pulsar_bundle_* of broker {name}: {remedy}")
    statistics = {}
    for bundle, figures in sorted(scrape.bundles.items()):
        for metric, key in STATISTICS.items():
            if key not in figures:
                raise _wrong(path, 0, f"has no {metric} of bundle {bundle} of broker {name}")
        statistics[bundle] = {key: value if key in RATES else int(value) for key, value in figures.items()}
    report = composed(scrape.usages, statistics, statistics)
    return report | ({"lastUpdate": scrape.time} if scrape.time else {})
