"""``fencepost explore``: walks by the billion on Spark, or all states, on Spark or on the disk of this machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from fencepost.checks.commands.explore.request import EVERY_CORE, ExploreRequest
from fencepost.checks.console.extras import PLOTS, SPARK, require
from fencepost.checks.console.printing import colour, width
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.unread import chosen_aloud
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, exit_status
from fencepost.checks.engines.search.exhaustive import searched
from fencepost.checks.reports.report import closing, text
from fencepost.model.kernel.search.results import Limits
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, RegistryError, find
from fencepost.traces.exploration.folder import FolderError
from fencepost.traces.exploration.java import SparkError
from fencepost.traces.exploration.levelwise import Searched
from fencepost.traces.exploration.on_disk import begun_on_spark, search_on_disk
from fencepost.traces.exploration.places import PlaceError
from fencepost.traces.exploration.run import Run, VersionError, read


def exhaust(explored: Run, asked: ExploreRequest, folder: Path, *, is_reported: bool = False) -> ExitStatus:
    """Searches all states, or goes on; of a folder that is only reported on, prints how far it is.

    The search is on Spark if a master or a setting of Spark is named, or if it was begun there. Raises SparkError, FolderError,
    and ExtraError if Spark is not installed.
    """
    entry = find(explored.protocol, PROTOCOLS)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(explored.protocol)
    with explored.held(folder), _searching(asked, folder) as (search, where), interruptible() as interrupt:
        should_stop = (lambda: True) if is_reported else interrupt
        result = search(explored, folder, should_stop=should_stop, progress=reporter.searching)
        reporter.end()
        findings = searched(explored.observed(), result)
    protocol = explored.observed().suite.protocol
    checked = Checked.of(entry, Instance("level by level", explored.parameters), protocol, findings)
    status = exit_status(findings.verdicts)
    print(text(checked, width=width(), colour=colour()), end="")
    print(f"# {where}{result.bytes_in_use / max(result.distinct, 1):.1f} bytes a state in {folder}")
    if result.outcome == "interrupted" and not is_reported:
        print("interrupted: the levels that are complete are kept, and the same command goes on with the others")
    print(closing([checked], status))
    return status


@contextmanager
def _searching(asked: ExploreRequest, folder: Path) -> Iterator[tuple[Callable[..., Searched], str]]:
    """What searches, and what there is to say of how it began."""
    if not (asked.master or asked.spark_conf or begun_on_spark(folder)):
        memory = Limits.memory if asked.memory is None else int(asked.memory * (1 << 30))
        yield partial(search_on_disk, memory=memory), ""
        return
    require(SPARK, "explore")
    from fencepost.traces.exploration.search import SEARCH_SETTINGS, search
    from fencepost.traces.exploration.session import spark_session

    started = time.monotonic()
    with spark_session(asked.master or EVERY_CORE, {**SEARCH_SETTINGS, **asked.spark_settings}) as spark:
        yield partial(search, spark), f"{time.monotonic() - started:.1f} s for Spark to start; "


def run(asked: ExploreRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status. Raises ExtraError without an extra that it needs."""
    try:
        if asked.subject == "report":
            return _report(_folder(asked), asked)
        if asked.subject == "trace":
            return _trace(_folder(asked), asked)
        return _explore(asked)
    except (FolderError, VersionError, PlaceError) as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.INPUT
    except SparkError as error:
        disks = f"; the disk of {asked.out or asked.folder} is full, or that of Spark's own files (spark.local.dir)"
        where = disks if "No space left on device" in str(error) else ""
        print(f"fencepost: {error}{where}", file=sys.stderr)
        return ExitStatus.SYSTEM


def _folder(asked: ExploreRequest) -> Path | str:
    if asked.folder is None:
        raise RegistryError(f"explore {asked.subject} needs the folder of a run: fencepost explore {asked.subject} DIR")
    return _reachable(asked.folder, asked)


def _reachable(folder: Path | str, asked: ExploreRequest) -> Path | str:
    """The folder, unless it is at a URL and nothing reaches it. Raises RegistryError, which says why."""
    if isinstance(folder, str):
        if asked.exhaustive:
            raise RegistryError(
                f"{folder} is a URL, and --exhaustive reads all levels before each level again, as files: name a folder that "
                "every machine has mounted"
            )
        if asked.master is None:
            raise RegistryError(f"{folder} is a URL, which Spark reaches: add --master, such as --master 'local[*]'")
        require(SPARK, "explore")
    return folder


def _explore(asked: ExploreRequest) -> ExitStatus:
    if asked.folder is not None or asked.out is None:
        raise RegistryError("explore needs a folder for its results: fencepost explore PROTOCOL --out DIR")
    if asked.memory is not None and (not asked.exhaustive or asked.master or asked.spark_conf):
        raise RegistryError("--memory is for a search on this machine: --exhaustive, without --master and --spark-conf")
    folder = _reachable(asked.out, asked)
    if asked.exhaustive:
        assert isinstance(folder, Path), "a URL is refused"
        return exhaust(_asked_for(asked), asked, folder)
    require(SPARK, "explore")
    from fencepost.checks.commands.explore.walks import walk

    return walk(_asked_for(asked), asked, folder)


def _asked_for(asked: ExploreRequest) -> Run:
    entry = find(asked.subject, PROTOCOLS)
    shown = {name: value for bug in asked.bug for name, value in entry.shown_by.get(bug, {}).items()}
    releases = chosen_aloud(asked)
    behaviour = entry.behaviour(releases) if releases else {}
    protocol = entry.build({**behaviour, **shown, **entry.settings(asked.set)}, asked.bug)
    wanted = Run(
        protocol=entry.name,
        parameters=dict(protocol.parameters),
        bugs=protocol.active,
    )
    if not asked.exhaustive:
        wanted = replace(wanted, walks=asked.walks, steps=asked.steps, seed=asked.seed, strategy=asked.strategy)
    return replace(wanted, fingerprint=wanted.observed().kernel.fingerprint)


def _report(folder: Path | str, asked: ExploreRequest) -> ExitStatus:
    if isinstance(folder, str):
        from fencepost.checks.commands.explore.walks import report_there

        return report_there(folder, asked)
    explored = read(folder)
    if not explored.walks:
        return exhaust(explored, asked, folder, is_reported=True)
    require(SPARK, "explore report")
    if asked.plots is not None:
        require(PLOTS, "explore report --plots")
    from fencepost.checks.commands.explore.walks import report_on

    return report_on(explored, asked, folder)


def _trace(folder: Path | str, asked: ExploreRequest) -> ExitStatus:
    if isinstance(asked.out, str):
        raise RegistryError(f"{asked.out} is a URL: a trace is a file of this machine")
    if isinstance(folder, str):
        from fencepost.checks.commands.explore.walks import read_there

        explored = read_there(folder, asked)
    else:
        explored = read(folder)
    if not explored.walks:
        raise RegistryError(f"{folder} holds an exhaustive search, whose report shows its traces: explore report {folder}")
    if asked.walk is None or not 0 <= asked.walk < explored.walks:
        raise RegistryError(f"explore trace needs a walk from 0 to {explored.walks - 1}: --walk N")
    require(SPARK, "explore trace")
    from fencepost.checks.commands.explore.walks import show_walk

    return show_walk(explored, asked.walk, asked)
