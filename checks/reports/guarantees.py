"""What settings guarantee, as reports tell it: a row for each guarantee, and what falls short of what is asked for."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.establishing import Established
from fencepost.checks.questions.ledger_guarantees import Sizes
from fencepost.checks.questions.requirements import Requirement
from fencepost.checks.reports.policy_change import PolicyChange
from fencepost.checks.settings.broker_conf import Taken
from fencepost.checks.settings.input_files import Place
from fencepost.model.history import History
from fencepost.model.releases import SYSTEMS, Releases
from fencepost.properties.registry import Entry

UNSEEN = (
    "in which racks and regions bookies are; the bookies' own settings (journalSyncData, journalWriteData, "
    "dataIntegrityCheckingEnabled, the storage: DbLedgerStorage is assumed); autorecovery, which makes new copies; the "
    "persistence policies of namespaces, which override the quorums; how long anything takes"
)
"""What of a cluster no file of a broker shows."""

COLUMN = 22


@dataclass(frozen=True)
class Guaranteed:
    """What the settings in a file guarantee under some releases, row by row. ``first`` is the file to
    look at where no line of it is to blame, ``taken`` are the settings by the size that they
    are; ``assumed`` says that nobody told how many bookies there are."""

    file: str
    first: Place
    sizes: Sizes
    taken: dict[str, Taken[int]]
    releases: Releases
    rows: tuple[Established, ...]
    assumed: bool

    def row(self, name: str) -> Established:
        """The row of that name."""
        return next(row for row in self.rows if row.guarantee.name == name)

    def remedy(self, row: Established) -> str:
        """What would guarantee one event more; empty if that is not known."""
        if row.raised is not None:
            return ", ".join(self._setting(name, size) for name, size in self._changed(row.raised).items())
        history = history_of(row)
        if history is None:
            return ""
        if row.failure is None or len(row.failure.defects) > 1:
            return ""
        fixed = f"{SYSTEMS[history.project]} {history.fixed}" if history.fixed else ""
        return " or ".join(told for told in (history.avoided_by, fixed) if told)

    def place(self, other: Sizes | None) -> Place:
        """The line of the setting to look at: the first that is not as in the other sizes and is in a file."""
        changed = [] if other is None else list(self._changed(other))
        places = [self.taken[name].place for name in (*changed, *reversed(self.taken)) if name in self.taken]
        return next((place for place in places if place), self.first)

    def _changed(self, other: Sizes) -> dict[str, int]:
        return {name: size for name, size in vars(other).items() if size != getattr(self.sizes, name)}

    def _setting(self, name: str, size: int) -> str:
        return f"{self.taken[name].key}={size}" if name in self.taken else f"{size} {name}"


@dataclass(frozen=True)
class Shortfall:
    """A guarantee that is weaker than before (``weaker``), less than required (``short``), or not known to be neither
    (``open``), with the file and the line to look at, and the remedy if there is one."""

    kind: Literal["weaker", "short", "open"]
    row: Established
    headline: str
    text: str
    place: Place
    remedy: str


@dataclass(frozen=True)
class Opening:
    """What a report of a configuration opens with: what it guarantees, what another did before it, what falls short, and what
    it changes in the balancing of load."""

    now: Guaranteed
    before: Guaranteed | None = None
    shortfalls: tuple[Shortfall, ...] = ()
    policy: PolicyChange | None = None

    def of(self, row: Established) -> list[Shortfall]:
        """What falls short of one guarantee."""
        return [shortfall for shortfall in self.shortfalls if shortfall.row is row]


def history_of(row: Established) -> History | None:
    """What is known of the mistake that limits a guarantee, if it is one."""
    if row.failure is None or not row.failure.defect or not isinstance(row.failure.checked.entry, Entry):
        return None
    return row.failure.checked.entry.history[row.failure.defect]


def shortfalls(
    now: Guaranteed, before: Guaranteed | None, requirements: Sequence[Requirement]
) -> Iterator[Shortfall]:
    """What of the guarantees falls short of the requirements, and what is weaker than before."""
    for asked in requirements:
        for row in (now.row(name) for name in asked.names):
            if (not asked.met_by(row.figure) and not _is_endless(row)) or not row.known:
                kind: Literal["short", "open"] = "short" if row.known and (_is_limit(row) or row.guarantee.fewer) else "open"
                verb = "falls short of" if kind == "short" else "is not shown to meet"
                headline = f"{row.guarantee.name} = {row.figure} {verb} --require {asked.text}"
                yield Shortfall(kind, row, headline, _why(now, row), now.place(row.raised), _remedied(now, row))
    for row in now.rows if before else ():
        assert before is not None
        change = compared(row, before.row(row.guarantee.name))
        if change in ("weaker", "open"):
            old = before.row(row.guarantee.name).figure
            told = f"is {row.figure}, and was {old}" if change == "weaker" else "cannot be compared: a search had no end"
            headline = f"{row.guarantee.name} {told} ({before.file})"
            yield Shortfall(change, row, headline, _why(now, row), now.place(before.sizes), _remedied(now, row))


def compared(now: Established, before: Established) -> Literal["same", "stronger", "weaker", "open", "other"]:
    """How a guarantee has changed: by its number, where both have one, and it counts the same (``other``: it does not)."""
    if now.guarantee.steps_of != before.guarantee.steps_of:
        return "other"
    if now.guarantee.fewer:
        if not (now.known and before.known):
            return "open"
        return "same" if now.figure == before.figure else "stronger" if now.figure < before.figure else "weaker"
    endless = [_is_endless(row) for row in (now, before)]
    if all(endless):
        return "same"
    if (not _is_limit(now) and not endless[0]) or (not _is_limit(before) and not endless[1]):
        return "open"
    if endless[0] or endless[1]:
        return "stronger" if endless[0] else "weaker"
    return "same" if now.figure == before.figure else "stronger" if now.figure > before.figure else "weaker"


def status_of(opening: Opening) -> ExitStatus:
    """What a run that asked for guarantees alone tells its caller."""
    kinds = {shortfall.kind for shortfall in opening.shortfalls}
    kinds |= {"open" for row in opening.now.rows if not row.known}
    if "short" in kinds:
        return ExitStatus.SHORT
    return ExitStatus.WEAKER if "weaker" in kinds else ExitStatus.INCONCLUSIVE if kinds else ExitStatus.HOLDS


def as_text(opening: Opening, width: int) -> str:
    """The rows for a person, with how they differ from those before."""
    now, before = opening.now, opening.before
    bookies = f"{now.sizes.bookies} bookies" + (", assumed: --bookies names another number" if now.assumed else "")
    lines = [f"what {now.file} guarantees ({now.releases}; {bookies})"]
    if before is not None:
        lines[0] = f"{lines[0].removesuffix(')')}), against {before.file}"
    for row in now.rows:
        change = "" if before is None else f" ({_change(row, before.row(row.guarantee.name))})"
        head = f"  {row.guarantee.name:<{COLUMN - 2}}{row.figure if row.known else '?'}  "
        lines += _wrapped(head, row.sentence + change, width)
        for told in details(now, row):
            lines += _wrapped(" " * (COLUMN + 3), told, width)
    for number, told in enumerate(opening.policy.sentences if opening.policy else ()):
        lines += _wrapped(f"  {'' if number else 'load balancing':<{COLUMN + 1}}", told, width)
    lines += [f"    {command}" for command in (opening.policy.commands if opening.policy else ())]
    lines += _wrapped(f"  {'not seen':<{COLUMN + 1}}", UNSEEN, width)
    return "\n".join(lines) + "\n"


def shortfall_lines(opening: Opening) -> list[str]:
    """What falls short, and what to change, a line for each."""
    return [f"{s.kind}: {s.place}: {s.headline}{f'; {s.remedy}' if s.remedy else ''}" for s in opening.shortfalls]


def as_json(opening: Opening) -> dict[str, Any]:
    """The rows for a program."""
    now, before, found = opening.now, opening.before, opening.shortfalls
    return {
        "file": now.file,
        "bookies": now.sizes.bookies,
        "bookies_assumed": now.assumed,
        "rows": [_row(now, row, before) for row in now.rows],
        "not_seen": UNSEEN,
        "policy": opening.policy.as_json() if opening.policy else None,
        "shortfalls": [
            {
                "kind": s.kind,
                "guarantee": s.row.guarantee.name,
                "text": s.headline,
                "file": str(s.place.file),
                "line": s.place.line or None,
            }
            for s in found
        ],
    }


def _row(now: Guaranteed, row: Established, before: Guaranteed | None) -> dict[str, Any]:
    failure, old = row.failure, before and before.row(row.guarantee.name)
    return {
        "guarantee": row.guarantee.name,
        "figure": row.figure if row.known else None,
        "text": row.sentence,
        "verdict": row.verdict,
        "how": row.how,
        "fails": None
        if failure is None
        else {
            "events": failure.events,
            "property": failure.verdict.property.name,
            "defects": list(failure.defects),
            "run": failure.run,
        },
        "remedy": now.remedy(row) or None,
        "before": old.figure if old else None,
        "change": compared(row, old) if old else None,
    }


def _is_limit(row: Established) -> bool:
    """Whether it is known that no more than the figure is guaranteed."""
    return row.failure is not None and row.failure.events == row.figure + 1


def _is_endless(row: Established) -> bool:
    """Whether nothing was wrong with as many events as were asked about."""
    return not row.guarantee.fewer and row.failure is None and row.figure == row.guarantee.most


def _change(row: Established, old: Established) -> str:
    change = compared(row, old)
    if change == "other":
        return f"was {old.figure} of {old.guarantee.steps_of}, whose steps are others"
    return f"{change}: was {old.figure}" if change in ("stronger", "weaker") else {"open": "not known"}.get(change, change)


def details(now: Guaranteed, row: Established, *, run: bool = True) -> Iterator[str]:
    """How a guarantee was established, the ``run`` beyond it, and what would raise it."""
    if row.how:
        yield row.how
    if row.failure is not None:
        failure = row.failure
        if run:
            yield f"not {failure.events}: {', '.join(failure.run)}{_for_ever(row)}"
        if failure.defect:
            others = [name for name in failure.defects if name != failure.defect]
            also = f"; so it can by {', '.join(others)}" if others else ""
            history = history_of(row)
            yield f"that is {failure.defect}, a mistake of {history.release(now.releases) if history else ''}{also}"
    elif row.figure < row.guarantee.most and not row.reckoned:
        yield f"{row.figure + 1}: not known, the search had no end"
    if told := _remedied(now, row):
        yield told


def _for_ever(row: Established) -> str:
    """How a run goes on that never comes to what it should."""
    loop = row.failure.verdict.trace.loop if row.failure else None
    if loop is None or row.failure is None:
        return ""
    return "; and stops there for good" if loop.start == len(row.failure.run) else "; and so on for ever"


def _remedied(now: Guaranteed, row: Established) -> str:
    """What would guarantee one event more, in words; empty if that is not known."""
    remedy = now.remedy(row)
    return remedy and f"{'more with' if row.raised else 'avoided by'} {remedy}"


def _why(now: Guaranteed, row: Established) -> str:
    return "\n".join([row.sentence, *details(now, row)])


def _wrapped(head: str, told: str, width: int) -> list[str]:
    return textwrap.wrap(
        told, width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False, break_long_words=False
    )
