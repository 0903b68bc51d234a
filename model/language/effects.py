"""What happens in a step: a guard, updates, and moves of parts, with commas between; or one of two such by a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, Union

from fencepost.model.language.formulas import And, Not, Or, if_any
from fencepost.model.language.mistakes import ModelError, build
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Condition, Truth, conditional, conditions_of
from fencepost.model.terms.values import condition as formula_of

if TYPE_CHECKING:
    from fencepost.model.language.declarations import Taken
    from fencepost.model.language.parts import Scope

Updates: TypeAlias = "dict[Any, Any]"
"""New values by variable. What fits a variable is checked as the action is declared: a dict's type cannot say it."""

Happens: TypeAlias = Union["Mapping[Any, Any]", "Effect", "Truth", "tuple[Happens, ...]"]
"""What happens at once: updates, moves of parts, ``either`` of such, what must hold besides, or several of these."""

Outcome: TypeAlias = "Effect | tuple[Truth | Effect, Happens] | tuple[Truth | Effect, Happens, *tuple[Happens, ...]]"
"""What an action returns: a guard, and after it as much as happens at once; or a move alone."""


T = TypeVar("T")


class Given(NamedTuple):
    """A new value of a variable, the parts that give it (None is whoever returns it), and the move in which they do."""

    value: object
    by: tuple[Scope | None, ...] = (None,)
    move: str = ""


@dataclass(frozen=True, eq=False)
class Effect:
    """When something may happen, what it changes, and the moves of parts that it consists of.

    ``conflicts`` are sentences on variables that get two values: a mistake, unless the guard is settled to be false.
    """

    guard: Truth
    updates: Mapping[Term, Given]
    moves: tuple[Taken, ...] = ()
    conflicts: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        raise TypeError("Python's and, or, not and if cannot see into a move: name it after the guard, with a comma")

    def given_by(self, scope: Scope, taken: Taken | None = None) -> Effect:
        """The same, returned by a step or a move of that part."""
        move = taken.name if taken is not None else ""
        updates = {
            variable: Given(given.value, tuple(by or scope for by in given.by), given.move or move)
            for variable, given in self.updates.items()
        }
        return replace(self, updates=updates, moves=self.moves if taken is None else (*self.moves, taken))


_CALLED: ContextVar[list[Taken] | None] = ContextVar("called", default=None)
"""The moves that the step calls whose function runs now."""


def with_calls(make: Callable[[], T]) -> tuple[T, list[Taken]]:
    """What is made, and the moves that are called meanwhile."""
    called: list[Taken] = []
    before = _CALLED.set(called)
    try:
        return make(), called
    finally:
        _CALLED.reset(before)


def note(taken: Taken) -> None:
    """Takes note that a move is called."""
    called = _CALLED.get()
    if called is not None:
        called.append(taken)


def effect(outcomes: object) -> Effect:
    """Formulas, updates and effects, or several in a tuple, as one effect. Raises ModelError for anything else."""
    if isinstance(outcomes, Effect):
        return outcomes
    if isinstance(outcomes, tuple):
        return _joined([effect(one) for one in outcomes])
    if isinstance(outcomes, (bool, Condition)):
        return Effect(outcomes, {})
    if isinstance(outcomes, (dict, Mapping)):  # a plain dict is none of the abstract class's business
        return Effect(True, {variable: Given(value) for variable, value in outcomes.items()})
    if callable(outcomes):
        raise ModelError(f"{getattr(outcomes, 'name', outcomes)} is not called: write its arguments behind it, in brackets")
    raise ModelError(f"an action returns (guard, updates), and after these updates and moves, with commas, not {outcomes!r}")


def outcome(where: str, returned: object, such: Sequence[Truth] = ()) -> Effect:
    """What a step has returned as one effect; ``such`` must hold besides. Raises ModelError, beginning with ``where``, if it
    returned none."""
    if returned is None:
        raise ModelError(f"{where}: an action returns (guard, updates), and this returns nothing: is its return forgotten?")
    if isinstance(returned, tuple) and len(returned) > 1:
        guard, *happens = returned
        if not isinstance(guard, (bool, Condition, Effect)):
            _refuse(where, guard)
        for one in happens:
            if isinstance(one, tuple) and one and all(isinstance(part, (bool, Condition)) for part in one):
                shown = ", ".join(map(str, one))
                raise ModelError(f"{where}: ({shown}) is a tuple of conditions: updates are a dict, {{variable: new value}}")
        if all(isinstance(one, (bool, Condition)) for one in happens):
            raise ModelError(f"{where}: {happens[-1]} is a condition: updates are a dict, {{variable: new value}}")
        if not such and len(happens) == 1 and type(happens[0]) is dict and isinstance(guard, (bool, Condition)):
            return Effect(guard, {variable: Given(value) for variable, value in happens[0].items()})
        whole: Effect = build(where, effect, (*such, *returned))
        return whole
    if isinstance(returned, Effect):
        return effect((*such, returned)) if such else returned
    raise ModelError(f"{where}: an action returns (guard, updates), not {returned!r}")


def _refuse(where: str, guard: object) -> None:
    """Raises ModelError for what stands in the place of a guard, unless it may be a move that was not called."""
    if isinstance(guard, Mapping):
        raise ModelError(f"{where}: it returns updates before its guard: write (guard, updates)")
    if not callable(guard):
        several = isinstance(guard, Iterator)
        shown = "several formulas: join them by all_of or any_of" if several else f"not boolean: {guard}"
        raise ModelError(f"{where}: its guard is {shown}")


def either(condition: Truth, then: Happens, otherwise: Happens = ()) -> Effect:
    """What happens where the condition holds, and what otherwise; each is updates, a move, or a tuple of what happens."""
    one, other = effect(then), effect(otherwise)
    if isinstance(condition, bool):
        chosen, dropped = (one, other) if condition else (other, one)
        called = _CALLED.get()
        if called is not None:
            called[:] = [taken for taken in called if taken not in dropped.moves]
        return chosen
    updates: dict[Term, Given] = {}
    for variable in dict.fromkeys([*one.updates, *other.updates]):
        sides = [side.updates.get(variable, Given(variable, ())) for side in (one, other)]
        by = tuple(dict.fromkeys([*sides[0].by, *sides[1].by]))
        updates[variable] = Given(if_any(condition, sides[0].value, sides[1].value), by, sides[0].move or sides[1].move)
    guard = _guarded(condition, one.guard, other.guard)
    return Effect(guard, updates, one.moves + other.moves, one.conflicts + other.conflicts)


def _guarded(condition: Truth, one: Truth, other: Truth) -> Truth:
    if one is True:
        return True if other is True else Or(condition, other)
    if other is True:
        return Or(Not(condition), one)
    return conditional(condition, formula_of(one), formula_of(other))


def _joined(effects: list[Effect]) -> Effect:
    updates: dict[Term, Given] = {}
    conflicts: list[str] = []
    for one in effects:
        for variable, given in one.updates.items():
            known = updates.get(variable)
            if known is not None and (known.move or given.move or not is_same(known.value, given.value)):
                sides = (f"{_text(side.value)} ({side.move or 'an update'})" for side in (known, given))
                conflicts.append(f"{variable} gets two values: {' and '.join(sides)}")
            updates[variable] = given
    guards: list[Truth] = [one.guard for one in effects if one.guard is not True]
    guard = guards[0] if len(guards) == 1 else conjunction(guards)
    moves = tuple(taken for one in effects for taken in one.moves)
    return Effect(guard, updates, moves, (*(conflict for one in effects for conflict in one.conflicts), *conflicts))


def conjunction(guards: list[Truth]) -> Truth:
    """All of the guards, without brackets within brackets; true if there are none."""
    if any(guard is False for guard in guards):
        return False
    parts = [part for guard in guards for part in _conjuncts(guard)]
    return (And(*parts) if len(parts) > 1 else parts[0]) if parts else True


def _conjuncts(guard: Truth) -> Sequence[Truth]:
    return conditions_of(guard) if isinstance(guard, Condition) and guard.op == "and" else [guard]


def is_same(one: object, other: object) -> bool:
    """Whether two new values are written the same."""
    if isinstance(one, Term) or isinstance(other, Term):
        return one is other
    literals = (bool, int, str, tuple, range)
    return one is other or (isinstance(one, literals) and type(one) is type(other) and bool(one == other))


def _text(value: object) -> str:
    return str(value) if isinstance(value, (Term, bool, int, str, tuple)) else "a choice of two"
