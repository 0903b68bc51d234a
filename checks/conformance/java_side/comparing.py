"""Two releases compared by the methods on which the protocols stand: what there is to read in the second one, and in which
order.

A method is named by the actions that mirror it, and by the bugs that are in it (``Bug.methods``). A bug whose methods are the
same byte for byte, with what they call in their class, is in the second release as it is in the first: that is a comparison,
and no reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.conformance.java_side.bytecode import Change, Code, compare, read
from fencepost.checks.conformance.java_side.jars import jars
from fencepost.checks.conformance.java_side.mirrors import classes_of, mirrored
from fencepost.checks.conformance.java_side.toolchain import Toolchain, toolchain
from fencepost.model.releases import Project, ReleaseError, numbers
from fencepost.properties.registry import Entry


@dataclass(frozen=True)
class Stands:
    """What stands on a method: actions and bugs, each with the name of its protocol before it (``topic: terminate``)."""

    actions: tuple[str, ...] = ()
    bugs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Side:
    """One of two releases: its ``number`` or the folder of its jars, and these."""

    name: str
    jars: Sequence[Path]


@dataclass(frozen=True)
class Difference:
    """What became of the methods, and what stands on each; of the bugs of ``first`` those that are in ``second`` unread."""

    project: Project
    first: str
    second: str
    changes: Mapping[str, Change]
    standing: Mapping[str, Stands]
    still: tuple[str, ...]
    without_methods: tuple[str, ...]

    def outcome(self, name: str) -> tuple[str, ...]:
        """The methods of which that is the outcome, those on which most bugs stand first."""
        found = [method for method, change in self.changes.items() if _kind(change) == name]
        return tuple(sorted(found, key=lambda method: (-len(self.standing[method].bugs), method)))

    def of_bugs(self, entry: Entry) -> dict[str, tuple[str, ...]]:
        """Of each bug of a protocol that is in ``first``, and names methods that are there, those that are not the same now."""
        if entry.project != self.project:
            return {}
        bugs = ((name, bug.methods) for name, bug in entry.bugs.items() if self.first in bug.present and bug.methods)
        return {name: tuple(m for m in methods if not self.changes[m].is_same) for name, methods in bugs}

    @property
    def to_read(self) -> tuple[str, ...]:
        """The methods to read: those with bugs before others, and what is gone or changed before what calls what changed."""
        outcomes = ("gone", "changed", "calls changed")
        found = [(outcomes.index(kind), m) for m, c in self.changes.items() if (kind := _kind(c)) in outcomes]
        return tuple(m for _, m in sorted(found, key=lambda f: (not self.standing[f[1]].bugs, f[0], f[1])))


def _kind(change: Change) -> str:
    return "calls changed" if change.outcome == "same" and change.callees else change.outcome


def project_of(first: str, second: str) -> Project:
    """The project of two releases, one of which at least is modelled. Raises ReleaseError."""
    projects: tuple[Project, ...] = ("pulsar", "bookkeeper", "kafka")
    known = {project for project in projects for number in (first, second) if number in numbers(project)}
    if not known:
        raise ReleaseError(f"neither {first} nor {second} is modelled: nothing says whose releases they are")
    if len(known) > 1:
        raise ReleaseError(f"{first} and {second} are of different projects")
    return known.pop()


def side(project: Project, name: str, tools: Callable[[], Toolchain]) -> Side:
    """A release by its number, or the jars of a folder. Raises ToolchainError, and ReleaseError for a folder without jars."""
    folder = Path(name)
    if folder.is_dir():
        found = sorted(folder.rglob("*.jar"))
        if not found:
            raise ReleaseError(f"{name} has no jars")
        return Side(name, found)
    return Side(name, jars(classes_of(project, name), tools()))


def standing(project: Project, entries: Iterable[Entry]) -> dict[str, Stands]:
    """The methods of a project that actions or bugs of the protocols name, each with these."""
    actions: dict[str, dict[str, None]] = {}
    bugs: dict[str, dict[str, None]] = {}
    for entry in entries:
        if entry.project == project:
            for method, own in mirrored(entry).items():
                actions.setdefault(method, {}).update({f"{entry.name}: {action}": None for action in own})
            for name, bug in entry.bugs.items():
                for method in bug.methods:
                    bugs.setdefault(method, {})[f"{entry.name}: {name}"] = None
    return {m: Stands(tuple(actions.get(m, ())), tuple(bugs.get(m, ()))) for m in sorted({*actions, *bugs})}


def difference(
    first: str,
    second: str,
    entries: Sequence[Entry],
    progress: Callable[[str], None] = lambda _: None,
    tools: Callable[[], Toolchain] = toolchain,
) -> Difference:
    """Compares two releases. Raises ReleaseError, ToolchainError and SessionError."""
    project = project_of(first, second)
    progress("fetching the classes")
    sides = [side(project, name, tools) for name in (first, second)]
    methods = standing(project, entries)
    code = list[Code]()
    for each in sides:
        progress(f"reading the classes of {each.name}")
        code.append(read(each.jars, methods, tools()))
    changes = compare(code[0], code[1], methods)
    return Difference(project, first, second, changes, methods, *_unread(project, first, entries, changes))


def _unread(
    project: Project, first: str, entries: Sequence[Entry], changes: Mapping[str, Change]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The bugs of a release whose methods are all the same, and those that name no method."""
    still, without = list[str](), list[str]()
    for entry in (entry for entry in entries if entry.project == project):
        for name, bug in entry.bugs.items():
            if first in bug.present and not bug.methods:
                without.append(f"{entry.name}: {name}")
            elif first in bug.present and all(changes[method].is_same for method in bug.methods):
                still.append(f"{entry.name}: {name}")
    return tuple(still), tuple(without)
