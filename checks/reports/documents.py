"""A check for continuous integration: annotations of GitHub Actions, JUnit XML, and Markdown short enough to be a comment.

A run that was refused because of what it was given is one error, at its line, in these formats and in SARIF and JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.inputs.input_files import STANDARD_INPUT, Place
from fencepost.checks.questions.answers.changes import BugChange
from fencepost.checks.questions.answers.remedies import in_words
from fencepost.checks.questions.answers.ways import Answer
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.guarantees.judging import Shortfall, compared
from fencepost.checks.reports.answers import headline, in_short, left_out, ordered
from fencepost.checks.reports.changes import heading, sentences, verdict
from fencepost.checks.reports.decisions import changed, decisions, stops
from fencepost.checks.reports.finished import FinishedRun, Judged, as_in_repository, established_of, judged, place_of
from fencepost.checks.reports.front import is_other, left_after, of_namespaces
from fencepost.checks.reports.guarantees import Opening, remedied, why
from fencepost.checks.reports.in_short import last_line
from fencepost.checks.reports.report import as_json
from fencepost.checks.reports.sarif import fingerprints, log, physical, rule
from fencepost.checks.reports.ways import BESIDES, besides
from fencepost.model.language import Location
from fencepost.properties.registry import written


def as_annotations(run: FinishedRun) -> str:
    """A workflow command for each verdict that is not as it should be, each guarantee that falls short, and what starts no
    more, at the line of the setting, and each suspicion: an error, or a warning where nothing is known, or the run succeeds
    nevertheless."""
    opening = run.opening
    short = "".join(_shortfall(s) for s in opening.shortfalls) if opening else ""
    for stop in opening.stopped.stops if opening and opening.stopped else ():
        short += command(True, stop.place and as_in_repository(stop.place), "brokers start no more", stop.why)
    rows = "".join(_annotation(row) for row in judged(run) if row.failed)
    doubts = (_at(doubt.strict, doubt.suspicion.location, "suspicious", str(doubt)) for doubt in run.suspicious)
    return short + rows + "".join(doubts)


def _shortfall(shortfall: Shortfall) -> str:
    return command(shortfall.kind != "open", as_in_repository(shortfall.place), shortfall.headline, why(shortfall))


def _annotation(row: Judged) -> str:
    return command(not row.open, row.place, row.headline, row.text)


def _at(is_error: bool, location: Location, title: str, text: str) -> str:
    return command(is_error, place_of(location), title, text)


def command(is_error: bool, place: Place | None, title: str, text: str) -> str:
    """The workflow command that marks a line of a file, the file where no line is to blame, or nothing without a place."""
    fields = {} if place is None else {"file": place.file.as_posix()} | ({"line": str(place.line)} if place.line else {})
    fields["title"] = title
    parameters = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in fields.items())
    return f"::{'error' if is_error else 'warning'} {parameters}::{_escaped(text)}\n"


def _escaped(text: str, also: str = "") -> str:
    """The text with what would end a workflow command, or one of its fields, in percent notation."""
    for character in ("%", "\r", "\n", *also):
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def as_junit(run: FinishedRun) -> str:
    """The run as JUnit XML. What is violated is a failure, and so is a guarantee that falls short; what is inconclusive is an
    error, because nothing is known of it; a run that did not succeed for any other reason, having been cut short, say, has a
    case of its own that is an error. What is no matter for the engine is skipped. Whatever is suspicious is a case, too, and a
    failure if that keeps the run from succeeding."""
    whole = Element("testsuites", name="fencepost")
    failed, suspicious = run.opening is not None and _guarantees(whole, run.opening), run.suspicious
    for (name, instance, _), group in groupby(judged(run), key=_instance):
        rows = list(group)
        failed |= any(row.failed for row in rows)
        open_still = sum(row.open for row in rows)
        left, failures = rows[0].checked.left, sum(row.failed for row in rows) - open_still
        suite = _suite(whole, f"{name}, {instance}", len(rows) + len(left), failures, open_still)
        if left:
            suite.set("skipped", str(len(left)))
        settings = SubElement(suite, "properties")
        for parameter, value in rows[0].checked.protocol.parameters.items():
            SubElement(settings, "property", name=parameter, value=written(value))
        for bug in rows[0].checked.protocol.active:
            SubElement(settings, "property", name="bug", value=bug)
        for row in rows:
            _case(suite, f"{name}.{instance}", row)
        for prop in left:
            SubElement(SubElement(suite, "testcase", classname=f"{name}.{instance}", name=prop.name), "skipped")
    if suspicious:
        failures = sum(doubt.strict for doubt in suspicious)
        failed |= failures > 0
        suite = _suite(whole, "suspicions", len(suspicious), failures, 0)
        for doubt in suspicious:
            case = SubElement(suite, "testcase", classname=f"suspicious.{doubt.suspicion.kind}", name=str(doubt))
            if doubt.strict:
                SubElement(case, "failure", type=doubt.suspicion.kind, message=str(doubt))
            else:
                SubElement(case, "system-out").text = doubt.suspicion.text
    if run.status != ExitStatus.HOLDS and not failed:
        notes = [*run.notes, *changed(run.opening)]
        case = SubElement(_suite(whole, "run", 1, 0, 1), "testcase", classname="fencepost", name="run")
        SubElement(case, "error", type=run.status.name.lower(), message=notes[-1] if notes else "nothing was checked")
    for count in ("tests", "failures", "errors"):
        whole.set(count, str(sum(int(suite.get(count, "0")) for suite in whole)))
    indent(whole)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(whole, encoding="unicode") + "\n"


def _guarantees(whole: Element, opening: Opening) -> bool:
    """A case for each guarantee, and for what starts no more; whether one of them falls short."""
    kinds = {"open": "error"}
    rows = [(row, opening.of(row)) for row in opening.now.rows]
    stopped = stops(opening)
    errors = sum(any(s.kind == "open" for s in short) for _, short in rows)
    failures = sum(any(s.kind != "open" for s in short) for _, short in rows)
    failures += len(stopped)
    suite = _suite(whole, f"guarantees of {opening.now.cluster.file}", len(rows) + len(stopped), failures, errors)
    for sentence in stopped:
        case = SubElement(suite, "testcase", classname="guarantees", name="starts")
        SubElement(case, "failure", type="starts no more", message=sentence)
    for row, short in rows:
        case = SubElement(suite, "testcase", classname="guarantees", name=row.guarantee.name)
        for shortfall in short:
            element = SubElement(case, kinds.get(shortfall.kind, "failure"), type=shortfall.kind, message=shortfall.headline)
            element.text = f"{shortfall.place}\n{why(shortfall)}"
        if not short:
            SubElement(case, "system-out").text = f"{row.sentence}, {row.verdict}"
    return errors + failures > 0


def _instance(row: Judged) -> tuple[str, str, tuple[str, ...]]:
    checked = row.checked
    return checked.entry.name, checked.instance.name, tuple(checked.protocol.active)


def _suite(whole: Element, name: str, tests: int, failures: int, errors: int) -> Element:
    return SubElement(whole, "testsuite", name=name, tests=str(tests), failures=str(failures), errors=str(errors))


def _case(suite: Element, place: str, row: Judged) -> None:
    case = SubElement(suite, "testcase", classname=place, name=row.verdict.property.name)
    if row.failed:
        kind = "error" if row.open else "failure"
        SubElement(case, kind, type=row.verdict.verdict, message=row.headline).text = row.text
    else:
        expected = f", as expected: {row.verdict.note}" if row.verdict.expected else ""
        expected += f", accepted: {row.verdict.accepted}" if row.verdict.accepted is not None else ""
        came = established_of(row.verdict) or row.verdict.verdict
        SubElement(case, "system-out").text = f"{came} by {row.verdict.by}{expected}"


MOST = 20
"""Failures that are listed; a comment that is longer is not read."""


def as_markdown(run: FinishedRun) -> str:
    """The comment. It is empty where another configuration, or another release, guarantees the same and has the same known
    bugs, nothing falls short and nothing failed."""
    opening = run.opening
    table = "" if opening is None else _table(opening)
    failed = [row for row in judged(run) if row.failed]
    others = list[str]()
    if opening is not None and opening.answers:  # which tell of the known bugs
        failed = [row for row in failed if row.verdict.verdict != "known bug"]
        others = besides(opening.answers, run.everything)
    bugs = _bugs(opening.bugs) if opening is not None and opening.bugs is not None else ""
    if run.status == ExitStatus.HOLDS and not table and not bugs and opening is not None:
        return ""
    answers = f"{_change_first(opening)}{''.join(answered(answer) for answer in opening.answers)}" if opening else ""
    answers += (
        "".join(f"- {plain(of_namespaces(each, opening))}\n" for each in opening.namespaces if is_other(each))
        if opening
        else ""
    )
    answers += "".join(f"- {plain(sentence)}\n" for sentence in (*decisions(opening), *stops(opening))) if opening else ""
    listed = "".join(f"- {_failure(row)}\n" for row in failed[:MOST])
    parts = [f"### Fencepost: {plain(last_line(run))}\n", answers, table, bugs, listed]
    if len(failed) > MOST:
        parts.append(f"{len(failed) - MOST} more; `--json FILE` has all of them.\n")
    if others:
        parts.append(f"{BESIDES}: {plain(', '.join(others))}\n")
    return "\n".join(part for part in parts if part)


def _change_first(opening: Opening) -> str:
    """What to change first, with what that closes and what is left; empty if nothing is known to help."""
    several = list[str]()
    for number, each in enumerate(opening.change_first, 1):
        terms = f" ({each.terms})" if each.terms else ""
        several.append(f"{number}. {plain(f'{each.says}{terms}: closes {in_words(each)}')}\n")
    if not several:
        return ""
    left = f"\nWhat is left: {plain(left_after(opening.change_first, opening.after))}\n" if opening.after is not None else ""
    return f"**Change first**\n\n{''.join(several)}{left}\n"


def answered(answer: Answer) -> str:
    """A question that users ask first, and the ways in which it happens."""
    ways = "".join(f"{number}. {plain(in_short(way))}\n" for number, way in answer.numbered)
    ways += "".join(f"- {plain(sentence)}\n" for sentence in (*left_out(answer), *ordered(answer)))
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


@dataclass(frozen=True)
class Refusal:
    """Why nothing was checked, in a sentence; where the mistake is, if that is known; what the run ends with."""

    message: str
    status: ExitStatus
    place: Place | None = None

    @property
    def _title(self) -> str:
        return "wrong usage" if self.status == ExitStatus.USAGE else "the input cannot be used"

    def as_json(self) -> str:
        """One JSON object with the error."""
        error = {
            "message": self.message,
            "file": None if self.place is None else str(self.place.file),
            "line": self.place.line or None if self.place else None,
        }
        whole = json.loads(as_json(FinishedRun(notes=[self.message])))
        return json.dumps({**whole, "status": int(self.status), "error": error}, indent=2) + "\n"

    def as_sarif(self) -> str:
        """A SARIF log with one result."""
        result: dict[str, object] = {
            "ruleId": "input",
            "ruleIndex": 0,
            "kind": "fail",
            "level": "error",
            "message": {"text": self.message},
            "partialFingerprints": fingerprints("input", self.message),
        }
        if self.place is not None and self.place.file != STANDARD_INPUT:
            result["locations"] = [{"physicalLocation": physical(as_in_repository(self.place))}]
        invocation: dict[str, object] = {"executionSuccessful": False, "exitCode": int(self.status)}
        if "locations" not in result:  # a result without a place is shown nowhere
            invocation["toolExecutionNotifications"] = [{"level": "error", "message": {"text": self.message}}]
        usable = rule("input", "what the check was given can be used", "Correct what the message names; nothing was checked.")
        return log([usable], invocation, [result] if "locations" in result else [])

    def as_junit(self) -> str:
        """A JUnit suite with one error."""
        whole = Element("testsuites", name="fencepost", tests="1", failures="0", errors="1")
        suite = SubElement(whole, "testsuite", name="run", tests="1", failures="0", errors="1")
        case = SubElement(suite, "testcase", classname="fencepost", name="input")
        SubElement(case, "error", type=self.status.name.lower(), message=self.message)
        indent(whole)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(whole, encoding="unicode") + "\n"

    def as_markdown(self) -> str:
        """A heading and the sentence."""
        return f"### Fencepost: {self._title} (exit {int(self.status)})\n\n{plain(self.message)}\n"

    def as_annotation(self) -> str:
        """An annotation of GitHub."""
        if self.place is None or self.place.file == STANDARD_INPUT:
            return command(True, None, self._title, self.message)
        return command(True, as_in_repository(self.place), self._title, self.message)
