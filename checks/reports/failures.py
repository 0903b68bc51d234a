"""What of a run is not as it should be, for the formats of continuous integration: one row for each such verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict
from fencepost.checks.reports.histories import about
from fencepost.checks.reports.refinements import refused_by
from fencepost.checks.settings.files.input_files import Place
from fencepost.model.counts import count_of
from fencepost.model.language import Location
from fencepost.properties.bugs import Bug
from fencepost.properties.registry import written
from fencepost.traces.wording.text import show

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Configured:
    """The settings that a run is about: the file to look at where no line is to blame, and the line where each key counts."""

    first: Place
    places: Mapping[str, Place]

    def exposing(self, bug: Bug | None) -> Place:
        """The line of the setting that exposes a known bug: one by which it is avoided; else the file, and no line of it."""
        words = re.findall(r"\w+", bug.avoided_by.setting) if bug and bug.avoided_by else []
        return next((self.places[word] for word in words if word in self.places), self.first)


@dataclass(frozen=True)
class Judged:
    """One verdict of a run, with the instance that it is of and the file of its trace, if that was written; and the settings
    that the run is about, if it is about some."""

    checked: Checked
    verdict: Verdict
    file: Path | None
    configured: Configured | None = None

    @property
    def place(self) -> Place:
        """The file and the line to look at: of a known bug of a configuration the user's own, else the property's."""
        location = self.verdict.property.location
        if self.configured is None or self.verdict.property.kind != "known bug":
            return place_of(location)
        return as_in_repository(self.configured.exposing(self.verdict.bug))

    @property
    def failed(self) -> bool:
        """Whether it keeps the run from succeeding."""
        return self.verdict.failure != ExitStatus.HOLDS

    @property
    def open(self) -> bool:
        """Whether it only says that nothing is known."""
        return self.verdict.failure == ExitStatus.INCONCLUSIVE

    @property
    def headline(self) -> str:
        """What came of the property, in a line."""
        name, steps = self.verdict.property.name, self.verdict.reach.get("steps")
        if self.open:
            return f"{name} is inconclusive: {self.verdict.note}"
        if self.verdict.verdict == "known bug":
            of, shows = self.checked.instance.name, self.verdict.violated.name
            return f"{name}, {of}: {shows} is violated" + (f" in {count_of(int(steps), 'step')}" if steps is not None else "")
        if self.verdict.property.strict:
            return f"{name} holds, and its violation was expected: {self.verdict.property.strict}"
        if self.verdict.property.kind == "sometimes":
            return f"{name} is unreached: {self.verdict.note}"
        if self.verdict.trace is None:
            return f"{name} is violated: {self.verdict.note}"
        length = f" in {count_of(int(steps), 'step')}" if steps is not None else ""
        return f"{name} is violated{length}" + (f": {refused}" if (refused := refused_by(self.verdict)) else "")

    @property
    def text(self) -> str:
        """What the property says, of which instance, and the trace."""
        bug = self.verdict.bug if self.verdict.verdict == "known bug" else None
        explanation = about(bug, self.checked.entry.name, self.verdict.property.name) if bug else ()
        lines = [self.verdict.property.doc, *explanation]
        lines.append(f"{self.checked.entry.name}, {self.checked.instance.name}: {self.settings}")
        if self.file is not None:
            lines.append(f"trace: {self.file}")
        if self.verdict.trace is not None and self.failed:
            lines += ["", show(self.verdict.trace, self.checked.protocol, violated=self.verdict.violated).rstrip()]
        return "\n".join(lines)

    @property
    def settings(self) -> str:
        """The instance: its parameters and bugs."""
        protocol = self.checked.protocol
        settings = [f"{name}={written(value)}" for name, value in protocol.parameters.items()]
        return " ".join([*settings, *(f"bug={bug}" for bug in protocol.active)])


def judged(everything: Sequence[Checked], files: Mapping[int, Path], configured: Configured | None = None) -> Iterator[Judged]:
    """Every verdict of a run in order; ``files`` are the trace files by the verdict's place."""
    rows = ((checked, verdict) for checked in everything for verdict in checked.findings.verdicts)
    return (Judged(checked, verdict, files.get(place), configured) for place, (checked, verdict) in enumerate(rows))


def place_of(location: Location) -> Place:
    """A location, with the file as Fencepost's repository has it, or else as the repository does that it is in."""
    path = Path(location.file).resolve()
    place = Place(path, location.line)
    return Place(path.relative_to(ROOT), location.line) if path.is_relative_to(ROOT) else as_in_repository(place)


def as_in_repository(place: Place) -> Place:
    """A place, with the file as its git repository names it; without one as the folder does in which the command runs, if it
    is in that."""
    whole = place.file.resolve()
    roots = [folder for folder in whole.parents if (folder / ".git").exists()][:1]
    root = next((folder for folder in (*roots, Path.cwd()) if whole.is_relative_to(folder)), None)
    return Place(whole if root is None else whole.relative_to(root), place.line)
