"""Grounding: a variable for each member of a family, and an action for each tuple of arguments of a definition."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fencepost.model.language.actors import Manner, which
from fencepost.model.language.declarations import Action, OneOf, Taken, Variable
from fencepost.model.language.domains import Choice, Domain, Universe
from fencepost.model.language.effects import Given, outcome, with_calls
from fencepost.model.language.formulas import And
from fencepost.model.language.mistakes import Location, ModelError, build, reason
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import FALSE, TRUE, Condition, Number, Truth, condition, conditions_of

if TYPE_CHECKING:
    from fencepost.model.language.protocol import Protocol


Grounded = tuple[Condition, dict[Variable, Term], tuple[Taken, ...]]
"""A guard, updates and moves."""


class Definition(NamedTuple):
    """An action as it is written, once for all arguments: ``posts`` has for each who may be sent something the variable that
    holds it."""

    name: str
    doc: str
    function: Callable[..., object]
    manner: Manner
    posts: Mapping[str, Variable]


def members(p: Protocol, name: str, domain: Domain, universes: tuple[Universe, ...], init: object) -> Iterator[Variable]:
    """The variables of a family, one for each tuple of members; ``index`` of each begins with the copy whose part it is of.

    Raises ModelError for an initial value that is not in the domain.
    """
    family = p.scope.name(name)
    owners = tuple(universe for universe, _ in p.scope.at)
    owned = tuple(member for _, member in p.scope.at)
    for index in itertools.product(*universes):
        full = p.scope.full(name, universes, index)
        value = init(*index) if callable(init) else init
        options = value.values if isinstance(value, OneOf) else (value,)
        try:
            initial = tuple(dict.fromkeys(domain.raw(option) for option in options))
        except ValueError as error:
            raise ModelError(f"{p.name}: initial value of {full}: {error}") from error
        if not initial:
            raise ModelError(f"{p.name}: {full} has no initial value")
        term, primed = domain.term(full), domain.term(full + "'")
        yield Variable(full, family, (*owned, *index), (*owners, *universes), domain, initial, term, primed)


def values_of(p: Protocol, where: str, manner: Manner) -> dict[str, Iterable[int]]:
    """What each parameter goes through: for the member that a variable holds, the universe of such members."""
    values: dict[str, Iterable[int]] = {}
    for name, given in manner.parameters.items():
        if not callable(given):
            values[name] = given
            continue
        firsts = {known: next(iter(through), None) for known, through in values.items()}
        values[name] = () if None in firsts.values() else _universe_held(p, where, name, given, firsts)
    return values


def _universe_held(
    p: Protocol, where: str, name: str, values: Callable[..., object], bound: Mapping[str, int | None]
) -> Universe:
    """The universe of whose members a variable holds one, which a parameter is."""
    term = build(where, which, where, values, bound)
    variable = p.constants.variable_of(term)
    universe = variable.domain.universe if variable is not None and isinstance(variable.domain, Choice) else None
    if universe is None:
        raise ModelError(f"{where}: {name} is the member that a variable holds, a choice of a universe, not {term}")
    return universe


def actions(p: Protocol, definition: Definition) -> Iterator[Action]:
    """An action for each tuple of arguments, except where these alone settle that the guard is false.

    What an action mirrors is added to ``p.mirrors``, and the moves that it takes are marked in ``p.offers``. Raises ModelError
    for a function that returns no guard and updates of this protocol's own variables.
    """
    name, doc, function, manner, posts = definition
    talk, spends, own, mirrored = manner.talk, manner.spends, p.mirrors[name], manner.conditions()
    through, location = values_of(p, f"{p.name}: action {name}", manner), Location.of(function)
    copies = {u.name: u.label(i) for u, i in p.scope.at}
    universes = [given if isinstance(given, Universe) else None for given in through.values()]
    for values in itertools.product(*through.values()):
        bound = dict(zip(manner.parameters, values, strict=True))
        if not manner.admits(bound):
            continue
        shown = copies | {k: _shown(through[k], v) for k, v in bound.items()}
        where = f"{p.name}: action {name}({', '.join(f'{k}={v}' for k, v in shown.items())})"
        guard, updates, moves = _worked_out(p, where, definition, bound)
        if guard is FALSE:
            continue
        _note(p, where, manner, moves)
        mirrors, conditions = tuple(dict.fromkeys(own)), mirrored
        if moves:
            mirrors = tuple(dict.fromkeys([*mirrors, *(method for taken in moves for method in taken.mirrors)]))
            conditions = {k: v for each in (*(taken.conditions for taken in moves), mirrored) for k, v in each.items()}
        p.mirrors[name] = tuple(dict.fromkeys([*p.mirrors[name], *mirrors]))
        p.conditions[name] = {**p.conditions[name], **conditions}
        if spends is not None:
            counter = p.variable(spends)
            assert isinstance(counter.term, Number)
            if counter in updates:
                raise ModelError(f"{where}: it updates {spends}, the budget that it spends")
            guard = And(guard, counter.term < p.budgets[spends])
            updates[counter] = counter.term + 1
        yield Action(
            name,
            shown.get(manner.by, manner.by),
            shown,
            (*p.scope.at, *zip(universes, values, strict=True)),
            guard,
            updates,
            manner.fault,
            manner.fair,
            doc,
            location,
            mirrors,
            shown.get(talk.hears, talk.hears),
            shown.get(talk.to, talk.to),
            posts,
            moves,
            conditions,
            manner.takes or _taken_by(moves),
        )


def _worked_out(p: Protocol, where: str, definition: Definition, bound: Mapping[str, int]) -> Grounded:
    """What an action does with these arguments, by its function."""
    held = definition.manner.parameters.items()
    such = [which(where, values, bound) == bound[k] for k, values in held if callable(values)]
    returned, called = with_calls(lambda: build(where, definition.function, **bound))
    return _checked(p, where, returned, such, called)


def _shown(through: Iterable[int], value: int) -> str:
    return through.label(value) if isinstance(through, Universe) else str(value)


def _note(p: Protocol, where: str, manner: Manner, moves: Iterable[Taken]) -> None:
    """Takes note of the moves that an action takes. Raises ModelError if one is fair, or a fault, and the action is not."""
    for taken in moves:
        if taken.fair and not manner.fair:
            raise ModelError(f"{where}: it takes {taken.name}, which is fair, and is not fair itself: write fair=True")
        if taken.fault and not manner.fault:
            raise ModelError(f"{where}: it takes {taken.name}, which is a fault: declare it with @p.fault")
        if taken.name in p.offers:
            p.offers[taken.name].taken = True


def _taken_by(moves: Iterable[Taken]) -> str:
    """The number that all of the moves which name one take; empty if they name several, or none."""
    numbers = {taken.takes for taken in moves} - {""}
    return numbers.pop() if len(numbers) == 1 else ""


def _checked(p: Protocol, where: str, returned: object, such: Sequence[Truth], called: Iterable[Taken]) -> Grounded:
    """The guard, updates and moves that a step has returned; ``such`` must hold besides, ``called`` be among the moves."""
    whole = outcome(where, returned, such)
    guard = _settled(condition(whole.guard))
    p.vet(f"{where}: its guard", guard)
    if guard is FALSE:
        return guard, {}, ()
    if whole.conflicts:
        raise ModelError(f"{where}: {whole.conflicts[0]}")
    for taken in called:
        if taken not in whole.moves:
            raise ModelError(f"{where}: it calls {taken.name} and leaves it out: name it after the guard, with a comma")
    updates: dict[Variable, Term] = {}
    for key, given in whole.updates.items():
        variable = p.constants.variable_of(key)
        if variable is None:
            raise ModelError(f"{where}: it updates {key}, which is not a variable of the protocol")
        _check_owner(p, where, variable, given)
        try:
            term = variable.domain.coerce(given.value)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{where}: new value of {variable.name}: {reason(error)}") from error
        p.vet(f"{where}: the new value of {variable.name}", term)
        if term is not variable.term:
            updates[variable] = term
    return guard, updates, whole.moves


def _check_owner(p: Protocol, where: str, variable: Variable, given: Given) -> None:
    """Raises ModelError if a variable of a part is changed otherwise than by the part itself or by a part of it."""
    owner = p.owners.get(variable.name)
    if owner is not None and not all(owner in (by or p.scope).enclosing for by in given.by):
        part = f"the part {owner.called}"
        raise ModelError(f"{where}: it changes {variable.name}, a variable of {part}: take a move of {part}")


def _settled(guard: Condition) -> Condition:
    """The guard without conjuncts that are settled where it is written, such as ``old != new`` of two members."""
    if guard.op != "and":
        return guard
    open_ = [conjunct for conjunct in conditions_of(guard) if conjunct is not TRUE]
    if any(conjunct is FALSE for conjunct in open_):
        return FALSE
    return guard if len(open_) == len(guard.arguments) else And(*open_)
