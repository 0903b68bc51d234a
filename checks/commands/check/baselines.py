"""Baselines on the command line: what is accepted is marked, compared with what was found, and written down."""

from __future__ import annotations

from dataclasses import replace

from fencepost.checks.commands.check.outputs import Teller
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.questions.baseline import Baseline, comparison_lines, keys_of
from fencepost.checks.reports.finished import FinishedRun


def accepted(asked: CheckRequest) -> Baseline | None:
    """What is accepted: in the file of ``--baseline``, or so far in the one that ``--write-baseline`` writes, and in a profile.

    Raises OSError, or InputError for a file that is none.
    """
    file = asked.baseline or (asked.write_baseline if asked.write_baseline and asked.write_baseline.exists() else None)
    if file is not None:
        return replace(Baseline.read(file), bugs=asked.accepted)
    of_file = asked.write_baseline is not None
    return Baseline({}, asked.accepted, of_file) if of_file or asked.accepted else None


def marked(baseline: Baseline | None, checked: Checked, release: str) -> Checked:
    """An instance with what is accepted marked."""
    return checked if baseline is None else baseline.applied(checked, release)


def compared(
    asked: CheckRequest, baseline: Baseline | None, outcome: FinishedRun, release: str, teller: Teller, *, whole: bool
) -> FinishedRun:
    """A run with how it differs from a baseline, of which all was checked if it was ``whole``, which is printed. With
    ``--write-baseline`` that is written first, so that what can be accepted is. OSError if it cannot be written."""
    if baseline is None or not baseline.of_file:
        return outcome
    everything, suspicious = outcome.everything, outcome.suspicious
    comparison = baseline.compared(everything, suspicious, release, whole=whole)
    if asked.write_baseline is not None:
        baseline = baseline.updated(keys_of(everything, suspicious, release), comparison.gone)
        baseline.write(asked.write_baseline)
        everything = [marked(baseline, checked, release) for checked in everything]
        teller.name(f"baseline: {asked.write_baseline}")
        comparison = baseline.compared(everything, suspicious, release, whole=False)
    teller.tell(*comparison_lines(comparison))
    return replace(
        outcome,
        everything=everything,
        suspicious=baseline.judged(suspicious, release),
        comparison=comparison,
        notes=[*outcome.notes, *comparison_lines(comparison)],
    )
