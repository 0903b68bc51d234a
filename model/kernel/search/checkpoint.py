"""A search on disk: the states of its complete levels and what it had counted, to go on from later.

``states.bin`` holds the packed states, level after level, and only ever grows; ``search.json`` says how much of it counts,
with its SHA-256, is sealed itself, and replaces its predecessor in one step, so that a crash while writing leaves the
checkpoint before.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from fencepost.model import sealed
from fencepost.model.kernel.search.results import Totals
from fencepost.model.kernel.search.store import Segment, Store

FORMAT = 2
_PIECE = 1 << 26


class CheckpointError(Exception):
    """A folder that cannot be resumed from or written to; the message names it and says why."""


@dataclass(frozen=True)
class Saved:
    """A search at the end of a level: sizes of its levels, counts, seconds spent, and its finds so far that did not end it
    (kind, formula, depth and state of each)."""

    sizes: tuple[int, ...]
    totals: Totals
    finds: tuple[tuple[str, int, int, tuple[int, ...]], ...]
    seconds: float


class Checkpoint:
    """The folder of one search. ``fingerprint`` identifies the protocol and what is searched for; a folder of another one
    is refused. Methods raise CheckpointError."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        self._fingerprint = fingerprint
        self._states, self._summary = folder / "states.bin", folder / "search.json"
        self._wanted = ""
        self._levels = self._length = 0
        self._digest = hashlib.sha256()  # of the states that count

    @property
    def is_blank(self) -> bool:
        """Whether a search was begun there that was killed before it could keep anything."""
        return self._states.exists() and not self._summary.exists()

    def start(self) -> None:
        """Prepares the folder for a new search."""
        if self._summary.exists():
            raise CheckpointError(f"{self.folder} holds a search already: resume it, or name another folder")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._states.write_bytes(b"")
        except OSError as error:
            raise CheckpointError(f"{self.folder} cannot be written: {error.strerror}") from error

    def write(self, store: Store, levels: Sequence[Sequence[Segment]], saved: Saved) -> None:
        """Adds the levels that are not on disk yet and makes them count."""
        try:
            with self._states.open("r+b") as file:
                file.seek(self._length)
                file.truncate()
                for segment in (s for level in levels[self._levels :] for s in level):
                    data = store.rows(segment).reshape(-1).view(np.uint8).data
                    for start in range(0, len(data), _PIECE):
                        file.write(data[start : start + _PIECE])
                        self._digest.update(data[start : start + _PIECE])
                    self._length += len(data)
                file.flush()
                os.fsync(file.fileno())
            self._levels = len(levels)
            summary = {
                "format": FORMAT,
                "search": self._fingerprint,
                "bytes": self._length,
                "states": self._digest.hexdigest(),
                **asdict(saved),
            }
            sealed.write(self._summary, summary)
        except OSError as error:
            raise CheckpointError(f"{self.folder} cannot be written: {error.strerror}") from error

    def summary(self) -> Saved:
        """What the search had counted, after checks that it is this search."""
        try:
            summary: _Summary = sealed.unsealed(self._summary.read_bytes())
            if summary["format"] != FORMAT:
                raise CheckpointError(f"{self._summary} has format {summary['format']}, but this version reads {FORMAT}")
            if summary["search"] != self._fingerprint:
                raise CheckpointError(f"{self.folder} is the search of another protocol, instance or set of properties")
            self._length, self._wanted, self._levels = summary["bytes"], summary["states"], len(summary["sizes"])
            return _saved(summary)
        except FileNotFoundError:
            raise CheckpointError(f"{self.folder} holds no search to resume") from None
        except OSError as error:
            raise CheckpointError(f"{self._summary} cannot be read: {error.strerror}") from error
        except (sealed.SealError, KeyError, TypeError) as error:
            raise CheckpointError(f"{self._summary} is damaged: {error}") from error

    def load(self, store: Store) -> None:
        """Reads the states into the first places of the array."""
        target = store.rows((0, self._length // (8 * store.words))).reshape(-1).view(np.uint8).data
        done = 0
        try:
            with self._states.open("rb") as file:
                while done < self._length:
                    count = file.readinto(target[done : min(done + _PIECE, self._length)])
                    if not count:
                        raise CheckpointError(f"{self._states} is cut short: {done} bytes instead of {self._length}")
                    self._digest.update(target[done : done + count])
                    done += count
        except OSError as error:
            raise CheckpointError(f"{self._states} cannot be read: {error.strerror}") from error
        if self._digest.hexdigest() != self._wanted:
            raise CheckpointError(f"{self._states} is damaged: its checksum is not what {self._summary.name} says")


class _Totals(TypedDict):
    distinct: int
    transitions: int
    deadlocks: int
    enabled: list[int]
    seen: list[int]
    seen_steps: list[int]


class _Summary(TypedDict):
    """What the sealed file of a search has."""

    format: int
    search: str
    bytes: int
    states: str
    sizes: list[int]
    totals: _Totals
    finds: list[tuple[str, int, int, list[int]]]
    seconds: float


def _saved(summary: _Summary) -> Saved:
    held = summary["totals"]
    counts = (held["distinct"], held["transitions"], held["deadlocks"])
    totals = Totals(*counts, tuple(held["enabled"]), tuple(held["seen"]), tuple(held["seen_steps"]))
    finds = tuple((kind, formula, depth, tuple(state)) for kind, formula, depth, state in summary["finds"])
    return Saved(tuple(summary["sizes"]), totals, finds, summary["seconds"])
