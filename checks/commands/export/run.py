"""``fencepost export``: instances of protocols, written for other tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fencepost.checks.commands.export.request import ExportRequest
from fencepost.checks.console.progress import Reporter
from fencepost.checks.console.unread import chosen_aloud
from fencepost.checks.engines.results.findings import PropertyError, chosen_of
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.export.smtlib import scripts
from fencepost.checks.export.tla.configuration import configurations
from fencepost.checks.export.tla.module import Module
from fencepost.checks.questions.planning import planned
from fencepost.model.counts import count_of
from fencepost.properties.registry import Entry, Instance, RegistryError, written
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.files.writing import write_text

SHOWN = 12
"""How many files are named of those written."""


def run(asked: ExportRequest) -> ExitStatus:
    """Writes what the command line asks for; RegistryError if there is no such thing, ModelError if it cannot be written."""
    plan = planned(asked, None, chosen_aloud(asked))
    reporter = Reporter(quiet=asked.quiet)
    for item, instance in plan:
        if not isinstance(item, Entry):
            raise RegistryError(f"{item.name} is a theory of arithmetic and cannot be exported; name a protocol")
        suite = item.suite(item.build(instance.parameters, asked.bug))
        suite.properties = _chosen(suite, asked.property)
        reporter.begin(f"{item.name}, {instance.name}")
        files = FORMATS[asked.format](suite, reporter)
        reporter.end()
        folder = asked.out if len(plan) == 1 else asked.out / _folder(item, instance)
        _write(folder, files)
        settings = " ".join(f"{name}={written(value)}" for name, value in suite.protocol.parameters.items())
        print(f"{item.name}, {instance.name}: {settings}")
        for name in list(files)[:SHOWN]:
            print(f"  {folder / name}")
        if len(files) > SHOWN:
            print(f"  and {len(files) - SHOWN} more")
    return ExitStatus.HOLDS


def _chosen(suite: Suite, names: Sequence[str]) -> list[Property]:
    try:
        return chosen_of(suite, names)
    except PropertyError as error:
        raise RegistryError(str(error)) from error


def tla(suite: Suite, reporter: Reporter) -> Mapping[str, str]:
    """The files of a TLA+ module, by name."""
    module = Module(suite, lambda done, count: reporter.telling(f"{done} of {count_of(count, 'action')} written"))
    return {f"{module.name}.tla": module.text, **configurations(suite, module)}


def smt2(suite: Suite, reporter: Reporter) -> Mapping[str, str]:
    """The scripts of a proof by induction and their index, by name."""
    return scripts(suite, lambda done, count: reporter.telling(f"{done} of {count} scripts written"))


FORMATS: Mapping[str, Callable[[Suite, Reporter], Mapping[str, str]]] = {"tla": tla, "smt2": smt2}


def _folder(item: Entry, instance: Instance) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{item.name} {instance.name}".lower()).strip("-")


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_text(folder / name, text)
