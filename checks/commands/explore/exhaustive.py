"""All states of an instance, level by level: on the disk of this machine, or on Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from fencepost.checks.commands.explore.request import EVERY_CORE, ExploreRequest
from fencepost.checks.console.extras import SPARK, require
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.terminal import colour, width
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, exit_status
from fencepost.checks.engines.search.exhaustive import searched
from fencepost.checks.reports.report import closing, text
from fencepost.model.kernel.search.results import Limits
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, find
from fencepost.traces.exploration.levelwise import Searched
from fencepost.traces.exploration.on_disk import begun_on_spark, search_on_disk
from fencepost.traces.exploration.run import Run


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
