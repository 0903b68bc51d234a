"""The frame of a SARIF log: its only run, by which tool, and the rules that results refer to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def log(rules: Iterable[dict[str, Any]], invocation: dict[str, Any], results: Iterable[dict[str, Any]]) -> str:
    """The text of a log with one run."""
    driver = {"name": "Fencepost", **_version(), "rules": list(rules)}
    run = {"tool": {"driver": driver}, "invocations": [invocation], "results": list(results)}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def rule(name: str, text: str, help_text: str, *, level: str = "error", **properties: Any) -> dict[str, Any]:
    """A rule as code scanning shows it: ``text`` says what it is about, the first line of it in short, and ``help_text`` what
    a reader can do."""
    described = {
        "id": name,
        "shortDescription": {"text": text.partition("\n")[0]},
        "fullDescription": {"text": text},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": level},
    }
    return described | ({"properties": properties} if properties else {})


def _version() -> dict[str, str]:
    """The version of the installed package; nothing where it runs from its sources."""
    try:
        return {"version": version("fencepost")}
    except PackageNotFoundError:
        return {}
