"""The proof that no action takes a variable out of its domain, from the domains and the action's guard alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fencepost.model.language.declarations import Action, Variable
from fencepost.model.language.domains import Choice, Number
from fencepost.model.language.mistakes import ModelError

if TYPE_CHECKING:
    import z3

    from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.language.protocol import Protocol


def prove_domains(protocol: Protocol) -> int:
    """Proves that every update of every action stays in the domain of its variable; returns how many updates were proved.

    What cannot be said without a condition is proved by Z3. Raises ModelError, naming the action and the variable with the
    values that lead out of the domain, if one does not.
    """
    doubtful = [(action, _doubtful(protocol, action)) for action in protocol.actions]
    asked = [(action, variables) for action, variables in doubtful if variables]
    if asked:
        _prove_all(protocol, asked)
    return sum(len(action.updates) for action in protocol.actions)


def _doubtful(protocol: Protocol, action: Action) -> list[Variable]:
    """The variables of which the domains of others alone do not tell that the action leaves them in theirs."""
    return [v for v, term in action.updates.items() if _is_number(v) and not _fits(protocol.range_of(term), v)]


def _prove_all(protocol: Protocol, asked: Iterable[tuple[Action, Sequence[Variable]]]) -> None:
    import z3

    from fencepost.model.terms.in_z3 import InZ3

    printed, solver = InZ3(), z3.SimpleSolver()
    solver.add([printed(v.domain.within(v.term)) for v in protocol.variables if _is_number(v)])
    for action, doubtful in asked:
        solver.push()
        solver.add(printed(action.guard))
        solver.push()
        solver.add(z3.Not(z3.And([printed(v.domain.within(action.updates[v])) for v in doubtful])))
        all_stay = solver.check() == z3.unsat
        solver.pop()
        if not all_stay:
            for variable in doubtful:
                _prove(solver, printed, protocol, action, variable)
        solver.pop()


def _prove(solver: z3.Solver, printed: InZ3, protocol: Protocol, action: Action, variable: Variable) -> None:
    """Proves one update, with the domains and the guard asserted; ModelError if it cannot."""
    import z3

    from fencepost.model.terms.in_z3 import raw

    domain, term = variable.domain, action.updates[variable]
    where = f"{protocol.name}: action {action.label}"
    solver.push()
    solver.add(z3.Not(printed(domain.within(term))))
    answer = solver.check()
    if answer == z3.unknown:
        message = f"Z3 cannot decide whether {variable.name} stays in its domain: {solver.reason_unknown()}"
        raise ModelError(f"{where}: {message}", action.location)
    if answer == z3.sat:
        model = solver.model()
        mentioned = protocol.variables_of(term) | protocol.variables_of(action.guard)
        values = [
            f"{v.name} = {v.domain.show(raw(model.eval(printed(v.term), model_completion=True)))}"
            for v in protocol.variables
            if v in mentioned
        ]
        raise ModelError(
            f"{where} takes {variable.name} out of {domain.low}..{domain.low + domain.size - 1}: it becomes"
            f" {model.eval(printed(term), model_completion=True)} where {', '.join(values) or 'it is enabled'};"
            " guard the action against that or widen the domain",
            action.location,
        )
    solver.pop()


def _is_number(variable: Variable) -> bool:
    return isinstance(variable.domain, (Number, Choice))  # flags and subsets cannot leave their sort


def _fits(bounds: tuple[int, int], variable: Variable) -> bool:
    low = variable.domain.low
    return low <= bounds[0] and bounds[1] < low + variable.domain.size
