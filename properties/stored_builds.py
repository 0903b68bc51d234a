"""Protocols and properties that an earlier process has built: their terms are read from disk.

Only a command that checks what is installed stores builds, of protocols and properties of this package. What is stored is known
by the function and what it is given, and by a digest of all sources that it may call, so a changed guard is seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fencepost.model.kernel.compiler.product_store import product
from fencepost.model.kernel.compiler.sources import sources
from fencepost.model.language.building import is_outline, wanted
from fencepost.model.language.digests import digest_of
from fencepost.model.language.protocol import Protocol, is_grounded
from fencepost.model.language.stored_terms import Recording, StrangerError, reading
from fencepost.model.own_sources import is_undisturbed

T = TypeVar("T")

MODEL, PROPERTIES = "fencepost.model.", "fencepost.properties."
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
    function: Callable[..., Protocol], parameters: Mapping[str, Any], bugs: Sequence[str], build: Callable[[], Protocol]
) -> Protocol:
    """What ``build`` builds by this function of these parameters and bugs. Raises what ``build`` raises."""
    if not _is_stored(function, MODEL):
        return build()
    what = "protocol", function.__module__, function.__qualname__, sorted(parameters.items()), tuple(bugs), _sources("model")
    return _read_or_made(what, build)


def read_or_stated(function: Callable[..., Any], protocol: Protocol, state: Callable[[], T]) -> T:
    """What ``state`` states of a protocol by this function. Raises what ``state`` raises."""
    if not _is_stored(function, PROPERTIES):
        return state()
    instance = protocol.name, sorted(protocol.parameters.items()), protocol.active, digest_of(protocol)
    sources = _sources("model"), _sources("properties")
    return _read_or_made(("properties", function.__module__, function.__qualname__, *instance, wanted(), *sources), state)


def _is_stored(function: Callable[..., Any], package: str) -> bool:
    if not _STORES.get() or is_outline() or not is_grounded() or not is_undisturbed():
        return False
    return function.__module__.startswith(package) and "<" not in getattr(function, "__qualname__", "<")


def _read_or_made(what: object, make: Callable[[], T]) -> T:
    results = list[T]()

    def recorded() -> bytes:
        recording = Recording()
        with recording.recorded():
            results.append(make())
        return recording.encoded()

    content = product(what, recorded)
    if results:
        return results[0]
    if not content:
        return make()
    try:
        with reading(content):
            return make()
    except StrangerError:
        return make()


@cache
def _sources(floor: str) -> str:
    """A digest of the sources of a floor."""
    whole = hashlib.sha256()
    for name, source in sources(Path(__file__).parents[1] / floor):
        whole.update(f"{name}\0".encode() + source + b"\0")
    return whole.hexdigest()
