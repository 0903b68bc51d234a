"""Leads-to as a check: on the graph of all reachable states, a fair run on which what a premise promises never comes.

Such a run is a lasso, which goes on forever: a stem and a loop, found in a component that admits a fair run.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.model.counts import count_of
from fencepost.model.kernel.search.fairness import JUDGING_BYTES_PER_STATE, Components, Marks, Ways, components, nearest, ways
from fencepost.model.kernel.search.graph import Graph, GraphError, bytes_of_graph, bytes_of_moves, graph_of, moves_of
from fencepost.model.kernel.search.results import Result
from fencepost.model.kernel.search.transitions import Moves
from fencepost.properties.observed import Lead, Observed
from fencepost.properties.vocabulary import Property
from fencepost.traces.lassos import loop_from
from fencepost.traces.shrinking.shrinking import shrink
from fencepost.traces.trace import Trace, trace_of

Steps = list[tuple[int, int]]
"""Actions, each with the state that it leads to."""


@dataclass(frozen=True)
class Lasso:
    """A run by the numbers of its states and of the actions between them; from state ``loop`` (its place in the run) on it
    repeats forever. The last state is that of place ``loop`` again; if it is that place itself, the run stops there."""

    states: tuple[int, ...]
    actions: tuple[int, ...]
    loop: int


def shortest_lasso(graph: Graph, pending: Ways, parts: Components, obliged: Marks) -> Lasso:
    """A fair run on which what is pending never comes, of which there is one.

    It is the shortest that stops, or, if that is shorter, the one that is soonest in a component that it need not leave. The
    way around that is short, not the shortest: it goes from each state to the nearest that is a reason for its fairness.
    """
    inside = parts.of >= 0
    stop = _soonest(pending, parts.rest)
    entry = _soonest(pending, inside & parts.fair[parts.of])
    assert entry is not None
    if stop is not None and pending.steps[stop] == pending.steps[entry]:
        return _lasso(graph, pending, stop, [])
    around = _around(graph, parts, entry, obliged)
    if stop is not None and pending.steps[stop] <= pending.steps[entry] + len(around):
        return _lasso(graph, pending, stop, [])
    return _lasso(graph, pending, entry, around)


def _soonest(pending: Ways, among: Marks) -> int | None:
    numbers = np.flatnonzero(among)
    return int(numbers[np.argmin(pending.steps[numbers])]) if len(numbers) else None


def _lasso(graph: Graph, pending: Ways, entry: int, around: Steps) -> Lasso:
    owing = pending.to(entry)
    everywhere = np.ones(graph.states, dtype=np.bool_)
    stem = ways(graph, graph.depth == 0, everywhere).to(owing[0]) + owing[1:]
    steps = _along(graph, stem) + around
    return Lasso((stem[0], *(state for _, state in steps)), tuple(action for action, _ in steps), len(stem) - 1)


def _around(graph: Graph, parts: Components, entry: int, obliged: Marks) -> Steps:
    """A way from ``entry`` back to it, within its component, on which each obliged action is taken or disabled once."""
    steps: Steps = []
    unmet, at = obliged.copy(), entry
    while True:
        unmet &= _enabled(graph, at)
        if not unmet.any() and at == entry:
            return steps
        way = nearest(graph, parts, at, unmet, entry)
        steps += _along(graph, way)
        at = way[-1]
        unmet &= _enabled(graph, at)
        for action, after in graph.successors_of(at):
            if unmet[action] and parts.of[after] == parts.of[entry]:
                steps.append((action, after))
                unmet[action] = False
                at = after
                break


def _enabled(graph: Graph, state: int) -> Marks:
    enabled = np.zeros(len(graph.reached.kernel.actions), dtype=np.bool_)
    enabled[[action for action, _ in graph.successors_of(state)]] = True
    return enabled


def _along(graph: Graph, way: Sequence[int]) -> Steps:
    """The steps of a way, each by the first action that leads there."""
    return [(next(a for a, t in graph.successors_of(s) if t == after), after) for s, after in itertools.pairwise(way)]


GIB = 1 << 30
OUT_OF_TIME = "out of time before it was judged"
INTERRUPTED = "interrupted before it was judged"


@dataclass(frozen=True)
class Means:
    """What judging may use and whom it tells: bytes (those of the search counted), threads (None: one for each core), seconds
    (None: no limit), a line of progress now and then, and whom to ask whether to stop. With ``only_failures`` the runs of
    negative controls are left as they were found."""

    memory: int
    workers: int | None = None
    seconds: float | None = None
    progress: Callable[[str], None] = lambda line: None
    should_stop: Callable[[], bool] = lambda: False
    only_failures: bool = False

    def until(self, started: float) -> Callable[[], bool]:
        """Whether to stop, for judging that began at that time: because it is told to, or is out of time."""
        ends = float("inf") if self.seconds is None else started + self.seconds
        return lambda: self.should_stop() or time.monotonic() > ends

    @property
    def why_stopped(self) -> str:
        """Why judging has stopped."""
        return INTERRUPTED if self.should_stop() else OUT_OF_TIME


def judge(observed: Observed, result: Result, means: Means, cut_short: str) -> Findings:
    """Verdicts on the ``leads_to`` properties that a search observed.

    ``cut_short`` says why the search did not see everything, if it did not; then nothing is claimed.
    """
    started = time.monotonic()
    asked, means = means, replace(means, should_stop=means.until(started))
    properties = list(dict.fromkeys(lead.property for lead in observed.leads))
    if result.outcome != "exhausted":
        return Findings(tuple(_open(p, cut_short) for p in properties))
    judging = _Judging(observed, result, means, asked)
    if judging.moves is None:
        return Findings(tuple(_open(p, judging.why) for p in properties))
    judged = [judging.judged(p, p in observed.vacuous(result.seen)) for p in properties]
    size = f"{count_of(result.distinct, 'state')} and {count_of(result.transitions, 'transition')}"
    note = f"liveness: {len(judged)} leads-to on the graph of {size}"
    return Findings(tuple(judged), (note,), seconds=time.monotonic() - started)


def _open(prop: Property, why: str) -> Verdict:
    return Verdict(prop, "inconclusive", "liveness", {}, why)


class _Judging:
    """Judges the properties of a finished search by its transitions, and shows a run by the graph of its states in order.

    Without transitions (``moves``) there is a reason ``why``. ``asked`` are the means before time counts.
    """

    def __init__(self, observed: Observed, result: Result, means: Means, asked: Means) -> None:
        self._observed, self._result, self._means, self._asked = observed, result, means, asked
        self._graph: Graph | None = None
        self.why = ""
        try:
            self._fits(bytes_of_moves(result) + JUDGING_BYTES_PER_STATE * result.distinct)
            self.moves = moves_of(result, workers=means.workers, should_stop=means.should_stop, progress=self._tell)
            self.why = asked.why_stopped if self.moves is None else ""
        except (GraphError, MemoryError) as error:
            self.moves, self.why = None, str(error) or "no memory for the graph"

    def _fits(self, besides: int) -> None:
        """Raises GraphError if the states, and these bytes besides, are more than judging may take."""
        result, means = self._result, self._means
        needed = result.bytes_in_use + besides
        if needed > means.memory:
            size = f"{count_of(result.distinct, 'state')} and {count_of(result.transitions, 'transition')}"
            has = f"the graph of {size} takes {needed / GIB:.1f} GiB and may take {means.memory / GIB:.1f}"
            raise GraphError(f"{has}: raise --memory")

    def _tell(self, done: int, count: int) -> None:
        self._means.progress(f"graph of {done:,} of {count_of(count, 'state')}")

    def judged(self, prop: Property, vacuous: bool) -> Verdict:
        """The verdict on a property, whose premise is never met if it is ``vacuous``."""
        observed, result, means = self._observed, self._result, self._means
        if vacuous:
            return _open(prop, "its premise is never met, so that it says nothing")
        obliged = np.array([prop.obliges(action) for action in observed.kernel.actions], dtype=np.bool_)
        reach = {"distinct": result.distinct, "transitions": result.transitions, "pending": 0, "components": 0}
        for lead in (lead for lead in observed.leads if lead.property is prop):
            if means.should_stop():
                return _open(prop, self._asked.why_stopped)
            means.progress(f"{prop.name} on {count_of(result.distinct, 'state')}")
            try:
                trace = self._violation(lead, obliged, reach)
            except (GraphError, MemoryError) as error:
                return _open(prop, str(error) or "no memory to judge the graph")
            if trace is not None:
                if not (means.only_failures and prop.strict):
                    trace = shrink(trace, observed.suite, should_stop=means.should_stop).trace
                assert trace.loop is not None
                steps = {"steps": len(trace.steps), "loop": len(trace.steps) - trace.loop.start}
                return Verdict(prop, "violated", "liveness", reach | steps, prop.strict, trace)
        return Verdict(prop, "exhausted", "liveness", reach)

    def _violation(self, lead: Lead, obliged: Marks, reach: dict[str, int]) -> Trace | None:
        """A fair run that meets the premise and from then on never the conclusion; adds to ``reach`` what was looked at."""
        assert self.moves is not None
        parts = components(self.moves, *_owed(self.moves, lead), obliged)
        reach["pending"] += int(np.count_nonzero(parts.of >= 0))
        reach["components"] += parts.count
        if not parts.fair.any():
            return None
        graph = self._in_order()
        owed = _owed(graph.moves, lead)
        lasso = shortest_lasso(graph, ways(graph, *owed), components(graph.moves, *owed, obliged), obliged)
        return _trace(self._observed, graph, lead.property, lasso)

    def _in_order(self) -> Graph:
        """The graph, whose runs are the same whatever the workers; from then on that is judged. Raises GraphError if it does
        not fit or is stopped."""
        if self._graph is None:
            means, result = self._means, self._result
            besides = max(bytes_of_moves(result), JUDGING_BYTES_PER_STATE * result.distinct)
            self._fits(bytes_of_graph(result) + besides)
            self._graph = graph_of(result, workers=means.workers, should_stop=means.should_stop, progress=self._tell)
            if self._graph is None:
                raise GraphError(self._asked.why_stopped)
            self.moves = self._graph.moves
        return self._graph


def _owed(moves: Moves, lead: Lead) -> tuple[Marks, Marks]:
    """The states with the premise and without the conclusion, and all without the conclusion."""
    without = ~moves.holds(lead.conclusion)
    return moves.holds(lead.premise) & without, without


def _trace(observed: Observed, graph: Graph, prop: Property, lasso: Lasso) -> Trace:
    states = [graph.state(number) for number in lasso.states]
    loop = loop_from(observed.kernel, prop, states, lasso.actions, lasso.loop)
    return trace_of(observed.kernel, states, lasso.actions, violated=prop.name, found_by="liveness", loop=loop)
