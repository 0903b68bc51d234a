"""Grounded actions lifted back: one operator with parameters for all the actions that one function was grounded into.

Nothing is taken from the function. The grounded actions of one name are laid side by side: where their expressions have one
shape and differ only in what a parameter says, they become one case of the operator; where they differ otherwise (an argument
equal to another, a bundle whose parts are its own) there are several cases, at worst one for each grounded action. Each case
is, by how it was made, exactly its grounded actions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from fencepost.checks.export.tla.columns import Index, Numbering, by_shape
from fencepost.checks.export.tla.expressions import Expression, belongs, equality, member, name, negation, number, of
from fencepost.checks.export.tla.folding import Folding
from fencepost.checks.export.tla.kinds import kind_of
from fencepost.checks.export.tla.terms import Terms
from fencepost.checks.export.tla.updates import Updates
from fencepost.model.language import Action, Protocol, Universe, Variable

Values = tuple[int, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operator, and the numbers of what it ranges over."""

    name: str
    universe: Universe | None
    values: Values

    def literal(self, value: int) -> Expression:
        """One of the values."""
        return number(value) if self.universe is None else member(self.universe, value)


@dataclass(frozen=True)
class Case:
    """Some of the grounded actions: the condition on the parameters that tells them from the others, then guard and updates."""

    conditions: tuple[Expression, ...]
    guard: Expression
    equations: tuple[Expression, ...]
    unchanged: tuple[str, ...]


@dataclass(frozen=True)
class Operator:
    """All grounded actions of one name."""

    action: str
    parameters: tuple[Parameter, ...]
    cases: tuple[Case, ...]
    grounded: tuple[tuple[Values, Action], ...]


class Lifting:
    """Lifts a protocol's actions. ``taken`` are the names that no parameter or bound variable may have."""

    def __init__(self, protocol: Protocol, numbering: Numbering, taken: Collection[str]) -> None:
        self._protocol, self._numbering, self._taken = protocol, numbering, taken
        self._families: dict[str, list[Variable]] = {}
        for variable in protocol.variables:
            self._families.setdefault(variable.family, []).append(variable)

    def operators(self, progress: Callable[[int, int], None]) -> list[Operator]:
        """An operator for each action of the instance, in the order of their declaration; ``progress`` is told how many of all
        are done."""
        by_name: dict[str, list[Action]] = {}
        for action in self._protocol.actions:
            by_name.setdefault(action.name, []).append(action)
        operators = []
        for done, actions in enumerate(by_name.values()):
            progress(done, len(by_name))
            operators.append(self._operator(actions))
        return operators

    def _operator(self, actions: Sequence[Action]) -> Operator:
        rows = [tuple(value for _, value in action.grounding) for action in actions]
        parameters = tuple(
            Parameter(
                text if text not in self._taken else f"{text}_",
                universe,
                tuple(universe) if universe is not None else tuple(sorted({row[place] for row in rows})),
            )
            for place, (text, (universe, _)) in enumerate(zip(actions[0].arguments, actions[0].grounding, strict=True))
        )
        taken = {*self._taken, *(parameter.name for parameter in parameters)}
        terms = Terms(self._protocol, Folding(self._numbering, taken))
        updates = Updates(self._numbering, taken, {family: len(members) for family, members in self._families.items()})
        bodies = [self._body(action, terms, updates) for action in actions]
        cases = [case for places in by_shape(bodies) for case in self._cases(parameters, rows, bodies, places)]
        return Operator(actions[0].name, parameters, tuple(cases), tuple(zip(rows, actions, strict=True)))

    def _body(self, action: Action, terms: Terms, updates: Updates) -> Expression:
        """Guard and updates of a grounded action, as one expression."""

        def rank(universe: Universe, index: int) -> int:
            return action.grounding.index((universe, index)) if (universe, index) in action.grounding else len(action.grounding)

        changed: dict[str, dict[Variable, Expression]] = {}
        for variable, term in sorted(action.updates.items(), key=lambda item: item[0].index):
            changed.setdefault(variable.family, {})[variable] = terms.value(term, kind_of(variable.domain))
        equations = (updates.equation(changed[family], rank) for family in self._families if family in changed)
        return of("action", terms.formula(action.guard), *equations)

    def _cases(
        self, parameters: Sequence[Parameter], rows: Sequence[Values], bodies: Sequence[Expression], places: Sequence[int]
    ) -> list[Case]:
        """Some actions of one shape as few cases: the fewest parameters are fixed that leave nothing else to differ."""
        everything = range(len(parameters))
        for fixed in (chosen for count in range(len(parameters) + 1) for chosen in combinations(everything, count)):
            groups: dict[Values, list[int]] = {}
            for place in places:
                groups.setdefault(tuple(rows[place][i] for i in fixed), []).append(place)
            cases = [self._case(parameters, rows, bodies, group) for group in groups.values()]
            if all(case is not None for case in cases):
                return [case for case in cases if case is not None]
        raise AssertionError("a case of one action differs from nothing")

    def _case(
        self, parameters: Sequence[Parameter], rows: Sequence[Values], bodies: Sequence[Expression], group: Sequence[int]
    ) -> Case | None:
        indices = [Index(p.name, p.universe, tuple(rows[place][i] for place in group)) for i, p in enumerate(parameters)]
        body = self._numbering.unify([bodies[place] for place in group], indices)
        if body is None:
            return None
        guard, *equations = body.operands
        changed = {equation.operands[0].detail for equation in equations}
        unchanged = tuple(family for family in self._families if (family, True) not in changed)
        conditions = _conditions(parameters, [rows[place] for place in group])
        return Case(tuple(conditions), guard, tuple(equations), unchanged)


def _conditions(parameters: Sequence[Parameter], rows: Sequence[Values]) -> list[Expression]:
    """What holds of the parameters in these rows, and in no others."""
    conditions: list[Expression] = []
    expected = list(product(*(parameter.values for parameter in parameters)))
    for place, parameter in enumerate(parameters):
        values = [value for value in parameter.values if value in {row[place] for row in rows}]
        if len(values) < len(parameter.values):
            conditions.append(belongs(name(parameter.name), of("set", *map(parameter.literal, values))))
            expected = [row for row in expected if row[place] in values]
    for one, other in combinations(range(len(parameters)), 2):
        if parameters[one].universe != parameters[other].universe:
            continue
        relations = {row[one] == row[other] for row in rows}
        if len(relations) > 1 or all((row[one] == row[other]) in relations for row in expected):
            continue
        equal = equality(name(parameters[one].name), name(parameters[other].name))
        conditions.append(equal if relations == {True} else negation(equal))
        expected = [row for row in expected if (row[one] == row[other]) in relations]
    if set(expected) == set(rows):
        return conditions
    listed = (of("tuple", *(p.literal(value) for p, value in zip(parameters, row, strict=True))) for row in rows)
    return [of("in", of("tuple", *(name(p.name) for p in parameters)), of("set", *listed))]
