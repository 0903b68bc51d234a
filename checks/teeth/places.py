"""The places of an action where a mistake can be made: conditions of its guard, comparisons, updates.

An action is written once and grounded many times, and a formula over all members of a universe is written once and unrolled.
A mistake in that one line is in all of them, so a place is told by its text, in which members and numbers have no identity:
``sent_to[b0] = {e1}`` in ``add(b0, e1)`` reads ``sent_to[b] = {e}``, and a member that is no argument reads ``*``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fencepost.model.language import Action, Protocol
from fencepost.model.terms.nodes import Term, below
from fencepost.model.terms.traversal import conjuncts
from fencepost.model.terms.values import Condition
from fencepost.traces.wording.wording import Wording

_COMPARISONS = ("=", "distinct", "<=", "<", ">=", ">")
_JOINED = {"and": "all of ", "or": "any of ", "not": "not all of ", "=>": "implication of "}
_REPEATED = re.compile(r"\*(, \*)+")
_NUMBER = re.compile(r"(?<![\w\]])-?\d+(?!\w)")


class Reader:
    """Reads the terms of a protocol's actions as their author wrote them, without what grounding and unrolling have added."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._wording = Wording(protocol)
        self._budgets = protocol.counters
        labels = {u.label(member) for u in protocol.universes.values() for member in u}
        alternatives = "|".join(re.escape(label) for label in sorted(labels, key=lambda label: (-len(label), label)))
        self._labels = re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)") if labels else re.compile("(?!)")

    def conditions(self, action: Action) -> dict[str, list[Condition]]:
        """The conjuncts of the guard, by what they read; what only keeps a budget is none."""
        by_text: dict[str, list[Condition]] = {}
        for part in conjuncts(action.guard):
            if not self._protocol.variables_of(part) <= self._budgets:
                by_text.setdefault(self.text(part, action), []).append(part)
        return by_text

    def comparisons(self, action: Action, *terms: Term) -> dict[str, list[Condition]]:
        """The comparisons and flags within a guard or new values, by what they read."""
        by_text: dict[str, list[Condition]] = {}
        for atom in self._atoms(*terms):
            by_text.setdefault(self.text(atom, action), []).append(atom)
        return by_text

    def families(self, action: Action) -> list[str]:
        """The families of variables that the action updates, except for budgets."""
        return list(dict.fromkeys(v.family for v in action.updates if v not in self._budgets))

    def text(self, formula: Condition, action: Action) -> str:
        """What a formula of the action reads; of one that is made of several comparisons, which they are."""
        inner = formula.arguments[0] if formula.op == "not" else formula
        if _is_atom(inner):
            return self._abstract(self._wording(formula), action.arguments)
        parts = dict.fromkeys(self._abstract(self._wording(atom), action.arguments) for atom in self._atoms(formula))
        return _JOINED.get(formula.op, "") + "; ".join(sorted(parts))

    def _atoms(self, *terms: Term) -> Iterator[Condition]:
        seen = set[Term]()
        for node in (node for term in terms for node in below([term], seen)):
            if isinstance(node, Condition) and _is_atom(node) and not self._protocol.variables_of(node) <= self._budgets:
                yield node

    def _abstract(self, text: str, arguments: Mapping[str, str]) -> str:
        names: dict[str, str] = {}
        for parameter, label in arguments.items():
            names.setdefault(label, parameter)
        abstract = self._labels.sub(lambda match: names.get(match.group(), "*"), text)
        return _REPEATED.sub("*", _NUMBER.sub("n", abstract))


def _is_atom(formula: Term) -> bool:
    return formula.is_constant or formula.op in _COMPARISONS
