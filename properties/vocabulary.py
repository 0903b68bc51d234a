"""The words for what must hold of a protocol: always, on every step, sometimes, in the end; and the lemmas of a proof."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, TypeAlias, TypeVar, overload

from fencepost.model.analysis.refinement import Refinement
from fencepost.model.language import Action, And, Implies, Location, ModelError, Not, Or, Protocol
from fencepost.model.language.circumstances import is_outline, is_part_wanted, is_wanted
from fencepost.model.language.mistakes import build, doc_of, guess
from fencepost.model.terms.asking import Asking
from fencepost.model.terms.cases import always_holds, holds_as_written
from fencepost.model.terms.nodes import Term
from fencepost.model.terms.simplification import Simplification
from fencepost.model.terms.traversal import Substitution
from fencepost.model.terms.values import Condition, Truth, condition, conditions_of, equation

__tracebackhide__ = True  # what is wrong with a property is told with the line of who declares it

Kind = Literal["always", "step", "sometimes", "deadlock", "leads_to", "lemma", "known bug"]

Leads: TypeAlias = "tuple[Truth, Truth] | Sequence[tuple[Truth, Truth]]"
"""What leads to what: a premise and a conclusion, or several pairs of such."""

Formula: TypeAlias = "Callable[[], Truth]"

C = TypeVar("C", bound=Callable[[], object])
F = TypeVar("F", bound=Callable[[], Truth])
G = TypeVar("G", bound=Callable[[], Leads])
M = TypeVar("M", bound=Callable[[], Mapping[str, object]])

_EFFORT = 1_000_000
"""What Z3 may spend on whether a formula over steps holds where nothing changes; if that is not enough it is taken not to."""


@dataclass(frozen=True, eq=False)
class Property:
    """One statement about a protocol.

    ``always`` speaks of every reachable state, ``step`` of every transition that changes something (its formula also mentions
    ``p.next``; ``unless`` is that nothing changes, if the formula does not hold of that by itself, else None),
    ``sometimes`` of some reachable state, ``deadlock`` of every reachable state without a successor, ``lemma`` is a conjunct
    of the inductive invariant; ``known bug`` is no formula but that a release does not have a certain bug, or that it does not
    show. ``strict`` is empty, or says why a violation is expected: the property is then a negative
    control.

    ``leads_to`` speaks of whole runs: of each of its ``leads``, pairs of a premise and a conclusion, whenever the premise
    holds, the conclusion holds then or later, on every run that is weakly fair to the actions that are obliged. ``unfair``
    names the actions, or the actors of the actions, that are marked as fair and not obliged here. Its ``formula`` is what
    would have to hold if every conclusion had to hold at once.

    ``refinement`` is that of a ``step`` which says that each step is one of a coarser protocol; it ``refines`` what has that
    name. ``sentences`` makes pairs of words and a formula: where a violation is shown, the words are whose formula holds in its
    last state.
    """

    name: str
    kind: Kind
    formula: Condition
    doc: str
    location: Location
    strict: str = ""
    leads: tuple[tuple[Condition, Condition], ...] = ()
    unfair: frozenset[str] = frozenset()
    unless: Condition | None = None
    refinement: Refinement | None = None
    refines: str = ""
    sentences: Callable[[], Iterable[tuple[str, Truth]]] | None = None

    @property
    def judged(self) -> Condition:
        """The formula as it is judged of a state or of a step, also of one that changes nothing."""
        return self.formula if self.unless is None else Or(self.unless, self.formula)

    def obliges(self, action: Action) -> bool:
        """Whether a run may not leave out the action forever while it is enabled all the time."""
        return action.fair and self.unfair.isdisjoint((action.name, action.actor))

    @property
    def premise(self) -> Condition | None:
        """What must be met for the property not to hold vacuously: the left side of an implication, or, of several, any."""
        if self.leads:
            return Or([premise for premise, _ in self.leads])
        if self.kind not in ("always", "step"):
            return None
        parts = conditions_of(self.formula) if self.formula.op == "and" else (self.formula,)
        if not parts or not all(part.op == "=>" for part in parts):
            return None
        premises = [conditions_of(part)[0] for part in parts]
        return premises[0] if len(premises) == 1 else Or(*premises)


class Suite:
    """The properties of one instance of a protocol, gathered by decorators on functions that return their formula."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self.properties: list[Property] = []
        self._lemmas: list[Property] = []
        self._unwritten: Callable[[], None] | None = None
        self._simple = Simplification()

    def always(self, function: F) -> F:
        """Declares that the formula holds in every reachable state."""
        return self._declare("always", function)

    def step(self, function: F) -> F:
        """Declares that the formula, over ``p.state`` and ``p.next``, holds of every transition between reachable states that
        changes something."""
        return self._declare("step", function)

    def sometimes(self, function: F) -> F:
        """Declares that the formula holds in some reachable state."""
        return self._declare("sometimes", function)

    def lemma(self, function: F) -> F:
        """Declares a conjunct of the inductive invariant."""
        return self._declare("lemma", function)

    def lemmas_by(self, declare: Callable[[], None]) -> None:
        """Leaves it to a function to declare lemmas, which is called when they are first asked for: only a proof needs their
        formulas, and of a large invariant they take as long to make as all properties do."""
        if is_outline():
            declare()
        else:
            self._unwritten = declare

    @property
    def has_lemmas(self) -> bool:
        """Whether there is an inductive invariant."""
        return self._unwritten is not None or bool(self._lemmas)

    @property
    def lemmas(self) -> list[Property]:
        """The conjuncts of the inductive invariant, besides the domains of the variables."""
        declare, self._unwritten = self._unwritten, None
        if declare is not None:
            declare()
        return self._lemmas

    def strict(self, why: str, *, when: bool) -> Callable[[F], F]:
        """Declares an ``always`` property that the faithful model violates ``when`` the instance allows it; ``why`` says how.

        In an instance that does not, it is a property like any other.
        """
        return lambda function: self._declare("always", function, why if when else "")

    @overload
    def leads_to(self, function: G, /) -> G: ...

    @overload
    def leads_to(self, /, *, unfair: Iterable[str] = (), strict: str = "", when: bool = True) -> Callable[[G], G]: ...

    def leads_to(
        self, function: G | None = None, /, *, unfair: Iterable[str] = (), strict: str = "", when: bool = True
    ) -> G | Callable[[G], G]:
        """Declares what happens in the end: the function returns ``(premise, conclusion)``, or a list of such pairs.

        Whenever a premise holds, its conclusion holds then or later, on every run that is weakly fair to each grounded action
        that the protocol marks as fair: a run that takes it again and again, or in which it is disabled again and again.
        Where none of these is enabled a run may stop for good. ``unfair`` names actions, or actors, that nothing obliges as
        far as this property goes: a client that may die, a bookie that may stay down. ``strict`` says why the faithful model
        violates it ``when`` the instance allows it, like ``strict`` of a state.
        """
        chosen = frozenset(unfair)

        def declare(lead: G) -> G:
            return self._declare("leads_to", lead, strict if when else "", chosen)

        return declare if function is None else declare(function)

    def refines(
        self, coarse: Protocol | Suite, *, carries: Iterable[str] = (), reached: Collection[str] | None = None
    ) -> Callable[[M], M]:
        """Declares that each run is one of a coarser protocol: the function returns its variables, by name, in terms of these.

        Each initial state is one of the coarse protocol's, which is checked at once, and each step is one of its steps or
        changes nothing there. Besides, for each of its actions, or of those that are to be ``reached`` here, some step is that
        action. ``carries`` names safety properties and lemmas of the coarse protocol, a suite then, that are declared here by
        the mapping. Liveness is not carried: a protocol that does nothing refines each that has its initial states.
        """
        return lambda function: self._refines(function, coarse, tuple(carries), reached)

    def _refines(self, function: M, coarse: Protocol | Suite, carries: Sequence[str], reached: Collection[str] | None) -> M:
        name, where = function.__name__, f"{self.protocol.name}: refinement {function.__name__}"
        whole = coarse.protocol if isinstance(coarse, Suite) else coarse
        parts = [self._carried(where, coarse, wanted) for wanted in carries]
        is_needed = is_part_wanted(name) or any(carried.kind == "lemma" for carried in parts)
        unsaid = is_outline() or not (is_needed and self.protocol.formulates("sometimes"))
        refinement = None if unsaid else Refinement(where, self.protocol, whole, build(where, function))
        doc, location = doc_of(function), Location.of(function)

        def declare(kind: Kind, called: str, doc: str, make: Callable[[Refinement], Truth], is_it: bool = False) -> None:
            formula = None if refinement is None else partial(make, refinement)
            self._add(kind, called, doc, location, formula, refinement if is_it else None, whole.name if is_it else "")

        declare("step", name, doc, lambda r: r.steps, is_it=True)
        for action in whole.steps if reached is None else [action for action in whole.steps if action in reached]:
            declare("sometimes", f"{name}_{action}", f"A step is {action} of {whole.name}.", partial(_happens, action))
        for carried in parts:
            declare(carried.kind, f"{name}_{carried.name}", carried.doc, partial(_said_of, carried))
        return function

    @staticmethod
    def _carried(where: str, coarse: Protocol | Suite, name: str) -> Property:
        """The property of the coarse protocol by that name. Raises ModelError if there is none that refinement carries."""
        known = {p.name: p for p in [*coarse.properties, *coarse.lemmas]} if isinstance(coarse, Suite) else {}
        if name not in known:
            remedy = "" if known else ": give refines a suite, not a protocol"
            raise ModelError(f"{where} carries {name}, which the coarse protocol does not have{guess(name, known)}{remedy}")
        if known[name].kind not in ("always", "step", "lemma"):
            raise ModelError(f"{where} carries {name}: refinement carries what always holds, not a {known[name].kind} property")
        return known[name]

    def ends(self, function: F) -> F:
        """Declares where a run may end: a reachable state without a successor in which this does not hold is a deadlock."""
        return self._declare("deadlock", function)

    def tells(self, name: str, sentences: Callable[[], Iterable[tuple[str, Truth]]]) -> None:
        """Has a violation of the property of that name shown with these sentences, those that are true of its last state."""
        place = self.properties.index(self.named(name))
        self.properties[place] = replace(self.properties[place], sentences=sentences)

    def named(self, name: str) -> Property:
        """The property of that name; KeyError if there is none."""
        for candidate in self.properties:
            if candidate.name == name:
                return candidate
        raise KeyError(name)

    def _declare(self, kind: Kind, function: C, strict: str = "", unfair: frozenset[str] = frozenset()) -> C:
        doc = doc_of(function)
        unsaid = is_outline() or not self.protocol.formulates(kind)
        self._add(kind, function.__name__, doc, Location.of(function), None if unsaid else function, None, "", strict, unfair)
        return function

    def _add(
        self,
        kind: Kind,
        name: str,
        doc: str,
        location: Location,
        make: Callable[[], object] | None,
        refinement: Refinement | None,
        refines: str,
        strict: str = "",
        unfair: frozenset[str] = frozenset(),
    ) -> None:
        """Adds a statement; ``make`` makes its formula, or is None where it is left unsaid. What is not wanted has none."""
        where = f"{self.protocol.name}: {kind} {name}"
        if any(p.name == name for p in self.properties + self._lemmas):
            raise ModelError(f"{where} is declared twice")
        if not doc:
            raise ModelError(f"{where} has no docstring; say what it means")
        if kind != "lemma" and not is_wanted(name):
            make = None
        formula, leads, unless = (None, (), None) if make is None else self._stated(where, kind, make, unfair)
        how = strict, leads, unfair, unless, refinement, refines
        statement = Property(name, kind, formula, doc, location, *how)  # type: ignore[arg-type]
        (self._lemmas if kind == "lemma" else self.properties).append(statement)

    def _stated(
        self, where: str, kind: Kind, make: Callable[[], object], unfair: frozenset[str]
    ) -> tuple[Condition, tuple[tuple[Condition, Condition], ...], Condition | None]:
        """The formula of a statement, its pairs if it speaks of the end, and what excuses a step."""

        formula, leads = self._formulated(where, kind, make, unfair)
        return formula, leads, self._unless(formula) if kind == "step" else None

    def _unless(self, formula: Condition) -> Condition | None:
        """That nothing changes, if the formula of a step may be false where that is so.

        Of any size none is excused: what changes nothing is held to the formula, too.
        """
        if not self.protocol.is_finite:
            return None
        if holds_as_written(formula, self.protocol.constants.before):
            return None
        still = self._still(formula)
        settled = always_holds(still, self._values_of, simple=self._simple)
        if settled or (settled is None and self._is_proved(still)):
            return None
        return And([equation(v.next, v.term) for v in self.protocol.variables])

    @cached_property
    def _still(self) -> Substitution:
        """Makes of a formula over a step what it says where nothing changes."""
        return Substitution({v.next: v.term for v in self.protocol.variables})

    def _values_of(self, constant: Term) -> range:
        variable = self.protocol.constants.variable_of(constant)
        assert variable is not None
        return range(variable.domain.low, variable.domain.low + variable.domain.size)

    def _is_proved(self, formula: Condition) -> bool:
        """Whether Z3 proves, with little effort, that a formula holds wherever variables are in their domains."""
        inside = (v.domain.within(v.term) for v in self.protocol.variables)
        return Asking(inside, effort=_EFFORT).excludes(Not(formula))

    def _formulated(
        self, where: str, kind: Kind, function: Callable[[], object], unfair: frozenset[str]
    ) -> tuple[Condition, tuple[tuple[Condition, Condition], ...]]:
        """The formula of a statement, and its pairs if it speaks of the end."""
        strangers = [name for name in sorted(unfair) if not self.protocol.is_action_or_actor(name)]
        if strangers:
            raise ModelError(f"{where}: {strangers[0]!r} is neither an action nor an actor of the protocol")
        value = build(where, function)
        leads = _pairs(where, value) if kind == "leads_to" else ()
        formula = And([Implies(*pair) for pair in leads]) if leads else _boolean(where, value)
        self.protocol.vet(where, formula, primed=kind == "step")
        return formula, leads


def _happens(action: str, refinement: Refinement) -> Truth:
    return refinement.happens(action)


def _said_of(carried: Property, refinement: Refinement) -> Truth:
    return refinement.of(carried.judged)


def _pairs(where: str, value: object) -> tuple[tuple[Condition, Condition], ...]:
    """The premises and conclusions that a function has returned: one pair or several."""
    pairs: list[object] = value if isinstance(value, list) else [value]
    if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise ModelError(f"{where}: it returns (premise, conclusion) or a list of such pairs, not {_shown(value)}")
    return tuple((_boolean(where, pair[0]), _boolean(where, pair[1])) for pair in pairs if isinstance(pair, tuple))


def _shown(value: object) -> str:
    return "nothing: is its return forgotten?" if value is None else repr(value)


def _boolean(where: str, value: object) -> Condition:
    formula = condition(value) if isinstance(value, bool) else value
    if value is None:
        raise ModelError(f"{where} returns nothing: is its return forgotten?")
    if isinstance(formula, (tuple, list, Iterator)):
        raise ModelError(f"{where} returns several formulas: join them by all_of or any_of")
    if not isinstance(formula, Condition):
        raise ModelError(f"{where} is not boolean: {formula}")
    return formula
