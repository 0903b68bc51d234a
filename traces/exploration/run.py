"""A run of exploration: what is explored and how, as its folder remembers it and every worker rebuilds it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import get_args

from fencepost.model.kernel.walks.course import Strategy
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError, Value, find
from fencepost.traces.exploration.folder import FolderError, content_of, held
from fencepost.traces.exploration.places import Place

FORMAT = 3

LEFT_OUT = ("leads_to",)
"""Kinds of properties that are no matter for exploration: they need the graph of all states at once."""

_FILE = "run.json"
_SLICE_STEPS = 1 << 23
_SAMPLE = 1 << 20
_FIRST_ROUND, _SHARE = 4, 32


@dataclass(frozen=True)
class Run:
    """What is explored: an instance of a protocol, by random walks or, without any (``walks`` is 0), exhaustively.

    ``fingerprint`` is that of the compiled protocol with its properties: a worker that makes another of it runs another
    version of Fencepost.
    """

    protocol: str
    parameters: Mapping[str, Value]
    bugs: tuple[str, ...] = ()
    walks: int = 0
    steps: int = 0
    seed: int = 0
    strategy: Strategy = "held"
    fingerprint: str = ""
    format: int = field(default=FORMAT)

    @property
    def walks_per_slice(self) -> int:
        """How many walks make one row: so many that it is worth a row, whatever it runs on."""
        return max(1, min(math.ceil(self.walks / 64), _SLICE_STEPS // self.steps))

    @property
    def slices(self) -> int:
        return math.ceil(self.walks / self.walks_per_slice)

    @property
    def bits(self) -> int:
        """A state is sampled if its hash ends in this many zeros: all are in a short run, about a million visits in a long."""
        return max(0, math.ceil(math.log2(self.walks * self.steps / _SAMPLE)))

    def rounds(self) -> list[range]:
        """The slices of each round: a round is one Spark job, and what a kill can lose. They get longer."""
        rounds, start, length = list[range](), 0, _FIRST_ROUND
        while start < self.slices:
            rounds.append(range(start, min(start + length, self.slices)))
            start, length = start + length, min(4 * length, max(128, self.slices // _SHARE))
        return rounds

    @property
    def text(self) -> str:
        """The run in a line, from which ``of`` makes it again."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Run:
        """The run that a text tells of; ValueError, KeyError or TypeError if it is none."""
        fields = json.loads(text)
        if fields["format"] != FORMAT:
            raise ValueError(f"its format is {fields['format']}, but this version reads {FORMAT}")
        if fields["strategy"] not in get_args(Strategy):
            raise ValueError(f"its strategy is {fields['strategy']}, which this version does not know")
        return cls(**{**fields, "bugs": tuple(fields["bugs"])})

    def observed(self) -> Observed:
        """The compiled protocol with its properties, made once in each process; VersionError if it is not this run's."""
        observed = _compiled(self.protocol, json.dumps(dict(self.parameters)), self.bugs)
        if self.fingerprint not in ("", observed.kernel.fingerprint):
            raise VersionError(f"the model of {self.protocol} is not the one that this run began with: use that version")
        return observed

    @contextmanager
    def held(self, folder: Place) -> Iterator[None]:
        """Makes the folder this run's, or finds that it is, and keeps others from working in it meanwhile.

        Raises FolderError if it is another run's or in use, OSError if it cannot be written.
        """
        with held(folder, _FILE, asdict(self), lambda fields: _difference(_run(folder / _FILE, fields), self)):
            yield


class VersionError(Exception):
    """The protocol is no longer, or not everywhere, the one that the run began with."""


def read(folder: Place) -> Run:
    """The run whose folder it is. Raises FolderError if there is none or it cannot be read."""
    file = folder / _FILE
    if not file.exists():
        raise FolderError(f"{folder} holds no run: there is no {file.name} in it")
    return _run(file, content_of(file))


def _run(file: Place, fields: object) -> Run:
    """The run of a file's content. Raises FolderError if it is none."""
    try:
        run = Run.of(json.dumps(fields))
        find(run.protocol, PROTOCOLS)
    except (ValueError, KeyError, TypeError, RegistryError) as error:
        raise FolderError(f"{file} is damaged: {error}") from error
    return run


@lru_cache(maxsize=1)
def _compiled(protocol: str, parameters: str, bugs: tuple[str, ...]) -> Observed:
    entry = find(protocol, PROTOCOLS)
    suite = entry.suite(entry.build(json.loads(parameters), bugs))
    return Observed.of(suite, [p for p in suite.properties if p.kind not in LEFT_OUT])


def _difference(one: Run, other: Run) -> str:
    if one == other:
        return ""
    ours, theirs = _flat(other), _flat(one)
    names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    shown = [f"{name} is {theirs.get(name)} there, {ours.get(name)} here" for name in names if name != "fingerprint"]
    return "; ".join(shown) or "another version of the model"


def _flat(run: Run) -> dict[str, object]:
    fields = asdict(run)
    return {**fields, **fields.pop("parameters")}
