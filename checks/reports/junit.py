"""A run as JUnit XML: a suite for each instance, a case for each property."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.doubt import Doubt
from fencepost.checks.reports.failures import Judged
from fencepost.checks.reports.guarantees import Opening, why
from fencepost.checks.reports.refinements import established_of
from fencepost.properties.registry import written


def as_junit(
    verdicts: Iterable[Judged],
    status: ExitStatus,
    notes: Sequence[str],
    suspicious: Sequence[Doubt] = (),
    opening: Opening | None = None,
) -> str:
    """The run as JUnit XML. What is violated is a failure, and so is a guarantee that falls short; what is inconclusive is an
    error, because nothing is known of it; a run that did not succeed for any other reason, having been cut short, say, has a
    case of its own that is an error. What is no matter for the engine is skipped. Whatever is suspicious is a case, too, and a
    failure if that keeps the run from succeeding."""
    whole = Element("testsuites", name="fencepost")
    failed = opening is not None and _guarantees(whole, opening)
    for (name, instance, _), group in groupby(verdicts, key=_instance):
        rows = list(group)
        failed |= any(row.failed for row in rows)
        open_still = sum(row.open for row in rows)
        left, failures = rows[0].checked.findings.left, sum(row.failed for row in rows) - open_still
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
    if status != ExitStatus.HOLDS and not failed:
        case = SubElement(_suite(whole, "run", 1, 0, 1), "testcase", classname="fencepost", name="run")
        SubElement(case, "error", type=status.name.lower(), message=notes[-1] if notes else "nothing was checked")
    for count in ("tests", "failures", "errors"):
        whole.set(count, str(sum(int(suite.get(count, "0")) for suite in whole)))
    indent(whole)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(whole, encoding="unicode") + "\n"


def _guarantees(whole: Element, opening: Opening) -> bool:
    """A case for each guarantee; whether one of them falls short."""
    kinds = {"open": "error"}
    rows = [(row, opening.of(row)) for row in opening.now.rows]
    errors = sum(any(s.kind == "open" for s in short) for _, short in rows)
    failures = sum(any(s.kind != "open" for s in short) for _, short in rows)
    suite = _suite(whole, f"guarantees of {opening.now.cluster.file}", len(rows), failures, errors)
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
