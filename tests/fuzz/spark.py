"""A generated protocol as a run on Spark: its workers build it from its program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from fencepost.properties.observed import Observed
from fencepost.traces.exploration.run import LEFT_OUT, Run
from tests.fuzz.writing import run


@dataclass(frozen=True)
class Generated(Run):
    """An exhaustive run of the protocol that a program makes."""

    program: str = ""

    def observed(self) -> Observed:
        return _compiled(self.program)


@lru_cache(maxsize=1)
def _compiled(program: str) -> Observed:
    _, suite = run(program)
    return Observed.of(suite, [p for p in suite.properties if p.kind not in LEFT_OUT])
