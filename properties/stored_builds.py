"""Protocols that an earlier process has built: what their actions are for all arguments is read from disk.

Only a command that checks what is installed stores builds, of protocols of this package. What is stored is known by the
function, its parameters and defects, and by a digest of all sources of the model, so a changed guard is seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

from fencepost.model.kernel.compiler.product_store import product
from fencepost.model.kernel.compiler.sources import sources
from fencepost.model.language.building import is_outline
from fencepost.model.language.groundings import Recording, StrangerError, reading
from fencepost.model.language.protocol import Protocol, is_grounded

MODEL = "fencepost.model."
_STORES = ContextVar("stores builds", default=False)


@contextmanager
def builds_stored() -> Iterator[None]:
    """Within it protocols are read from disk if they are there, and written to it if not."""
    before = _STORES.set(True)
    try:
        yield
    finally:
        _STORES.reset(before)


def read_or_built(
    function: Callable[..., Protocol], parameters: Mapping[str, Any], defects: Sequence[str], build: Callable[[], Protocol]
) -> Protocol:
    """What ``build`` builds by this function of these parameters and defects. Raises what ``build`` raises."""
    if not (_STORES.get() and function.__module__.startswith(MODEL) and is_grounded() and not is_outline()):
        return build()
    what = "groundings", function.__module__, function.__qualname__, sorted(parameters.items()), tuple(defects), _sources()
    protocols = list[Protocol]()

    def recorded() -> bytes:
        recording = Recording()
        with recording.recorded():
            protocols.append(build())
        return recording.encoded()

    content = product(what, recorded)
    if protocols:
        return protocols[0]
    if not content:
        return build()
    try:
        with reading(content):
            return build()
    except StrangerError:
        return build()


@cache
def _sources() -> str:
    """A digest of the sources of the model."""
    whole = hashlib.sha256()
    for name, source in sources(Path(__file__).parents[1] / "model"):
        whole.update(f"{name}\0".encode() + source + b"\0")
    return whole.hexdigest()
