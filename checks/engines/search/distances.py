"""How far a protocol can be from what must come about: the most steps, without another fault, by the shortest way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fencepost.model.kernel.search.graph import GraphError, graph_of
from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import search
from fencepost.properties.observed import Observed
from fencepost.properties.vocabulary import Suite


def farthest(
    suite: Suite, memory: int, workers: int, should_stop: Callable[[], bool] = lambda: False
) -> tuple[int | None, str]:
    """Of all states that meet a premise of the suite's one ``leads_to``, the most steps to its conclusion, with how many states
    were looked at; None if a search had no end, or from some state there is no way.

    Faults are no steps towards it.
    """
    observed = Observed.of(suite, suite.properties)
    result = search(observed.kernel, workers=workers, limits=Limits(memory=memory), should_stop=should_stop)
    try:
        graph = graph_of(result, workers=workers, should_stop=should_stop)
    except GraphError as error:
        return None, str(error)
    if graph is None:
        return None, "interrupted"
    usual = np.array([not action.fault for action in observed.kernel.actions], dtype=np.bool_)[graph.actions]
    sources = np.repeat(np.arange(graph.states), np.diff(graph.rows))[usual]
    targets = graph.targets[usual]
    most = 0
    for lead in observed.leads:
        steps = np.where(graph.holds(lead.conclusion), 0, -1)
        for distance in range(graph.states):
            reached = sources[(steps[targets] == distance) & (steps[sources] < 0)]
            if not len(reached):
                break
            steps[reached] = distance + 1
        of_premise = steps[graph.holds(lead.premise)]
        if (of_premise < 0).any():
            return None, f"from some of {graph.states:,} states there is no way"
        most = max(most, int(of_premise.max(initial=0)))
    return most, f"exhausted: the shortest ways on the graph of {graph.states:,} states"
