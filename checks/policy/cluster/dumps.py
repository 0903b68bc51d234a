"""What a cluster's own tools print: a load report, and the metadata store's nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from fencepost.checks.policy.cluster.reports import Report
from fencepost.checks.policy.reading import read_json
from fencepost.checks.settings.files.input_files import InputError

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
