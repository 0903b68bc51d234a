"""An inductive set of clauses made smaller: without each of them that the others can do without."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from fencepost.checks.engines.lemmas.houdini import FOLLOWS, Steps, Survivors
from fencepost.model.kernel.clause_tables.clauses import Flags

Uses = dict[tuple[int, int], frozenset[int]]


def shrunk(
    survivors: Survivors, steps: Steps, tell: Callable[[int, int, int], None], should_stop: Callable[[], bool]
) -> list[int]:
    """The clauses of an inductive set that has the property, without those that are not needed to prove it.

    The longest are left out first; only where Z3 had used one is it asked again. The property is no lemma if it follows from
    the others. ``tell`` hears how many are left, how many were tried, and of how many; told to stop it leaves the rest in.
    """
    uses = {key: used for key, used in survivors.uses.items() if key[0] in (settled := set(survivors.settled(steps.actions)))}
    needed = _needed(uses)
    steps.tell(sorted(settled))
    every = sorted(needed - {0}, reverse=True)
    for tried, clause in enumerate(every):
        if should_stop():
            break
        if clause in needed and (fewer := _without(survivors, steps, clause, needed, uses)) is not None:
            needed, uses = _needed(fewer), fewer
        tell(len(needed), tried, len(every))
    return sorted(needed - {0} if (0, FOLLOWS) in uses else needed)


def _without(survivors: Survivors, steps: Steps, clause: int, needed: set[int], uses: Uses) -> Uses | None:
    """What the others use instead of a clause; None if one of them needs it."""
    others, again = needed - {clause}, dict(uses)
    for key, used in uses.items():
        if key[0] in others and clause in used:
            with steps.failing(*key) as question:
                answer = question.ask(_flags(survivors, others - {0} if key == (0, FOLLOWS) else others))
            if not isinstance(answer, frozenset):
                return None
            again[key] = answer
    return again


def _needed(uses: Uses) -> set[int]:
    """The property, and all that it needs."""
    needed, todo = set[int](), [0]
    while todo:
        clause = todo.pop()
        if clause not in needed:
            needed.add(clause)
            todo += [used for (mine, _), every in uses.items() if mine == clause for used in every]
    return needed


def _flags(survivors: Survivors, clauses: Iterable[int]) -> Flags:
    flags = np.zeros(len(survivors.clauses), dtype=np.bool_)
    flags[list(clauses)] = True
    return flags
