"""Bounded checking: the transition relation unrolled in Z3, every run of up to k steps at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import z3

from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import Verdict, reached, unviolated
from fencepost.checks.engines.solvers.solving import ask
from fencepost.model.counts import count_of
from fencepost.model.language import Protocol
from fencepost.model.language.connectives import substituted
from fencepost.model.language.obligations import prove_domains
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.trace import Step, Trace


def unroll(
    suite: Suite,
    properties: Sequence[Property],
    depth: int,
    *,
    seconds: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Findings:
    """Looks at all runs of 0, 1, ... ``depth`` steps, each length by itself, so that a run that ends hides no other.

    A violation found is a shortest one. ``seconds`` bounds the whole; ``progress`` is told the length and the depth. Raises
    ModelError if an action leaves the domain of a variable, of whose values a trace could not tell.
    """
    started = time.monotonic()
    prove_domains(suite.protocol)
    runs = _Runs(suite.protocol, float("inf") if seconds is None else started + seconds)
    open_still = [p for p in properties if p.kind != "sometimes"]
    goals = [p for p in properties if p.kind == "sometimes"]
    traces: dict[str, Trace] = {}
    complete, ended = -1, ""
    for length in range(depth + 1):
        if length:
            runs.extend()
        if should_stop():
            ended = "interrupted"
            break
        answer = runs.find(z3.BoolVal(True))
        if answer == z3.unsat:
            ended = f"no run has more than {count_of(length - 1, 'step')}"
            break
        claims = {p.name: runs.refuted(p) for p in open_still} | {p.name: runs.now(p.formula) for p in goals}
        while claims and answer == z3.sat:
            answer = runs.find(z3.Or(*claims.values()))
            if answer == z3.sat:
                for name in [name for name, claim in claims.items() if runs.holds(claim)]:
                    traces[name] = runs.trace(name)
                    del claims[name]
        if answer == z3.unknown:
            ended = "interrupted" if should_stop() else "out of time"
            break
        open_still = [p for p in open_still if p.name not in traces]
        goals = [p for p in goals if p.name not in traces]
        complete = length
        if progress is not None:
            progress(length, depth)
    return Findings(
        tuple(_verdict(p, traces.get(p.name), complete, depth, ended) for p in properties),
        (f"looked at every run of up to {count_of(max(complete, 0), 'step')}" + (f"; {ended}" if ended else ""),),
        seconds=time.monotonic() - started,
    )


def _verdict(prop: Property, trace: Trace | None, complete: int, depth: int, ended: str) -> Verdict:
    reach = {"depth": complete}
    if trace is not None and prop.kind == "sometimes":
        return reached(prop, "bounded", reach | {"steps": len(trace.steps)}, trace)
    if trace is not None:
        return Verdict(prop, "violated", "bounded", reach | {"steps": len(trace.steps)}, prop.strict, trace)
    if prop.kind == "sometimes":
        return Verdict(prop, "inconclusive", "bounded", reach, f"not reached within {count_of(complete, 'step')}")
    if complete < depth and ended in ("interrupted", "out of time"):
        return Verdict(prop, "inconclusive", "bounded", reach, f"{ended} beyond {count_of(complete, 'step')}")
    return unviolated(prop, "bounded", "bounded", reach)


class _Runs:
    """All runs of one length, as constraints in a solver that is extended step by step."""

    def __init__(self, protocol: Protocol, deadline: float) -> None:
        self.protocol, self._deadline = protocol, deadline
        self._solver = z3.Solver()
        self._states = [self._constants(0)]
        self._taken: list[Any] = []
        self._model: Any = None
        for variable, term in zip(protocol.variables, self._states[0], strict=True):
            domain = variable.domain
            self._solver.add(z3.Or(*(term == domain.literal(raw) for raw in variable.initial)))
        self._guards = [action.guard for action in protocol.actions]

    def _constants(self, length: int) -> list[Any]:
        return [v.domain.term(f"{v.name}@{length}") for v in self.protocol.variables]

    def _at(self, formula: Any, length: int, after: int | None = None) -> Any:
        pairs = [(v.term, term) for v, term in zip(self.protocol.variables, self._states[length], strict=True)]
        if after is not None:
            pairs += [(v.next, term) for v, term in zip(self.protocol.variables, self._states[after], strict=True)]
        return substituted(formula, pairs)

    def extend(self) -> None:
        """Lets every run take one step more."""
        protocol, here = self.protocol, len(self._states) - 1
        taken = z3.Int(f"action@{here}")
        self._states.append(self._constants(here + 1))
        self._taken.append(taken)
        chosen = [z3.And(taken == number, action.guard) for number, action in enumerate(protocol.actions)]
        self._solver.add(self._at(z3.Or(*chosen), here))
        for variable, after in zip(protocol.variables, self._states[-1], strict=True):
            value = variable.term
            for number, action in enumerate(protocol.actions):
                if variable in action.updates:
                    value = z3.If(taken == number, action.updates[variable], value)
            self._solver.add(after == self._at(value, here))

    def now(self, formula: Any) -> Any:
        """The formula, said of the last state."""
        return self._at(formula, len(self._states) - 1)

    def refuted(self, prop: Property) -> Any:
        """What holds of the runs that end by violating the property."""
        last = len(self._states) - 1
        if prop.kind == "step":
            return self._at(z3.Not(prop.judged), last - 1, last) if last else z3.BoolVal(False)
        if prop.kind == "deadlock":
            return self.now(z3.Not(z3.Or(prop.formula, *self._guards)))
        return self.now(z3.Not(prop.formula))

    def find(self, formula: Any) -> Any:
        """Whether a run satisfies the formula; the answer of Z3."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            return z3.unknown
        self._solver.push()
        self._solver.add(formula)
        answer = ask(self._solver, seconds=left)
        self._model = self._solver.model() if answer == z3.sat else None
        self._solver.pop()
        return answer

    def holds(self, formula: Any) -> bool:
        """Whether the run that was found last satisfies the formula."""
        return bool(z3.is_true(self._model.eval(formula, model_completion=True)))

    def trace(self, violated: str) -> Trace:
        """The run that was found last."""
        protocol = self.protocol
        raw = [
            tuple(
                v.domain.read(self._model.eval(term, model_completion=True))
                for v, term in zip(protocol.variables, state, strict=True)
            )
            for state in self._states
        ]
        numbers = [self._model.eval(taken, model_completion=True).as_long() for taken in self._taken]
        steps = [Step(protocol.actions[n].label, state) for n, state in zip(numbers, raw[1:], strict=True)]
        return Trace(
            protocol=protocol.name,
            initial=raw[0],
            steps=tuple(steps),
            parameters=dict(protocol.parameters),
            defects=protocol.active,
            violated=violated,
            found_by="bounded",
        )
