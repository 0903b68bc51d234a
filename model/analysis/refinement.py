"""Refinement: each step of a protocol is a step of a coarser one, by a mapping of its variables, or changes nothing there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product

from fencepost.model.language.declarations import Action, Variable
from fencepost.model.language.formulas import And, Not, Or, any_of
from fencepost.model.language.mistakes import ModelError, guess, reason
from fencepost.model.language.protocol import Protocol
from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.nodes import S, Term
from fencepost.model.terms.traversal import Substitution
from fencepost.model.terms.values import Condition, equation


class Refinement:
    """A fine protocol and a coarse one, and what each variable of the coarse one is in terms of the fine one's.

    ``values`` has a term for each variable of the coarse protocol by name; for a family what is indexed like it, or a
    function of the index. Raises ModelError, beginning with ``where``, if it is no mapping of all variables, or does not
    begin where the coarse protocol does.
    """

    def __init__(self, where: str, fine: Protocol, coarse: Protocol, values: object) -> None:
        self.fine, self.coarse = fine, coarse
        self._now = self._mapping(where, values)
        self._check_beginning(where)

    def _mapping(self, where: str, values: object) -> dict[Variable, Term]:
        if not isinstance(values, Mapping):
            raise ModelError(f"{where}: it returns the variables of {self.coarse.name} by name, not {values!r}")
        families = dict.fromkeys(v.family for v in self.coarse.variables)
        for family in families:
            if family not in values:
                raise ModelError(f"{where}: it leaves out {family} of {self.coarse.name}")
        for family in values:
            if family not in families:
                raise ModelError(f"{where}: {self.coarse.name} has no variable {family}{guess(family, families)}")
        now: dict[Variable, Term] = {}
        for v in self.coarse.variables:
            value = values[v.family]
            try:
                if v.universes:
                    value = value(*v.index) if callable(value) else value[v.index if len(v.index) > 1 else v.index[0]]
                now[v] = v.domain.coerce(value)
            except (LookupError, TypeError, ValueError) as error:
                raise ModelError(f"{where}: {v.name}: {reason(error)}") from error
            self.fine.vet(f"{where}: {v.name}", now[v])
        return now

    def _check_beginning(self, where: str) -> None:
        for v, term in self._now.items():
            mentioned = [fine for fine in self.fine.variables if fine in self.fine.variables_of(term)]
            for raw in product(*(fine.initial for fine in mentioned)):
                values = {fine.term: value for fine, value in zip(mentioned, raw, strict=True)}
                if Evaluation(values)(term) not in v.initial:
                    raise ModelError(f"{where}: {v.name} does not begin as in {self.coarse.name}")

    def of(self, formula: S) -> S:
        """A formula over values and next values of the coarse protocol, over those of the fine one."""
        return self._by_mapping(formula)

    @cached_property
    def _by_mapping(self) -> Substitution:
        nows = {v.term: now for v, now in self._now.items()}
        return Substitution(nows | {v.next: later for v, later in self._later.items()})

    @cached_property
    def _later(self) -> dict[Variable, Term]:
        return {v: self.fine.primed(now) for v, now in self._now.items()}

    @cached_property
    def _still(self) -> Condition:
        return And(*(equation(self._later[v], now) for v, now in self._now.items()))

    def _is(self, action: Action) -> Condition:
        """The formula of a step: it is that action of the coarse protocol."""
        return And(
            self.of(action.guard), *(equation(self._later[v], self.of(action.updates.get(v, v.term))) for v in self._now)
        )

    @cached_property
    def steps(self) -> Condition:
        """The formula of a step: it is one of the coarse protocol, or changes nothing there."""
        return Or(self._still, *map(self._is, self.coarse.actions))

    def happens(self, name: str) -> Condition:
        """The formula of a state: some step from here is that action of the coarse protocol, and changes something there."""
        such = And(Not(self._still), any_of(self._is(action) for action in self.coarse.actions if action.name == name))
        touched = self.fine.next_variables_of(such)
        steps = [action for action in self.fine.actions if not touched.isdisjoint(action.updates)]
        return any_of(And(action.guard, self.fine.after(action, such)) for action in steps)

    def seen(self, state: Sequence[int]) -> tuple[int, ...]:
        """A state of the fine protocol, as raw values in the order of its variables, as one of the coarse protocol."""
        value = Evaluation({v.term: raw for v, raw in zip(self.fine.variables, state, strict=True)})
        return tuple(map(value, self._now.values()))
