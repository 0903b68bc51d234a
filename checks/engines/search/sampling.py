"""Random walks as a check: what they violate is certain, what they do not is only what was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import Amount, Verdict, reached, unreached, unviolated
from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.paths import Path
from fencepost.model.kernel.search.results import Progress
from fencepost.model.kernel.walks.beyond import CONFIDENCE, Beyond, beyond
from fencepost.model.kernel.walks.course import Strategy
from fencepost.model.kernel.walks.walks import WalkFind, WalkProgress, WalkResult, random_walks, walk_path
from fencepost.properties.observed import Observed
from fencepost.properties.vocabulary import Property
from fencepost.traces.shrinking.shrinking import shrink
from fencepost.traces.trace import Trace, trace_of


@dataclass(frozen=True)
class Walks:
    """How to walk: how many walks of how many steps, from which seed, and by which strategy."""

    count: int = 100_000
    steps: int = 100
    seed: int = 0
    strategy: Strategy = "held"


def sample(
    observed: Observed,
    walks: Walks,
    *,
    workers: int | None = None,
    seconds: float | None = None,
    progress: Callable[[WalkProgress], None] | None = None,
    shrinking: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Findings:
    """Walks at random, up to the first violation that is not expected, and shrinks the walks that violate something.

    ``shrinking`` is told how far the search for a shorter run is.
    """
    alarm, step_alarm = observed.alarms()
    seed, steps, strategy = walks.seed, walks.steps, walks.strategy
    result = random_walks(
        observed.kernel,
        seed=seed,
        steps=steps,
        strategy=strategy,
        alarm=alarm,
        step_alarm=step_alarm,
        count=walks.count,
        may_end=next(iter(observed.may_end), None),
        workers=workers,
        seconds=seconds,
        should_stop=should_stop,
        progress=progress,
    )
    reach: dict[str, Amount] = {"walks": result.walks, "walked": result.steps, "seed": walks.seed, "strategy": walks.strategy}
    if result.unseen is not None:
        reach["unseen"] = round(result.unseen, 6)
    further = None
    if result.outcome == "sampled":
        further = beyond(observed.kernel, seed=seed, count=walks.count, steps=steps, strategy=strategy)
    if further is not None:
        reach |= {"new_at_most": round(further.at_most, 6), "confidence": CONFIDENCE}
    shortened = partial(shrink, suite=observed.suite, progress=shrinking, should_stop=should_stop)

    def trace_of_find(prop: Property, walk: int) -> Trace:
        kernel, sought = observed.kernel, {"alarm": alarm, "step_alarm": step_alarm}
        path = walk_path(kernel, seed=seed, steps=steps, strategy=strategy, **sought, walk=walk)
        return shortened(_trace(observed.kernel, path, prop, walk, walks)).trace

    verdicts = _verdicts(observed, trace_of_find, result, reach)
    return Findings(verdicts, (_summary(result, walks.strategy, further),), seconds=result.seconds)


def _verdicts(
    observed: Observed, trace_of_find: Callable[[Property, int], Trace], result: WalkResult, reach: dict[str, Amount]
) -> tuple[Verdict, ...]:
    finds = {(find.kind, find.formula): find for find in result.violations}
    seen, vacuous = set(result.seen), {p.name for p in observed.vacuous(result.seen)}

    def judged(prop: Property, find: WalkFind | None, held: bool) -> Verdict:
        if find is not None:
            trace = trace_of_find(prop, find.walk)
            return Verdict(prop, "violated", "walks", reach | {"steps": len(trace.steps)}, prop.strict, trace)
        if held:
            return Verdict(prop, "violated", "walks", reach, f"{prop.strict} (seen on some walk)")
        if result.outcome in ("time", "interrupted", "violated"):
            return Verdict(prop, "inconclusive", "walks", reach, f"cut short: {result.outcome}")
        if prop.name in vacuous:
            return Verdict(prop, "inconclusive", "walks", reach, "no walk met its premise")
        return unviolated(prop, "sampled", "walks", reach)

    verdicts = [judged(p, finds.get(("state", n)), n in seen) for n, p in observed.states.items()]
    verdicts += [judged(p, finds.get(("step", n)), False) for n, p in observed.steps.items()]
    verdicts += [judged(p, finds.get(("deadlock", 0)), False) for p in observed.may_end.values()]
    for number, goal in observed.goals.items():
        verdicts.append(reached(goal, "walks", reach, None) if number in seen else unreached(goal, "sampled", "walks", reach))
    return tuple(verdicts)


def _trace(kernel: Kernel, path: Path, prop: Property, walk: int, walks: Walks) -> Trace:
    states = [np.array(state, dtype=np.uint64) for state in path.states]
    found_by = f"walk {walk} ({walks.strategy})"
    return trace_of(kernel, states, path.actions, violated=prop.name, found_by=found_by, seed=walks.seed)


def _summary(result: WalkResult, strategy: Strategy, further: Beyond | None) -> str:
    text = f"{result.outcome}: {count_of(result.walks, 'walk')} ({strategy}), {count_of(result.steps, 'step')}"
    if result.unseen is not None:
        text += f", the next state visited is new with probability {result.unseen:.2g} (estimate)"
    if further is not None:
        bound = f"at most {further.at_most:.2g} (confidence {CONFIDENCE:.0%}: {further.new:,} of {further.trials:,} did)"
        text += f"; a further walk visits a new state with probability {bound}"
    return text
