"""A light start: what the base does without the extras, and that a command that lacks one says which and how to get it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from fencepost.checks.console.extras import HYPOTHESIS, ODDS, PARQUET, PLOTS, SECOND_SOLVER, SPARK, Extra
from fencepost.checks.engines.results.verdicts import ExitStatus
from tests.package.environment import ROOT, Environment

pytestmark = pytest.mark.xdist_group("package")

EXAMPLES = ROOT / "docs" / "examples"
SETTINGS = ["--conf", EXAMPLES / "broker.conf"]
RESTARTED = EXAMPLES / "policy" / "restarted.json"
SNAPSHOT = ["--snapshot", EXAMPLES / "policy" / "small-1.json"]
BROKEN = "broken.itf.json"

IN_ONE_PROCESS = """
import contextlib, io, json, sys
from fencepost.checks.cli import main
ran = []
for asked in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(asked)
    ran.append([status, out.getvalue(), err.getvalue()])
print(json.dumps([ran, sorted(sys.modules)]))
"""

Ran = list[tuple[int, str, str]]


def fencepost(clean: Environment, folder: Path, *commands: list[str | Path]) -> tuple[Ran, list[str]]:
    """Runs commands in one process: status, output and errors of each, and the modules that were loaded."""
    asked = json.dumps([[str(word) for word in command] for command in commands])
    done = clean.run("-c", IN_ONE_PROCESS, asked, folder=folder)
    assert done.returncode == 0, done.stderr
    ran, modules = json.loads(done.stdout)
    return [(status, out, err) for status, out, err in ran], modules


def test_the_base_checks_protocols_and_settings(clean: Environment, theirs: Path) -> None:
    (conf, split, second, teeth, exported, listed), _ = fencepost(
        clean,
        theirs,
        ["check", "election", "--set", "brokers=2", *SETTINGS, "--quiet"],
        ["check", "hash_range", "--quiet"],
        ["check", "unload", "--set", "brokers=1", "--by", "induction", "--quiet"],
        ["teeth", "election", "--set", "brokers=2", "leads=confirmed", "--mutant", "confirm.10", "--quiet"],
        ["export", "election", "--format", "smt2", "--set", "brokers=2", "--out", "exported", "--quiet"],
        ["list", "ledger"],
    )
    for status, out, err in (split, second, listed, exported, teeth):
        assert (status, err) == (0, ""), out
    assert (conf[0], conf[2]) == (14, "")
    assert "a known bug affects this release (exit 14)" in conf[1]


def test_the_base_works_on_traces(clean: Environment, theirs: Path) -> None:
    ran, _ = fencepost(
        clean,
        theirs,
        ["trace", "show", BROKEN],
        ["trace", "replay", BROKEN],
        ["trace", "diff", BROKEN, BROKEN],
        ["trace", "explain", BROKEN, "--action", "propose"],
        ["trace", "diagram", BROKEN],
        ["trace", "diagram", BROKEN, "--format", "svg"],
        ["trace", "html", BROKEN, "--out", "broken.html"],
        ["trace", "shrink", BROKEN, "--quiet"],
        ["trace", "pin", BROKEN, "--out", "pinned"],
    )
    for status, out, err in ran:
        assert (status, err) == (0, ""), out


def test_the_base_asks_policies_and_loads_no_kernel_for_it(clean: Environment, tmp_path: Path) -> None:
    ran, modules = fencepost(
        clean,
        tmp_path,
        ["policy", "decide", *SETTINGS, *SNAPSHOT],
        ["policy", "place", "--snapshot", RESTARTED, "--bundle", "public/default/0xa0000000_0xb0000000"],
        ["policy", "split", "--bundle", "0x00000000_0x40000000", "--algorithm", "range_equally_divide"],
        ["policy", "bundle", "--boundaries", "0,0xffffffff", "--hash", "0"],
        ["policy", "check", "--pulsar", "4.2.4", "--loads", "20", "--quiet"],
    )
    simulated, _ = fencepost(
        clean, tmp_path, ["policy", "simulate", "--brokers", "3", "--bundles", "6", "--hours", "0.1", "--quiet"]
    )
    for status, out, err in [*ran, *simulated]:  # a simulation keeps its averages in a native loop
        assert (status, err) == (0, ""), out
    assert "numba" not in modules


@pytest.mark.parametrize(
    ("command", "lacks"),
    [
        (["explore", "ledger", "--out", "found"], "fencepost explore needs Spark: pip install 'fencepost[spark]', "),
        (
            ["check", "unload", "--second-solver"],
            "fencepost check --second-solver needs cvc5: pip install 'fencepost[second-solver]', ",
        ),
        (
            ["policy", "compare", "--conf", "AvgShedder", "--out", "found"],
            "fencepost policy compare needs PyArrow: pip install 'fencepost[parquet]', ",
        ),
        (
            ["trace", "neighbourhood", BROKEN],
            "fencepost trace neighbourhood needs Matplotlib and NetworkX: pip install 'fencepost[plots]', ",
        ),
    ],
)
def test_a_command_says_what_it_lacks(clean: Environment, theirs: Path, command: list[str], lacks: str) -> None:
    ran = clean.run("-m", "fencepost", *command, folder=theirs)
    assert (ran.returncode, ran.stdout) == (ExitStatus.SYSTEM, "")
    assert ran.stderr.startswith(lacks)
    assert ran.stderr.count("\n") == 1
    assert not (theirs / "found" / "run.json").exists()


@pytest.mark.parametrize("extra", [HYPOTHESIS, ODDS, PARQUET, PLOTS, SECOND_SOLVER, SPARK], ids=lambda extra: extra.name)
def test_an_extra_brings_the_packages_that_are_asked_for(extra: Extra) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = {Requirement(text).name for text in declared["optional-dependencies"][extra.name]}
    assert brought >= set(extra.packages)
    assert brought.isdisjoint(Requirement(text).name for text in declared["dependencies"])
