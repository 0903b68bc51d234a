"""The runs of a comparison in processes of this machine, one for each core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fencepost.checks.engines.solvers.workers import spread
from fencepost.traces.comparison.compare import Interrupted, write
from fencepost.traces.comparison.comparison import Comparison
from fencepost.traces.comparison.rows import row


class Lost(Exception):
    """A process that made runs ended before it was done; the message says so in a line."""


def in_processes(
    comparison: Comparison, runs: range, target: Path, should_stop: Callable[[], bool], tell: Callable[[int], None]
) -> None:
    """Makes runs in forked processes. Raises Lost if one of them is killed."""
    contenders = comparison.contenders
    pairs = [(run, contender) for run in runs for contender in contenders]

    def start() -> Callable[[int], dict[str, object]]:
        return lambda task: row(comparison, *pairs[task])

    stopped = False

    def stops() -> bool:
        nonlocal stopped
        stopped = stopped or should_stop()
        return stopped

    results = spread(len(pairs), None, start, progress=lambda done, _: tell(done), should_stop=stops)
    rows = [done for done in results if done is not None]
    if len(rows) < len(pairs) and stopped:
        raise Interrupted
    if len(rows) < len(pairs):
        raise Lost("a process that made runs was killed; the same command goes on with what is complete")
    write(rows, target)
