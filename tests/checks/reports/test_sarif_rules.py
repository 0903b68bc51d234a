"""What validators of SARIF and code scanning ask beyond the schema: indexes, URIs, and what an alert needs."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.command import fencepost

MOST_RESULTS = 5000
"""Results of one run that GitHub shows."""


def complaints(log: dict[str, Any]) -> Iterator[str]:
    """What a strict validator complains of, by the numbers of Microsoft's rules (SARIF...) and of GitHub's own (GH...)."""
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    if len({rule["id"] for rule in rules}) != len(rules):
        yield "SARIF1001: two rules with one name"
    if not {"version", "semanticVersion"} & run["tool"]["driver"].keys():
        yield "SARIF2005: no version of the tool"
    if not all(rule.get(part, {}).get("text") for rule in rules for part in ("shortDescription", "fullDescription", "help")):
        yield "GH2012: a rule without a description or help"
    if len(run["results"]) > MOST_RESULTS:
        yield "GH1004: too many results"
    for result in run["results"]:
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            yield "SARIF1009: the index is of another rule"
        if (result["kind"] == "fail") != (result["level"] != "none"):
            yield "SARIF1003: a level that does not go with the kind"
        if not result["locations"]:
            yield "GH1001: no location"
        for location in _locations(result):
            artifact, region = location["physicalLocation"]["artifactLocation"], location["physicalLocation"]["region"]
            if not artifact["uri"].isascii() or " " in artifact["uri"] or "\\" in artifact["uri"]:
                yield "SARIF1002: not a URI"
            if bool(urlsplit(artifact["uri"]).scheme) == ("uriBaseId" in artifact) or artifact["uri"].startswith("/"):
                yield "SARIF1004: a base for an absolute URI, or none for a relative one"
            if region["startLine"] < 1:
                yield "SARIF1007: a line before the first"
        if "primaryLocationLineHash" not in result["partialFingerprints"]:
            yield "GH1002: no fingerprint that keeps an alert the same"


def _locations(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from result["locations"]
    for flow in result.get("codeFlows", ()):
        for thread in flow["threadFlows"]:
            yield from (step["location"] for step in thread["locations"])


@pytest.fixture(scope="module")
def sarif() -> dict[str, Any]:
    asked = ["election", "--bug", "same_value", "--property", "node_of_another_is_kept"]
    log: dict[str, Any] = json.loads(fencepost("check", *asked, "--sarif", "-", "--quiet").stdout)
    return log


def test_nothing_is_complained_of(sarif: dict[str, Any]) -> None:
    assert list(complaints(sarif)) == []
    assert sarif["runs"][0]["results"]


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("ruleIndex", -1, "SARIF1009"),
        ("level", "none", "SARIF1003"),
        ("locations", [], "GH1001"),
        ("partialFingerprints", {}, "GH1002"),
    ],
)
def test_a_validator_that_is_strict_sees_it(sarif: dict[str, Any], name: str, value: Any, rule: str) -> None:
    log = copy.deepcopy(sarif)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    rules.append({**rules[0], "id": "another"})
    log["runs"][0]["results"][0][name] = value
    if name == "ruleIndex":
        log["runs"][0]["results"][0][name] = len(rules) - 1
    assert any(complaint.startswith(rule) for complaint in complaints(log))


def test_a_file_with_a_space_and_one_elsewhere_are_uris(tmp_path: Path) -> None:
    conf = tmp_path / "a conf é.conf"
    conf.write_text("managedLedgerDefaultAckQuorum=two\n")
    for folder, file, uri in ((tmp_path, Path(conf.name), "a%20conf%20%C3%A9.conf"), (Path("/"), conf, conf.as_uri())):
        log = json.loads(fencepost("check", "--conf", file, "--sarif", "-", "--quiet", folder=folder).stdout)
        (result,) = log["runs"][0]["results"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith(uri.removeprefix("file:///"))
        assert [complaint for complaint in complaints(log) if "GH1002" not in complaint] == []
