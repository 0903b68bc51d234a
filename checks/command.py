"""``fencepost check``: reads what is asked for, checks it instance by instance, prints and keeps what was found."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from checks.broker_conf import ConfigurationError, LedgerSettings, read_ledger_settings
from checks.conf_instances import LARGEST_ENSEMBLE, instances_of
from checks.plan import Checked, Options, PropertyError, check
from checks.progress import Reporter, interruptible
from checks.report import as_json, closing, text, write_traces
from checks.sampling import Walks
from checks.theorems import check_theory
from checks.verdicts import ExitStatus, exit_status
from model.kernel.checkpoint import CheckpointError
from properties import striping
from properties.protocols import PROTOCOLS
from properties.registry import Entry, Instance, RegistryError, find
from properties.theorems import Theory
from properties.theories import THEORIES

GIB = 1 << 30


def run(asked: argparse.Namespace) -> ExitStatus:
    """Checks what the command line asks for; returns the exit status."""
    if asked.symmetry and asked.by not in (None, "exhaustive"):
        print(f"fencepost: --symmetry is of exhaustive search; --by {asked.by} has no use for it", file=sys.stderr)
        return ExitStatus.USAGE
    as_text = asked.format == "text"
    settings, notes = None, []
    if asked.conf is not None:
        try:
            settings = read_ledger_settings(asked.conf)
        except ConfigurationError as error:
            print(f"fencepost: {error}", file=sys.stderr)
            return ExitStatus.INPUT
        notes = _notes(settings)
        if as_text:
            print("\n".join(notes), flush=True)
        if settings.ensemble.value > LARGEST_ENSEMBLE:
            told = f"{settings.ensemble}: ensembles above {LARGEST_ENSEMBLE} are not checked, so nothing is claimed"
            print(f"inconclusive: {told}" if as_text else as_json([], ExitStatus.INCONCLUSIVE, [*notes, told], {}))
            return ExitStatus.INCONCLUSIVE
    everything: list[Checked] = []
    started = time.monotonic()
    reporter = Reporter(quiet=asked.quiet)
    planned = list(_planned(asked, settings))
    skipped = 0
    with interruptible() as interrupt:
        for entry, instance in planned:
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
                print(text(checked, width=_width(), colour=sys.stdout.isatty()), flush=True)
    status = exit_status(v for checked in everything for v in checked.findings.verdicts)
    if skipped:
        told = f"{skipped} of {len(planned)} instances were not checked: " + ("interrupted" if interrupt() else "out of time")
        notes = [*notes, told]
        status = status if status not in (ExitStatus.HOLDS, ExitStatus.EVALUATION) else ExitStatus.INCONCLUSIVE
        if as_text:
            print(told)
    files = write_traces(everything, asked.trace_dir) if asked.trace_dir is not None else {}
    if as_text:
        for file in files.values():
            print(f"trace: {file}")
        print(closing(everything, status))
    else:
        print(as_json(everything, status, notes, files), end="")
    return status


def _planned(asked: argparse.Namespace, settings: LedgerSettings | None) -> Iterator[tuple[Entry | Theory, Instance]]:
    """The instances to check, in order; RegistryError if the protocol, a parameter, a size or a defect does not exist."""
    everything: dict[str, Entry | Theory] = {**PROTOCOLS, **THEORIES}
    # what only protocols have is not asked of the theories, unless they are named
    names = list(PROTOCOLS if asked.set or asked.by or asked.property else everything)
    entries = [find(name, everything) for name in asked.protocols or (["ledger"] if settings else names)]
    if asked.defect:
        unknown = [d for d in asked.defect if not any(d in entry.shown_by for entry in entries)]
        if unknown:
            known = ", ".join(d for entry in entries for d in entry.shown_by)
            raise RegistryError(f"there is no defect {unknown[0]!r}; there is {known}")
        entries = [entry for entry in entries if all(d in entry.shown_by for d in asked.defect)]
        if not entries:
            raise RegistryError(f"no protocol has all of these defects: {', '.join(asked.defect)}")
    for entry in entries:
        changed = entry.settings(asked.set)
        for instance in _instances(entry, asked, settings):
            yield entry, replace(instance, parameters={**instance.parameters, **changed})


def _instances(entry: Entry | Theory, asked: argparse.Namespace, settings: LedgerSettings | None) -> Sequence[Instance]:
    if settings is not None and entry.name == "ledger":
        return instances_of(settings, asked.size or "ci")
    if asked.size is not None:
        return entry.instances(asked.size)
    if asked.defect:
        shown = {name: value for defect in asked.defect for name, value in entry.shown_by[defect].items()}
        return (Instance("defect", shown),)
    return (Instance("as set", {}),) if asked.set else entry.instances("ci")


def _options(asked: argparse.Namespace, seconds: float | None) -> Options:
    return Options(
        by=asked.by,
        properties=tuple(asked.property),
        workers=asked.workers or os.cpu_count() or 1,
        memory=int(asked.memory * GIB),
        seconds=seconds,
        depth=asked.depth,
        walks=Walks(asked.walks, asked.steps, asked.seed, asked.swarm),
        second_solver=asked.second_solver,
        checkpoint=asked.checkpoint,
        resume=asked.resume,
        symmetry=asked.symmetry,
    )


def _notes(settings: LedgerSettings) -> list[str]:
    """What was taken from the configuration, and what there is to say of it whatever the checks find."""
    taken = [str(number) for number in (settings.ensemble, settings.write_quorum, settings.ack_quorum)]
    placement = []
    if settings.ensemble.value <= LARGEST_ENSEMBLE:
        placement = [str(striping.check(settings.ensemble.value, settings.write_quorum.value))]
    return [*taken, *(f"note: {note}" for note in settings.notes), *placement]


def _width() -> int:
    return min(shutil.get_terminal_size((120, 24)).columns, 140)


