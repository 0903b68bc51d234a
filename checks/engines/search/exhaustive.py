"""Exhaustive search as a check: every reachable state, and for what is violated the shortest run that violates it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import Verdict, reached, unreached
from fencepost.checks.engines.search.liveness import Means, judge
from fencepost.checks.engines.search.reduction import Reduction
from fencepost.model.analysis.slices import varying
from fencepost.model.counts import count_of
from fencepost.model.kernel.search.results import Find, Kept, Limits, Progress, Represented, Result
from fencepost.model.kernel.search.search import search
from fencepost.model.kernel.search.store import BudgetError
from fencepost.properties.observed import Observed
from fencepost.properties.vocabulary import Property
from fencepost.traces.trace import Trace, trace_of

if TYPE_CHECKING:
    from fencepost.traces.exploration.levelwise import Searched

GIB = 1 << 30


@dataclass(frozen=True)
class Budget:
    """What a search may use: bytes, seconds (None: no limit) and threads (None: one for each core). ``with_graph`` is in bytes,
    too: what the search and the graph of its states may take together when it is over. With more ``states`` than so many it
    does not begin another level (None: no limit)."""

    memory: int = 4 * GIB
    seconds: float | None = None
    workers: int | None = None
    with_graph: int = 4 * GIB
    states: int | None = None


def exhaust(
    observed: Observed,
    budget: Budget,
    *,
    reduction: Reduction | None = None,
    progress: Callable[[Progress], None] | None = None,
    telling: Callable[[str], None] = lambda line: None,
    should_stop: Callable[[], bool] = lambda: False,
    checkpoint: Path | None = None,
    resume: bool = False,
    doubting: bool = True,
    only_failures: bool = False,
) -> Findings:
    """Searches all reachable states, or with a ``reduction`` one of each orbit of them, and judges what must lead to what.

    ``checkpoint`` names a folder that keeps the states, from which ``resume`` goes on; ``telling`` is told how far judging is.
    Without ``doubting`` nothing is asked of what makes success suspicious, with ``only_failures`` the lasso of a negative
    control is left as it was found.

    Raises CheckpointError for a folder that belongs to another search, and ValueError for a ``leads_to`` that is observed with
    symmetry: only the graph of all states tells who is treated fairly.
    """
    if reduction and reduction.orbits and observed.leads:
        raise ValueError(f"{observed.leads[0].property.name} cannot be judged with symmetry")
    try:
        result = search(
            observed.kernel,
            observed.sought(),
            canonical=reduction.canonical if reduction else 0,
            workers=budget.workers,
            limits=Limits(memory=budget.memory, seconds=budget.seconds, states=budget.states),
            progress=progress,
            should_stop=should_stop,
            kept=None if checkpoint is None else Kept(checkpoint, resume=resume),
            recording=budget.with_graph if observed.leads else 0,
        )
    except BudgetError as error:
        return _not_begun(observed, reduction, str(error))
    represented = reduction.represented(result, budget.workers) if reduction else None
    judgement = _Judgement(observed, result, budget.workers, represented)
    whole = result.outcome == "exhausted"
    suspicions = observed.suspicions(result.enabled, result.seen, result.constant()) if whole and doubting else []
    notes = (judgement.summary(), *judgement.left_out(), *(reduction.notes(result, represented) if reduction else ()))
    verdicts = judgement.verdicts() + (reduction.undecided() if reduction else ())
    safety = Findings(verdicts, notes, tuple(suspicions), seconds=result.seconds)
    if not observed.leads:
        return safety
    left = None if budget.seconds is None else budget.seconds - result.seconds
    means = Means(budget.with_graph, budget.workers, left, telling, should_stop, only_failures)
    liveness = judge(observed, result, means, "" if whole else judgement.cut_short())
    return Findings(
        safety.verdicts + liveness.verdicts,
        safety.notes + liveness.notes,
        safety.suspicions,
        seconds=safety.seconds + liveness.seconds,
    )


def _not_begun(observed: Observed, reduction: Reduction | None, why: str) -> Findings:
    """What a search says that could not begin: nothing of any property."""
    safety = (*observed.states.values(), *observed.steps.values(), *observed.may_end.values(), *observed.goals.values())
    properties = dict.fromkeys((*safety, *(lead.property for lead in observed.leads)))
    verdicts = tuple(Verdict(prop, "inconclusive", "exhaustive", {}, why) for prop in properties)
    return Findings(verdicts + (reduction.undecided() if reduction else ()), (why,))


def searched(observed: Observed, result: Searched) -> Findings:
    """What a search level by level says of the properties; one on Spark while its session lasts."""
    judgement = _Judgement(observed, result, None, None)
    suspicions = observed.suspicions(result.enabled, result.seen) if result.outcome == "exhausted" else []
    left = tuple(p for p in observed.suite.properties if p.kind == "leads_to")
    notes = (judgement.summary(), *([f"not judged level by level: {', '.join(p.name for p in left)}"] if left else []))
    return Findings(judgement.verdicts(), notes, tuple(suspicions), left=left, seconds=result.seconds)


class _Judgement:
    """Turns the result of a search into verdicts."""

    def __init__(
        self, observed: Observed, result: Result | Searched, workers: int | None, represented: Represented | None
    ) -> None:
        self.observed, self.result, self.workers = observed, result, workers
        self.finds = {(find.kind, find.formula): find for find in result.violations + result.watched}
        self.reach = {"distinct": result.distinct, "transitions": result.transitions, "depth": result.depth}
        self.part, self.whole = observed.kernel.protocol, observed.suite.protocol
        self.up_to = ""
        if self.part is not self.whole:
            self.up_to = " of the slice"
        if represented:
            self.reach["represented"] = represented.states
            self.up_to += " up to symmetry"

    def verdicts(self) -> tuple[Verdict, ...]:
        seen = set(self.result.seen)
        judged = [self._safety(p, self.finds.get(("state", n))) for n, p in self.observed.states.items()]
        judged += [self._safety(p, self.finds.get(("step", n))) for n, p in self.observed.steps.items()]
        judged += [self._safety(p, self.finds.get(("deadlock", 0))) for p in self.observed.may_end.values()]
        for number, goal in self.observed.goals.items():
            if number in seen:
                judged.append(reached(goal, "exhaustive", self.reach, None))
            elif self.result.outcome == "exhausted":
                judged.append(unreached(goal, "exhausted", "exhaustive", self.reach))
            else:
                judged.append(Verdict(goal, "inconclusive", "exhaustive", self.reach, f"not reached; {self.cut_short()}"))
        return tuple(judged)

    def _safety(self, prop: Property, find: Find | None) -> Verdict:
        if find is not None:
            trace = self._trace(prop, find)
            return Verdict(prop, "violated", "exhaustive", self.reach | {"steps": len(trace.steps)}, prop.strict, trace)
        if self.result.outcome == "exhausted":
            return Verdict(prop, "exhausted", "exhaustive", self.reach)
        return Verdict(prop, "inconclusive", "exhaustive", self.reach, self.cut_short())

    def _trace(self, prop: Property, find: Find) -> Trace:
        path = self.result.path(find, self.workers)
        states = [np.array(state, dtype=np.uint64) for state in path.states]
        return trace_of(self.observed.kernel, states, path.actions, violated=prop.name, found_by="exhaustive")

    def cut_short(self) -> str:
        """Why the search did not see everything, and what it did see."""
        result = self.result
        seen = f"{count_of(result.distinct, 'state')}{self.up_to}, every run of up to {count_of(result.depth, 'step')}"
        reasons = {
            "memory": f"over {count_of(_rounded(result.distinct), 'state')}{self.up_to} in {_size(result.bytes_in_use)}"
            "; search not exhausted",
            "states": f"ended after {seen}",
            "time": f"out of time after {seen}",
            "interrupted": f"interrupted after {seen}",
            "violated": f"the search ended with the shortest violation, after {seen}",
            "deadlock": f"the search ended with a deadlock, after {seen}",
        }
        return reasons[result.outcome]

    def left_out(self) -> tuple[str, ...]:
        """What there is to say of a slice: how much it has, and whose values it does without."""
        if self.part is self.whole:
            return ()
        inside, all_ = set(self.part.variables), varying(self.whole)
        gone = [v for v in all_ if v not in inside]
        actions = f"{len(self.part.actions)} of {count_of(len(self.whole.actions), 'action')}"
        share = f"{len(all_) - len(gone)} of {len(all_)} variables and {actions} matter to what is checked"
        return (f"slice: {share}; left out: {', '.join(dict.fromkeys(v.family for v in gone))}",)

    def summary(self) -> str:
        result = self.result
        if result.outcome == "exhausted":
            transitions = count_of(result.transitions, "transition")
            return (
                f"exhausted: all {count_of(result.distinct, 'state')}{self.up_to}, {transitions}, "
                f"the farthest {count_of(result.depth, 'step')} away"
            )
        return self.cut_short()


def _size(count: int) -> str:
    return f"{count / GIB:.1f} GiB" if count >= GIB // 10 else f"{count / (1 << 20):.1f} MiB"


def _rounded(count: int) -> int:
    """Two digits of a count: where memory ends a level, the rest of them depends on the workers."""
    unit = 10 ** max(len(str(count)) - 2, 0)
    return int(count // unit * unit)
