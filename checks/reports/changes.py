"""What another configuration or release changes: the known bugs that it brings and takes, and the balancing of load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.answers.changes import BugChange, Bugs, Reach
from fencepost.checks.questions.bugs.searching import KnownBug
from fencepost.checks.reports.answers import command
from fencepost.checks.reports.finished import upstream
from fencepost.model.counts import count_of

NOT_ASKED = Reach(is_asked=False)


def heading(change: BugChange) -> str:
    """From what to what."""
    return f"Known bugs that change from {change.before} to {change.now}"


def verdict(change: BugChange) -> str:
    """What a person decides by, in a sentence: how many come, and what users meet by them."""
    come = f"{count_of(len(change.come), 'known bug')} come{'s' if len(change.come) == 1 else ''}"
    rest = f"{len(change.go)} go{'es' if len(change.go) == 1 else ''}, {len(change.stay)} stay"
    if not change.come:
        return f"No known bug comes, {rest}."
    if not change.felt:
        return f"{come}, none that users were found to meet with these settings; {rest}."
    usual = [f"{name}: {says(change.reach[name])}" for name in change.felt if not change.reach[name].seldom]
    others = len(change.felt) - len(usual)
    seldom = [f"{others} only during a migration of the metadata to another store"] if others else []
    met = "; ".join([*usual, *seldom])
    return f"{come}, and users can meet {len(change.felt)} of them with these settings: {met}. {rest}."


def rows(change: BugChange) -> Iterator[tuple[str, list[str]]]:
    """What comes and what goes, each with whether it applies, what it costs, what avoids it and how to see it."""
    for name, bugs in change.come.items():
        reach = change.reach.get(name, NOT_ASKED)
        run = f"fencepost check {bugs[0].entry.name} --bug {name}" if reach.way is None else command(reach.way)
        yield f"comes: {name} ({_protocols(bugs)})", [f"applies: {_applies(reach)}", _known(bugs[0]), f"run: {run}"]
    for name, bugs in change.go.items():
        reach = change.reach.get(name, NOT_ASKED)
        yield f"goes: {name} ({_protocols(bugs)})", [f"applied: {_applies(reach)}", _known(bugs[0])]


def in_brief(change: BugChange) -> Iterator[tuple[str, list[str]]]:
    """What comes and goes, those that users meet with what it takes and what avoids it, the others by their names."""
    for verb, bugs in (("comes", change.come), ("goes", change.go)):
        others = dict[str, list[str]]()
        for name, several in bugs.items():
            reach, facts = change.reach.get(name, NOT_ASKED), several[0].bug
            if reach.way is None or reach.seldom:
                others.setdefault(_why_apart(reach), []).append(name)
                continue
            needs = f"{says(reach)}, which needs {', '.join(reach.way.needs) or 'nothing else'}"
            avoids = facts.avoided_by is not None and reach.matter is not None and facts.avoided_by.avoids(reach.matter.name)
            avoided = f"avoided by {facts.avoided_by.where_it_avoids()}; " if facts.avoided_by and avoids else ""
            known = f"{avoided}{facts.fix}; the run: {command(reach.way)}"
            yield f"{verb}: {name}: {facts.plain or facts.costs}", [needs, known] if verb == "comes" else [needs]
        for why, names in others.items():
            yield f"{verb}, {why}: {', '.join(names)}", []


def _why_apart(reach: Reach) -> str:
    """Why users need not look at a bug first."""
    if reach.way is not None:
        return "only during a migration of the metadata"
    if reach.gap:
        return f"and it is not known what of it ({reach.gap})"
    return "and no loss by it was found" if reach.is_asked else "and nothing is asked about it (--all says what it costs)"


def sentences(change: BugChange) -> Iterator[str]:
    """The same, a sentence for each bug."""
    return (f"{head}: {'; '.join(lines)}" for head, lines in rows(change))


def as_json(change: BugChange) -> dict[str, object]:
    """The same for programs, with what each bug costs."""
    return {
        "before": change.before,
        "now": change.now,
        "go": _rows(change.go, change),
        "come": _rows(change.come, change),
        "stay": list(change.stay),
    }


def _rows(bugs: Bugs, change: BugChange) -> dict[str, dict[str, object]]:
    rows = dict[str, dict[str, object]]()
    for name, several in bugs.items():
        facts, reach = several[0].bug, change.reach.get(name, NOT_ASKED)
        rows[name] = {
            "protocols": [bug.entry.name for bug in several],
            "costs": facts.costs,
            "applies": reach.applies,
            "question": reach.matter.name if reach.matter else None,
            "needs": list(reach.way.needs) if reach.way else [],
            "avoided_by": str(facts.avoided_by) if facts.avoided_by else None,
            "fixed": facts.fixed or None,
            "upstream": list(upstream(facts)),
        }
    return rows


def _protocols(bugs: Sequence[KnownBug]) -> str:
    return ", ".join(bug.entry.name for bug in bugs)


def says(reach: Reach) -> str:
    """What users meet by it; empty if they do not."""
    return reach.matter.says if reach.matter else ""


def _applies(reach: Reach) -> str:
    """Whether users meet it with the settings, and by which events."""
    if reach.way is not None:
        needs = f"needs {', '.join(reach.way.needs)}" if reach.way.needs else "needs nothing else"
        return f"yes: {says(reach)} ({needs})"
    if reach.gap:
        return f"unknown: {reach.gap}"
    return "no: no message, backlog, order or service is lost by it" if reach.is_asked else "not asked: see what it costs"


def _known(bug: KnownBug) -> str:
    """What is known of a bug: what it costs, what avoids it, and which release fixes it."""
    facts = bug.bug
    avoided = f"; avoided by {facts.avoided_by}" if facts.avoided_by else ""
    return f"in general: {facts.costs}{avoided}; {facts.fix}"


@dataclass(frozen=True)
class Change:
    """A setting, or which class runs by it, before and now; ``place`` is where it is written now, if it is."""

    key: str
    before: str
    now: str
    place: Place | None = None

    def __str__(self) -> str:
        where = f" ({self.place})" if self.place else ""
        return f"{self.key}: {self.before} -> {self.now}{where}"


@dataclass(frozen=True)
class PolicyChange:
    """What changes, the sentences that say what that means, and the commands that tell what it does to a cluster."""

    changes: tuple[Change, ...]
    lines: tuple[str, ...]
    commands: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """What changes and what that means, a sentence in a line."""
        return [*map(str, self.changes), *self.lines]

    def as_json(self) -> dict[str, object]:
        """The same for programs."""
        changes = [
            {
                "key": change.key,
                "before": change.before,
                "now": change.now,
                "file": None if change.place is None else str(change.place.file),
                "line": None if change.place is None else change.place.line or None,
            }
            for change in self.changes
        ]
        return {"changes": changes, "text": list(self.lines), "commands": list(self.commands)}
