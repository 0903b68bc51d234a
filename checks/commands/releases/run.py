"""``fencepost releases``: which releases are modelled, and what was read and run of each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from fencepost.checks.commands.releases.request import ListRequest
from fencepost.checks.conformance.reproductions.registry import REPRODUCTIONS
from fencepost.checks.console.printing import in_format
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.reports.bugs_on_code import replayed
from fencepost.model.counts import count_of
from fencepost.model.releases import NEWEST, RELEASES, SYSTEMS, USUAL_KAFKA, Release
from fencepost.properties.protocols import PROTOCOLS

FORMAT = 1


@dataclass(frozen=True)
class Known:
    """What is known of a release: of the known bugs how many it ``has``, ``lacks``, and how many are ``unread``; what became of
    those that were ``replayed`` on its classes, by verdict; which ``findings`` were shown on it; and what was ``left`` out."""

    project: str
    number: str
    besides: str
    has: int
    lacks: int
    unread: int
    replayed: Mapping[str, int]
    findings: Sequence[str]
    left: Sequence[str]


def run(request: ListRequest) -> ExitStatus:
    """Prints the releases."""
    known = [_known(row) for row in RELEASES]
    print(in_format(request.format, text=lambda: _text(known), json=lambda: _as_json(known)), end="")
    return ExitStatus.HOLDS


def _known(row: Release) -> Known:
    entries = [entry for entry in PROTOCOLS.values() if entry.project == row.project]
    bugs = [bug for entry in entries for bug in entry.bugs.values() if not bug.weakening]
    has = sum(row.number in bug.present for bug in bugs)
    unread = sum(row.number in bug.unread for bug in bugs)
    verdicts = Counter(each.verdict for entry in entries for each in replayed(entry.name) if each.release == row.number)
    of_system = {name: each for name, each in REPRODUCTIONS.items() if each.system == SYSTEMS[row.project]}
    shown = [name for name, each in of_system.items() if row.number in each.releases]
    left = _left(row, unread, bool(verdicts))
    return Known(row.project, row.number, _besides(row), has, len(bugs) - has - unread, unread, dict(verdicts), shown, left)


def _besides(row: Release) -> str:
    ships = (("BookKeeper", row.bookkeeper), ("ZooKeeper", row.zookeeper))
    with_ = " and ".join(f"{system} {number}" for system, number in ships if number)
    usual = "the default" if row.number in (NEWEST, USUAL_KAFKA) else "a milestone" if row.milestone else ""
    return ", ".join(filter(None, (usual, f"with {with_}" if with_ else "")))


def _left(row: Release, unread: int, replayed: bool) -> list[str]:
    said = {
        f"{count_of(unread, 'bug')} unread": unread,
        "load balancing unread": row.project == "pulsar" and not row.policies,
        "its jars are not served: only sources were read": not row.served,
        "no bug was replayed on its classes": row.served and not replayed,
        "no protocol was held against its classes": row.served and replayed and not row.held,
    }
    return [what for what, is_so in said.items() if is_so]


def _text(known: Sequence[Known]) -> str:
    return "\n".join(line for each in known for line in _lines(each)) + "\n"


def _lines(each: Known) -> Iterator[str]:
    besides = f": {each.besides}" if each.besides else ""
    yield f"{SYSTEMS[each.project]} {each.number}{besides}"
    yield f"  read  {count_of(each.has + each.lacks, 'known bug')}: {each.has} in it, {each.lacks} not"
    if each.replayed:
        verdicts = ", ".join(f"{number} {verdict}" for verdict, number in sorted(each.replayed.items()))
        yield f"  run   {count_of(sum(each.replayed.values()), 'bug')} on its classes: {verdicts}"
    if each.findings:
        yield f"  run   {count_of(len(each.findings), 'finding')} shown on it: {', '.join(each.findings)}"
    if each.left:
        yield f"  not   {'; '.join(each.left)}"


def _as_json(known: Sequence[Known]) -> str:
    return json.dumps({"format": FORMAT, "releases": [asdict(each) for each in known]}, indent=1) + "\n"
