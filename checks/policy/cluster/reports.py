"""The load reports of a cluster's brokers: each is told by its own broker alone.

With the modular manager it is ``broker-stats/load-report``, as the broker itself writes it into the metadata store. The
extensible one has no such report (ExtensibleLoadManagerWrapper.generateLoadReport throws), so that it is put together of what
the broker says of its usage, in ``broker-stats/metrics``, and of its topics, in ``broker-stats/topics``.

What a cluster's own tools print is read, too: a load report, and the nodes of the metadata store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.policy.cluster.admin import Admin, AdminError, Elsewhere, Failed
from fencepost.checks.policy.reading import read_json
from fencepost.model.counts import count_of

Report = dict[str, Any]
AGAIN = 4
"""How often an address is asked in vain for a broker that was not heard before: behind one there may be several."""

USAGES = {
    "cpu": "brk_lb_cpu_usage",
    "memory": "brk_lb_memory_usage",
    "directMemory": "brk_lb_directMemory_usage",
    "bandwidthIn": "brk_lb_bandwidth_in_usage",
    "bandwidthOut": "brk_lb_bandwidth_out_usage",
}
"""The resources of a report, and the metrics that tell how many percent of them are used."""

RATES = ("msgRateIn", "msgRateOut", "msgThroughputIn", "msgThroughputOut")


def active_brokers(admins: Iterable[Admin]) -> list[str]:
    """The names of the live brokers, sorted. Raises AdminError."""
    names: set[str] = set()
    for admin in admins:
        answer = admin.get("brokers")
        if not isinstance(answer, list) or not all(isinstance(name, str) for name in answer):
            raise AdminError(f"{admin.url}: /admin/v2/brokers is not a list of brokers: is this Pulsar's Admin REST interface?")
        names.update(answer)
    return sorted(names)


def heard(admins: Iterable[Admin], brokers: Sequence[str], cluster: str, tell: Callable[[str], None]) -> dict[str, Report]:
    """The reports of the brokers that the addresses stand for, by name. Raises AdminError."""
    reports: dict[str, Report] = {}
    for admin in admins:
        vain = 0
        while vain < AGAIN and len(reports) < len(brokers):
            tell(f"{len(reports)} of {count_of(len(brokers), 'broker')} have reported")
            name, report = _report(admin, brokers, cluster)
            vain = vain + 1 if name in reports else 0
            reports[name] = report
    return reports


def name_of(report: Report, brokers: Iterable[str]) -> str | None:
    """Which of the brokers a report is of, by its own address; None if that is none of them."""
    addresses = [urlsplit(report.get(key) or "").netloc for key in ("webServiceUrl", "webServiceUrlTls")]
    return next((name for name in brokers if name in addresses), None)


def _report(admin: Admin, brokers: Sequence[str], cluster: str) -> tuple[str, Report]:
    try:
        report = admin.get("broker-stats", "load-report")
    except Failed:
        return _put_together(admin, brokers, cluster)
    if not isinstance(report, dict) or "webServiceUrl" not in report:
        raise AdminError(f"{admin.url}: /admin/v2/broker-stats/load-report is not a load report")
    name = name_of(report, brokers)
    if name is None:
        known = ", ".join(brokers)
        raise AdminError(f"{admin.url}: the broker at {report['webServiceUrl']} is not among the live ones, {known}")
    return name, report


def _put_together(admin: Admin, brokers: Sequence[str], cluster: str) -> tuple[str, Report]:
    """A report of a broker with the extensible manager."""
    name, _ = _answering(admin, brokers, cluster)
    metrics, topics = admin.get("broker-stats", "metrics"), admin.get("broker-stats", "topics")
    again, owned = _answering(admin, brokers, cluster)
    if again != name:
        raise AdminError(
            f"{admin.url}: several brokers answer there, and their figures would be mixed; give the address of each"
        )
    figures: dict[str, float] = {}
    for one in metrics:
        feature = one.get("dimensions", {}).get("feature", "")
        figures |= {f"{feature}{key}": value for key, value in one.get("metrics", {}).items() if key.startswith("brk_lb_")}
    return name, composed(figures, dict(_bundles(topics)), owned)


def composed(figures: Mapping[str, float], stats: Mapping[str, Mapping[str, float]], owned: Iterable[str]) -> Report:
    """A report with the usages in ``figures``, in percent, and the statistics of bundles; ``owned`` may have no topic."""
    report: Report = {
        resource: {"usage": figures.get(key, 0.0), "limit": 100.0, "unit": "percent"} for resource, key in USAGES.items()
    }
    report |= {rate: sum(bundle[rate] for bundle in stats.values()) for rate in RATES}
    bundles = sorted({*stats, *owned})  # those without a topic have no statistics
    report |= {"numTopics": sum(bundle["topics"] for bundle in stats.values()), "numBundles": len(bundles)}
    return report | {"lastStats": stats, "bundles": bundles}


def _answering(admin: Admin, brokers: Sequence[str], cluster: str) -> tuple[str, list[str]]:
    """Which broker answers there, and the bundles that it owns: what others own it would leave to them."""
    for name in brokers:
        try:
            return name, list(admin.get("brokers", cluster, name, "ownedNamespaces"))
        except Elsewhere:
            continue
    raise AdminError(f"{admin.url}: is the address of none of the live brokers, {', '.join(brokers)}")


def _bundles(topics: Report) -> Iterable[tuple[str, dict[str, float]]]:
    """The bundles that a broker owns, as statistics of bundles, of what it says of its topics."""
    for namespace, bundles in topics.items():
        for bundle, kinds in bundles.items():
            carried = [topic for kind in kinds.values() for topic in kind.values()]
            stats: dict[str, float] = {rate: sum(topic.get(rate, 0.0) for topic in carried) for rate in RATES}
            stats["producerCount"] = sum(len(topic.get("publishers", ())) for topic in carried)
            stats["consumerCount"] = sum(
                len(subscription.get("consumers", ())) for t in carried for subscription in t.get("subscriptions", {}).values()
            )
            yield f"{namespace}/{bundle}", {**stats, "topics": len(carried)}


BROKERS, BUNDLES = "/loadbalance/brokers/", "/loadbalance/bundle-data/"
OBJECT: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


def read_report(path: Path) -> tuple[str, Report]:
    """The broker and its report, as ``pulsar-admin broker-stats load-report`` prints it. Raises InputError."""
    report = read_json(path, OBJECT, "a load report, as pulsar-admin broker-stats load-report prints it")
    name = urlsplit(str(report.get("webServiceUrl") or report.get("webServiceUrlTls") or "")).netloc
    if not name:
        raise InputError(f"{path}: $.webServiceUrl is missing; give what pulsar-admin broker-stats load-report prints")
    return name, report


def read_metadata(path: Path) -> tuple[dict[str, Report | None], dict[str, Any]]:
    """The reports and the bundle data in a dump of the metadata store: a JSON object with the value of each path.

    A value is the node's JSON itself, the text of it, or an object with that as its ``content``. Other paths are passed over.
    Raises InputError.
    """
    nodes = read_json(path, OBJECT, "a dump of the metadata store, an object with the value of each path")
    values = {name: _value(path, name, node) for name, node in nodes.items() if name.startswith((BROKERS, BUNDLES))}
    if not values:
        raise InputError(f"{path}: has no path below {BROKERS} or {BUNDLES}; dump these of the metadata store")
    brokers = {name.removeprefix(BROKERS): value for name, value in values.items() if name.startswith(BROKERS)}
    bundles = {name.removeprefix(BUNDLES): value for name, value in values.items() if name.startswith(BUNDLES)}
    # of a broker with the extensible manager the store has only where it is
    return {name: value if "cpu" in value else None for name, value in brokers.items()}, bundles


def _value(path: Path, name: str, node: Any) -> dict[str, Any]:
    content = node["content"] if isinstance(node, Mapping) and "content" in node else node
    if isinstance(content, str):
        try:
            content = json.loads(content)
        except ValueError:
            raise InputError(f"{path}: {name} is not JSON") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: {name} is not a JSON object")
    return content
