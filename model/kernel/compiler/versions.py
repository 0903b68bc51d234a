"""The versions of what compiles and proves, known without loading what reads the metadata of packages, which takes longer."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import llvmlite

_NUMBA = "_version.py"
"""The file of Numba's package that has its version; Numba itself is loaded only to compile a loop."""


@cache
def versions() -> tuple[str, ...]:
    """Those of llvmlite, Z3, Numba, in the words of its own file, and Python. ImportError without Numba."""
    numba = find_spec("numba")
    if numba is None or numba.origin is None:
        raise ImportError("Numba is not installed")
    of_numba = Path(numba.origin).with_name(_NUMBA).read_text(encoding="utf-8")
    return llvmlite.__version__, _version_of_z3(), of_numba, str(sys.implementation.cache_tag)


def _version_of_z3() -> str:
    """That of Z3, as its package says it: Z3 itself is loaded only to prove something."""
    z3 = find_spec("z3")
    if z3 is None or z3.origin is None:
        raise ImportError("Z3 is not installed")
    installed = sorted(folder.name for folder in Path(z3.origin).parents[1].glob("z3_solver-*.dist-info"))
    return " ".join(installed) or z3.origin
