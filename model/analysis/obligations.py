"""The proof that no action takes a variable out of its domain, from the domains and the action's guard alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from operator import attrgetter

from fencepost.model.analysis.bounds import Bounds
from fencepost.model.language import Not, Protocol
from fencepost.model.language.declarations import Action, Variable
from fencepost.model.language.domains import Choice, Number
from fencepost.model.language.mistakes import ModelError
from fencepost.model.terms.asking import Asking
from fencepost.model.terms.values import conjunction


def prove_domains(protocol: Protocol) -> int:
    """Proves that every update of every action stays in the domain of its variable; returns how many updates were proved.

    Where the domains alone do not show it, the bounds that the guard sets may, and Z3 proves the rest. Raises ModelError,
    naming the action and the variable with the values that lead out of the domain, if one does not.
    """
    doubtful = [(action, _doubtful(protocol, action)) for action in protocol.actions]
    asked = [(action, variables) for action, variables in doubtful if variables]
    if asked:
        _prove_all(protocol, asked)
    return sum(len(action.updates) for action in protocol.actions)


def _doubtful(protocol: Protocol, action: Action) -> list[Variable]:
    """The variables that the action may take out of their domains, for all that the domains alone show."""
    return [v for v, term in action.updates.items() if _is_number(v) and not _fits(protocol.range_of(term), v)]


_proved = set[bytes]()
"""What this process has proved: most protocols of a check differ from others in a few actions."""


def _prove_all(protocol: Protocol, asked: Iterable[tuple[Action, Sequence[Variable]]]) -> None:
    """Proves of each action that some variables stay in their domains, supposing those of the variables that it mentions."""
    asking: Asking | None = None
    for action, doubtful in asked:
        mentioned = protocol.variables_of(action.guard).union(*(protocol.variables_of(action.updates[v]) for v in doubtful))
        supposed = sorted(filter(_is_number, mentioned), key=attrgetter("name"))
        obligation = _obligation(action, doubtful, supposed)
        if obligation in _proved:
            continue
        if not _are_bounded(protocol, action, doubtful):
            asking = asking or Asking()
            with asking.supposing(action.guard, *(v.domain.within(v.term) for v in supposed)):
                if not asking.excludes(Not(conjunction(tuple(v.domain.within(action.updates[v]) for v in doubtful)))):
                    for variable in doubtful:
                        _prove(asking, protocol, action, variable)
        _proved.add(obligation)


def _are_bounded(protocol: Protocol, action: Action, variables: Iterable[Variable]) -> bool:
    """Whether the bounds that the guard sets show that the action leaves these variables in their domains."""
    bounds = Bounds(protocol.range_of)
    return not bounds.suppose(action.guard) or all(_fits(bounds.of(action.updates[v]), v) for v in variables)


def _obligation(action: Action, doubtful: Iterable[Variable], supposed: Iterable[Variable]) -> bytes:
    """A digest of all that decides whether the variables stay in their domains."""
    updates = [(v.domain, action.updates[v].digest) for v in doubtful]
    what = action.guard.digest, updates, [(v.name, v.domain) for v in supposed]
    return blake2b(repr(what).encode(), digest_size=16).digest()


def _prove(asking: Asking, protocol: Protocol, action: Action, variable: Variable) -> None:
    """Proves one update, with the domains and the guard supposed; ModelError if it cannot."""
    domain, term = variable.domain, action.updates[variable]
    where = f"{protocol.name}: action {action.label}"
    answer = asking.answer(Not(domain.within(term)))
    if answer == "unknown":
        message = f"Z3 cannot decide whether {variable.name} stays in its domain: {asking.reason}"
        raise ModelError(f"{where}: {message}", action.location)
    if answer == "sat":
        mentioned = protocol.variables_of(term) | protocol.variables_of(action.guard)
        values = [f"{v.name} = {v.domain.show(asking.value(v.term))}" for v in protocol.variables if v in mentioned]
        raise ModelError(
            f"{where} takes {variable.name} out of {domain.low}..{domain.low + domain.size - 1}: it becomes"
            f" {asking.value(term)} where {', '.join(values) or 'it is enabled'};"
            " guard the action against that or widen the domain",
            action.location,
        )


def _is_number(variable: Variable) -> bool:
    return isinstance(variable.domain, (Number, Choice))  # flags and subsets cannot leave their sort


def _fits(bounds: tuple[int, int], variable: Variable) -> bool:
    low = variable.domain.low
    return low <= bounds[0] and bounds[1] < low + variable.domain.size
