"""What happens in a part itself where its stand-in takes a weak move: a run of the part's own protocol with a known bug.

Topics and clusters are made of stand-ins, and a bug of a ledger or of an owner enters them as a weak move (``stand_ins``).
Which bug of a release makes the move possible, and by which steps, is found in the protocol of the part: the shortest run
whose last step is that move and nothing that the stand-in without it can do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.model.language import Protocol
from fencepost.model.releases import SYSTEMS, Releases
from fencepost.model.stand_ins import copies
from fencepost.model.stand_ins import ledger as ledgers
from fencepost.model.stand_ins import ownership as owners
from fencepost.properties.cluster.bugs import of_parts
from fencepost.properties.ledger.entry import ENTRY as LEDGER
from fencepost.properties.ledger.refinement import ledger_refinement
from fencepost.properties.locks.properties import Locks
from fencepost.properties.observed import Observed
from fencepost.properties.ownership.entry import ENTRY as OWNERSHIP
from fencepost.properties.ownership.refinement import ownership_refinement
from fencepost.properties.registry import Entry
from fencepost.properties.replication.entry import ENTRY as REPLICATION
from fencepost.properties.replication.refinement import replication_refinement
from fencepost.properties.replication.variables import Terms
from fencepost.properties.service_unit.entry import ENTRY as SERVICE_UNIT
from fencepost.properties.service_unit.refinement import channel_refinement
from fencepost.properties.service_unit.variables import Units
from fencepost.properties.vocabulary import Suite
from fencepost.traces.trace import Trace

MOST = 20_000_000
"""States of a search for the run of a part: what is shown does not depend on how fast the machine is."""


@dataclass(frozen=True, eq=False)
class Part:
    """A part that has a stand-in: its protocol, the weak moves, and what makes a suite say that it refines the stand-in with
    some of them."""

    entry: Entry
    weak: Mapping[str, str]
    refine: Callable[[Suite, Collection[str]], None]


def _refine_ownership(suite: Suite, weak: Collection[str]) -> None:
    settings = suite.protocol.parameters
    ownership_refinement(suite, Locks(suite.protocol, bool(settings["releases"] or settings["disables"])), weak)


def _refine_channel(suite: Suite, weak: Collection[str]) -> None:
    channel_refinement(suite, Units(suite.protocol), weak)


def _refine_copies(suite: Suite, weak: Collection[str]) -> None:
    replication_refinement(suite, Terms(suite.protocol), weak)


PARTS: dict[str, tuple[Part, ...]] = {
    "ledger": (Part(LEDGER, ledgers.WEAK, ledger_refinement),),
    "bundle": (Part(OWNERSHIP, owners.WEAK, _refine_ownership), Part(SERVICE_UNIT, owners.WEAK, _refine_channel)),
    "first": (Part(REPLICATION, copies.WEAK, _refine_copies),),
}
"""What refines each of the stand-ins of which a topic or a cluster is made, by the name that the stand-in has there."""


@dataclass(frozen=True)
class PartRun:
    """A run of a part with a known bug of a release, whose last step is the weak move."""

    move: str
    what: str
    bug: str
    release: str
    trace: Trace
    protocol: Protocol

    @property
    def title(self) -> str:
        """What the run is, in a line."""
        return f"{self.what}; {self.release}, {self.bug}, comes to it so:"


def runs_below(trace: Trace, protocol: Protocol, releases: Releases | None = None) -> dict[int, PartRun]:
    """For the first step of a topic's or a cluster's trace at which a part takes a weak move, by its number from 1 on, the run
    of the part that ends in it. It is with the bug that the trace is of, or else with a known bug of the release (default: the
    newest). Empty of other protocols, and without the run where there is no such bug."""
    if not any(variable.name.startswith("ledger.status[") for variable in protocol.variables):
        return {}
    releases = releases or Releases.of()
    runs, moves = dict[int, PartRun](), set[str]()
    for number, part, move in _weak_moves(trace, protocol):
        if move in moves:
            continue
        moves.add(move)
        if (run := _run(PARTS[part], move, releases, protocol.active)) is not None:
            runs[number] = run
    return runs


def _weak_moves(trace: Trace, protocol: Protocol) -> Iterator[tuple[int, str, str]]:
    """The steps at which a part does what its stand-in does by a weak move only."""
    names = [variable.name for variable in protocol.variables]
    shown = [
        {name: v.domain.show(raw) for name, v, raw in zip(names, protocol.variables, state, strict=True)}
        for state in trace.states
    ]
    universes = protocol.universes
    ledgers = [universes["ledger"].label(k) for k in universes["ledger"]]
    brokers = [universes["broker"].label(b) for b in universes["broker"]] if "bundle.owner" in names else []
    for number, (was, now) in enumerate(pairwise(shown), start=1):
        for label in ledgers:
            ended = [each[f"ledger.status[{label}]"] == "closed" for each in (was, now)]
            count = {name: [int(each[f"ledger.{name}[{label}]"]) for each in (was, now)] for name in ("confirmed", "end")}
            if ended[0] and count["confirmed"][1] > count["confirmed"][0] >= count["end"][0]:
                yield number, "ledger", "confirm_late"
            elif ended == [False, True] and count["end"][1] < count["confirmed"][1]:
                yield number, "ledger", "truncate"
        if "first.copies" in now:
            fewer = int(now["first.copies"]) < int(was["first.copies"])
            if fewer and was["first.losses"] == now["first.losses"]:
                yield number, "first", "dropped"
        for label in brokers:
            believed, believes = (each[f"bundle.believes[{label}]"] == "yes" for each in (was, now))
            owned, owns = (each["bundle.owner"] == label for each in (was, now))
            if was.get(f"bundle.apart[{label}]") == "no" and now[f"bundle.apart[{label}]"] == "yes":
                yield number, "bundle", "passed_over" if owned else "left_behind"
            elif believes and not (believed or owns):
                yield number, "bundle", "taken_unowned"
            elif believed and owned and not owns and was["bundle.expiries"] == now["bundle.expiries"]:
                yield number, "bundle", "deleted_while_owned"


def _run(behind: Sequence[Part], move: str, releases: Releases, active: Collection[str]) -> PartRun | None:
    """The run with the part's bug that is active or, without one, with the first known bug of the release that makes the move
    possible, those of the smallest instances first. A bug of a bookie alone has none: these protocols do not have it."""
    known = [(part, *each) for part in behind for each in part.entry.bugs.items()]
    having = [(part, name, bug) for part, name, bug in known if bug.present and move in bug.allows]
    given = of_parts().keys() & set(active)
    meant = [one for one in having if (one[1] in given if given else one[2].is_in(releases))]
    for part, name, bug in sorted(meant, key=lambda one: len(one[2].shown_by)):
        run = _shortest(part, move, name)
        if run is not None:
            release = bug.number(releases) if bug.is_in(releases) else bug.present[-1]
            return PartRun(move, part.weak[move], name, f"{SYSTEMS[bug.project]} {release}", *run)
    return None


@cache
def _shortest(part: Part, move: str, bug: str) -> tuple[Trace, Protocol] | None:
    suite = Suite(part.entry.build(dict(part.entry.shown_by[bug]), (bug,)))
    part.refine(suite, [weak for weak in part.weak if weak != move])
    (refinement, *_) = suite.properties
    (verdict,) = exhaust(Observed.of(suite, [refinement]), Budget(states=MOST, workers=1)).verdicts
    return (verdict.run, suite.protocol) if verdict.verdict == "violated" else None
