"""The proof that no action takes a variable out of its domain, from the domains and the action's guard alone."""

from __future__ import annotations

from typing import Any

import z3

from fencepost.model.language.declarations import Action, Variable
from fencepost.model.language.domains import Choice, Number
from fencepost.model.language.mistakes import ModelError
from fencepost.model.language.protocol import Protocol


def prove_domains(protocol: Protocol) -> int:
    """Proves that every update of every action stays in the domain of its variable; returns how many updates were proved.

    Raises ModelError, naming the action and the variable with the values that lead out of the domain, if one does not.
    """
    solver = z3.SimpleSolver()
    solver.add([v.domain.within(v.term) for v in protocol.variables if _is_number(v)])
    for action in protocol.actions:
        doubtful = [v for v, term in action.updates.items() if _is_number(v) and not _fits(protocol.range_of(term), v)]
        if not doubtful:
            continue
        solver.push()
        solver.add(action.guard)
        solver.push()
        solver.add(z3.Not(z3.And([v.domain.within(action.updates[v]) for v in doubtful])))
        all_stay = solver.check() == z3.unsat
        solver.pop()
        if not all_stay:
            for variable in doubtful:
                _prove(solver, protocol, action, variable)
        solver.pop()
    return sum(len(action.updates) for action in protocol.actions)


def _prove(solver: Any, protocol: Protocol, action: Action, variable: Variable) -> None:
    """Proves one update, with the domains and the guard asserted; ModelError if it cannot."""
    domain, term = variable.domain, action.updates[variable]
    where = f"{protocol.name}: action {action.label}"
    solver.push()
    solver.add(z3.Not(domain.within(term)))
    answer = solver.check()
    if answer == z3.unknown:
        message = f"Z3 cannot decide whether {variable.name} stays in its domain: {solver.reason_unknown()}"
        raise ModelError(f"{where}: {message}", action.location)
    if answer == z3.sat:
        model = solver.model()
        mentioned = protocol.variables_of(term) | protocol.variables_of(action.guard)
        values = [
            f"{v.name} = {v.domain.show(v.domain.read(model.eval(v.term, model_completion=True)))}"
            for v in protocol.variables
            if v in mentioned
        ]
        raise ModelError(
            f"{where} takes {variable.name} out of {domain.low}..{domain.low + domain.size - 1}: it becomes"
            f" {model.eval(term, model_completion=True)} where {', '.join(values) or 'it is enabled'};"
            " guard the action against that or widen the domain",
            action.location,
        )
    solver.pop()


def _is_number(variable: Variable) -> bool:
    return isinstance(variable.domain, (Number, Choice))  # flags and subsets cannot leave their sort


def _fits(bounds: tuple[int, int], variable: Variable) -> bool:
    low = variable.domain.low
    return low <= bounds[0] and bounds[1] < low + variable.domain.size
