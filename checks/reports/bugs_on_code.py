"""The rows beside known bugs: which were reproduced on real code, and whose methods were compared from release to release."""

from __future__ import annotations

import builtins
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from fencepost.model.counts import count_of
from fencepost.model.releases import numbers, release

FORMAT = 2
BY = "fencepost conform bugs"


@dataclass(frozen=True)
class Replayed:
    """A bug, replayed on one release.

    ``verdict`` is *reproduced* (the code takes all ``steps`` as the model with the bug does, and its ``end`` violates the
    ``property``), *gone* (a release that is not said to have it parts from that run, ``why`` says where), *not reproduced* (the
    same of one that is said to have it), *seen elsewhere* or *gone elsewhere* (another command or a test of ours shows that on
    this release, ``why`` says which) or *not tried* (``why``).
    """

    target: str
    bug: str
    release: str
    verdict: str
    why: str = ""
    property: str = ""
    steps: tuple[str, ...] = ()
    end: str = ""

    @builtins.property
    def system(self) -> str:
        """The project whose release it is."""
        return release(self.release).project


def text(replays: Sequence[Replayed]) -> str:
    """The report for a person."""
    lines = []
    for each in replays:
        lines.append(f"{each.bug} on {each.system} {each.release}: {each.verdict}")
        if each.verdict == "reproduced":
            lines.append(f"  {each.property} is violated after {count_of(len(each.steps), 'step')}: {each.end}")
        elif each.why:
            lines.append(f"  {each.why}")
    counts = Counter(each.verdict for each in replays)
    lines.append(", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no bug was replayed")
    return "\n".join(lines) + "\n"


def as_json(replays: Sequence[Replayed]) -> str:
    """The report for programs."""
    content: dict[str, object] = {"format": FORMAT, "bugs": [asdict(each) for each in replays]}
    return json.dumps(content, indent=1) + "\n"


def as_row(each: Replayed, on: str) -> str:
    """The line beside the bugs that records a replay, with the day on which it was."""
    done = {name: value for name, value in asdict(each).items() if name != "target" and value}
    return json.dumps({**done, "steps": "; ".join(each.steps), "by": BY, "on": on}, ensure_ascii=False) + "\n"


def read_row(target: str, line: str) -> Replayed:
    """The replay that a line records of the bugs of a target."""
    row = {name: value for name, value in json.loads(line).items() if name not in ("by", "on")}
    return Replayed(target=target, **{**row, "steps": tuple(filter(None, row["steps"].split("; ")))})


_ROOMS = Path(__file__).parents[2] / "properties"


def rows_of(protocol: str) -> Path:
    """The file beside the bugs of a protocol that has a line for each that was replayed on a release."""
    return _ROOMS / protocol / "reproduced.jsonl"


@cache
def replayed(protocol: str) -> tuple[Replayed, ...]:
    """What was replayed of the bugs of a protocol; nothing where none was."""
    file, target = rows_of(protocol), protocol.replace("_", "-")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return tuple(read_row(target, line) for line in lines)


@cache
def _everywhere() -> tuple[Replayed, ...]:
    return tuple(row for file in sorted(_ROOMS.glob("*/reproduced.jsonl")) for row in replayed(file.parent.name))


def seen_anywhere(bug: str) -> tuple[str, ...]:
    """The releases on whose classes the bug was seen, the oldest first, in whichever protocol has it."""
    rows = [row for row in _everywhere() if row.bug == bug and _is_seen(row)]
    return tuple(release for _, release in sorted({(numbers(row.system).index(row.release), row.release) for row in rows}))


def _is_seen(row: Replayed) -> bool:
    elsewhere = row.verdict == "seen elsewhere" and not row.why.startswith("by `fencepost reproduce ")
    return row.verdict == "reproduced" or elsewhere


def seen(protocol: str, bug: str) -> Mapping[str, str]:
    """By release, the oldest first, how the bug was seen as that protocol has it."""
    rows = [row for row in replayed(protocol) if row.bug == bug and row.verdict == "reproduced"]
    rows.sort(key=lambda row: numbers(row.system).index(row.release))
    return {row.release: f"{row.property} is violated after the {count_of(len(row.steps), 'step')} of its run" for row in rows}


@dataclass(frozen=True)
class Compared:
    """A bug whose methods were compared in two releases: those of them that are ``changed`` in ``release`` or call what is."""

    bug: str
    first: str
    release: str
    changed: tuple[str, ...] = ()

    def __str__(self) -> str:
        those = f"{', '.join(self.changed)} changed" if self.changed else "the same"
        return f"methods compared up to {self.release}: since {self.first} {those}"


def compared_file(protocol: str) -> Path:
    """The file beside the bugs of a protocol that has a line for each whose methods were compared."""
    return rows_of(protocol).with_name("compared.jsonl")


@cache
def compared(protocol: str) -> dict[str, Compared]:
    """The newest comparison of each bug of a protocol; nothing where none was made."""
    file = compared_file(protocol)
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = (json.loads(line) for line in lines)
    return {row["bug"]: Compared(row["bug"], row["first"], row["release"], tuple(row["changed"])) for row in rows}


def write(protocol: str, rows: Iterable[Compared]) -> None:
    """Writes the rows of a protocol in the place of those that it has; in a checkout."""
    text = "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
    compared_file(protocol).write_text(text, encoding="utf-8")
    compared.cache_clear()
