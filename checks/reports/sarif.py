"""A run in the Static Analysis Results Interchange Format, SARIF 2.1.0, as code scanning reads it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from urllib.parse import quote

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.answers.ways import Answer, in_order
from fencepost.checks.questions.baseline import Doubt
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.guarantees.judging import Shortfall
from fencepost.checks.reports.answers import covered, headline, in_short, left_out, ordered
from fencepost.checks.reports.decisions import changed
from fencepost.checks.reports.finished import (
    FinishedRun,
    Judged,
    as_in_repository,
    established_of,
    judged,
    place_of,
    refined_by,
)
from fencepost.checks.reports.guarantees import Opening, unseen, why
from fencepost.checks.settings.cluster_settings import Stop
from fencepost.model.language import Location
from fencepost.properties.vocabulary import Property
from fencepost.traces.trace import Trace
from fencepost.traces.wording.text import changes

ABSOLUTE = "file://"


def artifact(file: str) -> dict[str, str]:
    """A file as SARIF refers to it, relative to the sources if the file is among them."""
    if file.startswith("/"):
        return {"uri": f"{ABSOLUTE}{quote(file)}"}
    return {"uri": quote(file), "uriBaseId": "%SRCROOT%"}


def physical(place: Place) -> dict[str, object]:
    """A place as SARIF has it. Code scanning shows no result without a line: where none is to blame it is the first."""
    return {"artifactLocation": artifact(place.file.as_posix()), "region": {"startLine": place.line or 1}}


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def log(rules: Iterable[dict[str, object]], invocation: dict[str, object], results: Iterable[dict[str, object]]) -> str:
    """The text of a log with one run."""
    driver = {"name": "Fencepost", **_version(), "rules": list(rules)}
    run = {"tool": {"driver": driver}, "invocations": [invocation], "results": list(results)}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def rule(name: str, text: str, help_text: str, *, level: str = "error", **properties: object) -> dict[str, object]:
    """A rule as code scanning shows it: ``text`` says what it is about, the first line of it in short, and ``help_text`` what
    a reader can do."""
    described: dict[str, object] = {
        "id": name,
        "shortDescription": {"text": text.partition("\n")[0]},
        "fullDescription": {"text": text},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": level},
    }
    return described | ({"properties": properties} if properties else {})


def _version() -> dict[str, str]:
    """The version of the installed package; nothing where it runs from its sources."""
    try:
        return {"version": version("fencepost")}
    except PackageNotFoundError:
        return {}


STARTS = "starts"
"""The rule that brokers start."""

KINDS = {"yes": "fail", "for a while": "fail", "as ordered": "informational", "no": "pass", "unknown": "open"}
"""By the answer, what SARIF calls such a result. What settings order is nothing to mend."""


def answer_id(answer: Answer) -> str:
    """The name of the rule of a question."""
    return f"answer/{answer.matter.name}"


def answer_rule(answer: Answer) -> dict[str, object]:
    """The rule of a question."""
    helps = "The message has each way in which it happens. To see the ways one by one: fencepost check --conf FILE --way N"
    return rule(answer_id(answer), answer.matter.asks, helps, kind="answer", tags=["answer"])


def answer_message(answer: Answer) -> str:
    """Yes or no in the first line, then each way, what settings order, and what keeps other bugs from it."""
    ways = (f"{number}. {in_short(way)}" for number, way in answer.numbered)
    lines = [*ways, *left_out(answer), *ordered(answer), *covered(answer)]
    return "\n".join([headline(answer), *(["", *lines] if lines else [])])


def answer_result(answer: Answer) -> dict[str, object]:
    """The result of a question, with the names of the ways; apart from where it is in the repository."""
    kind = KINDS[answer.value]
    return {
        "ruleId": answer_id(answer),
        "kind": kind,
        "level": "error" if kind == "fail" else "none",
        "message": {"text": answer_message(answer)},
        "properties": {"answer": answer.value, "ways": [way.name for way in answer.ways]},
    }


def as_sarif(run: FinishedRun) -> str:
    """The run as SARIF: a rule for each property that was checked, a result for each verdict that is not as it should be, for
    each guarantee that falls short, and what starts no more, at the line of the setting, and for each question of a user,
    whatever the answer. What a baseline accepts is a suppressed result with its reason, a refinement that holds a
    notification, and what no model has a warning.

    The steps of a trace are its code flow, each at the line of its action. A result's fingerprint depends on the instance and
    the property alone, so that it stays one alert when the shortest trace or the code around it changes.
    """
    rows, opening, suspicious = list(judged(run)), run.opening, run.suspicious
    rules = {_rule_id(row): _rule(row) for row in rows}
    rules |= {_suspicious_id(doubt): _suspicious_rule(doubt) for doubt in suspicious}
    short, answers = ((), ()) if opening is None else (opening.shortfalls, opening.answers)
    rules |= {_guarantee_id(row): _guarantee_rule(row) for row in (opening.now.rows if opening else ())}
    rules |= {answer_id(answer): answer_rule(answer) for answer in answers}
    stopped = opening.stopped.stops if opening is not None and opening.stopped is not None else ()
    rules |= (
        {STARTS: rule(STARTS, "Brokers start with the settings.", "The message has the remedy.", kind="starts")}
        if stopped
        else {}
    )
    numbers = {name: number for number, name in enumerate(rules)}
    remarks = [*run.notes, *changed(opening), *filter(None, (established_of(row.verdict) for row in rows))]
    not_judged = () if opening is None else unseen(opening)
    invocation = {
        "executionSuccessful": run.status not in (ExitStatus.EVALUATION, ExitStatus.INCONCLUSIVE),
        "exitCode": int(run.status),
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": text}}
            for level, texts in (("note", remarks), ("warning", not_judged))
            for text in texts
        ],
    }
    results = [
        *(_result(row, numbers[_rule_id(row)]) for row in rows if row.failed or row.verdict.accepted is not None),
        *(_shortfall(shortfall, numbers[_guarantee_id(shortfall.row)]) for shortfall in short),
        *(_stop(stop, numbers[STARTS]) for stop in stopped),
        *(_suspicion(doubt, numbers[_suspicious_id(doubt)]) for doubt in suspicious),
        *(_answer(answer, numbers[answer_id(answer)], opening, _accepted(rows, opening)) for answer in answers if opening),
    ]
    return log(rules.values(), invocation, results)


def _rule_id(row: Judged) -> str:
    return f"{row.checked.entry.name}/{row.verdict.property.name}"


def _rule(row: Judged) -> dict[str, object]:
    prop: Property = row.verdict.property
    refines = {"refines": coarse} if (coarse := refined_by(row.verdict)) else {}
    name, protocol = _rule_id(row), row.checked.entry.name
    helps = f"The message has the shortest run. To search for it again: fencepost check {protocol} --property {prop.name}"
    return rule(name, prop.doc, helps, kind=prop.kind, **refines, tags=[protocol])


def _result(row: Judged, rule: int) -> dict[str, object]:
    marks = fingerprints(row.checked.entry.name, row.checked.instance.name, row.settings, row.verdict.property.name)
    result: dict[str, object] = {
        "ruleId": _rule_id(row),
        "ruleIndex": rule,
        "kind": "open" if row.open else "fail",
        "level": "none" if row.open else "error",
        "message": {"text": f"{row.headline}\n\n{row.text}"},
        "locations": [_region(row.place)],
        "partialFingerprints": marks,
        **_suppressed(row.verdict.accepted),
    }
    if isinstance(row.verdict.trace, Trace):
        result["codeFlows"] = [{"threadFlows": [{"locations": _flow(row, row.verdict.trace)}]}]
    return result


def _guarantee_id(row: Established) -> str:
    return f"guarantee/{row.guarantee.name}"


def _guarantee_rule(row: Established) -> dict[str, object]:
    helps = "The message says what raises it. To see the run that exceeds it: fencepost check --conf FILE --guarantees --all"
    return rule(_guarantee_id(row), row.sentence, helps, kind="guarantee", tags=[row.guarantee.entry.name])


def _shortfall(shortfall: Shortfall, rule: int) -> dict[str, object]:
    is_open, place = shortfall.kind == "open", as_in_repository(shortfall.place)
    return {
        "ruleId": _guarantee_id(shortfall.row),
        "ruleIndex": rule,
        "kind": "open" if is_open else "fail",
        "level": "none" if is_open else "error",
        "message": {"text": f"{shortfall.headline}\n\n{why(shortfall)}"},
        "locations": [_region(place)],
        "partialFingerprints": fingerprints(shortfall.kind, shortfall.row.guarantee.name, place.file.as_posix()),
    }


def _stop(stop: Stop, rule: int) -> dict[str, object]:
    return {
        "ruleId": STARTS,
        "ruleIndex": rule,
        "kind": "fail",
        "level": "error",
        "message": {"text": stop.why},
        "partialFingerprints": fingerprints(STARTS, stop.why),
        **({"locations": [_region(as_in_repository(stop.place))]} if stop.place else {}),
    }


def _accepted(rows: Iterable[Judged], opening: Opening) -> dict[str, str]:
    """The known bugs that are accepted, by a baseline or by the profile, each with the reason that is given."""
    accepted = {name: "" for answer in opening.answers for name in answer.accepted}
    verdicts = (row.verdict for row in rows if row.verdict.property.kind == "known bug")
    return accepted | {v.property.name: v.accepted for v in verdicts if v.accepted is not None}


def _answer(answer: Answer, rule: int, opening: Opening, accepted: Mapping[str, str]) -> dict[str, object]:
    """The answer; it is suppressed if all that is left of it are known bugs that are accepted."""
    place = as_in_repository(opening.now.cluster.first)
    marks = fingerprints(answer_id(answer), place.file.as_posix())
    located = {"locations": [_region(place)], "partialFingerprints": marks}
    return {"ruleIndex": rule, **answer_result(answer), **located, **_suppressed(_reason(answer, accepted))}


def _reason(answer: Answer, accepted: Mapping[str, str]) -> str | None:
    """Why an answer is accepted: the known bugs that it rests on, with the reasons; None if it rests on anything else."""
    ways = in_order(answer.lasting, answer.never, accepted)
    if not ways.accepted or ways.count or ways.only_if or answer.gaps:
        return None
    return "; ".join(f"{way.name}: {accepted[way.name]}" if accepted[way.name] else way.name for way in ways.accepted)


def fingerprints(*identity: str) -> dict[str, str]:
    """What makes a result the same alert in another run."""
    fingerprint = hashlib.sha256(json.dumps(identity).encode()).hexdigest()
    # GitHub looks only at the second, which it would otherwise make up from the text of the line
    return {"instanceAndProperty/v1": fingerprint, "primaryLocationLineHash": fingerprint}


def _suspicious_id(doubt: Doubt) -> str:
    return f"suspicious/{doubt.suspicion.kind}"


def _suspicious_rule(doubt: Doubt) -> dict[str, object]:
    text = f"success may rest on nothing: {doubt.suspicion.kind.replace('-', ' ')}"
    helps = "See whether the instance should contain it. --baseline FILE accepts it, --strict fails on it."
    return rule(_suspicious_id(doubt), text, helps, level="warning", kind="suspicion", tags=["suspicious"])


def _suspicion(doubt: Doubt, rule: int) -> dict[str, object]:
    suspicion = doubt.suspicion
    return {
        "ruleId": _suspicious_id(doubt),
        "ruleIndex": rule,
        "kind": "fail",
        "level": "error" if doubt.strict else "warning",
        "message": {"text": str(doubt)},
        "locations": [_location(suspicion.location)],
        "partialFingerprints": fingerprints(doubt.protocol, doubt.instance, suspicion.kind, suspicion.subject),
        **_suppressed(doubt.accepted),
    }


def _suppressed(reason: str | None) -> dict[str, object]:
    """That a result is accepted, with the reason; nothing if it is not."""
    if reason is None:
        return {}
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": reason or "no reason is given"}]}


def _flow(row: Judged, trace: Trace) -> list[dict[str, object]]:
    protocol = row.checked.protocol
    actions = {action.label: action for action in protocol.actions}
    flow = []
    for number, (before, step) in enumerate(zip(trace.states, trace.steps, strict=False), start=1):
        action = actions[step.action]
        text = " ".join(changes(protocol.variables, before, step.state)) or "changes nothing"
        location = _location(action.location, f"{action.actor}: {action.label}: {text}")
        flow.append({"location": location, "executionOrder": number})
    return flow


def _location(location: Location, message: str = "") -> dict[str, object]:
    return _region(place_of(location)) | ({"message": {"text": message}} if message else {})


def _region(place: Place) -> dict[str, object]:
    return {"physicalLocation": physical(place)}
