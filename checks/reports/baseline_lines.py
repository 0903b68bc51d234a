"""How a run differs from a baseline, in words and for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fencepost.checks.questions.baseline import Comparison
from fencepost.model.counts import count_of


def comparison_lines(comparison: Comparison) -> list[str]:
    """The comparison in words, a line for each difference."""
    lines = [f"baseline: new: {key}" for key in comparison.new]
    lines += [f"baseline: gone: {key}" for key in comparison.gone]
    lines += [f"baseline: without a reason: {key}" for key in comparison.unexplained]
    if comparison.carried:
        lines.append(f"baseline: {count_of(comparison.carried, 'finding')} accepted of another release, and so of this one")
    if comparison.unchecked:
        lines.append(f"baseline: {comparison.unchecked} of its verdicts were not checked here")
    return lines


def comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison for programs."""
    return {
        "new": [asdict(key) for key in comparison.new],
        "gone": [asdict(key) for key in comparison.gone],
        "unexplained": [asdict(key) for key in comparison.unexplained],
        "unchecked": comparison.unchecked,
        "carried": comparison.carried,
    }
