"""A run that has ended, as every report takes it, and what of it is not as it should be: a row for each such verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict, run_status, severest
from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.baseline import Comparison, Doubt
from fencepost.checks.reports.bugs_on_code import compared, seen
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.model.counts import count_of
from fencepost.model.language import Location
from fencepost.model.releases import Releases
from fencepost.properties.bugs import Bug
from fencepost.properties.registry import written
from fencepost.traces.wording.text import refusal, show

if TYPE_CHECKING:
    from fencepost.checks.reports.guarantees import Opening


@dataclass(frozen=True)
class FinishedRun:
    """A run that has ended: what was found, what a configuration guarantees, the trace files by the verdict's place among all,
    what is suspicious, how it differs from a baseline, the cluster whose files a report can point at. ``is_part`` says that
    something was left out; ``unsettled`` is what there was no time for.

    A text has the ``notes`` and every property if it is ``whole``, else the ``remarks`` and a line for each protocol. A person
    reads the ``messages`` besides. Of a run that asked for guarantees ``alone`` nothing else was checked.
    """

    releases: Releases | None = None
    notes: Sequence[str] = ()
    is_part: bool = False
    everything: Sequence[Checked] = ()
    opening: Opening | None = None
    files: Mapping[int, Path] = field(default_factory=dict)
    suspicious: Sequence[Doubt] = ()
    comparison: Comparison | None = None
    cluster: Cluster | None = None
    whole: bool = True
    remarks: Sequence[str] = ()
    messages: Sequence[str] = ()
    unsettled: Sequence[Checked] = ()
    alone: bool = False

    @property
    def is_outdated(self) -> bool:
        """Whether it differs from the baseline that was given."""
        return self.comparison is not None and self.comparison.differs

    @property
    def status(self) -> ExitStatus:
        """What the run tells its caller. A baseline that is out of date is an assumption that does not hold, unless all that is
        new are bugs, which have a status of their own."""
        statuses = set[ExitStatus]() if self.alone else {run_status(checked.verdicts for checked in self.everything)}
        if self.opening is not None:
            statuses.add(self.opening.status)
            changes = (self.opening.bugs, *(change for _, change in self.opening.changed_namespaces))
            if any(change is not None and change.felt for change in changes):
                statuses.add(ExitStatus.KNOWN_BUG)
            if any(change is not None and change.unsettled for change in changes):
                statuses.add(ExitStatus.INCONCLUSIVE)
        if any(doubt.strict for doubt in self.suspicious):
            statuses.add(ExitStatus.ASSUMPTION)
        baseline = self.comparison
        if baseline is not None and (baseline.gone or any(key.verdict != "known bug" for key in baseline.new)):
            statuses.add(ExitStatus.ASSUMPTION)
        status = severest(statuses)
        return ExitStatus.INCONCLUSIVE if self.is_part and status in (ExitStatus.HOLDS, ExitStatus.EVALUATION) else status


COLUMNS = ("since", "fixed", "upstream")
"""What stands in a table beside the releases."""

WEAKENING = "weakening"
"""What stands for the release since which there is what no release ever had."""

UNREAD = "unread"
"""Whether a release has a bug of which nobody has read it."""


def rows(bugs: Mapping[str, Bug]) -> Iterator[tuple[str, list[str]]]:
    """Of each bug its name and a cell for each modelled release, since when it is there and where it is fixed."""
    for name, bug in bugs.items():
        cells = [_cell(bug, release) for release in bug.modelled]
        yield name, [*cells, WEAKENING if bug.weakening else bug.since, bug.ending]


def upstream(bug: Bug) -> Sequence[str]:
    """The issues of a bug, each with its project."""
    return [f"{bug.project}{issue}" if issue.startswith("#") else issue for issue in bug.upstream]


def about(bug: Bug, protocol: str, name: str) -> list[str]:
    """What there is to know of a bug, by the name of its protocol and its own, line by line."""
    fixed = bug.fix if bug.fixed or not bug.newest_read else f"open: {bug.fix}"
    numbers = ", ".join(upstream(bug)) or "no report found upstream"
    lines = [f"costs: {bug.costs}"] if bug.costs else []
    lines.append(f"since {bug.since}; {fixed}; {numbers}")
    lines += [f"avoided by {bug.avoided_by}"] if bug.avoided_by else []
    lines += [f"with {name} {' or '.join(map(str, values))} only" for name, values in bug.only.items()]
    lines += [f"seen on real code, {release}: {what}" for release, what in seen(protocol, name).items()]
    return lines + [str(row) for row in (compared(protocol).get(name),) if row is not None]


def address(bug: Bug, issue: str) -> str:
    """Where an issue is to be read: a number is one of GitHub, a word and a number one of Apache's Jira."""
    if issue.startswith("#"):
        return f"https://github.com/apache/{bug.project}/issues/{issue[1:]}"
    return f"https://issues.apache.org/jira/browse/{issue}"


def _cell(bug: Bug, release: str) -> str:
    """Of a release that has the bug: with which values, if not with all; empty of one that does not have it."""
    if release in bug.unread:
        return UNREAD
    if release not in bug.present:
        return ""
    only = bug.only
    return ", ".join(str(x) if isinstance(x, str) else f"{x} {name}" for name, values in only.items() for x in values) or "yes"


def refined_by(verdict: Verdict) -> str:
    """The coarser protocol that the verdict is about, which the instance refines or not; empty of any other verdict."""
    return verdict.property.refines


def refused_by(verdict: Verdict) -> str:
    """The step that is none of the coarser protocol, and what it does there; empty if no run refuses a refinement."""
    refinement = verdict.property.refinement
    if refinement is None or verdict.trace is None or verdict.verdict != "violated":
        return ""
    return refusal(verdict.trace, refinement)


def established_of(verdict: Verdict) -> str:
    """That the instance refines a coarser protocol, and how that was established; empty of any other verdict."""
    coarse = refined_by(verdict)
    if not coarse or verdict.verdict in ("violated", "inconclusive"):
        return ""
    return f"{verdict.property.name} refines {coarse} ({verdict.verdict})"


ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Judged:
    """One verdict of a run, with the instance that it is of and the file of its trace, if that was written; and the cluster
    whose files a report can point at, if the run is about one."""

    checked: Checked
    verdict: Verdict
    file: Path | None
    cluster: Cluster | None = None

    @property
    def place(self) -> Place:
        """The file and the line to look at: of a known bug of a configuration the user's own, else the property's."""
        location = self.verdict.property.location
        if self.cluster is None or self.verdict.property.kind != "known bug":
            return place_of(location)
        return as_in_repository(self.cluster.exposing(self.verdict.bug))

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
        """What the property says, of a bug first as people say it; of which instance, and the trace."""
        bug = self.verdict.bug if self.verdict.verdict == "known bug" else None
        explanation = about(bug, self.checked.entry.name, self.verdict.property.name) if bug else ()
        lines = [*filter(None, [bug.plain if bug else ""]), self.verdict.property.doc, *explanation]
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


def judged(run: FinishedRun) -> Iterator[Judged]:
    """Every verdict of a run in order."""
    rows = ((checked, verdict) for checked in run.everything for verdict in checked.verdicts)
    return (Judged(checked, verdict, run.files.get(place), run.cluster) for place, (checked, verdict) in enumerate(rows))


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
