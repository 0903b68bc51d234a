"""``fencepost check``: plans what is asked for, runs it instance by instance, judges, writes and prints what came of it."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.commands.check.baselines import accepted, compared, marked
from fencepost.checks.commands.check.cluster import with_cluster
from fencepost.checks.commands.check.jobs import Job, done, done_ahead, left_out, means_of
from fencepost.checks.commands.check.outputs import Outputs, Shown, Teller, is_brief
from fencepost.checks.commands.check.profile import with_profile
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.commands.check.subject import Subject, come_first, refuse, wanted_alone
from fencepost.checks.console.extras import ODDS, SECOND_SOLVER, require
from fencepost.checks.console.options import UNNAMED
from fencepost.checks.console.places import require_place, require_places
from fencepost.checks.console.printing import colour, screen, width
from fencepost.checks.console.progress import Reporter, Watch, interruptible
from fencepost.checks.engines.ahead import Ahead, Means, Work
from fencepost.checks.engines.results.findings import Checked, PropertyError
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.inputs.input_files import STANDARD_INPUT, InputError, Place, inputs_read_once
from fencepost.checks.questions.baseline import Baseline, doubts
from fencepost.checks.questions.bugs.searching import KnownBug
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.questions.planning import planned_with_bugs
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.report import write_traces
from fencepost.model.counts import count_of
from fencepost.model.kernel.search.checkpoint import CheckpointError
from fencepost.model.language import ModelError
from fencepost.model.releases import ReleaseError, Releases
from fencepost.properties.registry import RegistryError

if TYPE_CHECKING:
    from fencepost.checks.questions.answers.ways import Answer
    from fencepost.checks.reports.guarantees import Opening
    from fencepost.checks.settings.cluster_settings import Cluster


def run(asked: CheckRequest) -> ExitStatus:
    """Checks what the command line asks for; returns the exit status. What is refused is in the documents also."""
    outputs = Outputs.of(asked)
    try:
        require_places(asked)
        with inputs_read_once() as inputs:
            return _checked_as(with_cluster(with_profile(asked), inputs))
    except (InputError, CheckpointError) as error:
        return _refused(outputs, str(error), ExitStatus.INPUT, error.place if isinstance(error, InputError) else None)
    except (RegistryError, ModelError, ReleaseError, PropertyError) as error:
        return _refused(outputs, str(error), ExitStatus.USAGE)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return _refused(outputs, message, ExitStatus.SYSTEM)


def _refused(outputs: Outputs, message: str, status: ExitStatus, place: Place | None = None) -> ExitStatus:
    """Says why nothing was checked, for people and in the documents."""
    from fencepost.checks.reports.documents import Refusal

    print(f"fencepost: {message}", file=sys.stderr)
    outputs.refuse(Refusal(message, status, place))
    return status


def _checked_as(asked: CheckRequest) -> ExitStatus:
    started = time.monotonic()
    refuse(asked)
    if asked.odds is not None:
        require(ODDS, "check --odds")
    if asked.second_solver:
        require(SECOND_SOLVER, "check --second-solver")
    subject = Subject.of(asked)
    if subject.releases is not None and (come_first(asked) or wanted_alone(asked)):
        Teller(asked).tell(*subject.releases.instead)  # before the answers
    if wanted_alone(asked):
        from fencepost.checks.commands.check.guarantees import run_alone

        return run_alone(asked, subject, started)
    plan = _planned(asked, subject, started)
    if message := subject.unasked(plan.names):
        return _left_open(plan, message)
    if asked.way is not None:
        from fencepost.checks.commands.check.one_way import tell_way

        return tell_way(plan.asked, subject, asked.way, plan.bugs, started)
    return _printed(plan, _written(plan, _judged(plan, _run(plan))))


@dataclass(frozen=True)
class Plan:
    """What is to be checked of a ``subject``: the ``jobs``, among them the known ``bugs`` of its releases; what is accepted;
    where the page goes; and what is printed while it goes on."""

    asked: CheckRequest
    subject: Subject
    baseline: Baseline | None
    jobs: Sequence[Job]
    bugs: Sequence[KnownBug]
    names: set[str]
    page: Path | None
    notes: Sequence[str]
    remarks: Sequence[str]
    reporter: Reporter
    teller: Teller
    shown: Shown
    started: float


def _planned(asked: CheckRequest, subject: Subject, started: float) -> Plan:
    """The plan, with what there is to say before anything is checked. OSError for a page that cannot be written."""
    items, bugs = planned_with_bugs(asked, subject.settings, subject.releases)
    baseline = accepted(asked)  # a file that is no baseline is refused before anything is printed
    asked = replace(asked, accepted=baseline.known_bugs) if baseline is not None else asked
    names = {item.name for item, _ in items} | {bug.entry.name for bug in bugs if not items}
    page = _page(asked)
    if page is not None:
        require_place(page, "file")  # it may have no name
    teller = Teller(asked, at_the_end=come_first(asked))
    shown = Shown(teller, subject.releases, brief=is_brief(asked))
    notes, remarks = subject.notes(names), subject.remarks(names)
    shown.begin(notes, remarks)
    jobs: list[Job] = [*items, *bugs]
    reporter = Reporter(quiet=asked.quiet)
    return Plan(asked, subject, baseline, jobs, bugs, names, page, notes, remarks, reporter, teller, shown, started)


def _left_open(plan: Plan, message: str) -> ExitStatus:
    """The status where nothing that was asked for can be checked."""
    plan.teller.tell(f"inconclusive: {message}")
    outcome = FinishedRun(plan.subject.releases, [*plan.notes, message], is_part=True)
    return _printed(plan, outcome, "\n".join([*plan.teller.lines, ""]) if plan.teller.as_text else None)


def _run(plan: Plan) -> FinishedRun:
    """Does the jobs, and shows each as it is done; first of all what users ask first of a configuration."""
    asked, checked = plan.asked, list[Checked]()
    opening = None
    ahead_of_both = _opening_ahead(plan) if come_first(asked) else done_ahead(plan.jobs, asked)
    with interruptible() as interrupt, Ahead(ahead_of_both, asked.cores) as ahead:
        means = means_of(asked, plan.started, Watch(plan.reporter, interrupt), ahead.check)
        if come_first(asked):
            opening = _opening(plan, means)
        cluster = None if plan.subject.cluster is None else plan.subject.cluster.configuration
        if len(plan.jobs) > 1:
            plan.reporter.expect(len(plan.jobs), "instance", even=False)
        for one in done(plan.jobs, asked, cluster, means):
            means.passed()
            checked.append(marked(plan.baseline, one, plan.subject.release))
            plan.shown.add(checked[-1])
    left = plan.jobs[len(checked) :]
    unsettled = [] if interrupt() else list(left_out(left, asked))
    for one in unsettled:
        plan.shown.add(one)
    plan.shown.end()
    notes, is_part = list(plan.notes), bool(left or plan.subject.unclaimed(plan.names) or plan.subject.unread(plan.names))
    if left:
        why = "interrupted" if interrupt() else "out of time"
        notes.append(f"{len(left)} of {count_of(len(plan.jobs), 'instance')} were not checked: {why}")
        plan.teller.tell(notes[-1])
    return FinishedRun(plan.subject.releases, notes, is_part, checked, opening, unsettled=unsettled, remarks=plan.remarks)


def _judged(plan: Plan, run: FinishedRun) -> FinishedRun:
    """The run with what makes it suspicious, before what is accepted is taken off."""
    suspicious = doubts(run.everything, strict=plan.asked.strict)
    return replace(run, suspicious=suspicious, cluster=_to_point_at(plan.asked, plan.subject), whole=not plan.shown.brief)


def _written(plan: Plan, run: FinishedRun) -> FinishedRun:
    """Writes traces, baseline and page, and tells where; the run with the files, and with what is accepted taken off."""
    asked, teller = plan.asked, plan.teller
    files = write_traces(run.everything, asked.trace_dir) if asked.trace_dir is not None else {}
    teller.tell(*(f"trace: {file}" for file in files.values()))
    whole = len(run.everything) == len(plan.jobs) and not asked.property
    outcome = compared(asked, plan.baseline, replace(run, files=files), plan.subject.release, teller, whole=whole)
    outcome = replace(outcome, everything=[*outcome.everything, *outcome.unsettled])
    _write_page(outcome, plan.page, teller, plan.reporter)
    return outcome


def _printed(plan: Plan, outcome: FinishedRun, text: str | None = None) -> ExitStatus:
    """Prints the outcome in the format that was asked for; the status."""
    outputs = Outputs.of(plan.asked)
    for written in outputs.write(lambda each: each.run(outcome)):
        plan.teller.name(written)
    outcome = replace(outcome, messages=plan.teller.lines)
    print(outputs.printed.run(outcome) if text is None else text, end="")
    return outcome.status


def _opening_ahead(plan: Plan) -> Iterator[Work]:
    """What a second process checks of a configuration as a whole, in the order in which it is asked."""
    from fencepost.checks.commands.check.guarantees import answers_ahead, guarantees_ahead, means_ahead

    asked, subject, means = plan.asked, plan.subject, means_ahead(plan.asked)
    return itertools.chain(
        answers_ahead(asked, subject, MATTERS[:1], plan.bugs, means),  # the first lines wait for these
        done_ahead(plan.jobs, asked, means),
        guarantees_ahead(asked, subject, means),
        answers_ahead(asked, subject, MATTERS[1:], plan.bugs, means),
    )


def _opening(plan: Plan, means: Means) -> Opening | None:
    """What the report of a configuration opens with; what users ask first is printed at once: the first screen."""
    from fencepost.checks.commands.check.guarantees import for_questions, heading_of, opening_of, parts_of_opening
    from fencepost.checks.reports.answers import as_text, survival
    from fencepost.checks.reports.front import front, wrapped

    asked, subject, tell = plan.asked, plan.subject, plan.teller.tell_at_once

    def told(answer: Answer, of: Releases) -> None:
        if asked.all:
            tell(as_text(answer, of, width()))

    if come_first(asked):
        plan.reporter.expect(parts_of_opening(asked, subject), "question", even=False)  # reads the namespaces' policies
    if not asked.all and come_first(asked):
        tell(*wrapped(heading_of(asked, subject), screen()))  # the searches take a while
    opening = opening_of(asked, subject, for_questions(means, asked), plan.bugs, told)
    if opening is None:
        return None
    if asked.all:
        tell(survival(opening.now.rows, width()))
    tell(front(opening, screen(), colour=colour(), headed=asked.all))
    if subject.settings is not None and asked.odds is not None:
        from fencepost.checks.commands.check.odds import found_odds
        from fencepost.checks.odds.answering import weighed
        from fencepost.checks.questions.answers.remedies import key
        from fencepost.checks.reports.odds import as_text as odds_as_text
        from fencepost.checks.reports.odds import changes_as_text

        odds = found_odds(asked, subject.settings, opening.answers, means.watch)
        names = {key(way): way.name for answer in opening.answers for way in answer.ways}
        remedies = weighed(opening.change_first, names, odds)
        tell(odds_as_text(odds, width()) + changes_as_text(remedies, width()))
        opening = replace(opening, odds=odds)
    return opening


def _to_point_at(asked: CheckRequest, subject: Subject) -> Cluster | None:
    """The cluster whose files a report can point at; None without such files."""
    return None if STANDARD_INPUT in asked.conf else subject.cluster


def _page(asked: CheckRequest) -> Path | None:
    """Where the page goes, if one is asked for."""
    if asked.html != UNNAMED:
        return asked.html
    from fencepost.checks.commands.pages import default_page

    return default_page(asked.trace_dir)


def _write_page(outcome: FinishedRun, page: Path | None, teller: Teller, reporter: Reporter) -> None:
    """Writes the page that was asked for: of a configuration as a whole, or else of what is violated."""
    if page is None:
        return
    from fencepost.checks.commands.pages import write_page, write_report

    if outcome.opening is not None:
        write_report(outcome, page, reporter)
        is_written = True
    else:
        is_written = write_page(outcome.everything, page, reporter, outcome.releases)
    teller.name(f"page: {page}" if is_written else "page: none, since nothing is violated")
