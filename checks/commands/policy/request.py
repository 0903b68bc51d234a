"""What each question of ``fencepost policy`` is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.policy.world import WorldRequest


@dataclass(frozen=True)
class ConfiguredRequest:
    """The configuration and the release whose rules are followed, and the format of the answer."""

    conf: Sequence[Path]
    pulsar: str | None
    format: str


@dataclass(frozen=True)
class DecideRequest(ConfiguredRequest):
    """What is done with the load of each of these snapshots, with which changes of the settings."""

    snapshot: Sequence[Path]
    shedder: str | None
    placement: str | None
    change: Sequence[str]
    only_shedder: bool


@dataclass(frozen=True)
class CheckShedderRequest(ConfiguredRequest):
    """On how many random loads a shedder is checked, and where those that break a rule are written."""

    shedder: str | None
    loads: int
    seed: int
    out: Path | None
    quiet: bool


@dataclass(frozen=True)
class SimulateRequest(ConfiguredRequest, WorldRequest):
    """Which policy is simulated, how long, and where the run is written."""

    set: Sequence[str]
    shedder: str | None
    placement: str | None
    hours: float
    seed: int
    actions: int
    out: Path | None
    quiet: bool


@dataclass(frozen=True)
class PlaceRequest(ConfiguredRequest):
    """Where a bundle may go."""

    snapshot: Sequence[Path]
    bundle: str
    non_persistent: bool
    placement: str | None


@dataclass(frozen=True)
class SplitRequest(ConfiguredRequest):
    """Where a bundle would be cut, by which algorithm, with which topics or at which positions."""

    algorithm: str | None
    bundle: str
    topics: Path | None
    positions: Sequence[int]
    force: bool


@dataclass(frozen=True)
class BundleRequest:
    """Which bundle of a layout a topic or a hash is in."""

    boundaries: Sequence[int]
    topic: str | None
    hash: int | None
    upstream_lookup: bool
    format: str


@dataclass(frozen=True)
class CompareRequest(WorldRequest):
    """Which policies are compared, in how many runs, by which tolerances, and where the runs and the page are written."""

    against: str | None
    conf: Sequence[str]
    pulsar: str | None
    out: Path
    runs: int
    hours: float
    seed: int
    tolerance: Sequence[str]
    confidence: float
    strict: bool
    master: str | None
    html: Path | None
    format: str
    quiet: bool


@dataclass(frozen=True)
class SnapshotRequest:
    """From where the load of a cluster is read, and the file to write it to."""

    admin: Sequence[str]
    token_file: Path | None
    timeout: float
    cluster: str | None
    load_report: Sequence[Path]
    metrics: Sequence[Path]
    metadata: Path | None
    partial: bool
    out: Path
    quiet: bool
