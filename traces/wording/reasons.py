"""Why a formula does not hold in a state: which of its conjuncts are false there, and the values that make them so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from fencepost.model.language import Protocol
from fencepost.model.language.operators import is_constant, walk
from fencepost.traces.trace import State
from fencepost.traces.wording.wording import Wording

LONGEST = 400
"""Characters of a conjunct that are worth reading; what decides it is told in any case."""


@dataclass(frozen=True)
class Reason:
    """A conjunct that is false, in words, and what decides that: variables and their values."""

    conjunct: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Why:
    """The false conjuncts of a formula, of how many there are."""

    conjuncts: int
    reasons: tuple[Reason, ...]

    def of(self, what: str) -> str:
        """How much of it does not hold, as the subject of a sentence and its verb."""
        if self.conjuncts == 1:
            return f"{what} does not hold"
        count = len(self.reasons)
        return f"{count} of the {self.conjuncts} conditions of {what} {'does' if count == 1 else 'do'} not hold"


def why_false(protocol: Protocol, formula: Any, state: State, after: State | None = None) -> Why:
    """Why a formula does not hold in a state, or of a step if ``after`` is given; without reasons if it does hold."""
    parts = list(conjuncts(formula))
    judgement = _Judgement(protocol, state, after)
    return Why(len(parts), tuple(judgement.reason(part) for part in parts if not judgement.holds(part)))


def true_sentences(protocol: Protocol, sentences: Iterable[tuple[str, Any]], state: State) -> list[str]:
    """The words whose formula holds in a state."""
    judgement = _Judgement(protocol, state, None)
    return [words for words, formula in sentences if judgement.holds(formula)]


def conjuncts(formula: Any) -> Iterator[Any]:
    """The parts of a formula all of which must hold: those of a conjunction, each under the premises that it has.

    Several conclusions from one premise are several parts; that two things do not hold together is one.
    """
    if z3.is_and(formula):
        for child in formula.children():
            yield from conjuncts(child)
    elif z3.is_implies(formula):
        premise = formula.arg(0)
        for part in conjuncts(formula.arg(1)):
            nested = z3.is_implies(part)
            yield z3.Implies(z3.And(premise, part.arg(0)), part.arg(1)) if nested else z3.Implies(premise, part)
    elif z3.is_not(formula) and z3.is_or(formula.arg(0)):
        for child in formula.arg(0).children():
            yield from conjuncts(z3.Not(child))
    elif not z3.is_true(formula):
        yield formula


def shortened(conjunct: str) -> str:
    """A conjunct in words, as much of it as is worth reading."""
    return conjunct if len(conjunct) <= LONGEST else f"{conjunct[: LONGEST - 3]}..."


class _Judgement:
    """Formulas judged in one state, or of one step."""

    def __init__(self, protocol: Protocol, state: State, after: State | None) -> None:
        self._wording = Wording(protocol)
        rows = list(zip(protocol.variables, state, after or state, strict=True))
        self._values = [(v.term, v.domain.literal(raw)) for v, raw, _ in rows]
        self._values += [(v.next, v.domain.literal(raw)) for v, _, raw in rows]
        self._shown = {v.name: (v.domain.show(before), v.domain.show(then)) for v, before, then in rows}
        self._order = {v.name: place for place, (v, *_) in enumerate(rows)}
        self._references: list[Any] = []  # keeps alive the terms whose ids are noted
        self._truth: dict[int, bool] = {}

    def holds(self, formula: Any) -> bool:
        identity = formula.get_id()
        if identity not in self._truth:
            self._references.append(formula)
            self._truth[identity] = z3.is_true(z3.simplify(z3.substitute(formula, *self._values)))
        return self._truth[identity]

    def reason(self, conjunct: Any) -> Reason:
        names = {node.decl().name() for fact in self._deciding(conjunct) for node in walk(fact, set()) if is_constant(node)}
        return Reason(shortened(self._wording(conjunct)), tuple(self._of(names)))

    def _of(self, names: set[str]) -> Iterator[str]:
        """The values of these constants; of a variable that is named before and after the step both."""
        for name in sorted({name.removesuffix("'") for name in names}, key=self._order.__getitem__):
            before, then = self._shown[name]
            if name in names and f"{name}'" in names:
                yield f"{name} {before} -> {then}" if before != then else f"{name} {before}"
            else:
                yield f"{name} {before}" if name in names else f"{name}' {then}"

    def _deciding(self, formula: Any) -> list[Any]:
        """The smallest parts of a formula whose truth in this state makes it true or false as it is."""
        conjuncts: list[Any] = []
        seen: set[int] = set()
        stack = [formula]
        while stack:
            node = stack.pop()
            self._references.append(node)
            if node.get_id() in seen:
                continue
            seen.add(node.get_id())
            parts = self._responsible(node)
            stack += parts
            if not parts:
                conjuncts.append(node)
        return conjuncts

    def _responsible(self, node: Any) -> Sequence[Any]:
        """The children because of which the node is as it is; none if it is not made of formulas."""
        children = node.children()
        if z3.is_not(node):
            return list(children)
        if z3.is_and(node) or z3.is_or(node):
            decides = [child for child in children if self.holds(child) is z3.is_or(node)]
            return decides or list(children)
        if z3.is_implies(node):
            if not self.holds(node):
                return list(children)
            return [children[1]] if self.holds(children[1]) else [children[0]]
        if z3.is_app_of(node, z3.Z3_OP_ITE) and z3.is_bool(node):
            return [children[0], children[1] if self.holds(children[0]) else children[2]]
        return []
