"""A check in Markdown, short enough to be a comment on a pull request: what changed, what falls short, what failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.answering import Answer
from fencepost.checks.questions.bug_change import BugChange
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.judging import compared
from fencepost.checks.reports.answers import headline, in_short, ordered
from fencepost.checks.reports.bug_change import heading, sentences, verdict
from fencepost.checks.reports.failures import Judged
from fencepost.checks.reports.guarantees import Opening, remedied

MOST = 20
"""Failures that are listed; a comment that is longer is not read."""


def as_markdown(opening: Opening | None, rows: Iterable[Judged], status: ExitStatus, closing: str) -> str:
    """The comment. It is empty where another configuration, or another release, guarantees the same and has the same known
    bugs, nothing falls short and nothing failed."""
    table = "" if opening is None else _table(opening)
    failed = [row for row in rows if row.failed]
    bugs = _bugs(opening.bugs) if opening is not None and opening.bugs is not None else ""
    if status == ExitStatus.HOLDS and not table and not bugs and opening is not None:
        return ""
    answers = "".join(answered(answer) for answer in opening.answers) if opening else ""
    listed = "".join(f"- {_failure(row)}\n" for row in failed[:MOST])
    parts = [f"### Fencepost: {plain(closing)}\n", answers, table, bugs, listed]
    if len(failed) > MOST:
        parts.append(f"{len(failed) - MOST} more; without `--markdown -` the text has all of them.\n")
    return "\n".join(part for part in parts if part)


def answered(answer: Answer) -> str:
    """A question that users ask first, and the ways in which it happens."""
    ways = "".join(f"{number}. {plain(in_short(way))}\n" for number, way in enumerate(answer.ways, 1))
    ways += "".join(f"- {plain(sentence)}\n" for sentence in ordered(answer))
    return f"**{plain(answer.matter.asks)}** {plain(headline(answer))}\n\n{ways}" + ("\n" if ways else "")


def _bugs(change: BugChange) -> str:
    """Which known bugs a change of releases takes and brings; empty if none."""
    if not change.go and not change.come:
        return ""
    listed = (verdict(change), *sentences(change))
    return f"{plain(heading(change))}:\n\n" + "".join(f"- {plain(sentence)}\n" for sentence in listed)


def plain(text: str) -> str:
    """A text in which Markdown and HTML find nothing to interpret."""
    return "".join(f"&#{ord(character)};" if character in "&<>*_`[]|~" else character for character in text)


def _table(opening: Opening) -> str:
    """The guarantees, or of a comparison those that changed or fall short; empty if there are none."""
    now, before = opening.now, opening.before
    shown = [
        row for row in now.rows if before is None or opening.of(row) or compared(row, before.row(row.guarantee.name)) != "same"
    ]
    if not shown:
        return ""
    title = f"{plain(now.cluster.file)}, {plain(str(now.cluster.releases))}"
    if before is None:
        head = ["| guarantee | number | what it means |", "|---|---|---|"]
    else:
        title += f", against {plain(before.cluster.file)}"
        head = ["| guarantee | before | now | what it means |", "|---|---|---|---|"]
    lines = [f"{title}\n", *head]
    for row in shown:
        old = [] if before is None else [_figure(before.row(row.guarantee.name))]
        lines.append(
            "| " + " | ".join([f"`{row.guarantee.name}`", *old, _figure(row), "; ".join(_meaning(opening, row))]) + " |"
        )
    return "\n".join(lines) + "\n"


def _figure(row: Established) -> str:
    return "?" if row.figure is None else str(row.figure)


def _meaning(opening: Opening, row: Established) -> Iterator[str]:
    yield plain(row.sentence)
    places = {f"{shortfall.place}" for shortfall in opening.of(row)}
    if places:
        yield f"**{opening.of(row)[0].kind}**, {plain(', '.join(sorted(places)))}"
    met = opening.met.get(row.guarantee.name)
    if met is not None and met.needs:
        yield plain(f"users lose an acknowledged message if these coincide: {', '.join(met.needs)}")
    if remedy := remedied(opening.now, row):
        yield plain(remedy)


def _failure(row: Judged) -> str:
    return f"{plain(row.headline)} (`{row.place}`)"
