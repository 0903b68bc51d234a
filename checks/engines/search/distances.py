"""How far a protocol can be from what must come about: the most steps, without another fault, by the shortest way."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import Verdict, reached, unreached
from fencepost.checks.engines.search.exhaustive import Budget
from fencepost.model.counts import count_of
from fencepost.model.kernel.search.graph import Graph, GraphError, graph_of
from fencepost.model.kernel.search.results import Limits, Result
from fencepost.model.kernel.search.search import search
from fencepost.model.kernel.search.store import BudgetError
from fencepost.properties.observed import Lead, Observed
from fencepost.properties.vocabulary import Suite

BY = "distances"
FARTHEST = "farthest"
"""The name under which the reach of a verdict has the most steps."""


def distances(suite: Suite, budget: Budget, should_stop: Callable[[], bool] = lambda: False) -> Findings:
    """Verdicts on the ``leads_to`` of a suite: from every state that meets a premise there is a way to its conclusion without
    another fault, and the longest of the shortest ways has as many steps as the reach says. Of each ``sometimes`` whether
    it was reached, by the same search. All are inconclusive if the search was cut short.
    """
    started = time.monotonic()
    observed = Observed.of(suite, suite.properties)

    def is_over() -> bool:
        return should_stop() or (budget.seconds is not None and time.monotonic() - started > budget.seconds)

    limits = Limits(memory=budget.memory, seconds=budget.seconds)
    leads = {lead.property: [other for other in observed.leads if other.property is lead.property] for lead in observed.leads}
    try:
        graphs = budget.with_graph
        result = search(observed.kernel, workers=budget.workers, limits=limits, should_stop=should_stop, recording=graphs)
        graph, why = _graph(result, budget, is_over)
        why = why or ("interrupted" if should_stop() else "out of time")
    except BudgetError as error:
        graph, why = None, str(error)
    if graph is None:
        verdicts = [Verdict(p, "inconclusive", BY, {}, why) for p in (*leads, *observed.goals.values())]
        return Findings(tuple(verdicts), (why,), seconds=time.monotonic() - started)
    reach = {"distinct": graph.states, "transitions": graph.transitions}
    seen = set(result.seen)
    verdicts = [_judged(observed, graph, several, reach) for several in leads.values()]
    verdicts += [
        reached(goal, BY, reach, None) if number in seen else unreached(goal, "exhausted", BY, reach)
        for number, goal in observed.goals.items()
    ]
    note = f"exhausted: the shortest ways on the graph of {count_of(graph.states, 'state')}"
    return Findings(tuple(verdicts), (note,), seconds=time.monotonic() - started)


def _graph(result: Result, budget: Budget, is_over: Callable[[], bool]) -> tuple[Graph | None, str]:
    """The graph of a finished search; or None and why there is none, nothing if there was no time for it."""
    if result.outcome != "exhausted":
        reasons = {"memory": "search not exhausted", "time": "out of time"}
        return None, f"{reasons.get(result.outcome, result.outcome)} after {count_of(result.distinct, 'state')}"
    try:
        graph = graph_of(result, workers=budget.workers, should_stop=is_over)
    except (GraphError, MemoryError) as error:
        return None, str(error) or "no memory for the graph"
    return graph, ""


def _judged(observed: Observed, graph: Graph, leads: list[Lead], reach: dict[str, int]) -> Verdict:
    """The most steps of all pairs of one property; inconclusive if from some state there is no way."""
    usual = np.array([not action.fault for action in observed.kernel.actions], dtype=np.bool_)[graph.actions]
    sources = np.repeat(np.arange(graph.states), np.diff(graph.rows))[usual]
    targets = graph.targets[usual]
    most = 0
    for lead in leads:
        steps = np.where(graph.holds(lead.conclusion), 0, -1)
        for distance in range(graph.states):
            reached_from = sources[(steps[targets] == distance) & (steps[sources] < 0)]
            if not len(reached_from):
                break
            steps[reached_from] = distance + 1
        of_premise = steps[graph.holds(lead.premise)]
        if (of_premise < 0).any():
            why = f"from some of {count_of(graph.states, 'state')} there is no way"
            return Verdict(lead.property, "inconclusive", BY, reach, why)
        most = max(most, int(of_premise.max(initial=0)))
    return Verdict(leads[0].property, "exhausted", BY, reach | {FARTHEST: most})
