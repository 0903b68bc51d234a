"""What holding a protocol against real code showed: as text, as JSON and as JUnit XML."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fencepost.checks.conformance.running.adapter import Adapter, shown
from fencepost.checks.conformance.running.campaign import Result
from fencepost.checks.conformance.running.pair import Outcome
from fencepost.checks.conformance.targets import Asked, Target
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.counts import count_of
from fencepost.model.language import Protocol
from fencepost.properties.registry import written
from fencepost.traces.wording.text import show

FORMAT = 1
SHOWN_BRANCHES = 5
"""Branches that no run took which the text names; the format for programs has all."""


@dataclass(frozen=True)
class Held:
    """A protocol that was held against code, and what came of it."""

    target: Target
    asked: Asked
    adapter: Adapter
    result: Result
    instances: tuple[Protocol, ...]
    seed: int

    @property
    def name(self) -> str:
        """What was held against what."""
        storage = f", {self.asked.storage} storage" if self.asked.storage else ""
        sockets = ", through ZooKeeper's sockets" if self.asked.sockets else ""
        return f"{self.target.name} on {self.target.system} {self.asked.release}{storage}{sockets}"

    def bugs(self) -> list[str]:
        """The bugs that the model has."""
        return sorted({name for protocol in self.instances for name in protocol.active})

    def untaken(self) -> dict[str, str]:
        """The actions that no run took, each with why."""
        taken, seen = self.result.coverage.names(), self.result.coverage.seen
        reasons = {}
        for name in self.result.actions():
            if not taken[name]:
                usual = "was enabled, and not chosen or not tried" if name in seen else "was not enabled in any run"
                covered = name in self.adapter.covered or name in self.adapter.eager
                reasons[name] = usual if covered else self.adapter.not_covered.get(name, "the adapter does not take it")
        return reasons

    def unobserved(self) -> list[str]:
        """The families of variables that nothing shows, budgets left out."""
        known = {family for observable in self.adapter.observables for family in observable.variables}
        known |= set(self.adapter.shown_by_requests)
        families = dict.fromkeys(v.family for protocol in self.instances for v in protocol.variables)
        budgets = {counter.family for protocol in self.instances for counter in protocol.counters}
        return [family for family in families if family not in known and family not in budgets]

    def meanings(self) -> dict[str, str]:
        """What the known deviations that were met mean."""
        return {d.name: d.meaning for d in self.adapter.deviations if d.name in self.result.known}


def text(held: Held, files: Sequence[Path] = (), *, width: int = 120, colour: bool = False) -> str:
    """The report for a person, finds first."""
    lines: list[str] = []
    for outcome in held.result.outcomes():
        if not outcome.known or held.result.runs == 1:
            lines += [*_find(held, outcome, width, colour), ""]
    result, coverage = held.result, held.result.coverage
    lines.append(f"{held.name}: {count_of(result.runs, 'run')}, {count_of(result.steps, 'step')}")
    origin = held.asked.origin(held.target.system)
    rows = [origin] if origin else []
    rows += [f"the model has {', '.join(held.bugs())}"] if held.bugs() else []
    rows.append(f"{result.agreeing:,} agree at every step")
    rows += [f"{count:,} known as {name}: {held.meanings()[name]}" for name, count in sorted(result.known.items())]
    if result.unexplained:
        rows.append(f"{result.unexplained:,} differ otherwise, in {count_of(len(result.differing), 'way')}")
    names = [name for name in result.actions() if name not in held.untaken()]
    rows.append(
        f"covered: {len(names)} of {count_of(len(result.actions()), 'action')} "
        f"({len(coverage.taken):,} of {result.grounded():,} with their parameters), "
        f"{count_of(len(coverage.transitions), 'transition')}"
    )
    rows += _branch_rows(held)
    rows += [f"not covered: {name}: {why}" for name, why in held.untaken().items()]
    if held.unobserved():
        rows.append(f"not observed: {', '.join(held.unobserved())}")
    safe = {a.name: a.safe for a in held.adapter.allowances}
    rows += [
        f"the model allows more: {name} (passed over {count_of(count, 'time')}): {safe[name]}"
        for name, count in sorted(coverage.passed_over.items())
    ]
    if result.failed:
        rows.append("the harness failed: the results up to that point are shown")
    if result.interrupted:
        rows.append("interrupted: the results up to that point are shown")
    fold = textwrap.TextWrapper(width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    lines += [part for row in rows for part in fold.wrap(row)]
    lines += [f"trace: {file}" for file in files]
    since = f", {result.rate(started=True):,.0f} once it had started" if result.runs > 1 else ""
    lines.append(f"# {result.seconds:.1f} s, {result.rate():,.0f} steps/s{since}")
    return "\n".join(lines) + "\n"


def _branch_rows(held: Held) -> Iterator[str]:
    """How many branches of the actions that were taken the runs took, and which they never took: those that were open to them
    first."""
    result = held.result
    untaken, names = result.untaken_branches(), result.coverage.names()
    count = sum(bool(names[action]) for action, _ in result.branches)
    if not count:
        return
    yield f"branches: {count - len(untaken):,} of {count:,} of these actions were taken"
    ordered = sorted(untaken, key=lambda branch: branch not in result.coverage.open_branches)
    for branch in ordered[:SHOWN_BRANCHES]:
        why = "possible in a run, but not taken" if branch in result.coverage.open_branches else "not possible in any run"
        yield f"never taken: {branch[0]} where {branch[1]} ({why})"
    if len(ordered) > SHOWN_BRANCHES:
        yield f"never taken: {len(ordered) - SHOWN_BRANCHES:,} more, which --format json lists"


def _find(held: Held, outcome: Outcome, width: int, colour: bool) -> Iterator[str]:
    protocol = next(p for p in held.instances if dict(p.parameters) == dict(outcome.trace.parameters))
    yield from show(outcome.trace, protocol, width=width, colour=colour).rstrip().splitlines()
    yield ""
    if outcome.verdict == "departs":
        yield f"the code departs at {outcome.last or 'the start'}: {outcome.why}"
    elif outcome.verdict == "differs":
        yield f"the code differs after {outcome.last or 'the start'}"
        yield from (f"  {difference}" for difference in outcome.differences)
    elif outcome.verdict == "not covered":
        yield f"the code agrees so far, and the rest is not covered: {outcome.why}"
    else:
        yield "the code agrees at every step"
    yield from _mirrored(protocol, outcome)
    if outcome.known:
        yield f"known as {outcome.known}: {held.meanings()[outcome.known]}"


def _mirrored(protocol: Protocol, outcome: Outcome) -> Iterator[str]:
    """What the step after which the code differs, or at which it departs, mirrors there, with its conditions."""
    if outcome.verdict in ("departs", "differs"):
        last = next((action for action in protocol.actions if action.label == outcome.last), None)
        if last is not None and last.mirrors:
            yield f"in the code: {'; '.join(last.in_the_code)}"


def as_json(held: Held, status: ExitStatus, files: Sequence[Path] = ()) -> str:
    """The report for programs."""
    result = held.result
    content: dict[str, object] = {
        "format": FORMAT,
        "target": held.target.name,
        "protocol": held.target.protocol,
        "system": held.target.system,
        "release": held.asked.release,
        "own_build": str(held.asked.own) or None,
        "model_of": held.asked.model_of(held.target.system),
        "storage": held.asked.storage or None,
        "bugs": held.bugs(),
        "seed": held.seed,
        "exit_status": int(status),
        "runs": result.runs,
        "steps": result.steps,
        "agreeing": result.agreeing,
        "unexplained": result.unexplained,
        "interrupted": result.interrupted,
        "failed": result.failed or None,
        "known": [{"name": name, "runs": result.known[name], "meaning": text} for name, text in held.meanings().items()],
        "differences": [_as_object(outcome) for outcome in result.outcomes()],
        "covered": dict(sorted(result.coverage.names().items())),
        "transitions": len(result.coverage.transitions),
        "branches": len(result.coverage.branches),
        "never_taken": [
            {"action": action, "where": condition, "open": (action, condition) in result.coverage.open_branches}
            for action, condition in result.untaken_branches()
        ],
        "not_covered": held.untaken(),
        "not_observed": held.unobserved(),
        "allowances": [
            {"name": a.name, "safe": a.safe, "passed_over": result.coverage.passed_over[a.name]}
            for a in held.adapter.allowances
        ],
        "traces": [str(file) for file in files],
        "seconds": round(result.seconds, 3),
    }
    return json.dumps(content, indent=1) + "\n"


def _as_object(outcome: Outcome) -> dict[str, object]:
    return {
        "verdict": outcome.verdict,
        "known": outcome.known or None,
        "parameters": dict(outcome.trace.parameters),
        "bugs": list(outcome.trace.bugs),
        "steps": [step.action for step in outcome.trace.steps],
        "why": outcome.why or None,
        "different": [{"what": d.what, "model": shown(d.model), "code": shown(d.code)} for d in outcome.differences],
    }


def as_junit(held: Held, status: ExitStatus) -> str:
    """The report as JUnit XML: a case for all runs that agree, one for each known deviation, a failure for each find."""
    cases = Element("testsuites", name="fencepost")
    suite = SubElement(cases, "testsuite", name=held.name)
    settings = SubElement(suite, "properties")
    SubElement(settings, "property", name="seed", value=written(held.seed))
    result = held.result
    place = f"conform.{held.target.name}"
    agreeing = SubElement(suite, "testcase", classname=place, name="runs agree at every step")
    SubElement(agreeing, "system-out").text = f"{result.agreeing} of {result.runs}"
    for name, count in sorted(result.known.items()):
        case = SubElement(suite, "testcase", classname=place, name=f"known: {name}")
        SubElement(case, "system-out").text = f"{count} of {result.runs}: {held.meanings()[name]}"
    for outcome in result.differing:
        case = SubElement(suite, "testcase", classname=place, name=str(outcome))
        steps = "\n".join(step.action for step in outcome.trace.steps)
        SubElement(case, "failure", type=outcome.verdict, message=str(outcome)).text = steps
    errors = int(status not in (ExitStatus.HOLDS, ExitStatus.SAFETY))
    if errors:
        case = SubElement(suite, "testcase", classname="fencepost", name="run")
        message = result.failed or ("interrupted" if result.interrupted else "no step was taken")
        SubElement(case, "error", type=status.name.lower(), message=message)
    counts = {"tests": len(suite) - 1, "failures": len(result.differing), "errors": errors}
    for element in (suite, cases):
        for name, count in counts.items():
            element.set(name, str(count))
    indent(cases)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(cases, encoding="unicode") + "\n"
