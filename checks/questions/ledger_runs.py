"""What happens in the ledger itself where the ledger of a topic takes a weak move: a run of BookKeeper's protocol with a bug.

A topic is made of stand-ins, and a fence that does not hold enters it as a weak move (``model/stand_ins/ledger.py``). Which
mistake of a release makes the move possible, and by which steps, is found in the protocol of the ledger: the shortest run whose
last step is that move and nothing that the stand-in without it can do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.model.language import Protocol
from fencepost.model.releases import Releases
from fencepost.model.stand_ins.ledger import WEAK
from fencepost.properties.ledger.refinement import NAME, ledger_refinement
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.vocabulary import Suite
from fencepost.traces.trace import Trace

SECONDS = 30.0
LEDGER = PROTOCOLS["ledger"]


@dataclass(frozen=True)
class LedgerRun:
    """A run of the ledger with a known bug of a release of BookKeeper, whose last step is the weak move."""

    move: str
    defect: str
    release: str
    trace: Trace
    protocol: Protocol

    @property
    def title(self) -> str:
        """What the run is, in a line."""
        return f"{WEAK[self.move]}; BookKeeper {self.release}, {self.defect}, comes to it so:"


def runs_below(trace: Trace, protocol: Protocol, releases: Releases | None = None) -> dict[int, LedgerRun]:
    """For each step of a topic's trace at which one of its ledgers takes a weak move, by its number from 1 on, the run of the
    ledger that ends in it, with a known bug of the release (default: the newest). Empty of other protocols, and without the
    run where the release has no such bug."""
    if protocol.name != "topic":
        return {}
    release = (releases or Releases.of()).bookkeeper
    moves = dict(_weak_moves(trace, protocol))
    return {number: run for number, move in moves.items() if (run := _run(move, release)) is not None}


def _weak_moves(trace: Trace, protocol: Protocol) -> Iterator[tuple[int, str]]:
    """The steps at which a closed ledger confirms an entry beyond its end, or a ledger is closed below what is confirmed."""
    places = {variable.name: place for place, variable in enumerate(protocol.variables)}
    statuses = protocol.variable(f"ledger.status[{_first(protocol)}]").domain
    for number, (before, step) in enumerate(zip(trace.states, trace.steps, strict=False), start=1):
        for k in protocol.universes["ledger"]:
            label = protocol.universes["ledger"].label(k)
            place = {name: places[f"ledger.{name}[{label}]"] for name in ("status", "confirmed", "end")}
            was, now = ({name: state[at] for name, at in place.items()} for state in (before, step.state))
            closed = [statuses.show(each["status"]) == "closed" for each in (was, now)]
            if closed[0] and now["confirmed"] > was["confirmed"] >= was["end"]:
                yield number, "confirm_late"
            elif closed == [False, True] and now["end"] < now["confirmed"]:
                yield number, "truncate"


def _first(protocol: Protocol) -> str:
    return protocol.universes["ledger"].label(0)


def _run(move: str, release: str) -> LedgerRun | None:
    """The run with the first known bug of the release that makes the move possible, those of the smallest instances first."""
    known = LEDGER.history.items()
    having = [name for name, history in known if release in history.present and move in (history.allows or ())]
    for defect in sorted(having, key=lambda name: len(LEDGER.shown_by[name])):
        run = _shortest(move, defect)
        if run is not None:
            return LedgerRun(move, defect, release, *run)
    return None


@cache
def _shortest(move: str, defect: str) -> tuple[Trace, Protocol] | None:
    parameters: Mapping[str, object] = LEDGER.shown_by[defect]
    protocol = LEDGER.build(dict(parameters), (defect,))
    suite = Suite(protocol)
    ledger_refinement(suite, [weak for weak in WEAK if weak != move])
    (verdict,) = exhaust(Observed.of(suite, [suite.named(NAME)]), Budget(seconds=SECONDS, workers=1)).verdicts
    return (verdict.trace, protocol) if verdict.verdict == "violated" else None
