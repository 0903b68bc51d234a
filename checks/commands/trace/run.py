"""``fencepost trace``: trace files, replayed, compared, explained, drawn, shrunk and pinned."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fencepost.checks.commands.trace.pinning import Pin
from fencepost.checks.commands.trace.request import (
    DiagramRequest,
    DiffRequest,
    ExplainRequest,
    NeighbourhoodRequest,
    PinRequest,
    ReplayRequest,
    ShrinkRequest,
    TraceRequest,
)
from fencepost.checks.commands.trace.show import protocols_with, shown, violated_of
from fencepost.checks.console.extras import PLOTS, require
from fencepost.checks.console.printing import width
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.comparing import Side, compared
from fencepost.traces.drawings.lanes import as_mermaid
from fencepost.traces.drawings.sequence_svg import as_svg
from fencepost.traces.files.itf import read, write
from fencepost.traces.files.writing import write_text
from fencepost.traces.printable import printable
from fencepost.traces.replay import replay, replay_on
from fencepost.traces.shrinking.shrinking import shrink
from fencepost.traces.shrinking.smaller import in_smallest
from fencepost.traces.trace import Trace
from fencepost.traces.wording.explaining import UnknownActionError, actions_named, explained

MOST_STATES = 5000
"""States that a neighbourhood may have at most: no drawing of more can be read."""


@dataclass(frozen=True)
class _Opened:
    """A trace file that was read, the properties of its instance, and the entry of its protocol."""

    path: Path
    trace: Trace
    suite: Suite
    entry: Entry

    @property
    def violated(self) -> Property | None:
        """The property that the trace says it violates, if there is one."""
        return violated_of(self.trace, self.suite)

    def unfit(self) -> bool:
        """Whether the trace does not replay, which is told."""
        outcome = replay_on(self.trace, self.suite.protocol, self.suite)
        if not outcome.replays:
            print(f"fencepost: {self.path}: {outcome}", file=sys.stderr)
        return not outcome.replays


def run(asked: TraceRequest) -> ExitStatus:
    """Does what the command line asks for; 75 where a trace would have to replay and does not.

    Raises InputError and TraceFileError.
    """
    return VERBS[type(asked)](_open(asked.file, asked), asked)


def _open(path: Path, asked: TraceRequest) -> _Opened:
    protocols = protocols_with(asked.protocol)
    trace, protocol = read(path, protocols)
    entry = protocols[trace.protocol]
    return _Opened(path, trace, entry.suite(protocol), entry)


def _replay(opened: _Opened, asked: ReplayRequest) -> ExitStatus:
    outcome = replay_on(opened.trace, opened.suite.protocol, opened.suite)
    print(outcome)
    return ExitStatus.HOLDS if outcome.replays else ExitStatus.EVALUATION


def _diff(opened: _Opened, asked: DiffRequest) -> ExitStatus:
    other = _open(asked.other, asked)
    if opened.trace.protocol != other.trace.protocol:
        names = f"{opened.trace.protocol}, and {other.path} of {other.trace.protocol}"
        print(f"fencepost: {opened.path} is of {names}: only traces of one protocol can be compared", file=sys.stderr)
        return ExitStatus.USAGE
    if opened.unfit() or other.unfit():
        return ExitStatus.EVALUATION
    print(compared(*(Side(side.trace, side.suite.protocol) for side in (opened, other))), end="")
    return ExitStatus.HOLDS


def _explain(opened: _Opened, asked: ExplainRequest) -> ExitStatus:
    last = len(opened.trace.steps)
    step = last if asked.step is None else asked.step
    if not 0 <= step <= last:
        print(f"fencepost: {opened.path}: there is no state after step {step}; --step is from 0 to {last}", file=sys.stderr)
        return ExitStatus.USAGE
    try:
        actions = actions_named(opened.suite.protocol, asked.action)
    except UnknownActionError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.USAGE
    if opened.unfit():
        return ExitStatus.EVALUATION
    print(f"after step {step} of {last}, {opened.trace.steps[step - 1].action}" if step else "in the initial state")
    for action in actions:
        print(explained(opened.suite.protocol, opened.trace.states[step], action, width()))
    return ExitStatus.HOLDS


def _diagram(opened: _Opened, asked: DiagramRequest) -> ExitStatus:
    if opened.unfit():
        return ExitStatus.EVALUATION
    protocol = opened.suite.protocol
    drawings: Mapping[str, Callable[[], str]] = {
        "mermaid": lambda: as_mermaid(opened.trace, protocol),
        "svg": lambda: as_svg(opened.trace, protocol, opened.violated),
    }
    return _drawn(drawings[asked.format](), asked.out)


def _neighbourhood(opened: _Opened, asked: NeighbourhoodRequest) -> ExitStatus:
    require(PLOTS, "trace neighbourhood")
    from fencepost.traces.drawings.neighbourhood import as_graphml, neighbourhood
    from fencepost.traces.drawings.neighbourhood_svg import as_svg

    if asked.radius < 0 or not 1 <= asked.limit <= MOST_STATES:
        print(f"fencepost: --radius is 0 or more, --limit from 1 to {MOST_STATES}", file=sys.stderr)
        return ExitStatus.USAGE
    if opened.unfit():
        return ExitStatus.EVALUATION
    graph = neighbourhood(opened.trace, opened.suite, radius=asked.radius, limit=asked.limit)
    drawings: Mapping[str, Callable[[], str]] = {
        "svg": lambda: as_svg(graph, f"{opened.trace.protocol}, around {opened.trace.violated or 'a run'}"),
        "graphml": lambda: as_graphml(graph),
    }
    if asked.out is not None:
        print(graph)
    return _drawn(drawings[asked.format](), asked.out)


def _drawn(drawn: str, out: Path | None) -> ExitStatus:
    """Prints a drawing, or writes it to a file and says so."""
    if out is None:
        print(drawn, end="")
    else:
        write_text(out, drawn)
        print(f"diagram: {out}")
    return ExitStatus.HOLDS


def _shrink(opened: _Opened, asked: ShrinkRequest) -> ExitStatus:
    if opened.trace.violated is None:
        print(f"fencepost: {opened.path}: it names no property, so there is nothing that shrinking would keep", file=sys.stderr)
        return ExitStatus.USAGE
    if opened.unfit():
        return ExitStatus.EVALUATION
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin("shrinking")
    with interruptible() as interrupt:
        shrunk = shrink(opened.trace, opened.suite, progress=reporter.searching, should_stop=interrupt)
        steps, smallest = [str(shrunk)], _Opened(opened.path, shrunk.trace, opened.suite, opened.entry)
        if not asked.keep_instance:
            smaller = in_smallest(shrunk.trace, opened.entry, telling=reporter.telling, should_stop=interrupt)
            steps, smallest = [*steps, str(smaller)], _Opened(opened.path, smaller.trace, smaller.suite, opened.entry)
    reporter.end()
    print(shown(smallest.trace, smallest.suite), end="")
    print("", *steps, sep="\n")
    if asked.out is not None:
        write(smallest.trace, smallest.suite.protocol, asked.out)
        print(f"trace: {asked.out}")
    return ExitStatus.HOLDS


def _pin(opened: _Opened, asked: PinRequest) -> ExitStatus:
    trace = opened.trace
    if trace.violated is None:
        print(f"fencepost: {opened.path}: it names no property, so there is nothing that a test could assert", file=sys.stderr)
        return ExitStatus.USAGE
    violated = opened.violated
    if violated is None:
        known = ", ".join(stated.name for stated in opened.suite.properties)
        print(f"fencepost: {opened.path}: {trace.protocol} has no property {trace.violated!r}; it has {known}", file=sys.stderr)
        return ExitStatus.INPUT
    expect = asked.expect or ("both" if trace.bugs else "violated")
    if expect == "both" and not trace.bugs:
        print(f"fencepost: {opened.path}: it has no bugs: --expect violated, or gone once it is fixed", file=sys.stderr)
        return ExitStatus.USAGE
    if expect != "gone" and opened.unfit():
        return ExitStatus.EVALUATION
    if expect == "both" and replay(replace(trace, bugs=()), {trace.protocol: opened.entry}).replays:
        print(f"fencepost: {opened.path}: it also replays without its bugs: pin it with --expect violated", file=sys.stderr)
        return ExitStatus.EVALUATION
    pin = Pin(trace, violated, opened.path, asked.out, expect, None if trace.protocol in PROTOCOLS else asked.protocol)
    pin.write()
    print(printable(f"test: {pin.test}"), printable(f"trace: {pin.file}"), sep="\n")
    return ExitStatus.HOLDS


VERBS: Mapping[type[TraceRequest], Callable[[_Opened, Any], ExitStatus]] = {
    ReplayRequest: _replay,
    DiffRequest: _diff,
    ExplainRequest: _explain,
    DiagramRequest: _diagram,
    NeighbourhoodRequest: _neighbourhood,
    ShrinkRequest: _shrink,
    PinRequest: _pin,
}
