"""``fencepost releases diff``: what there is to read in a release, by the bytecode of its methods."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from fencepost.checks.commands.releases.request import DiffRequest
from fencepost.checks.conformance.java_side.comparing import Difference, difference, project_of
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.reports.bugs_on_code import Compared, write
from fencepost.model.counts import count_of
from fencepost.model.releases import RANGES, SYSTEMS, ReleaseError
from fencepost.properties.protocols import PROTOCOLS

FORMAT = 1

OUTCOMES = {
    "same": "{are} the same, with what they call in their class",
    "calls changed": "{are} the same, and what they call in their class is not",
    "changed": "changed",
    "gone": "{are} gone",
    "new": "{are} new",
    "nowhere": "{are} in the classes of neither",
}
"""What each outcome says of so many methods."""

SAID = {"changed": "changed", "gone": "gone", "calls changed": "calls what changed"}


def run(request: DiffRequest) -> ExitStatus:
    """Compares the releases and prints what there is to read; returns the exit status."""
    if request.record and not all(name in RANGES[project_of(request.first, request.second)] for name in _names(request)):
        raise ReleaseError("--record keeps what was found of releases that were read: name two of these")
    reporter = Reporter(quiet=request.quiet)
    reporter.begin("releases")
    try:
        found = difference(request.first, request.second, tuple(PROTOCOLS.values()), reporter.telling)
    finally:
        reporter.end()
    if request.record:
        for entry in PROTOCOLS.values():
            if rows := found.of_bugs(entry):
                write(entry.name, (Compared(name, found.first, found.second, changed) for name, changed in rows.items()))
    print(in_format(request.format, text=lambda: _text(found), json=lambda: _as_json(found)), end="")
    return ExitStatus.HOLDS


def _names(request: DiffRequest) -> tuple[str, str]:
    return request.first, request.second


def _text(found: Difference) -> str:
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Difference) -> Iterator[str]:
    system = SYSTEMS[found.project]
    yield f"{system} {found.first} and {found.second}: {count_of(len(found.changes), 'method')} that actions or bugs name"
    for outcome, said in OUTCOMES.items():
        if number := len(found.outcome(outcome)):
            yield f"  {number} {said.format(are='is' if number == 1 else 'are')}"
    to_read = found.to_read
    with_bugs = [method for method in to_read if found.standing[method].bugs]
    yield from _section(found, "to read first: known bugs stand on it", with_bugs)
    yield from _section(found, "to read then", [method for method in to_read if method not in with_bugs])
    if found.still:
        yield ""
        yield f"in {found.second} unread, as in {found.first}: each method of these bugs is the same"
        yield from _grouped(found.still)
    if found.without_methods:
        yield ""
        yield "not compared: these bugs name no method"
        yield from _grouped(found.without_methods)


def _grouped(names: Sequence[str]) -> Iterator[str]:
    """A line for each protocol, with what belongs to it."""
    yield from (f"  {line}" for line in _by_protocol(names).split("; ") if line)


def _section(found: Difference, title: str, methods: Sequence[str]) -> Iterator[str]:
    if methods:
        yield ""
        yield title
    for method in methods:
        change, stands = found.changes[method], found.standing[method]
        calls = f" {', '.join(change.callees)}" if change.callees else ""
        outcome = "calls changed" if change.callees else change.outcome
        yield f"  {method}: {SAID[outcome]}{':' if calls else ''}{calls}"
        if stands.bugs:
            yield f"    bugs     {_by_protocol(stands.bugs)}"
        if stands.actions:
            yield f"    actions  {_by_protocol(stands.actions)}"


def _by_protocol(names: Sequence[str]) -> str:
    """Names that have their protocol before them, each protocol said once."""
    of: dict[str, list[str]] = {}
    for protocol, _, name in (each.partition(": ") for each in names):
        of.setdefault(protocol, []).append(name)
    return "; ".join(f"{protocol} {', '.join(own)}" for protocol, own in of.items())


def _as_json(found: Difference) -> str:
    content = {
        "format": FORMAT,
        "project": found.project,
        "first": found.first,
        "second": found.second,
        "methods": [
            {
                "method": method,
                "outcome": change.outcome,
                "callees_changed": list(change.callees),
                "actions": list(found.standing[method].actions),
                "bugs": list(found.standing[method].bugs),
            }
            for method, change in found.changes.items()
        ],
        "to_read": list(found.to_read),
        "still_there_unread": list(found.still),
        "bugs_without_methods": list(found.without_methods),
    }
    return json.dumps(content, indent=1) + "\n"
