"""``fencepost check``: reads what is asked for, checks it instance by instance, prints and keeps what was found."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from fencepost.checks.commands.doubts import doubts
from fencepost.checks.commands.trace_arguments import UNNAMED
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.terminal import colour, width
from fencepost.checks.engines.plan import Checked, Options, PropertyError, check
from fencepost.checks.engines.sampling import Walks
from fencepost.checks.engines.theorems import check_theory
from fencepost.checks.engines.verdicts import ExitStatus, run_status, severest
from fencepost.checks.reports.annotations import as_annotations
from fencepost.checks.reports.doubt import Doubt
from fencepost.checks.reports.failures import judged
from fencepost.checks.reports.junit import as_junit
from fencepost.checks.reports.pages import default_page, write_page
from fencepost.checks.reports.report import as_json, closing, text, write_traces
from fencepost.checks.reports.sarif import as_sarif
from fencepost.checks.settings.conf_instances import LARGEST_ENSEMBLE, read_settings
from fencepost.checks.settings.input_files import InputError
from fencepost.checks.settings.planning import configuration_notes, planned
from fencepost.model.kernel.search.checkpoint import CheckpointError
from fencepost.properties.theorems import Theory

GIB = 1 << 30


def run(asked: argparse.Namespace) -> ExitStatus:
    """Checks what the command line asks for; returns the exit status."""
    if asked.symmetry and asked.by not in (None, "exhaustive"):
        print(f"fencepost: --symmetry is of exhaustive search; --by {asked.by} has no use for it", file=sys.stderr)
        return ExitStatus.USAGE
    if asked.resume and asked.checkpoint is None:
        print("fencepost: --resume goes on from a checkpoint: add --checkpoint DIR", file=sys.stderr)
        return ExitStatus.USAGE
    as_text = asked.format in ("text", "github")
    settings, notes = None, []
    if asked.conf is not None:
        try:
            settings = read_settings(asked.conf)
        except InputError as error:
            print(f"fencepost: {error}", file=sys.stderr)
            return ExitStatus.INPUT
    plan = planned(asked, settings)
    page = default_page(asked.trace_dir) if asked.html == UNNAMED else asked.html
    _make_folders(asked.trace_dir, page and page.parent)
    if settings is not None:
        names = {item.name for item, _ in plan}
        notes = configuration_notes(settings, names)
        if as_text:
            print("\n".join(notes), flush=True)
        if "ledger" in names and settings.ledger.ensemble.value > LARGEST_ENSEMBLE:
            told = f"{settings.ledger.ensemble}: ensembles above {LARGEST_ENSEMBLE} are not checked, so nothing is claimed"
            open_still = ExitStatus.INCONCLUSIVE
            print(f"inconclusive: {told}" if as_text else _rendered(asked.format, [], open_still, [*notes, told], {}))
            return ExitStatus.INCONCLUSIVE
    everything: list[Checked] = []
    started = time.monotonic()
    reporter = Reporter(quiet=asked.quiet)
    skipped = 0
    with interruptible() as interrupt:
        for entry, instance in plan:
            left = None if asked.budget is None else asked.budget - (time.monotonic() - started)
            if interrupt() or (left is not None and left <= 0):
                skipped += 1
                continue
            try:
                options = _options(asked, left)
                if isinstance(entry, Theory):
                    checked = check_theory(entry, asked.defect, options, reporter, interrupt)
                else:
                    checked = check(entry, instance, asked.defect, options, reporter, interrupt)
            except (PropertyError, CheckpointError) as error:
                reporter.end()
                print(f"fencepost: {error}", file=sys.stderr)
                return ExitStatus.INPUT if isinstance(error, CheckpointError) else ExitStatus.USAGE
            everything.append(checked)
            if as_text:
                shown = text(checked, width=width(), colour=colour(), whole=not sys.stdout.isatty())
                print(shown, flush=True)
    status = run_status(checked.findings.verdicts for checked in everything)
    if skipped:
        told = f"{skipped} of {len(plan)} instances were not checked: " + ("interrupted" if interrupt() else "out of time")
        notes = [*notes, told]
        status = status if status not in (ExitStatus.HOLDS, ExitStatus.EVALUATION) else ExitStatus.INCONCLUSIVE
        if as_text:
            print(told)
    files = write_traces(everything, asked.trace_dir) if asked.trace_dir is not None else {}
    if as_text:
        for file in files.values():
            print(f"trace: {file}")
    if page is not None:
        written = write_page(everything, page, reporter)
        told = f"page: {page}" if written else "page: none, since nothing is violated"
        print(told, file=sys.stdout if as_text else sys.stderr)
    suspicious = doubts(everything, strict=asked.strict)
    if asked.strict and suspicious:
        status = severest({status, ExitStatus.ASSUMPTION})
    if as_text:
        print("".join(f"suspicious: {doubt}\n" for doubt in suspicious if not doubt.instance), end="")
        if asked.format == "github":
            print(as_annotations(judged(everything, files), suspicious), end="")
        print(closing(everything, status, suspicious))
    else:
        print(_rendered(asked.format, everything, status, notes, files, suspicious), end="")
    return status


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
    suspicious: Sequence[Doubt] = (),
) -> str:
    """The run in a format for programs."""
    if name == "junit":
        return as_junit(judged(everything, files), status, notes, suspicious)
    if name == "sarif":
        return as_sarif(judged(everything, files), status, notes, suspicious)
    return as_json(everything, status, notes, files, suspicious)


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


