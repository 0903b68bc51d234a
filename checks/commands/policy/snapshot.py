"""``fencepost policy snapshot``: reads a running cluster, or what its tools print, and writes the snapshot of its load."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NotRequired, TypedDict

from fencepost.checks.commands.policy.request import SnapshotRequest
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.policy.cluster.admin import Admin, AdminError, NotFound, token_in
from fencepost.checks.policy.cluster.exposition import read_expositions
from fencepost.checks.policy.cluster.reports import Report, active_brokers, heard, read_metadata, read_report
from fencepost.checks.policy.snapshot import read_snapshot
from fencepost.checks.policy.usage import WrongUsage
from fencepost.model.balance.load_data import namespace_of
from fencepost.model.counts import count_of
from fencepost.traces.files.writing import write_text

Tell = Callable[[str], None]


def take(asked: SnapshotRequest) -> ExitStatus:
    """Takes the snapshot that is asked for, says what it has, and writes it."""
    reads = asked.admin or asked.load_report or asked.metadata
    if not reads and not asked.metrics:
        raise WrongUsage("policy snapshot: give --admin URL, --metrics FILE, --load-report FILE or --metadata FILE")
    if reads and asked.metrics:
        raise WrongUsage("--metrics FILE names brokers as Prometheus does; leave --admin, --load-report and --metadata out")
    if asked.token_file is not None and not asked.admin:
        raise WrongUsage("--token-file is for --admin URL")
    token = token_in(asked.token_file)
    admins = [Admin(url, token, asked.timeout) for url in dict.fromkeys(asked.admin)]
    for admin in admins:
        if admin.sends_in_the_clear:
            print(f"note: {admin.url}: the token travels without TLS; https:// protects it", file=sys.stderr)
    reporter = Reporter(quiet=asked.quiet, stream=sys.stderr)
    reporter.begin("snapshot")
    try:
        whole = _gathered(admins, asked, reporter.telling)
    finally:
        reporter.end()
    silent = [name for name, report in whole["brokers"].items() if report is None]
    if silent and not asked.partial:
        remedy = "give --admin with its own address, --load-report FILE with what it reports, or --partial to go without"
        raise InputError(f"there is no load report of {', '.join(silent)}, and each broker reports only its own load; {remedy}")
    write_text(asked.out, json.dumps(whole, indent=2, sort_keys=True) + "\n")
    read_snapshot(asked.out)  # what cannot be read is told now
    print("\n".join(_summary(whole, silent, asked)))
    return ExitStatus.HOLDS


class _Policies(TypedDict, total=False):
    isolation: object
    failure_domains: object
    anti_affinity: dict[str, str]


class _Whole(_Policies):
    """A snapshot as it is in a file; a broker without a report has None."""

    brokers: dict[str, Report | None]
    bundles: NotRequired[dict[str, object]]


def _gathered(admins: Sequence[Admin], asked: SnapshotRequest, tell: Tell) -> _Whole:
    """The snapshot as it is in a file. What an interface tells counts before what files have of the same broker."""
    whole: _Whole = {"brokers": {**read_expositions(asked.metrics)}}
    if asked.metadata is not None:
        whole["brokers"], whole["bundles"] = read_metadata(asked.metadata)
    for path in asked.load_report:
        name, report = read_report(path)
        whole["brokers"][name] = report
    if admins:
        live = active_brokers(admins)
        cluster = asked.cluster_name or _cluster(admins[0])
        known = {name: whole["brokers"].get(name) for name in live}
        whole["brokers"] = {**known, **heard(admins, live, cluster, tell)}
        whole = {**whole, **_policies(admins[0], cluster, whole["brokers"].values(), tell)}
    return whole


def _policies(admin: Admin, cluster: str, reports: Iterable[Report | None], tell: Tell) -> _Policies:
    """Isolation policies, failure domains, and the anti-affinity groups of the namespaces that the reports speak of."""
    bundles = {bundle for report in reports if report for bundle in (*report.get("lastStats", {}), *report.get("bundles", ()))}
    namespaces = sorted({namespace_of(bundle) for bundle in bundles})
    groups = {}
    for place, namespace in enumerate(namespaces):
        tell(f"policies of {place} of {len(namespaces)} namespaces")
        with suppress(NotFound):  # a broker's own namespace, for its heartbeat, has no policies
            if group := admin.text("namespaces", *namespace.split("/"), "antiAffinity"):
                groups[namespace] = group
    policies: _Policies = {}
    if isolation := _if_there(admin, "clusters", cluster, "namespaceIsolationPolicies"):
        policies["isolation"] = isolation
    if domains := _if_there(admin, "clusters", cluster, "failureDomains"):
        policies["failure_domains"] = domains
    if groups:
        policies["anti_affinity"] = groups
    return policies


def _cluster(admin: Admin) -> str:
    """The name of the cluster: the only one that there is, or what the broker is configured with."""
    names = [name for name in admin.get("clusters") if name != "global"]
    if len(names) == 1:
        return str(names[0])
    try:
        return str(admin.get("brokers", "configuration", "runtime")["clusterName"])
    except (KeyError, TypeError):
        raise AdminError(f"{admin.url}: does not report the name of its cluster; give it with --cluster-name") from None


def _if_there(admin: Admin, *path: str) -> object:
    try:
        return admin.get(*path)
    except NotFound:
        return None


def _summary(whole: _Whole, silent: Sequence[str], asked: SnapshotRequest) -> list[str]:
    brokers = whole["brokers"]
    bundles = {bundle for report in brokers.values() if report for bundle in report.get("lastStats", {})}
    namespaces = set(map(namespace_of, bundles))
    counts = {"broker": len(brokers), "bundle": len(bundles), "namespace": len(namespaces)}
    lines = [", ".join(count_of(count, what) for what, count in counts.items())]
    lines += [f"no report: {name}" for name in silent]
    if asked.metrics:
        lines.append("averages: one sample of each bundle; a scrape has no isolation policies, domains, anti-affinity groups")
    elif not whole.get("bundles"):
        lines.append("averages: one sample of each bundle, from its broker's report; --metadata FILE has the leader's own")
    return [*lines, f"snapshot: {asked.out}"]
