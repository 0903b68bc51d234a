"""What a run prints: verdicts as text for people and as JSON for programs, with the traces of what is violated."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import Amount, ExitStatus, Verdict
from fencepost.checks.questions.baseline import Doubt, comparison_as_json
from fencepost.checks.reports.bugs_on_code import compared, seen
from fencepost.checks.reports.finished import FinishedRun, about, address, established_of, refined_by, refused_by, upstream
from fencepost.model.counts import count_of
from fencepost.model.releases import SYSTEMS, Releases
from fencepost.properties.bugs import Bug
from fencepost.properties.registry import written
from fencepost.traces.files.itf import write
from fencepost.traces.wording.text import show

FORMAT = 1

MEANING = {
    ExitStatus.HOLDS: "everything holds",
    ExitStatus.ASSUMPTION: "an assumption of the model does not hold",
    ExitStatus.DEADLOCK: "there is a deadlock",
    ExitStatus.SAFETY: "a safety property is violated",
    ExitStatus.LIVENESS: "a liveness property is violated",
    ExitStatus.KNOWN_BUG: "a known bug affects this release",
    ExitStatus.WEAKER: "weaker than before",
    ExitStatus.SHORT: "less than is required",
    ExitStatus.INCONCLUSIVE: "something was neither shown nor refuted",
    ExitStatus.EVALUATION: "nothing was checked",
}


def text(
    checked: Checked, *, width: int = 120, colour: bool = False, whole: bool = True, releases: Releases | None = None
) -> str:
    """What was established of one instance, for a person; of these releases are the runs of a ledger that explain a step.

    ``whole`` leaves the heading, each note and each suspicion on a line of its own, however long: who searches the output of a
    program finds them there.
    """
    lines = _folded([_heading(checked), *(f"  {note}" for note in checked.notes)], width, whole)
    for verdicts in _alike(checked.verdicts):
        lines += _lines(checked.entry.name, verdicts, width)
    lines += _folded([f"  suspicious: {s}" for s in checked.suspicions], width, whole)
    for failure in checked.failures:
        lines += ["", textwrap.indent(failure, "  ")]
    for verdict in checked.verdicts:
        if verdict.trace is not None and verdict.refuted and not verdict.expected and verdict.accepted is None:
            from fencepost.checks.questions.bugs.part_runs import runs_below

            below = runs_below(verdict.trace, checked.protocol, releases)
            shown = show(verdict.trace, checked.protocol, violated=verdict.violated, width=width, colour=colour, below=below)
            lines += ["", shown]
    lines.append(f"# {checked.seconds:.1f} s")
    return "\n".join(lines) + "\n"


def _folded(lines: list[str], width: int, whole: bool) -> list[str]:
    """The lines, unless they are to stay whole folded to the width."""
    if whole:
        return lines
    fold = textwrap.TextWrapper(width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [part for line in lines for part in fold.wrap(line)]


def _heading(checked: Checked) -> str:
    parameters = " ".join(f"{name}={written(value)}" for name, value in checked.protocol.parameters.items())
    names, between = ", ".join(checked.protocol.active), " " if checked.instance.name == "bug" else " with "
    bugs = f"{between}{names}" if names else ""
    head = f"{checked.entry.name}, {checked.instance.name}{bugs}"
    return f"{head}: {parameters}" if parameters else head


def _word(verdict: Verdict) -> str:
    if verdict.property.kind == "sometimes":
        return {"proved": "reached", "violated": "unreached"}.get(verdict.verdict, verdict.verdict)
    if verdict.property.kind == "known bug":
        return "accepted" if verdict.accepted is not None else {"exhausted": "not here"}.get(verdict.verdict, verdict.verdict)
    if established_of(verdict):
        return "refines"
    return "expected" if verdict.expected else verdict.verdict


def _alike(verdicts: Iterable[Verdict]) -> Iterator[list[Verdict]]:
    """Verdicts that one line can tell: those of one kind that have one reason; what is not as it should be, each for itself."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        needs_words = _word(verdict) in ("violated", "unreached", "expected", "known bug", "accepted", "not here", "refines")
        groups.setdefault(verdict.property.name if needs_words else f"{_word(verdict)} {verdict.note}", []).append(verdict)
    yield from groups.values()


SHOWN = {"expected": "expected violation"}
"""The words of verdicts that a person reads in place of those of the JSON."""


def _lines(protocol: str, verdicts: list[Verdict], width: int) -> list[str]:
    """A word for the verdict, the names of the properties and, for what is not as it should be, what it means and why."""
    first = verdicts[0]
    head = f"  {SHOWN.get(_word(first), _word(first)):<12} "
    if first.bug is not None:
        return _lines_of_bug(protocol, first, first.bug, head, width)
    text = ", ".join(v.property.name for v in verdicts)
    if _word(first) == "refines":
        text += f": {refined_by(first)} ({first.verdict})"
    if first.verdict in ("violated", "inconclusive"):
        text += f": {first.property.doc.splitlines()[0]}" if len(verdicts) == 1 else ""
        steps = f"{_length(first.reach)}; " if "steps" in first.reach and first.verdict == "violated" else ""
        text += f" ({steps}{first.note})" if first.note else f" ({steps.removesuffix('; ')})" if steps else ""
    return textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False)


def _lines_of_bug(protocol: str, verdict: Verdict, bug: Bug, head: str, width: int) -> list[str]:
    """What a bug is, what it violates and, if that was seen, what there is to know of it, each on a line of its own."""
    text = f"{verdict.property.name}: {verdict.property.doc}"
    why = f"{verdict.shows.name} is violated {_length(verdict.reach)}" if verdict.shows else verdict.note
    lines = [f"{text} ({why})"]
    if verdict.accepted is not None:
        lines += [f"reason: {verdict.accepted}"] if verdict.accepted else []
    elif verdict.verdict == "known bug":
        lines += about(bug, protocol, verdict.property.name)
    fold = textwrap.TextWrapper(width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False)
    folded = fold.wrap(lines[0])
    fold.initial_indent = fold.subsequent_indent
    return folded + [part for line in lines[1:] for part in fold.wrap(line)]


def _length(reach: Mapping[str, Amount]) -> str:
    """How long a run is, and how it goes on if it is one that never ends."""
    if "loop" not in reach:
        return f"in {count_of(int(reach['steps']), 'step')}"
    if not reach["loop"]:
        return f"stops for good after {count_of(int(reach['steps']), 'step')}"
    return f"after {count_of(int(reach['steps']) - int(reach['loop']), 'step')} a loop of {reach['loop']}"


def counted(verdicts: Iterable[Verdict]) -> str:
    """How many of the verdicts are of which kind, in words."""
    counts = Counter("violated as expected" if verdict.expected else _word(verdict) for verdict in verdicts)
    return ", ".join(
        count_of(count, word) if word == "known bug" else f"{count} {word}" for word, count in sorted(counts.items())
    )


def closing(
    everything: Sequence[Checked], status: ExitStatus, suspicious: Sequence[Doubt] = (), *, outdated: bool = False
) -> str:
    """The last line: how many properties came to which verdict, how much of it is suspicious, and what the status says. Where
    80 columns do not hold all counts it has those that need somebody's attention, or no more than the total, or none.

    That everything holds is said only if it does at any depth, of all properties, and nothing makes that suspicious or had to
    be accepted. ``outdated`` is whether the run differs from a baseline.
    """
    verdicts = [verdict for checked in everything for verdict in checked.verdicts]
    doubtful = f"{len(suspicious)} suspicious" if suspicious else ""
    bad, total = counted(v for v in verdicts if _word(v) in ATTENTION), count_of(len(verdicts), "verdict")
    several = [[counted(verdicts), doubtful], [total, bad, doubtful], [bad, doubtful], [bad or total]]
    summaries = [", ".join(filter(None, parts)) for parts in several]
    meaning = _success(everything, suspicious) if status == ExitStatus.HOLDS else MEANING[status]
    if outdated and status == ExitStatus.ASSUMPTION:
        meaning = "differs from the baseline"
    end = f"{meaning} (exit {int(status)})"
    lines = (f"{summary or 'no verdicts'}: {end}" for summary in summaries)
    return next((line for line in lines if len(line) <= COLUMNS), f"{end[0].upper()}{end[1:]}")


ATTENTION = ("violated", "known bug", "inconclusive", "unreached")
"""The words of verdicts that somebody has to look at."""
COLUMNS = 80
"""How long the last line is at most."""


def _success(everything: Sequence[Checked], suspicious: Sequence[Doubt]) -> str:
    left = any(checked.left for checked in everything)
    values = {verdict.verdict for checked in everything for verdict in checked.verdicts}
    limited = " as far as this went" if left or "sampled" in values else ""
    accepted = " except for what is accepted" if "known bug" in values else ""
    doubtful = ", with warnings" if suspicious else ""
    return f"passed{limited}{accepted}{doubtful}" if limited or accepted or doubtful else MEANING[ExitStatus.HOLDS]


def as_json(run: FinishedRun) -> str:
    """The run as JSON, as docs/reference describes it."""
    rows: list[dict[str, object]] = []
    for checked in run.everything:
        for verdict in checked.verdicts:
            rows.append(_row(checked, verdict, run.files.get(len(rows))))
    instances = [
        {
            "protocol": checked.entry.name,
            "instance": checked.instance.name,
            "notes": list(checked.notes),
            "suspicions": [str(s) for s in checked.suspicions],
            "failures": list(checked.failures),
            "left": [prop.name for prop in checked.left],
        }
        for checked in run.everything
    ]
    from fencepost.checks.reports.guarantees import as_json as guarantees_as_json

    whole = {
        "format": FORMAT,
        "status": int(run.status),
        "releases": None if run.releases is None else _releases(run.releases),
        "notes": list(run.notes),
        "guarantees": None if run.opening is None else guarantees_as_json(run.opening),
        "suspicions": [_doubt(doubt) for doubt in run.suspicious],
        "baseline": None if run.comparison is None else comparison_as_json(run.comparison),
        "instances": instances,
        "verdicts": rows,
    }
    return json.dumps(whole, indent=2) + "\n"


def _doubt(doubt: Doubt) -> dict[str, object]:
    suspicion = doubt.suspicion
    return {
        "protocol": doubt.protocol,
        "instance": doubt.instance or None,
        "kind": suspicion.kind,
        "subject": suspicion.subject,
        "text": suspicion.text,
    }


def _row(checked: Checked, verdict: Verdict, file: Path | None) -> dict[str, object]:
    return {
        "protocol": checked.entry.name,
        "instance": checked.instance.name,
        "parameters": dict(checked.protocol.parameters),
        "bugs": list(checked.protocol.active),
        "property": verdict.property.name,
        "kind": verdict.property.kind,
        "verdict": verdict.verdict,
        "expected": verdict.expected,
        "by": verdict.by,
        "reach": dict(verdict.reach),
        "note": verdict.note,
        "refines": refined_by(verdict) or None,
        "refused": refused_by(verdict) or None,
        "trace": None if file is None else str(file),
        "bug": None if verdict.bug is None else _bug(checked.entry.name, verdict, verdict.bug),
    }


def _bug(protocol: str, verdict: Verdict, bug: Bug) -> dict[str, object]:
    return {
        "text": verdict.property.doc,
        "violates": verdict.shows.name if verdict.shows else None,
        "project": bug.project,
        "since": bug.since,
        "fixed": bug.fixed,
        "present": list(bug.present),
        "accepted": verdict.accepted,
        "only": {name: list(values) for name, values in bug.only.items()},
        "costs": bug.costs,
        "avoided_by": str(bug.avoided_by or ""),
        "upstream": [
            {"issue": name, "address": address(bug, issue)} for name, issue in zip(upstream(bug), bug.upstream, strict=True)
        ],
        "evidence": bug.evidence,
        "finding": bug.finding or None,
        "reproduced": dict(seen(protocol, verdict.property.name)),
        "compared": asdict(row) if (row := compared(protocol).get(verdict.property.name)) else None,
    }


def write_traces(everything: Sequence[Checked], folder: Path) -> dict[int, Path]:
    """Writes an ITF file for each violated property and each bug; returns them by the verdict's place among all.

    Raises OSError if the folder cannot be written.
    """
    files: dict[int, Path] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for place, (checked, verdict) in enumerate(_all(everything)):
        if verdict.trace is not None and verdict.refuted:
            parts = [checked.entry.name, checked.instance.name, *checked.protocol.active, verdict.property.name]
            name = "-".join(re.sub(r"\W+", "_", part) for part in parts)
            files[place] = folder / f"{name}.itf.json"
            write(verdict.trace, checked.protocol, files[place])
    return files


def _all(everything: Iterable[Checked]) -> Iterable[tuple[Checked, Verdict]]:
    return ((checked, verdict) for checked in everything for verdict in checked.verdicts)


def _releases(releases: Releases) -> dict[str, str]:
    """The releases that there are, by project."""
    return {project: number for project in SYSTEMS if (number := releases.of_project(project))}
