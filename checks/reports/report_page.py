"""A run as a page: what a configuration guarantees, then the hazards of the release, then the rest, folded.

It needs no script and loads nothing; of two configurations each row has both numbers side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from string import Template

from fencepost.checks.console.numbers import count_of
from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict
from fencepost.checks.questions.establishing import Established
from fencepost.checks.questions.judging import compared
from fencepost.checks.reports.guarantees import Opening, details, unseen
from fencepost.checks.reports.histories import about
from fencepost.checks.reports.report import closing, closing_of_guarantees, text

FIGURE, NARROW = "3.5rem", "2.7rem"
"""How wide a column of numbers is, and on a narrow screen."""

CHANGES = {"open": "cannot be compared", "other": "(of other steps: not compared)"}
"""How a change is told that has not its own word."""


def report_page(opening: Opening, everything: Sequence[Checked], status: ExitStatus, runs: str) -> str:
    """The page; ``runs`` is the name of the page that shows the runs step by step, empty if there is none."""
    now, before = opening.now, opening.before
    columns = 2 if before else 1
    bookies = count_of(now.sizes.bookies, "bookie") + (" (assumed)" if now.assumed else "")
    against = f"; before: {escape(before.file)}" if before else ""
    told = closing(everything, status) if everything else closing_of_guarantees(opening, status)
    short = "".join(f'<p class="short">{escape(f"{s.place}: {s.headline}")}</p>' for s in opening.shortfalls)
    rest = _policy(opening) + _hazards(everything) + _others(everything)
    if runs:
        rest += f'<p><a href="{escape(runs)}">The runs, step by step</a></p>'
    page = files("fencepost.checks.reports").joinpath("report_page.html").read_text(encoding="utf-8")
    return Template(page).substitute(
        title=escape(f"{now.file}: what it guarantees"),
        file=f"<code>{escape(now.file)}</code>",
        about=f"{escape(str(now.releases))}; {bookies}{against}",
        outcome=f"<p><strong>{escape(told)}</strong></p>{short}",
        columns=" ".join([FIGURE] * columns),
        narrow=" ".join([NARROW] * columns),
        rows=f'<div class="rows">{"".join(_row(opening, row) for row in now.rows)}</div>',
        unseen=escape(unseen(now)),
        rest=rest,
    )


def _row(opening: Opening, row: Established) -> str:
    now, before = opening.now, opening.before
    old = before.row(row.guarantee.name) if before else None
    cells = _figure(row, "now" if old else "")
    change = ""
    if before is not None and old is not None:
        cells = _figure(old, "before") + cells
        word = compared(row, old)
        if word != "same":
            change = f' <span class="{word}">{CHANGES.get(word, word)}</span>'
    run = ""
    if row.failure is not None:
        what = "how" if row.guarantee.defects else f"that {row.failure.events} is too many"
        run = _run(f"the run that shows {what}", row.failure.checked, row.failure.verdict)
    lines = "".join(f'<p class="quiet">{escape(line)}</p>' for line in details(now, row, run=False))
    fell = " fell" if opening.of(row) else ""
    name = escape(row.guarantee.name)
    return (
        f'<div class="row{fell}" id="{name}">{cells}'
        f"<div><p>{escape(row.sentence)}{change} <code class=\"quiet\">{name}</code></p>{lines}{run}</div></div>"
    )


def _policy(opening: Opening) -> str:
    """What changes in the balancing of load, and the commands that tell what that does."""
    if opening.policy is None:
        return ""
    changes = "".join(f"<p><strong>{escape(str(change))}</strong></p>" for change in opening.policy.changes)
    lines = "".join(f'<p class="quiet">{escape(line)}</p>' for line in opening.policy.lines)
    commands = escape("\n".join(opening.policy.commands))
    return f'<section id="policy"><h2>The balancing of load changes</h2>{changes}{lines}<pre>{commands}</pre></section>'


def _run(title: str, checked: Checked, verdict: Verdict) -> str:
    """A run, folded: each step with what it is in the real system."""
    meaning = {action.label: action.doc.partition("\n")[0] for action in checked.protocol.actions}
    steps = "".join(
        f'<li><code>{escape(step.action)}</code> <span class="quiet">{escape(meaning[step.action])}</span></li>'
        for step in verdict.trace.steps
    )
    return f"<details><summary>{escape(title)}</summary><ol>{steps}</ol></details>"


def _figure(row: Established, when: str) -> str:
    shown = "?" if row.figure is None else str(row.figure)
    bad = " none" if row.figure == 0 else ""
    caption = f"<small>{when}</small>" if when else ""
    return f'<div class="figure{bad}">{shown}{caption}</div>'


def _hazards(everything: Sequence[Checked]) -> str:
    found = [(checked, verdict) for checked, verdict in _verdicts(everything) if verdict.verdict == "hazard"]
    if not found:
        return ""
    head = f"<h2>{count_of(len(found), 'hazard')} of the release</h2>"
    return f"<section>{head}{''.join(_hazard(*pair) for pair in found)}</section>"


def _hazard(checked: Checked, verdict: Verdict) -> str:
    history = verdict.history
    told = about(history, checked.entry.name, verdict.property.name) if history else ()
    lines = "".join(f'<p class="quiet">{escape(line)}</p>' for line in told)
    run = _run(f"{verdict.violated.name} is violated", checked, verdict) if verdict.trace else ""
    accepted = f" (accepted: {escape(verdict.accepted)})" if verdict.accepted is not None else ""
    head = f"<p><strong><code>{escape(verdict.property.name)}</code></strong> {escape(verdict.property.doc)}{accepted}</p>"
    return f'<div class="hazard">{head}{lines}{run}</div>'


def _others(everything: Sequence[Checked]) -> str:
    rest = [c for c in everything if not any(v.property.kind == "hazard" for v in c.findings.verdicts)]
    if not rest:
        return ""
    blocks = "".join(f"<pre>{escape(_without_times(text(checked, width=110)))}</pre>" for checked in rest)
    head = f"<summary>What else was checked: {count_of(len(rest), 'instance')}</summary>"
    return f"<section><details>{head}{blocks}</details></section>"


def _without_times(told: str) -> str:
    return "\n".join(line for line in told.splitlines() if not line.startswith("#"))


def _verdicts(everything: Sequence[Checked]) -> Iterator[tuple[Checked, Verdict]]:
    return ((checked, verdict) for checked in everything for verdict in checked.findings.verdicts)
