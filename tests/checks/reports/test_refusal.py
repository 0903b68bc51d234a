"""What is refused is told in every format of CI, with one error, at its line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from tests.checks.reports.test_ci_formats import JUNIT, SARIF
from tests.command import fencepost, printed_as

BAD = "# ours\nmanagedLedgerDefaultEnsembleSize=two\n"
SAID = "broker.conf:2: managedLedgerDefaultEnsembleSize = 'two' is not a whole number"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a bad configuration in a folder of it."""
    path = tmp_path / "live" / "eu"
    path.mkdir(parents=True)
    (path / "broker.conf").write_text(BAD)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return path


def refused(folder: Path, name: str, *asked: str | Path, status: int = 150) -> str:
    ran = fencepost("check", *printed_as(name), *(asked or ("--conf", "broker.conf")), folder=folder)
    assert ran.returncode == status
    assert ran.stderr.startswith("fencepost: ")
    assert ran.stderr.count("\n") == 1
    return ran.stdout


def test_sarif(folder: Path) -> None:
    log = json.loads(refused(folder, "sarif"))
    SARIF.validate(log)
    (run,) = log["runs"]
    assert run["invocations"] == [{"executionSuccessful": False, "exitCode": 150}]
    (result,) = run["results"]
    assert (result["kind"], result["level"]) == ("fail", "error")
    assert result["message"]["text"].startswith(SAID)
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "live/eu/broker.conf"
    assert location["physicalLocation"]["region"] == {"startLine": 2}


def test_wrong_usage_has_no_place_and_so_no_result(folder: Path) -> None:
    asked = ("--conf", "broker.conf", "--guarantees", "--require", "disk>=1")
    log = json.loads(refused(folder, "sarif", *asked, status=2))
    SARIF.validate(log)
    (run,) = log["runs"]
    (invocation,) = run["invocations"]
    assert run["results"] == []
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    (notification,) = invocation["toolExecutionNotifications"]
    assert (notification["level"], notification["message"]["text"].split(";")[0]) == (
        "error",
        "there is no guarantee 'disk' (did you mean disks?)",
    )
    page = refused(folder, "markdown", *asked, status=2)
    assert page.startswith("### Fencepost: wrong usage (exit 2)\n\nthere is no guarantee 'disk'")


def test_junit(folder: Path) -> None:
    root = fromstring(refused(folder, "junit").split("\n", 1)[1])
    JUNIT.validate(root)
    (error,) = root.iter("error")
    assert (root.get("errors"), error.get("type")) == ("1", "input")
    assert (error.get("message") or "").startswith(SAID)


def test_json(folder: Path) -> None:
    whole = json.loads(refused(folder, "json"))
    assert (whole["status"], whole["verdicts"]) == (150, [])
    assert (whole["error"]["file"], whole["error"]["line"]) == ("broker.conf", 2)
    assert whole["error"]["message"].startswith(SAID)


def test_github(folder: Path) -> None:
    (line,) = refused(folder, "github").splitlines()
    assert line.startswith("::error file=live/eu/broker.conf,line=2,title=the input cannot be used::broker.conf:2: managed")


def test_text_is_on_standard_error_alone(folder: Path) -> None:
    assert refused(folder, "text") == ""


@pytest.mark.parametrize("name", ["sarif", "junit", "json", "github"])
@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (["--conf", "absent.conf"], 150),
        (["--conf", "good.conf", "--baseline", "absent.json"], 150),
        (["--conf", "good.conf", "--baseline", "broken.json"], 150),
        (["--conf", "good.conf", "--pulsar", "0.9"], 2),
        (["elektion"], 2),
        (["election", "--property", "nothing_is_wrong"], 2),
        (["election", "--set", "brokers=many"], 2),
    ],
)
def test_whatever_is_refused_is_a_valid_document(folder: Path, name: str, asked: list[str], status: int) -> None:
    (folder / "good.conf").write_text("managedLedgerDefaultEnsembleSize=2\n")
    (folder / "broken.json").write_text("{\n")
    output = refused(folder, name, *asked, status=status)
    if name == "sarif":
        log = json.loads(output)
        SARIF.validate(log)
        assert len(log["runs"][0]["results"]) == (status == 150), "wrong usage is in no file"
    elif name == "junit":
        JUNIT.validate(fromstring(output.split("\n", 1)[1]))
    elif name == "json":
        assert json.loads(output)["error"]["message"]
    else:
        assert output.startswith("::error ")
        assert output.count("\n") == 1
