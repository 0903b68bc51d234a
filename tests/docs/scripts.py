"""Python as the documentation runs it, in a process forked from this one: loading the solvers would take most of the time."""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from hypothesis.configuration import set_hypothesis_home_dir

from tests.command import Ran


def python(arguments: Sequence[str], folder: Path, **environment: str) -> Ran:
    """What ``python ARGUMENTS`` does in a folder: a script, or with ``-m`` a module, and what is handed to it."""
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            os.dup2(printed.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            os.environ.update(environment)
            os._exit(_run(list(arguments), folder))
        _, status = os.waitpid(child, 0)
        printed.seek(0)
        errors.seek(0)
        return Ran(os.waitstatus_to_exitcode(status), printed.read().decode(), errors.read().decode())


def _run(arguments: list[str], folder: Path) -> int:
    sys.stdout, sys.stderr = open(1, "w", buffering=1), open(2, "w", buffering=1)  # noqa: SIM115
    os.chdir(folder)
    set_hypothesis_home_dir(None)  # it remembers the folder of whoever asked first
    is_module = arguments[0] == "-m"
    sys.argv = arguments[1:] if is_module else arguments
    sys.path.insert(0, str(folder if is_module else (folder / arguments[0]).parent))
    try:
        if is_module:
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
