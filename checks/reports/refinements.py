"""Verdicts on refinement: the coarser protocol that an instance refines, or the step that refuses it."""

from __future__ import annotations

from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.traces.wording.text import refusal


def refined_by(verdict: Verdict) -> str:
    """The coarser protocol that the verdict is about, which the instance refines or not; empty of any other verdict."""
    refinement = verdict.property.refinement
    return "" if refinement is None else refinement.coarse.name


def refused_by(verdict: Verdict) -> str:
    """The step that is none of the coarser protocol, and what it does there; empty if no run refuses a refinement."""
    refinement = verdict.property.refinement
    if refinement is None or verdict.trace is None or verdict.verdict != "violated":
        return ""
    return refusal(verdict.trace, refinement)


def established_of(verdict: Verdict) -> str:
    """That the instance refines a coarser protocol, and how that was established; empty of any other verdict."""
    coarse = refined_by(verdict)
    if not coarse or verdict.verdict in ("violated", "inconclusive"):
        return ""
    return f"{verdict.property.name} refines {coarse} ({verdict.verdict})"
