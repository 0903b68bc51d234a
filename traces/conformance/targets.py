"""What can be held against real code: a protocol, the releases that it is held against, and the instances of its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fencepost.properties.registry import Value
from fencepost.traces.conformance.adapter import Adapter


@dataclass(frozen=True)
class Asked:
    """What the command line says of the real code: the release, and ``storage``, which only the ledger has."""

    release: str
    storage: str = ""


@dataclass(frozen=True)
class Target:
    """A protocol with the code that it mirrors.

    ``releases`` are those that it is tried with, the usual one first; any other may be asked for. ``start`` starts a harness
    for what is asked; ``instances`` are the parameters of the instances that runs take in turn; ``weights`` makes steps, by the
    names of their actions, likelier or less likely than the others; ``storages`` are the choices of ``--storage``.
    """

    name: str
    protocol: str
    system: str
    releases: tuple[str, ...]
    start: Callable[[Asked], Adapter]
    instances: tuple[Mapping[str, Value], ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    storages: tuple[str, ...] = ()


