"""Mutants of a protocol: all that differ from it by one small mistake in one action, made from the terms.

A mistake is one of these: a condition of the guard is left out; a family of variables is not updated; a comparison, in the
guard, in a new value or everywhere in the action, is its neighbour (``<`` and ``<=``, ``>`` and ``>=``, ``=`` and ``!=``, a
flag and its negation) or compares with one more or one less; a parameter, such as a quorum, is read as one more or one less;
and an action that is weakly fair is not, which only a property of liveness can notice.
What only counts faults is left alone: it bounds the model and mirrors nothing.

An action is written once and grounded many times, and a formula over all members of a universe is written once and unrolled.
An error in that one line is in all of them, so a place is told by its text, in which members and numbers have no identity:
``sent_to[b0] = {e1}`` in ``add(b0, e1)`` reads ``sent_to[b] = {e}``, and a member that is no argument reads ``*``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from fencepost.model.language import Action, ModelError, Not, Protocol, Variable
from fencepost.model.language.domains import Number
from fencepost.model.terms import values as terms
from fencepost.model.terms.nodes import Term, below
from fencepost.model.terms.simplification import simplified
from fencepost.model.terms.traversal import conjuncts, substituted
from fencepost.model.terms.values import FALSE, TRUE, Condition
from fencepost.properties.registry import Entry, Value
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


class Mistake(NamedTuple):
    """The mistake that makes a mutant: in which action, and what is wrong there. Instances of one protocol share it."""

    action: str
    change: str

    def __str__(self) -> str:
        return f"{self.action}: {self.change}"


UNFAIR = "not fair"
"""The change of a mistake that leaves every step as it is, and need not take one that stays possible."""

Spoiled = Mapping[int, Action]
"""The actions that a mistake changes, by their place in the protocol."""


def mutants(entry: Entry, parameters: Mapping[str, Value], protocol: Protocol) -> dict[Mistake, Spoiled]:
    """Every mutant of an instance, by its mistake, in the order of the actions; each has at least one term that differs, or is
    not weakly fair."""
    by_mistake: dict[Mistake, dict[int, Action]] = {}
    read = Reader(protocol)
    for number, action in enumerate(protocol.actions):
        for change, spoiled in _spoiled(protocol, read, action):
            by_mistake.setdefault(Mistake(action.name, change), {})[number] = spoiled
    for change, twin in _twins(entry, parameters, protocol):
        for number, (action, other) in enumerate(zip(protocol.actions, twin, strict=True)):
            if not _same(action, other):
                by_mistake.setdefault(Mistake(action.name, change), {})[number] = other
    for number, action in enumerate(protocol.actions):
        if action.fair:
            by_mistake.setdefault(Mistake(action.name, UNFAIR), {})[number] = replace(action, fair=False)
    order = {name: number for number, name in enumerate(dict.fromkeys(action.name for action in protocol.actions))}
    return dict(sorted(by_mistake.items(), key=lambda item: order[item[0].action]))


def _spoiled(protocol: Protocol, read: Reader, action: Action) -> Iterator[tuple[str, Action]]:
    for text, conditions in read.conditions(action).items():
        true = [(condition, TRUE) for condition in conditions]
        yield f"guard without `{text}`", replace(action, guard=simplified(substituted(action.guard, true)))
    for text, pairs in _miscompared(protocol, read, action, action.guard):
        yield f"guard with {text}", replace(action, guard=substituted(action.guard, pairs))
    read_in = Counter(read.comparisons(action, action.guard).keys())
    for family in read.families(action):
        others = {v: term for v, term in action.updates.items() if v.family != family}
        yield f"no update of {family}", replace(action, updates=others)
        mine = [term for v, term in action.updates.items() if v.family == family]
        read_in.update(read.comparisons(action, *mine).keys())
        for text, pairs in _miscompared(protocol, read, action, *mine):
            spoiled = {v: term if v in others else substituted(term, pairs) for v, term in action.updates.items()}
            yield f"{family} with {text}", replace(action, updates=spoiled)
    everything = [action.guard, *action.updates.values()]
    for text, pairs in _miscompared(protocol, read, action, *everything, but={t for t, parts in read_in.items() if parts == 1}):
        spoiled = {v: substituted(term, pairs) for v, term in action.updates.items()}
        yield f"everywhere {text}", replace(action, guard=substituted(action.guard, pairs), updates=spoiled)


def _miscompared(
    protocol: Protocol, read: Reader, action: Action, *terms: Term, but: Collection[str] = ()
) -> Iterator[tuple[str, list[tuple[Term, Term]]]]:
    """The mistakes in the comparisons of terms, ``but`` for some: what each reads, and what stands in whose place."""
    for text, atoms in read.comparisons(action, *terms).items():
        wrong = [_mistaken(protocol, atom) for atom in atoms] if text not in but else [{}]
        for change in wrong[0]:
            yield f"`{text}` {change}", [(atom, its[change]) for atom, its in zip(atoms, wrong, strict=True) if change in its]


def _mistaken(protocol: Protocol, atom: Condition) -> dict[str, Condition]:
    """The mistakes that there are for a comparison or a flag."""
    kind = atom.op
    if kind in ("constant", "distinct"):
        return {"negated": Not(atom)}
    left, right = atom.arguments
    numbers = left.sort.kind == "Int" and all(isinstance(v.domain, Number) for v in protocol.variables_of(atom))
    if kind == "=":
        above_and_below = _one_off(left, right) if numbers else {}
        return {"negated": Not(atom)} | above_and_below
    assert isinstance(left, terms.Number) and isinstance(right, terms.Number)  # noqa: PT018
    return {
        "<": lambda: {"as <=": left <= right, "one below": left < right - 1},
        "<=": lambda: {"as <": left < right, "one above": left <= right + 1},
        ">": lambda: {"as >=": left >= right, "one above": left > right + 1},
        ">=": lambda: {"as >": left > right, "one below": left >= right - 1},
    }[kind]()


def _one_off(left: Term, right: Term) -> dict[str, Condition]:
    assert isinstance(left, terms.Number) and isinstance(right, terms.Number)  # noqa: PT018
    return {"one above": left == right + 1, "one below": left == right - 1}


def _twins(entry: Entry, parameters: Mapping[str, Value], protocol: Protocol) -> Iterator[tuple[str, list[Action]]]:
    """The actions as they are where a whole number among the parameters is one off, if only the actions depend on it.

    An action that settles there that it can never happen is one that is never enabled.
    """
    budgets = {counter.family.rpartition(".")[2] for counter in protocol.counters}
    for parameter in entry.parameters:
        if parameter.type is not int or parameter.name in budgets:
            continue
        value = int(parameters.get(parameter.name, parameter.default))
        for change, other in (("one more", value + 1), ("one less", value - 1)):
            try:
                twin = entry.build({**parameters, parameter.name: other}, protocol.active)
            except ModelError:
                continue  # a protocol refuses what does not fit
            there = {action.label: action for action in twin.actions}
            if there.keys() - {action.label for action in protocol.actions}:
                continue
            if [_declared(v) for v in twin.variables] == [_declared(v) for v in protocol.variables]:
                never = {a.label: replace(a, guard=FALSE) for a in protocol.actions if a.label not in there}
                adopted = {label: _adopted(protocol, action) for label, action in there.items()}
                yield f"{parameter.name} {change}", [{**adopted, **never}[action.label] for action in protocol.actions]


def _declared(variable: Variable) -> tuple[object, ...]:
    return variable.name, variable.domain, variable.initial


def _adopted(protocol: Protocol, action: Action) -> Action:
    """An action of a protocol that has the same variables, with these."""
    return replace(action, updates={protocol.variable(v.name): term for v, term in action.updates.items()})


def _same(action: Action, other: Action) -> bool:
    """Whether two actions have the same terms."""
    return (
        action.guard is other.guard
        and action.updates.keys() == other.updates.keys()
        and all(term is other.updates[v] for v, term in action.updates.items())
    )
