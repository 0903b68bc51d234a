"""Shortest runs to where something holds, as far as a small search meets it."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.model.kernel.compiler.machine import Kernel
from fencepost.model.kernel.search.paths import Path
from fencepost.model.kernel.search.results import Limits, Sought
from fencepost.model.kernel.search.search import search
from fencepost.model.language import Protocol
from fencepost.model.terms.values import Condition


def shortest_ways(protocol: Protocol, goals: Sequence[Condition], limits: Limits) -> dict[int, Path]:
    """For each goal that holds in a state which a search within the limits meets, by rising number, a shortest run there.

    Raises BudgetError if the memory does not suffice to begin.
    """
    result = search(Kernel(protocol, goals), Sought(watch=range(len(goals))), workers=1, limits=limits)
    found = sorted(result.watched, key=lambda find: find.formula)
    paths = {find.state: result.path(find, 1) for find in {find.state: find for find in found}.values()}
    return {find.formula: paths[find.state] for find in found}
