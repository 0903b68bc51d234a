"""What an engine may say of a protocol, against plain Python.

Where an engine is exact (counts, verdicts, shortest lengths), what it says is what plain Python says, and so all of them say
the same. Where it is not, it may leave a question open, but is never wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import Verdict
from tests.fuzz.case import Case


def exact(case: Case, by: str, verdicts: Iterable[Verdict]) -> None:
    """Whether verdicts are the ones that a breadth-first search comes to."""
    truth = case.truth
    shortest = {s.name: truth.shortest(s) for s in case.spec.statements if s.kind not in ("leads_to", "lemma")}
    ending = [truth.noticed(s, d) for s in case.of_kind("always", "step", "ends") if (d := shortest[s.name]) is not None]
    last = min(ending, default=None)
    for verdict in verdicts:
        statement = case.statements[verdict.property.name]
        about = f"{by}: {statement.name}"
        length = shortest[statement.name]
        met = length is not None and (last is None or truth.noticed(statement, length) <= last)
        if statement.kind == "sometimes":
            case.same(about, verdict.verdict, "proved" if met else "violated" if last is None else "inconclusive")
            continue
        case.same(about, verdict.verdict, "violated" if met else "exhausted" if last is None else "inconclusive")
        if met:
            case.same(f"{about}, steps", verdict.reach["steps"], length)
            case.same(f"{about}, length of its trace", len(verdict.trace.steps), length)
            case.sound(by, verdict.trace, statement)


def judged(case: Case, by: str, verdict: Verdict) -> None:
    statement, truth = case.statements[verdict.property.name], case.truth
    expected = "inconclusive" if not truth.is_met(statement) else "exhausted" if truth.comes(statement) else "violated"
    case.same(f"{by}: {statement.name}", verdict.verdict, expected)
    if expected == "violated":
        case.sound(by, verdict.trace, statement)


def never_wrong(case: Case, by: str, findings: Findings) -> None:
    truth, whole = case.truth, case.world.whole
    for verdict in findings.verdicts:
        statement = case.statements[verdict.property.name]
        if statement.kind == "leads_to":
            if verdict.verdict != "inconclusive" and whole:
                judged(case, by, verdict)
            continue
        met = truth.shortest(statement)
        about = f"{by}: {statement.name} is {verdict.verdict}"
        if statement.kind == "sometimes":
            if verdict.verdict == "proved" and whole:
                case.same(about, True, met is not None)
            if verdict.verdict == "violated":
                case.same(about, None, met)
        elif verdict.verdict == "violated" and verdict.trace is None:
            # of a negative control walks tell only that they have seen it violated
            case.same(about, (by, statement.kind, met is None and whole), ("walks", "strict", False))
        elif verdict.verdict == "violated":
            if met is not None and by != "walks":
                case.same(f"{about}, steps", verdict.reach["steps"], met)
            case.sound(by, verdict.trace, statement)
        elif verdict.verdict in ("exhausted", "proved"):
            case.same(about, None, met)
