"""Compiled loops, stored between processes."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fencepost.model.kernel.compiler import stored_files
from fencepost.model.kernel.compiler.native_functions import host
from fencepost.model.kernel.compiler.sources import sources
from fencepost.model.kernel.compiler.versions import versions

_PACKAGE = Path(__file__).parent.parent


class Stored(NamedTuple):
    """A compiled loop: its object code, the name of its function there, and the type that it returns, in Numba's words."""

    code: bytes
    symbol: str
    returns: str


def read(loop: str) -> Stored | None:
    """The loop of that name; None if it is not stored, or if its file is damaged."""
    stored = stored_files.read(folder_of_loops(), f"{loop}.o")
    if stored is None or not {"symbol", "returns"} <= stored[0].keys():
        return None
    about, code = stored
    return Stored(code, about["symbol"], about["returns"])


def write(loop: str, stored: Stored) -> None:
    """Stores the loop as a whole."""
    about = {"symbol": stored.symbol, "returns": stored.returns}
    stored_files.write(folder_of_loops(), f"{loop}.o", about, stored.code)


@cache
def folder_of_loops() -> str:
    """The name of a folder for this text of the loops, the compilers and the processor: object code fits no other."""
    marks = b"@native", b"@intrinsic", b"numba.njit"
    whole = hashlib.sha256(b"".join(text for _, text in sources(_PACKAGE) if any(mark in text for mark in marks)))
    whole.update(repr((*host(), *versions())).encode())
    return f"loops-{whole.hexdigest()[:12]}"
