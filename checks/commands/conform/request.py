"""What each target and verb of ``fencepost conform`` is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TargetRequest:
    """The target, and how it is run: random runs of an instance, or the steps of a ``trace``; on which release and storage.

    ``jars`` and ``classes`` are a build of one's own, ``like`` the release whose model is used, ``without`` known bugs of that
    release that the model is not to have."""

    target: str
    release: str | None
    jars: Path | None
    classes: Sequence[Path]
    like: str | None
    without: Sequence[str]
    runs: int
    steps: int
    seed: int
    workers: int | None
    trace: Path | None
    storage: str | None
    processes: bool
    sockets: bool
    set: Sequence[str]
    bug: Sequence[str]
    trace_dir: Path | None
    format: str
    quiet: bool


@dataclass(frozen=True)
class MirrorsRequest:
    """The protocols, or all, whose methods are looked up, and in which releases."""

    protocols: Sequence[str]
    release: Sequence[str]
    format: str
    quiet: bool


@dataclass(frozen=True)
class LogRequest:
    """The log of a real system to explain by a run of a protocol, and what its lines mean."""

    protocol: str
    file: Path
    mapping: Path | None
    set: Sequence[str]
    bug: Sequence[str]
    out: Path | None
    limit: int
    format: str
    quiet: bool


@dataclass(frozen=True)
class PolicyRequest:
    """How many cases of which rules of load balancing are compared with the classes of a release."""

    release: str | None
    cases: int
    rule: Sequence[str] | None
    seed: int
    out: Path | None
    format: str
    quiet: bool


@dataclass(frozen=True)
class ResolverRequest:
    """How many pairs of records the conflict resolver of a release decides on."""

    release: str
    cases: int
    seed: int
    bug: Sequence[str]
    format: str
    quiet: bool


@dataclass(frozen=True)
class BugsRequest:
    """The targets, or all, on which the known bugs of their releases are replayed; whether to ``record`` that beside them."""

    targets: Sequence[str]
    out: Path | None
    record: bool
    format: str
    quiet: bool
