"""The report on a run of walks, as text for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path

from fencepost.model.counts import count_of
from fencepost.properties.observed import Observed
from fencepost.traces.exploration.report import Report, Violated


def text(report: Report, observed: Observed, folder: Path | str, *, width: int = 120) -> str:
    """What the walks found and how far they went; what is estimated or sampled says so."""
    run = report.run
    sampled = f"{report.walks:,} of {count_of(run.walks, 'walk')}, {count_of(report.steps, 'step')}"
    lines = [heading(report), f"  sampled: {sampled}; {_stuck(report)}"]
    lines += _violations(report, observed, folder, width)
    for word, what, wanted in (("not reached", "reached", observed.goals), ("no premise met", "premise", observed.premises)):
        lines += _wrapped(word, (p.name for p in wanted.values() if p.name not in report.met[what]), width)
    lines += _wrapped("never enabled", sorted(a for a, covered in report.coverage.items() if not covered.enabled), width)
    lines += _wrapped("never taken", sorted(a for a, c in report.coverage.items() if c.enabled and not c.taken), width)
    constant = [variable for variable, seen in report.values.items() if len(seen) == 1]
    order = [variable.name for variable in observed.kernel.protocol.variables]
    looked_at = f"in the {count_of(report.looked_at, 'state')} that were looked at for that: "
    lines += _wrapped("never changed", sorted(constant, key=order.index), width, looked_at)
    lines += ["", *_estimates(report), "", *_coverage(report)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def heading(report: Report) -> str:
    """What was explored."""
    run = report.run
    bugs = f" with {', '.join(run.bugs)}" if run.bugs else ""
    parameters = " ".join(f"{name}={value}" for name, value in run.parameters.items())
    walks = f"{run.strategy} walks of up to {count_of(run.steps, 'step')}"
    return f"{run.protocol}{bugs}: {parameters}; {walks}, seed {run.seed}"


def unexpected(report: Report, observed: Observed) -> list[Violated]:
    """The violations that are not those of negative controls."""
    controls = {p.name for p in observed.states.values() if p.strict}
    return [violation for violation in report.violated if violation.property not in controls]


def _stuck(report: Report) -> str:
    return f"{count_of(report.stuck, 'walk')} ended where no action is possible"


def _violations(report: Report, observed: Observed, folder: Path | str, width: int) -> list[str]:
    meaning = {p.name: p.doc.splitlines()[0] for p in observed.suite.properties}
    lines = []
    for violation in unexpected(report, observed):
        walks = count_of(violation.walks, "walk")
        sentence = f"{violation.property}: {meaning[violation.property]}"
        sentence += f" (on {walks}; the shortest has {count_of(violation.length, 'step')})"
        lines += _entry("violated", sentence, width)
        lines.append(f"{'':17}fencepost explore trace {folder} --walk {violation.walk}")
    quiet = [p.name for kind in (observed.states, observed.steps, observed.may_end) for p in kind.values() if not p.strict]
    violated = {violation.property for violation in report.violated}
    lines += _wrapped("not violated", [name for name in quiet if name not in violated], width)
    return lines + _wrapped("expected", sorted(report.met["control"]), width)


def _estimates(report: Report) -> list[str]:
    scale = report.run.bits
    if not scale:
        states = f"{report.distinct:,} distinct states visited (counted)"
    else:
        states = (
            f"about {report.distinct:,} distinct states visited (estimate, standard deviation {report.error:,}: "
            f"one state in {1 << scale:,} was kept)"
        )
    unseen = "too few states to estimate what is unseen"
    if report.unseen is not None:
        unseen = f"the next state visited is a new one with probability {report.unseen:.2g} (estimate of Good and Turing)"
    halves = _half(report)
    growth = f"the second half of the walks visited {halves:.1%} of these states first" if halves is not None else ""
    return [f"  {line}" for line in (states, unseen, growth) if line]


def _half(report: Report) -> float | None:
    """The share of the states that the second half of the walks was the first to visit."""
    last = report.growth[-1]
    before = [states for walks, states in report.growth if 2 * walks <= last[0]]
    return 1 - before[-1] / last[1] if before and last[1] else None


def _coverage(report: Report) -> list[str]:
    actions = sorted(report.coverage.items(), key=lambda item: (item[1].taken, item[0]))
    width = max(len(action) for action, _ in actions)
    lines = [f"  {'action':<{width}}  {'steps taken':>15}  {'enabled in (sampled)':>20}"]
    return lines + [f"  {action:<{width}}  {covered.taken:>15,}  {covered.share:>20.2%}" for action, covered in actions]


def _wrapped(word: str, names: Iterable[str], width: int, before: str = "") -> list[str]:
    text = ", ".join(names)
    return _entry(word, before + text, width) if text else []


def _entry(word: str, text: str, width: int) -> list[str]:
    head = f"  {word:<15}"
    return textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False)
