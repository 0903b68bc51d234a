"""The entry: Ctrl-C while the program loads, and its version."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from fencepost.checks.cli import GIVEN_UP
from fencepost.checks.engines.results.verdicts import ExitStatus
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
    "loading", first_at_once(["z3", "argparse", "fencepost.checks.commands.arguments", "fencepost.model.pulsar.election"])
)
def test_ctrl_c_while_the_program_loads_is_no_traceback(loading: str) -> None:
    run = subprocess.run([sys.executable, "-c", CTRL_C, loading], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (ExitStatus.INCONCLUSIVE, "", "fencepost: given up\n")
    assert GIVEN_UP == ExitStatus.INCONCLUSIVE


@pytest.mark.long
def test_a_check_loads_what_it_asks_and_the_rest_can_be_loaded_after_it(tmp_path: Path) -> None:
    """The linear algebra of SciPy, where that is installed, is kept from Numba while that is loaded, and from nobody else."""
    linear = tmp_path / "scipy" / "linalg"
    linear.mkdir(parents=True)
    for file in (linear.parent / "__init__.py", linear / "__init__.py", linear / "cython_blas.py"):
        file.write_text('__version__ = "1.17.0"\n', encoding="utf-8")
    script = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from fencepost.checks.cli import main; status = main(sys.argv[1:]); "
        "loaded = {'numba', 'cvc5', 'scipy.linalg'} & set(sys.modules); import scipy.linalg.cython_blas; print(status, loaded)"
    )
    asked = [sys.executable, "-c", script, str(tmp_path), "check", "election", "--set", "brokers=1", "--quiet"]
    ran = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "0 {'numba'}"


def test_the_version_is_that_of_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.checks.commands.arguments.version", lambda name: f"1.2.3 of {name}")
    assert fencepost("--version") == (0, "fencepost 1.2.3 of fencepost\n", "")


def test_what_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("fencepost.checks.commands.arguments.version", version)
    status, output, _ = fencepost("--version")
    assert (status, output.startswith("fencepost is running from source")) == (0, True)
