"""What another configuration or release changes: the known bugs that it brings and takes, and the balancing of load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.answers.changes import BugChange, Bugs, Met, Reach
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
    reach = [(name, change.reach.get(name, NOT_ASKED)) for name in change.come]
    met = [f"{name}: {each.met.matter.says}" for name, each in reach if each.met is not None]
    users = f", and users can meet {len(met)} of them with these settings: {'; '.join(met)}"
    apart = Counter(why for _, each in reach if (why := _apart(each)))
    others = "".join(f"; {number} {why}" for why, number in apart.items())
    return f"{come}{users if met else ', none that users were found to meet with these settings'}{others}. {rest}."


def _apart(reach: Reach) -> str:
    """Why a bug that comes is not counted; empty if users meet it, or if it costs them nothing."""
    if reach.is_accepted:
        return "accepted"
    if reach.first is None and reach.gap:
        return "of which it is not known"
    if reach.met is None and reach.only_if:
        return f"only if {_acts(reach.only_if)}"
    return "left out, since it does not happen here (--never)" if reach.met is None and reach.left_out else ""


def _acts(only_if: Iterable[Met]) -> str:
    """The acts that bring it about, in words."""
    return " or ".join(dict.fromkeys(act for met in only_if for act in met.acts))


def rows(change: BugChange) -> Iterator[tuple[str, list[str]]]:
    """What comes and what goes, each with whether it applies, what it costs, what avoids it and how to see it."""
    for verb, applies, bugs in (("comes", "applies", change.come), ("goes", "applied", change.go)):
        for name, several in bugs.items():
            reach = change.reach.get(name, NOT_ASKED)
            lines = [f"{applies}: {_applies(reach)}", *_besides(reach), _known(several[0])]
            shown = f"fencepost check {several[0].entry.name} --bug {name}" if reach.first is None else command(reach.first.way)
            yield f"{verb}: {name} ({_protocols(several)})", [*lines, *([f"run: {shown}"] if verb == "comes" else [])]


def in_brief(change: BugChange) -> Iterator[tuple[str, list[str]]]:
    """What comes and goes, those that users meet with what it takes and what avoids it, the others by their names."""
    for verb, bugs in (("comes", change.come), ("goes", change.go)):
        others = dict[str, list[str]]()
        for name, several in bugs.items():
            reach, facts = change.reach.get(name, NOT_ASKED), several[0].bug
            if reach.met is None:
                others.setdefault(_why_apart(reach), []).append(name)
                continue
            matter, way = reach.met.matter, reach.met.way
            needs = f"{matter.says}, which needs {', '.join(way.needs) or 'nothing else'}"
            avoids = facts.avoided_by is not None and facts.avoided_by.avoids(matter.name)
            avoided = f"avoided by {facts.avoided_by.where_it_avoids()}; " if facts.avoided_by and avoids else ""
            known = [f"{avoided}{facts.fix}; the run: {command(way)}"] if verb == "comes" else []
            yield f"{verb}: {name}: {facts.plain or facts.costs}", [needs, *_besides(reach), *known]
        for why, names in others.items():
            yield f"{verb}, {why}: {', '.join(names)}", []


def _besides(reach: Reach) -> Iterator[str]:
    """What users meet besides what a row says of a bug first: if an administrator acts, and what is not known."""
    for each in reach.only_if if reach.met is not None else reach.only_if[1:]:
        yield f"only if {_acts([each])}: {each.matter.says}"
    if reach.first is not None and reach.gap:
        yield f"and it is not known what else ({reach.gap})"


def _why_apart(reach: Reach) -> str:
    """Why users need not look at a bug first."""
    if reach.only_if:
        return f"only if {_acts(reach.only_if)} ({'; '.join(dict.fromkeys(met.matter.says for met in reach.only_if))})"
    if reach.gap:
        return f"and it is not known what of it ({reach.gap})"
    if apart := _apart(reach):
        return apart
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
            "question": reach.first.matter.name if reach.first else None,
            "needs": list(reach.first.way.needs) if reach.first else [],
            "only_if": [{"question": each.matter.name, "acts": list(each.acts)} for each in reach.only_if],
            "avoided_by": str(facts.avoided_by) if facts.avoided_by else None,
            "fixed": facts.fixed or None,
            "upstream": list(upstream(facts)),
        }
    return rows


def _protocols(bugs: Sequence[KnownBug]) -> str:
    return ", ".join(bug.entry.name for bug in bugs)


def _applies(reach: Reach) -> str:
    """Whether users meet it with the settings, and by which events."""
    if reach.first is not None:
        needs, says = reach.first.way.needs, reach.first.matter.says
        when = "yes" if reach.met is not None else f"only if {_acts([reach.first])}"
        return f"{when}: {says} (needs {', '.join(needs) or 'nothing else'})"
    if reach.gap:
        return f"unknown: {reach.gap}"
    if apart := _apart(reach):
        return apart
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
