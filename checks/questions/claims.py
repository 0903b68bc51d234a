"""Claims: that nothing is wrong with so many events. They are built from complete verdicts, by one function and nowhere else.

A search that was cut short, by memory, by time or by whoever waits for it, has seen nothing wrong and shows nothing: no claim
can be made of it, and what it says is why the question is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.engines.results.outcomes import Open, why_incomplete
from fencepost.checks.engines.results.verdicts import Value, Verdict
from fencepost.properties.theorems import Theory


@dataclass(frozen=True)
class Claim:
    """What complete verdicts on some instances show: nothing is wrong with ``number`` events, or so many steps are the most.

    ValueError unless every verdict is complete, and what is claimed occurs in every instance: ``claimed`` looks first.
    """

    number: int
    checked: tuple[Checked, ...]

    def __post_init__(self) -> None:
        if gap := _gap(self.checked):
            raise ValueError(f"no claim: {gap}")

    @property
    def verdict(self) -> Value:
        """How it was established."""
        is_proved = all(v.verdict != "exhausted" for checked in self.checked for v in checked.findings.verdicts)
        return "proved" if is_proved else "exhausted"

    @property
    def how(self) -> str:
        """The same in words, of the largest of the instances."""
        notes = [c.findings.notes[-1 if isinstance(c.entry, Theory) else 0] for c in self.checked]
        return max(notes, key=len)


def claimed(number: int, checked: Sequence[Checked]) -> Claim | Open:
    """The claim that these instances come to, or why there is none."""
    gap = _gap(checked)
    return Open(gap) if gap else Claim(number, tuple(checked))


def _gap(everything: Sequence[Checked]) -> str:
    if not everything:
        return "nothing was checked"
    return next((gap for checked in everything if (gap := _gap_of(checked))), "")


def _gap_of(checked: Checked) -> str:
    """What of one instance is not shown; empty if all is."""
    verdicts, left = checked.findings.verdicts, checked.findings.left
    is_theory = isinstance(checked.entry, Theory)
    situations = [verdict for verdict in verdicts if verdict.property.kind == "sometimes"]
    if len(verdicts) == len(situations) or left or (not situations and not is_theory):
        return "not all that is asked was checked"
    if is_theory and any(suspicion.kind == "from-nothing" for suspicion in checked.findings.suspicions):
        return "what is given for a theorem contradicts itself"
    return next((why for verdict in verdicts if (why := _why_open(verdict))), "")


def _why_open(verdict: Verdict) -> str:
    """Why a verdict is not complete; empty if it is. A ``sometimes`` is if it was reached."""
    if verdict.property.kind == "sometimes" and verdict.verdict == "violated":
        return f"what is asked about does not occur: {verdict.property.doc.splitlines()[0]}"
    return why_incomplete(verdict)
