"""The entry: Ctrl-C while the program loads, and its version."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path

import pytest

from fencepost.checks.cli import GIVEN_UP
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.kernel import Kernel
from tests.command import ROOT, fencepost
from tests.marking import first_at_once

CTRL_C = """
import signal, sys
from fencepost.checks.cli import main

class CtrlC:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts in the background ignore it
sys.meta_path.insert(0, CtrlC())
sys.exit(main(["list", "election"]))
"""


@pytest.mark.parametrize(
    "loading", first_at_once(["argparse", "fencepost.checks.commands.arguments", "fencepost.model.pulsar.election"])
)
def test_ctrl_c_while_the_program_loads_is_no_traceback(loading: str) -> None:
    run = subprocess.run([sys.executable, "-c", CTRL_C, loading], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (ExitStatus.INCONCLUSIVE, "", "fencepost: given up\n")
    assert GIVEN_UP == ExitStatus.INCONCLUSIVE


def test_a_check_loads_what_it_asks() -> None:
    """Not Numba where the loops are compiled already, no solver; no other command, no other protocol, no question about
    settings or guarantees."""
    modules = "checks.commands.policy.check", "properties.topic.entry", "checks.questions.answers.answering"
    modules += "checks.questions.guarantees.establishing", "properties.ledger.entry", "model.bookkeeper.ledger.protocol"
    others = {"numba", "z3", "cvc5", "hypothesis", "yaml", *(f"fencepost.{module}" for module in modules)}
    assert all(map(find_spec, others)), "what is not there is never loaded"
    script = (
        "import sys; from fencepost.checks.cli import main; status = main(sys.argv[1:]); "
        f"print(status, {others} & set(sys.modules))"
    )
    words = ["check", "election", "--set", "brokers=1", "--quiet"]
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", script, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "0 set()"


def test_the_version_is_that_of_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"1.2.3 of {name}")
    assert fencepost("--version") == (0, "fencepost 1.2.3 of fencepost\n", "")


def test_what_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", version)
    status, output, _ = fencepost("--version")
    assert (status, output.startswith("fencepost is running from source")) == (0, True)


def test_to_show_a_trace_no_kernel_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["check", "election", "--bug", "elected_follows", "--property", "holder_leads"]
    assert fencepost(*asked, "--out", tmp_path).returncode == 12
    (file,) = tmp_path.iterdir()
    monkeypatch.setattr(Kernel, "__init__", None)
    assert fencepost("trace", "show", file).returncode == 0
