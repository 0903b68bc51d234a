"""Verdicts: what a check found about one property, how it found it and how far that goes; and the exit status of a run."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from fencepost.properties.bugs import Bug
from fencepost.properties.vocabulary import Kind, Property
from fencepost.traces.trace import Trace

Value = Literal["proved", "proved for any size", "exhausted", "sampled", "violated", "known bug", "inconclusive"]

Amount = int | float | str
"""How far an engine went in one respect: a count, an estimate, or the name of a strategy."""


class ExitStatus(IntEnum):
    """What a run tells its caller; the numbers are those of TLC, with some of our own (2, 14 to 16 and 20)."""

    HOLDS = 0
    USAGE = 2
    ASSUMPTION = 10
    DEADLOCK = 11
    SAFETY = 12
    LIVENESS = 13
    KNOWN_BUG = 14
    WEAKER = 15
    SHORT = 16
    INCONCLUSIVE = 20
    EVALUATION = 75
    INPUT = 150
    SYSTEM = 153


VIOLATED: Mapping[Kind, ExitStatus] = {
    "sometimes": ExitStatus.ASSUMPTION,
    "deadlock": ExitStatus.DEADLOCK,
    "leads_to": ExitStatus.LIVENESS,
}
"""What the violation of a property of this kind means; of the others it is a violation of safety."""


@dataclass(frozen=True)
class Verdict:
    """What is known of one property of one instance.

    ``verdict`` is one of ``proved`` (at any depth), ``proved for any size`` (so, and for any number of entries, say),
    ``exhausted`` (all reachable states), ``sampled`` (only what was seen), ``violated``
    (certain: there is a trace), ``known bug`` (as certain, of a release that has a known bug) and ``inconclusive`` (nothing is
    claimed); ``by`` names the engine, ``reach`` how far it went, by name, ``note`` is for the reader. ``trace`` is the run that
    violates the property, or that reaches it if it is a ``sometimes``. Of a bug ``bug`` is what is known of it,
    ``shows`` the property that the run violates, and ``accepted`` the reason with which a baseline accepts it (None: it does
    not).
    """

    property: Property
    verdict: Value
    by: str
    reach: Mapping[str, Amount] = field(default_factory=dict)
    note: str = ""
    trace: Trace | None = None
    bug: Bug | None = None
    shows: Property | None = None
    accepted: str | None = None

    @builtins.property
    def run(self) -> Trace:
        """The trace, of a verdict that has one."""
        assert self.trace is not None
        return self.trace

    @builtins.property
    def violated(self) -> Property:
        """The property that the trace of a violation violates."""
        return self.shows or self.property

    @builtins.property
    def refuted(self) -> bool:
        """Whether a run shows what should not be: a violation, also an expected one, or a bug."""
        return self.verdict in ("violated", "known bug")

    @builtins.property
    def expected(self) -> bool:
        """Whether the property is a negative control that is violated, as it should be."""
        return self.verdict == "violated" and bool(self.property.strict)

    @builtins.property
    def failure(self) -> ExitStatus:
        """The exit status that this verdict alone would give."""
        if self.property.strict:
            if self.verdict in ("proved", "proved for any size", "exhausted"):
                # a control that cannot fail shows that the model is not what its author takes it for
                return ExitStatus.ASSUMPTION
            return ExitStatus.HOLDS if self.verdict == "violated" else ExitStatus.INCONCLUSIVE
        if self.verdict == "known bug":
            return ExitStatus.HOLDS if self.accepted is not None else ExitStatus.KNOWN_BUG
        if self.verdict == "violated":
            return VIOLATED.get(self.property.kind, ExitStatus.SAFETY)
        return ExitStatus.INCONCLUSIVE if self.verdict == "inconclusive" else ExitStatus.HOLDS


def reached(goal: Property, by: str, reach: Mapping[str, Amount], trace: Trace | None) -> Verdict:
    """The verdict on a ``sometimes`` that a trace reaches: one witness is a proof."""
    return Verdict(goal, "proved", by, reach, "reached", trace)


def unreached(goal: Property, searched: Value, by: str, reach: Mapping[str, Amount]) -> Verdict:
    """The verdict on a ``sometimes`` that a search of this kind did not reach: only all reachable states can refute it."""
    if searched == "exhausted":
        return Verdict(goal, "violated", by, reach, "no reachable state is like this")
    return Verdict(goal, "inconclusive", by, reach, "not reached by this search, which says nothing of what lies beyond it")


def unviolated(prop: Property, searched: Value, by: str, reach: Mapping[str, Amount]) -> Verdict:
    """The verdict on a property that a search of this kind did not see violated: of a negative control, which is there to be
    violated, that leaves everything open, unless the search saw all reachable states."""
    if prop.strict and searched != "exhausted":
        return Verdict(prop, "inconclusive", by, reach, "its violation, which is expected, was not seen by this search")
    return Verdict(prop, searched, by, reach)


SEVEREST_FIRST = (
    ExitStatus.SAFETY,
    ExitStatus.LIVENESS,
    ExitStatus.DEADLOCK,
    ExitStatus.KNOWN_BUG,
    ExitStatus.SHORT,
    ExitStatus.WEAKER,
    ExitStatus.ASSUMPTION,
    ExitStatus.INCONCLUSIVE,
    ExitStatus.EVALUATION,
    ExitStatus.HOLDS,
)


def exit_status(verdicts: Iterable[Verdict]) -> ExitStatus:
    """The status that these verdicts come to: the severest of theirs; without any nothing was checked, an evaluation error."""
    return severest({verdict.failure for verdict in verdicts})


def run_status(instances: Iterable[Iterable[Verdict]]) -> ExitStatus:
    """The status of a run from the verdicts on each of its instances: one of which nothing was checked is not passed over."""
    return severest({exit_status(verdicts) for verdicts in instances})


def severest(statuses: Collection[ExitStatus]) -> ExitStatus:
    """The severest of some statuses; without any nothing was checked."""
    return next((status for status in SEVEREST_FIRST if status in statuses), ExitStatus.EVALUATION)
