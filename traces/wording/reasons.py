"""Why a formula does not hold in a state: which of its conjuncts are false there, and the values that make them so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fencepost.model.analysis.branches import conjuncts
from fencepost.model.language import Protocol
from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.nodes import Term, constants_of
from fencepost.model.terms.values import Condition, Truth, condition
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


def why_false(protocol: Protocol, formula: Condition, state: State, after: State | None = None) -> Why:
    """Why a formula does not hold in a state, or of a step if ``after`` is given; without reasons if it does hold."""
    parts = list(conjuncts(formula))
    judgement = _Judgement(protocol, state, after)
    return Why(len(parts), tuple(judgement.reason(part) for part in parts if not judgement.holds(part)))


def true_sentences(protocol: Protocol, sentences: Iterable[tuple[str, Truth]], state: State) -> list[str]:
    """The words whose formula holds in a state."""
    judgement = _Judgement(protocol, state, None)
    return [words for words, formula in sentences if judgement.holds(condition(formula))]


def shortened(conjunct: str) -> str:
    """A conjunct in words, as much of it as is worth reading."""
    return conjunct if len(conjunct) <= LONGEST else f"{conjunct[: LONGEST - 3]}..."


class _Judgement:
    """Formulas judged in one state, or of one step."""

    def __init__(self, protocol: Protocol, state: State, after: State | None) -> None:
        self._wording = Wording(protocol)
        rows = list(zip(protocol.variables, state, after or state, strict=True))
        values = {v.term: raw for v, raw, _ in rows} | {v.next: raw for v, _, raw in rows}
        self._value = Evaluation(values)
        self._shown = {v.name: (v.domain.show(before), v.domain.show(then)) for v, before, then in rows}
        self._order = {v.name: place for place, (v, *_) in enumerate(rows)}

    def holds(self, formula: Term) -> bool:
        return bool(self._value(formula))

    def reason(self, conjunct: Term) -> Reason:
        names = {constant.detail for fact in self._deciding(conjunct) for constant in constants_of(fact)}
        return Reason(shortened(self._wording(conjunct)), tuple(self._of(names)))

    def _of(self, names: set[str]) -> Iterator[str]:
        """The values of these constants; of a variable that is named before and after the step both."""
        for name in sorted({name.removesuffix("'") for name in names}, key=self._order.__getitem__):
            before, then = self._shown[name]
            if name in names and f"{name}'" in names:
                yield f"{name} {before} -> {then}" if before != then else f"{name} {before}"
            else:
                yield f"{name} {before}" if name in names else f"{name}' {then}"

    def _deciding(self, formula: Term) -> list[Term]:
        """The smallest parts of a formula whose truth in this state makes it true or false as it is."""
        conjuncts: list[Term] = []
        seen: set[Term] = set()
        stack = [formula]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            parts = self._responsible(node)
            stack += parts
            if not parts:
                conjuncts.append(node)
        return conjuncts

    def _responsible(self, node: Term) -> Sequence[Term]:
        """The arguments because of which the term is as it is; none if it is not made of formulas."""
        arguments = node.arguments
        if node.op == "not":
            return arguments
        if node.op in ("and", "or"):
            decides = [argument for argument in arguments if self.holds(argument) is (node.op == "or")]
            return decides or arguments
        if node.op == "=>":
            if not self.holds(node):
                return arguments
            return [arguments[1]] if self.holds(arguments[1]) else [arguments[0]]
        if node.op == "ite" and node.sort.kind == "Bool":
            return [arguments[0], arguments[1] if self.holds(arguments[0]) else arguments[2]]
        return []
