"""What makes success suspicious: it may rest on nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from fencepost.model.analysis.slices import digest_of
from fencepost.model.kernel.compiler.store import product
from fencepost.model.language import Action, Location, Not, Or, Protocol
from fencepost.model.language.domains import Choice
from fencepost.model.terms.asking import Asking
from fencepost.model.terms.guessing import Guesses
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.values import Condition, conditions_of
from fencepost.properties.vocabulary import Property, Suite

Kind = Literal[
    "never-enabled",
    "never-changes",
    "never-met",
    "never-happens",
    "never-needed",
    "never-broken",
    "from-nothing",
    "says-nothing",
]

_EFFORT = 2_000_000
"""What Z3 may spend on whether a property says anything, in units of its own: the answer does not depend on the machine."""


@dataclass(frozen=True)
class Suspicion:
    """A reason to doubt a success: of what ``kind`` it is, in one sentence, and where its subject is written.

    An action is ``never-enabled`` in any reachable state, or ``never-happens`` by proof; a family of variables that an
    action could change ``never-changes``; the premise of a property is ``never-met``, or what is given for a theorem holds
    ``from-nothing``; a lemma is ``never-needed`` by the proof that it is part of; a property is ``never-broken`` by a mutant,
    or ``says-nothing``, being true whatever the values of the variables.
    """

    kind: Kind
    subject: str
    text: str
    location: Location

    def __str__(self) -> str:
        return self.text


T = TypeVar("T")


def empty(protocol: Protocol, properties: Iterable[Property]) -> Iterator[Suspicion]:
    """The properties that are true of any values that the variables can have, so that no action could violate them."""
    asked = list(properties)

    def answer() -> list[int]:
        terms = [(term, v.domain) for v in protocol.variables for term in (v.term, v.next)]
        guesses = Guesses({term: range(domain.low, domain.low + domain.size) for term, domain in terms})
        left = [(place, Not(p.judged)) for place, p in enumerate(asked) if not guesses.refute(p.judged)]
        if not left:
            return []
        asking = Asking((domain.within(term) for term, domain in terms), effort=_EFFORT)
        return [place for place, broken in left if asking.excludes(broken)]

    for p in (asked[place] for place in _answers(("empty", _EFFORT, digest_of(protocol, [p.judged for p in asked])), answer)):
        yield Suspicion("says-nothing", p.name, f"{p.name} is true whatever the values of the variables", p.location)


def _answers(what: object, answer: Callable[[], list[T]]) -> list[T]:
    """An answer of the solver, which an earlier process may have asked; ``what`` is all that it depends on."""
    answers: list[T] = json.loads(product(what, lambda: json.dumps(answer()).encode()))
    return answers


def premises(protocol: Protocol, prop: Property) -> list[Condition]:
    """The premises, over states, of the implications that a property is a conjunction of: one formula for each that is written,
    which holds where any of those does that were made of it for the members of universes."""
    if prop.kind not in ("always", "step"):
        return []
    parts = conditions_of(prop.formula) if prop.formula.op == "and" else [prop.formula]
    by_premise: dict[object, list[Condition]] = {}
    for part in parts:
        if part.op == "=>":
            premise, _ = conditions_of(part)
            if not protocol.next_variables_of(premise):
                by_premise.setdefault(_shape(protocol, premise), []).append(premise)
    return [Or(alike) for alike in by_premise.values()]


def _shape(protocol: Protocol, term: Term) -> object:
    """What a term has in common with those that are written in the same line: members and numbers have no identity, and
    variables none within their family, but a choice among names is that name."""
    if term.is_constant:
        return protocol.variable(term.detail).family
    if not term.arguments:
        return str(term.sort)
    if term.op == "=" and (names := [a for a in term.arguments if _is_named(protocol, a)]):
        others = [a for a in term.arguments if not _is_named(protocol, a)]
        literals = (str(a) for a in others if a.op == "literal" and not a.sort.bits)
        return "is", *(_shape(protocol, a) for a in names), *literals, len(others)
    return term.op, *(_shape(protocol, argument) for argument in term.arguments)


def _is_named(protocol: Protocol, term: Term) -> bool:
    """Whether a term is a choice among names, which differ in what they mean, and not among members."""
    if not term.is_constant:
        return False
    domain = protocol.variable(term.detail).domain
    return isinstance(domain, Choice) and domain.universe is None


def frozen(suite: Suite, constant: Collection[str]) -> Iterator[tuple[str, Action]]:
    """The families whose variables have never changed, each with an action that could change one, from where they begin.

    ``constant`` are the names of the variables that have not. An action that only puts a variable back to how it begins, as it
    is where this instance leaves out what would change it, could not; nor could one that the lemmas keep from it.
    """
    protocol = suite.protocol
    still = [v for v in protocol.variables if v.name in constant]
    changing = {v.family for v in protocol.variables if v.name not in constant}
    families = list(dict.fromkeys(v.family for v in still if v.family not in changing))
    if not families:
        return
    lemmas = [lemma.formula for lemma in suite.lemmas]

    def answer() -> list[tuple[str, int]]:
        beginnings = (Or([v.term == v.domain.literal(raw) for raw in v.initial]) for v in still)
        asking = Asking([*(v.domain.within(v.term) for v in protocol.variables), *lemmas, *beginnings])
        pairs = list[tuple[str, int]]()
        for family in families:
            for number, action in enumerate(protocol.actions):
                new = [term != v.term for v, term in action.updates.items() if v.family == family]
                if new and not asking.excludes(action.guard, Or(new)):
                    pairs.append((family, number))
                    break
        return pairs

    what = "frozen", [v.name for v in still], [(v.name, v.family) for v in protocol.variables], digest_of(protocol, lemmas)
    yield from ((family, protocol.actions[number]) for family, number in _answers(what, answer))
