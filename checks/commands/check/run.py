"""``fencepost check``: reads what is asked for, checks it instance by instance, prints and keeps what was found."""

from __future__ import annotations

import errno
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.commands.check.baselines import accepted, compared, marked
from fencepost.checks.commands.check.doubts import doubts
from fencepost.checks.commands.check.finished_run import FinishedRun
from fencepost.checks.commands.check.formats import FORMATS
from fencepost.checks.commands.check.jobs import Job, done, done_ahead, left_out
from fencepost.checks.commands.check.messages import Teller
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.commands.check.shown import Shown
from fencepost.checks.commands.check.subject import Subject
from fencepost.checks.commands.check.whole import come_first, is_of_everything, refuse_parts, wanted_alone
from fencepost.checks.console.extras import ODDS, require
from fencepost.checks.console.options import UNNAMED
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.terminal import width
from fencepost.checks.engines.ahead import Ahead, Task
from fencepost.checks.engines.results.checked import Checked, PropertyError
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.bug_search import Searches
from fencepost.checks.questions.instances import BOOKIE
from fencepost.checks.questions.known_bugs import KnownBug
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.questions.planning import planned_with_bugs
from fencepost.checks.reports.report import write_traces
from fencepost.checks.settings.input_files import STANDARD_INPUT, InputError, Place, inputs_read_once
from fencepost.model.counts import count_of
from fencepost.model.kernel.search.checkpoint import CheckpointError
from fencepost.model.language import ModelError
from fencepost.model.releases import ReleaseError
from fencepost.properties.registry import RegistryError
from fencepost.properties.stored_builds import builds_stored

if TYPE_CHECKING:
    from fencepost.checks.reports.failures import Configured
    from fencepost.checks.reports.guarantees import Opening


def run(asked: CheckRequest) -> ExitStatus:
    """Checks what the command line asks for; returns the exit status. What is refused is told in the format, too."""
    try:
        with inputs_read_once(), builds_stored():
            return _checked_as(asked)
    except (InputError, CheckpointError) as error:
        return _refused(asked, str(error), ExitStatus.INPUT, error.place if isinstance(error, InputError) else None)
    except (RegistryError, ModelError, ReleaseError, PropertyError) as error:
        return _refused(asked, str(error), ExitStatus.USAGE)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        return _refused(asked, message, ExitStatus.SYSTEM)


def _refused(asked: CheckRequest, message: str, status: ExitStatus, place: Place | None = None) -> ExitStatus:
    """Says why nothing was checked, for people and in the format."""
    from fencepost.checks.reports.refusal import Refusal

    print(f"fencepost: {message}", file=sys.stderr)
    print(FORMATS[asked.format].refusal(Refusal(message, status, place)), end="")
    return status


def _checked_as(asked: CheckRequest) -> ExitStatus:
    started = time.monotonic()
    _refuse(asked)
    if asked.odds is not None:
        require(ODDS, "check --odds")
    subject, baseline = Subject.of(asked), accepted(asked)
    if wanted_alone(asked):
        from fencepost.checks.commands.check.guarantees import run_alone

        return run_alone(asked, subject, started)
    plan, bugs = planned_with_bugs(asked, subject.settings, subject.releases)
    jobs: list[Job] = [*plan, *bugs]
    page = _page(asked)
    beside = page and page.parent, asked.write_baseline and asked.write_baseline.parent
    _make_folders(asked.trace_dir, *beside)
    names = {item.name for item, _ in plan} | {bug.entry.name for bug in bugs if not plan}
    notes, reporter = subject.notes(names), Reporter(quiet=asked.quiet)
    teller = Teller(asked, at_the_end=come_first(asked))
    shown = Shown(teller, subject.releases, brief=is_of_everything(asked) and not asked.all)
    shown.begin(notes, remarks := subject.remarks(names))
    if message := subject.unasked(names):
        teller.tell(f"inconclusive: {message}")
        outcome = FinishedRun(subject.releases, [*notes, message], is_part=True)
        print("\n".join([*teller.lines, ""]) if teller.as_text else FORMATS[asked.format].run(outcome), end="")
        return outcome.status

    configured = {BOOKIE: subject.settings.of_bookies} if subject.settings is not None else {}
    everything = list[Checked]()
    ahead_of_both = _opening_ahead(asked, subject, jobs, bugs) if come_first(asked) else done_ahead(jobs, asked)
    with interruptible() as interrupt, Ahead(ahead_of_both, asked.cores) as ahead:
        searches, opening = Searches(ahead.check), None
        if come_first(asked):
            opening = _opening(asked, subject, started, reporter, interrupt, bugs, searches, teller)
        for checked in done(jobs, asked, configured, started, reporter, interrupt, searches):
            everything.append(marked(baseline, checked, subject.release))
            shown.add(everything[-1])
    skipped, rest = len(jobs) - len(everything), list[Checked]()
    if skipped:
        why = "interrupted" if interrupt() else "out of time"
        rest += [] if interrupt() else left_out(jobs[len(everything) :], asked)
        for checked in rest:
            shown.add(checked)
        notes.append(f"{skipped} of {count_of(len(jobs), 'instance')} were not checked: {why}")
    shown.end()
    teller.tell(*notes[len(notes) - bool(skipped) :])

    files = write_traces(everything, asked.trace_dir) if asked.trace_dir is not None else {}
    teller.tell(*(f"trace: {file}" for file in files.values()))
    is_part = bool(skipped or subject.unclaimed(names) or subject.unread(names))
    outcome = FinishedRun(subject.releases, notes, is_part, everything, opening, files, doubts(everything, strict=asked.strict))
    outcome = replace(outcome, configured=_configured(asked, subject), whole=not shown.brief, remarks=remarks)
    outcome = compared(asked, baseline, outcome, subject.release, teller, whole=not (skipped or asked.property))
    outcome = replace(outcome, everything=[*outcome.everything, *rest])
    _write_page(outcome, page, teller, reporter)
    outcome = replace(outcome, messages=teller.lines)
    print(FORMATS[asked.format].run(outcome), end="")
    return outcome.status


def _opening_ahead(asked: CheckRequest, subject: Subject, jobs: Sequence[Job], bugs: Sequence[KnownBug]) -> Iterator[Task]:
    """What a second process checks of a configuration as a whole, in the order in which it is asked."""
    from fencepost.checks.commands.check.guarantees import answers_ahead, guarantees_ahead

    return itertools.chain(
        answers_ahead(asked, subject, MATTERS[:1], bugs),  # the first lines wait for these
        done_ahead(jobs, asked),
        guarantees_ahead(asked, subject),
        answers_ahead(asked, subject, MATTERS[1:], bugs),
    )


def _opening(
    asked: CheckRequest,
    subject: Subject,
    started: float,
    reporter: Reporter,
    should_stop: Callable[[], bool],
    bugs: Sequence[KnownBug],
    searches: Searches,
    teller: Teller,
) -> Opening | None:
    """What the report of a configuration opens with; what users ask first is printed at once."""
    from fencepost.checks.commands.check.guarantees import First, opening_of
    from fencepost.checks.reports.answers import as_text, survival

    first = First(bugs, searches, lambda answer, of: teller.tell_at_once(as_text(answer, of, width())))
    opening = opening_of(asked, subject, started, reporter, should_stop, searches.check, first)
    if opening is not None:
        teller.tell_at_once(survival(opening.now.rows, width()))
    if opening is not None and subject.settings is not None and asked.odds is not None:
        from fencepost.checks.commands.check.odds import found_odds
        from fencepost.checks.reports.odds import as_text as odds_as_text

        odds = found_odds(asked, subject.settings, opening.answers, reporter, should_stop)
        teller.tell_at_once(odds_as_text(odds, width()))
        opening = replace(opening, odds=odds)
    return opening


def _refuse(asked: CheckRequest) -> None:
    """Raises RegistryError for options that have no use for each other."""
    if asked.symmetry and asked.by not in (None, "exhaustive"):
        raise RegistryError(f"--symmetry needs exhaustive search; --by {asked.by} does not support it")
    if asked.any and asked.by not in (None, "induction"):
        raise RegistryError(f"--any needs --by induction; --by {asked.by} checks one size at a time")
    if asked.any and asked.conf:
        raise RegistryError("--any works with the parameters of --set, not with --conf")
    if asked.odds is not None and (wanted_alone(asked) or not come_first(asked)):
        raise RegistryError("--odds is of a configuration as a whole: fencepost check --conf broker.conf --odds")
    if asked.resume and asked.checkpoint is None:
        raise RegistryError("--resume continues from a checkpoint: add --checkpoint DIR")
    refuse_parts(asked)


def _configured(asked: CheckRequest, subject: Subject) -> Configured | None:
    """The settings that the run is about, with their lines; None without files that a report can point at."""
    if subject.settings is None or STANDARD_INPUT in asked.conf:
        return None
    from fencepost.checks.reports.failures import Configured

    return Configured(Place(asked.conf[0], 1), subject.settings.places)


def _page(asked: CheckRequest) -> Path | None:
    """Where the page goes, if one is asked for."""
    if asked.html != UNNAMED:
        return asked.html
    from fencepost.checks.commands.pages import default_page

    return default_page(asked.trace_dir)


def _make_folders(*folders: Path | None) -> None:
    """Makes the folders to which the run will write. OSError if one cannot be written, before hours have gone into a check."""
    for folder in folders:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _write_page(outcome: FinishedRun, page: Path | None, teller: Teller, reporter: Reporter) -> None:
    """Writes the page that was asked for: of a configuration as a whole, or else of what is violated."""
    if page is None:
        return
    from fencepost.checks.commands.pages import write_page, write_report

    if outcome.opening is not None:
        write_report(outcome.opening, outcome.everything, outcome.status, page, reporter)
        is_written = True
    else:
        is_written = write_page(outcome.everything, page, reporter, outcome.releases)
    teller.name(f"page: {page}" if is_written else "page: none, since nothing is violated")
