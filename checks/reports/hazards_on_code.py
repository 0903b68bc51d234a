"""Which hazards of releases were reproduced on their real code: as text, as JSON, and as the table of the documentation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fencepost.model.counts import count_of
from fencepost.model.releases import SYSTEMS

FORMAT = 1


@dataclass(frozen=True)
class Replayed:
    """A hazard, replayed on one release: ``present`` is whether the release is said to have it.

    ``verdict`` is *reproduced* (the code takes all ``steps`` as the model with the hazard does, and its ``end`` violates the
    ``property``), *gone* (a release that is not said to have it parts from that run, ``why`` says where), *not reproduced* (the
    same of one that is said to have it), *seen elsewhere* or *gone elsewhere* (another command or a test of ours shows that on
    this release, ``why`` says which) or *not tried* (``why``).
    """

    target: str
    hazard: str
    system: str
    release: str
    present: bool
    verdict: str
    why: str = ""
    property: str = ""
    steps: tuple[str, ...] = ()
    end: str = ""


def text(replays: Sequence[Replayed]) -> str:
    """The report for a person."""
    lines = []
    for each in replays:
        lines.append(f"{each.hazard} on {each.system} {each.release}: {each.verdict}")
        if each.verdict == "reproduced":
            lines.append(f"  {each.property} is violated after {count_of(len(each.steps), 'step')}: {each.end}")
        elif each.why:
            lines.append(f"  {each.why}")
    counts = Counter(each.verdict for each in replays)
    lines.append(", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no hazard was replayed")
    return "\n".join(lines) + "\n"


def as_json(replays: Sequence[Replayed]) -> str:
    """The report for programs, and for the documentation."""
    content: dict[str, Any] = {"format": FORMAT, "hazards": [asdict(each) for each in replays]}
    return json.dumps(content, indent=1) + "\n"


def read_json(content: str) -> list[Replayed]:
    """What ``as_json`` wrote."""
    return [_replayed(each) for each in json.loads(content)["hazards"]]


def read_row(line: str) -> Replayed:
    """A row alone."""
    return _replayed(json.loads(line))


def _replayed(row: dict[str, Any]) -> Replayed:
    return Replayed(**{**row, "steps": tuple(row["steps"])})


def table(replays: Sequence[Replayed]) -> str:
    """Hazards and releases, in Markdown: a table for each target, and below it the run and the end of each."""
    parts = []
    for target in dict.fromkeys(each.target for each in replays):
        its = [each for each in replays if each.target == target]
        releases = list(dict.fromkeys(each.release for each in its))
        by = {(each.hazard, each.release): each for each in its}
        head = f"| {target} | {' | '.join(f'{SYSTEMS[its[0].system]} {release}' for release in releases)} | seen |\n"
        rows = ["|---" * (len(releases) + 2) + "|\n"]
        for hazard in dict.fromkeys(each.hazard for each in its):
            each = [by[hazard, release] for release in releases]
            rows.append(f"| `{hazard}` | {' | '.join(map(_cell, each))} | {_seen(each)} |\n")
        parts.append(head + "".join(rows))
    return "\n".join(parts)


def _cell(each: Replayed) -> str:
    return f"**{each.verdict}**" if each.verdict in ("reproduced", "seen elsewhere") else each.verdict


def _seen(its: Sequence[Replayed]) -> str:
    """What was seen of a hazard: its run and its end, and once each reason why not."""
    parts = []
    done = next((each for each in its if each.verdict == "reproduced"), None)
    if done:
        parts.append(f"`{done.property}` after {'; '.join(done.steps)}: {done.end}")
    for each in its:
        if each.why and each.why not in " ".join(parts):
            of_release = each.verdict in ("gone", "not reproduced")
            parts.append(f"{each.release}: {each.why}" if of_release else each.why)
    return ". ".join(parts).replace("|", "\\|")
