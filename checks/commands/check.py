"""``fencepost check``: reads what is asked for, checks it instance by instance, prints and keeps what was found."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fencepost.checks.commands.doubts import doubts
from fencepost.checks.commands.guarantees import (
    bookies_of,
    come_first,
    guaranteed,
    is_whole,
    reads_standard_input,
    run_alone,
    wanted_alone,
)
from fencepost.checks.commands.trace_arguments import UNNAMED
from fencepost.checks.console.options import chosen_releases
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.terminal import colour, width
from fencepost.checks.engines.hazards import look_for
from fencepost.checks.engines.plan import Checked, Options, PropertyError, check
from fencepost.checks.engines.sampling import Walks
from fencepost.checks.engines.theorems import check_theory
from fencepost.checks.engines.verdicts import ExitStatus, run_status, severest
from fencepost.checks.reports.annotations import as_annotations
from fencepost.checks.reports.baseline import Baseline, Comparison, found
from fencepost.checks.reports.doubt import Doubt
from fencepost.checks.reports.failures import judged
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.reports.guarantees import as_text as guarantees_as_text
from fencepost.checks.reports.junit import as_junit
from fencepost.checks.reports.pages import default_page, write_page, write_report
from fencepost.checks.reports.refusal import Refusal
from fencepost.checks.reports.report import as_json, closing, text, write_traces
from fencepost.checks.reports.sarif import as_sarif
from fencepost.checks.settings.conf_instances import LARGEST_ENSEMBLE, LOCKED, read_settings, unclaimed
from fencepost.checks.settings.hazards import Hazard
from fencepost.checks.settings.input_files import InputError
from fencepost.checks.settings.load_manager import as_taken
from fencepost.checks.settings.own_protocols import is_own
from fencepost.checks.settings.planning import Item, configuration_notes, planned, planned_hazards
from fencepost.model.kernel.search.checkpoint import CheckpointError
from fencepost.model.language import ModelError
from fencepost.model.releases import ReleaseError, Releases
from fencepost.properties.registry import Instance, RegistryError
from fencepost.properties.theorems import Theory

GIB = 1 << 30


def run(asked: argparse.Namespace) -> ExitStatus:
    """Checks what the command line asks for; returns the exit status. What is refused is told in the format, too."""
    try:
        return _checked_as(asked)
    except (InputError, CheckpointError) as error:
        place = error.place if isinstance(error, InputError) else None
        refusal = Refusal(str(error), ExitStatus.INPUT, place)
    except (RegistryError, ModelError, ReleaseError, PropertyError) as error:
        refusal = Refusal(str(error), ExitStatus.USAGE)
    except BrokenPipeError:
        raise
    except OSError as error:
        refusal = Refusal(f"{error.filename}: {error.strerror}" if error.filename else str(error), ExitStatus.SYSTEM)
    print(f"fencepost: {refusal.message}", file=sys.stderr)
    print(refusal.rendered(asked.format), end="")
    return refusal.status


def _checked_as(asked: argparse.Namespace) -> ExitStatus:
    if asked.symmetry and asked.by not in (None, "exhaustive"):
        raise RegistryError(f"--symmetry is of exhaustive search; --by {asked.by} has no use for it")
    if asked.any and asked.by not in (None, "induction"):
        raise RegistryError(f"--any is of induction; --by {asked.by} takes each size for itself")
    if asked.any and asked.conf is not None:
        raise RegistryError("--any is of the parameters that --set gives, and not of --conf")
    if asked.resume and asked.checkpoint is None:
        raise RegistryError("--resume goes on from a checkpoint: add --checkpoint DIR")
    as_text = asked.format in ("text", "github")
    settings, before, notes, releases = None, None, [], _releases(asked)
    if asked.conf is None and (wanted_alone(asked) or asked.bookies):
        raise RegistryError("guarantees are those of a configuration: add --conf broker.conf")
    if asked.conf is not None:
        settings = read_settings(*asked.conf)
        before = read_settings(*asked.against) if asked.against else None
    baseline = _baseline(asked)
    about_manager: list[str] = []
    if settings is not None and releases is not None:
        about_manager = [f"note: {told}" for told in as_taken(settings.load_manager, releases.pulsar)]
        if wanted_alone(asked):
            return run_alone(asked, settings, before, releases, about_manager)
    plan = planned(asked, settings, releases)
    jobs: list[tuple[Item, Instance] | Hazard] = [*plan, *planned_hazards(asked, settings, releases, plan)]
    page = default_page(asked.trace_dir) if asked.html == UNNAMED else asked.html
    _make_folders(asked.trace_dir, page and page.parent, asked.write_baseline and asked.write_baseline.parent)
    if settings is not None:
        names = {item.name for item, _ in plan}
        notes = configuration_notes(settings, names) + about_manager
    concerned = settings is not None and (come_first(asked) or names & set(LOCKED))
    unknown = unclaimed(settings) if settings is not None and concerned else ""
    if unknown:
        notes = [*notes, f"no number is given: {unknown}"]
    if releases is not None:
        assumed = "" if asked.pulsar or asked.bookkeeper else ", assumed: --pulsar and --bookkeeper name others"
        notes = [*notes, f"releases: {releases}{assumed}"]
    if as_text and notes:
        print("\n".join(notes), flush=True)
    if settings is not None and "ledger" in names and settings.ledger.ensemble.value > LARGEST_ENSEMBLE:
        told = f"{settings.ledger.ensemble}: ensembles above {LARGEST_ENSEMBLE} are not checked, so nothing is claimed"
        status = ExitStatus.INCONCLUSIVE
        print(f"inconclusive: {told}" if as_text else _rendered(asked.format, [], status, [*notes, told], {}, (), releases))
        return status
    everything: list[Checked] = []
    started = time.monotonic()
    reporter = Reporter(quiet=asked.quiet)
    skipped = 0
    release = str(releases or "")
    opening = None
    with interruptible() as interrupt:
        if settings is not None and releases is not None and come_first(asked):
            bookies = bookies_of(asked, settings)
            opening = Opening(guaranteed(asked, asked.conf, settings, bookies, releases, reporter, interrupt))
            if as_text:
                print(guarantees_as_text(opening, width()), flush=True)
        for job in jobs:
            left = None if asked.budget is None else asked.budget - (time.monotonic() - started)
            if interrupt() or (left is not None and left <= 0):
                skipped += 1
                continue
            try:
                checked = _checked(job, asked.defect, _options(asked, left), reporter, interrupt)
            except (PropertyError, CheckpointError):
                reporter.end()
                raise
            if baseline is not None:
                checked = baseline.applied(checked, release)
            everything.append(checked)
            if as_text:
                shown = text(checked, width=width(), colour=colour(), whole=not sys.stdout.isatty())
                print(shown, flush=True)
    if skipped:
        told = f"{skipped} of {len(jobs)} instances were not checked: " + ("interrupted" if interrupt() else "out of time")
        notes = [*notes, told]
        if as_text:
            print(told)
    files = write_traces(everything, asked.trace_dir) if asked.trace_dir is not None else {}
    if as_text:
        for file in files.values():
            print(f"trace: {file}")
    pages: list[Path] = []
    if page is not None and opening is None:
        written = write_page(everything, page, reporter)
        pages = [page] if written else []
        told = f"page: {page}" if written else "page: none, since nothing is violated"
        print(told, file=sys.stdout if as_text else sys.stderr)
    suspicious = doubts(everything, strict=asked.strict)
    comparison = None
    if baseline is not None:
        comparison = baseline.compared(everything, suspicious, release, whole=not (skipped or asked.property))
        if asked.write_baseline is not None:
            baseline = baseline.updated(found(everything, suspicious, release), comparison.gone)
            baseline.write(asked.write_baseline)
            everything = [baseline.applied(checked, release) for checked in everything]
            told = f"baseline: {asked.write_baseline}"
            print(told, file=sys.stdout if as_text else sys.stderr)
            comparison = baseline.compared(everything, suspicious, release, whole=False)
        suspicious = baseline.judged(suspicious, release)
        notes = [*notes, *comparison.lines()]
        if as_text:
            print("".join(f"{line}\n" for line in comparison.lines()), end="")
    status = _status(everything, suspicious, comparison, skipped or bool(unknown))
    if page is not None and opening is not None:
        pages = write_report(opening, everything, status, page, reporter)
        print(f"page: {page}", file=sys.stdout if as_text else sys.stderr)
    if as_text:
        print("".join(f"suspicious: {doubt}\n" for doubt in suspicious if not doubt.instance), end="")
        if asked.format == "github":
            print(as_annotations(judged(everything, files), suspicious), end="")
        print(closing(everything, status, suspicious, outdated=comparison is not None and comparison.differs))
    else:
        print(_rendered(asked.format, everything, status, notes, files, suspicious, releases, comparison, opening), end="")
    if not (skipped or interrupt()) and _can_be_remembered(asked, everything) and (opening is None or is_whole(opening)):
        asked.record.keep([*files.values(), *pages], aloud=as_text)
    return status


def _can_be_remembered(asked: argparse.Namespace, everything: Sequence[Checked]) -> bool:
    """Whether the same command is bound to find the same: nothing is left open, all that was read is in files that the command
    line names, and nothing is written that a later run goes on with."""
    is_open = any(verdict.verdict == "inconclusive" for checked in everything for verdict in checked.findings.verdicts)
    reads_more = any(map(is_own, asked.protocols)) or reads_standard_input(asked)
    return bool(everything) and not (is_open or reads_more or asked.write_baseline or asked.checkpoint)


def _status(
    everything: Sequence[Checked], suspicious: Sequence[Doubt], comparison: Comparison | None, is_part: int
) -> ExitStatus:
    """What the run tells its caller. A baseline that is out of date is an assumption that does not hold, unless all that is new
    are hazards, which have a status of their own. ``is_part`` says that something was left out."""
    statuses = {run_status(checked.findings.verdicts for checked in everything)}
    if any(doubt.strict for doubt in suspicious):
        statuses.add(ExitStatus.ASSUMPTION)
    if comparison is not None and (comparison.gone or any(key.verdict != "hazard" for key in comparison.new)):
        statuses.add(ExitStatus.ASSUMPTION)
    status = severest(statuses)
    return ExitStatus.INCONCLUSIVE if is_part and status in (ExitStatus.HOLDS, ExitStatus.EVALUATION) else status


def _baseline(asked: argparse.Namespace) -> Baseline | None:
    """What is accepted: in the file of ``--baseline``, or so far in the one that ``--write-baseline`` writes."""
    if asked.baseline is not None:
        return Baseline.read(asked.baseline)
    if asked.write_baseline is None:
        return None
    return Baseline.read(asked.write_baseline) if asked.write_baseline.exists() else Baseline({})


def _releases(asked: argparse.Namespace) -> Releases | None:
    """The releases that are asked about: those named or, of a cluster with a configuration, the newest. ReleaseError if one is
    not modelled."""
    return chosen_releases(asked) or (None if asked.conf is None else Releases.of())


def _checked(
    job: tuple[Item, Instance] | Hazard,
    defects: Sequence[str],
    options: Options,
    reporter: Reporter,
    should_stop: Callable[[], bool],
) -> Checked:
    if isinstance(job, Hazard):
        return look_for(job, options, reporter, should_stop)
    item, instance = job
    if isinstance(item, Theory):
        return check_theory(item, defects, options, reporter, should_stop)
    return check(item, instance, defects, options, reporter, should_stop)


def _make_folders(*folders: Path | None) -> None:
    """Makes the folders to which the run will write. OSError if one cannot be written, before hours have gone into a check."""
    for folder in folders:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _rendered(
    name: str,
    everything: Sequence[Checked],
    status: ExitStatus,
    notes: Sequence[str],
    files: Mapping[int, Path],
    suspicious: Sequence[Doubt],
    releases: Releases | None,
    comparison: Comparison | None = None,
    opening: Opening | None = None,
) -> str:
    """The run in a format for programs."""
    if name == "junit":
        return as_junit(judged(everything, files), status, notes, suspicious, opening)
    if name == "sarif":
        return as_sarif(judged(everything, files), status, notes, suspicious, opening)
    return as_json(everything, status, notes, files, suspicious, releases, comparison, opening)


def _options(asked: argparse.Namespace, seconds: float | None) -> Options:
    return Options(
        by=asked.by,
        properties=tuple(asked.property),
        workers=asked.workers or os.cpu_count() or 1,
        memory=int(asked.memory * GIB),
        seconds=seconds,
        depth=asked.depth,
        walks=Walks(asked.walks, asked.steps, asked.seed, asked.strategy),
        second_solver=asked.second_solver,
        checkpoint=asked.checkpoint,
        resume=asked.resume,
        symmetry=asked.symmetry,
        strict=asked.strict,
    )


