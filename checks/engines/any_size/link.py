"""The link between a protocol of any size and its instances: at one size its formulas are those of the instance.

An instance and the protocol of any size are made by the same text, but by two ways of reading it. So that nothing rests on the
second way being right, the formulas that it made are taken to a certain size, with a conjunction for "for all", and compared
with those of the instance: domains, initial states, guards, new values, lemmas and properties. Whether they are equivalent Z3
decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import z3

from fencepost.checks.engines.induction.counterexample import starts_as
from fencepost.checks.engines.solvers.solving import ask
from fencepost.model.any_size.first_order import AnySize
from fencepost.model.any_size.quorums import Quorum
from fencepost.model.any_size.unbounded import OneOrNone, Scheme, Symbol, Unbounded
from fencepost.model.language import Action, And, Not, Or
from fencepost.model.language.declarations import Variable
from fencepost.model.language.domains import Subset
from fencepost.model.terms import values as terms
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.nodes import Function, Term, constant, made, number
from fencepost.model.terms.simplification import simplified, truth_of
from fencepost.model.terms.sorts import BOOL, INT, Sort
from fencepost.model.terms.traversal import QUANTIFIERS, substituted, with_arguments
from fencepost.model.terms.values import FALSE, TRUE, Condition, condition, distinct, within
from fencepost.properties.vocabulary import Property, Suite

SECONDS = 60.0


@dataclass(frozen=True)
class Link:
    """What a comparison at one size found: how many actions and formulas were compared; ``differing`` names what is not the
    same, or was not decided, and ``impossible`` the actions that the invariant excludes."""

    actions: int
    formulas: int
    differing: tuple[str, ...]
    impossible: tuple[str, ...]


def link(general: Suite, finite: Suite, sizes: Mapping[str, int]) -> Link:
    """Compares a protocol of any size with its instance; ``sizes`` has every size that is not known, by its name."""
    return _Comparison(general, finite, sizes).link()


class _Comparison:
    def __init__(self, general: Suite, finite: Suite, sizes: Mapping[str, int]) -> None:
        assert isinstance(general.protocol, AnySize)
        self._general, self._finite = general, finite
        self._protocol, self._instance = general.protocol, finite.protocol
        self._at = AtSize(self._protocol, finite, sizes)
        self._solver, self._printed = z3.SimpleSolver(), InZ3()
        self._differing: list[str] = []

    def link(self) -> Link:
        """All of the comparison."""
        instance = self._instance
        domains = And([v.domain.within(v.term) for v in instance.variables])
        stated = [self._at.formula(And([s.within() for s in self._protocol.symbols])), *self._at.choices()]
        self._compare("the domains", distinct(And(stated), domains))
        self._solver.add(self._printed(domains), self._printed(instance.primed(domains)))
        begins = And([self._at.formula(symbol.begins()) for symbol in self._protocol.symbols])
        self._compare("the initial states", distinct(begins, And([starts_as(v) for v in instance.variables])))
        formulas = 0
        for mine, theirs in self._statements():
            formulas += 1
            self._compare(mine.name, distinct(self._at.formula(mine.formula), theirs.formula))
        invariant = And([s.formula for s in self._finite.lemmas])
        actions = {(a.name, tuple(value for _, value in a.grounding)): a for a in instance.actions}
        met: set[str] = set()
        for scheme in self._protocol.schemes:
            met |= self._groundings(scheme, actions, invariant)
        self._differing += [f"{action.label} is no action for any size" for action in actions.values()]
        impossible = tuple(dict.fromkeys(s.label for s in self._protocol.schemes if s.label not in met))
        return Link(len(instance.actions), formulas, tuple(self._differing), impossible)

    def _statements(self) -> Iterator[tuple[Property, Property]]:
        for mine, theirs in (
            (self._general.properties, self._finite.properties),
            (self._general.lemmas, self._finite.lemmas),
        ):
            known = {statement.name: statement for statement in theirs}
            for statement in mine:
                if statement.formula is None:
                    continue
                if statement.name in known:
                    yield statement, known[statement.name]
                else:
                    self._differing.append(f"{statement.name} is not in the instance")

    def _groundings(self, scheme: Scheme, actions: dict[tuple[str, tuple[int, ...]], Action], invariant: Condition) -> set[str]:
        """Compares an action for any members with those for each; returns its label if one of them is ever enabled."""
        ranges: list[Sequence[int]] = []
        for name, value in scheme.arguments.items():
            universe = scheme.universes[name]
            ranges.append([value] if isinstance(value, int) else self._at.members(universe))
        met = set()
        for values in itertools.product(*ranges):
            pairs = zip(scheme.arguments.values(), values, strict=True)
            given = [(mine, self._at.member(mine.sort, value)) for mine, value in pairs if isinstance(mine, Term)]
            guard = self._at.formula(substituted(scheme.guard, given))
            action = actions.pop((scheme.name, values), None)
            if action is None:
                self._compare(f"{scheme.name}{values} is no action of the instance", guard)
                continue
            differs = [Not(_equal(new, old)) for new, old in self._new_values(scheme, action, given) if not _is_same(new, old)]
            self._compare(action.label, Or(distinct(guard, action.guard), And(guard, Or(differs))))
            if scheme.label not in met and self._asked(invariant, action.guard) == z3.sat:
                met.add(scheme.label)
        return met

    def _new_values(self, scheme: Scheme, action: Action, given: Sequence[tuple[Term, Term]]) -> Iterator[tuple[Term, Term]]:
        """The new value of each variable that changes, by either."""
        changed = set()
        for symbol, update in scheme.updates.items():
            for arguments in itertools.product(*(self._at.members(universe) for universe in symbol.universes)):
                variable, element = self._at.place(symbol, arguments)
                changed.add((variable.name, element))
                members = (self._at.member(one.sort, value) for one, value in zip(update.formal, arguments, strict=True))
                new = self._at.of(substituted(update.of(*members), given))
                yield new, _element(action.updates.get(variable, variable.term), element)
        for variable, value in action.updates.items():
            elements = variable.domain.universe if isinstance(variable.domain, Subset) else [None]
            for element in elements:
                if (variable.name, element) not in changed:
                    yield _element(variable.term, element), _element(value, element)

    def _compare(self, what: str, differs: Condition) -> None:
        if truth_of(differs) is False:
            return
        answer = self._asked(differs)
        if answer != z3.unsat:
            self._differing.append(what if answer == z3.sat else f"{what} (not decided)")

    def _asked(self, *formulas: Condition) -> z3.CheckSatResult:
        self._solver.push()
        self._solver.add(*self._printed.all(formulas))
        answer = ask(self._solver, seconds=SECONDS)
        self._solver.pop()
        return answer


class AtSize:
    """The formulas of a protocol of any size at one size, over the variables of the instance."""

    def __init__(self, protocol: AnySize, finite: Suite, sizes: Mapping[str, int]) -> None:
        self._variables = {(v.family, v.index): v for v in finite.protocol.variables}
        self._symbols = {symbol.function: symbol for symbol in protocol.symbols}
        self._primed = {symbol.primed: symbol for symbol in protocol.symbols}
        self._fixed: dict[Term, Term] = {size.term: number(sizes[size.term.detail]) for size in protocol.sizes}
        unbounded = [u for u in protocol.universes.values() if isinstance(u, Unbounded)]
        self._number_of = {universe.sort: len(self.members(universe)) for universe in unbounded}
        self._number_of[INT] = max((len(self.members(u)) for u in unbounded), default=0)
        self._quorums = {quorum.sort: self._sets(quorum) for quorum in protocol.quorums}
        self._relations = {quorum.has: quorum for quorum in protocol.quorums}
        self._always = {quorum.is_one for quorum in protocol.quorums}
        self._protocol = protocol
        domains = [symbol.domain for symbol in protocol.symbols]
        self._nones = {d.sort: self._number_of[d.member] for d in domains if isinstance(d, OneOrNone)}
        self._numbers: dict[Term, int] = {}
        self._done: dict[Term, Term] = {}
        self._beyond = itertools.count()

    def members(self, universe: Iterable[object]) -> range:
        """The members of an unbounded universe at this size."""
        assert isinstance(universe, Unbounded)
        return range(self._size(universe.size.term))

    def member(self, sort: Sort[Term], place: int) -> Term:
        """The term for a member of that sort, or for a quorum, which at this size is its number."""
        if sort is INT:
            return number(place)
        member = constant(f"{sort} number {place}", sort)
        self._numbers[member] = place
        return member

    def choices(self) -> Iterator[Condition]:
        """Of the variables that hold a member or none: that it is one of so many."""
        for symbol in self._symbols.values():
            if isinstance(symbol.domain, OneOrNone):
                most = self._nones[symbol.domain.sort]
                for arguments in itertools.product(*map(self.members, symbol.universes)):
                    term = self.place(symbol, arguments)[0].term
                    yield within(term, 0, most + 1)

    def _size(self, term: Term) -> int:
        return int(simplified(substituted(term, self._fixed)).detail)

    def _sets(self, quorum: Quorum) -> list[tuple[int, ...]]:
        return list(itertools.combinations(range(self._size(quorum.size)), self._size(quorum.count)))

    def formula(self, formula: Condition) -> Condition:
        """The formula at this size."""
        return condition(self.of(formula))

    def of(self, term: Term) -> Term:
        """The term at this size. Of what lies beyond a universe nothing is known."""
        if term not in self._done:
            self._done[term] = self._at_size(term)
        return self._done[term]

    def _at_size(self, term: Term) -> Term:
        if term.op in QUANTIFIERS:
            values = itertools.product(*(self._all(one.sort) for one in term.detail))
            body = condition(term.arguments[0])
            parts = [self.formula(substituted(body, zip(term.detail, one, strict=True))) for one in values]
            return And(parts) if term.op == "forall" else Or(parts)
        if term in self._fixed:
            return self._fixed[term]
        if term in self._numbers:
            return number(self._numbers[term])
        if term.op == "none":
            return number(self._nones[term.sort])
        arguments = [self.of(argument) for argument in term.arguments]
        if term.op == "one":
            return arguments[0]
        if term.op == "apply":
            return self._applied(term.detail, list(map(simplified, arguments)))
        if term.op in ("=", "distinct"):  # of things as of their numbers
            return simplified(made(term.op, term.sort, tuple(arguments)))
        return (
            simplified(_chosen(condition(arguments[0]), *arguments[1:]))
            if term.op == "ite"
            else with_arguments(term, tuple(arguments))
        )

    def _applied(self, function: Function[Term], arguments: list[Term]) -> Term:
        if function in self._always:
            return TRUE
        for holds, count in self._protocol.firsts.items():
            if function is holds:
                return condition(self._place(arguments[0]) < self._size(count))
        if function in self._relations:
            return condition(self._place(arguments[0]) in self._quorums[function.sorts[1]][self._place(arguments[1])])
        if function in self._symbols:
            return self._value(self._symbols[function], arguments, primed=False)
        return self._value(self._primed[function], arguments, primed=True)

    def _all(self, sort: Sort[Term]) -> list[Term]:
        size = len(self._quorums[sort]) if sort in self._quorums else self._number_of[sort]
        return [self.member(sort, one) for one in range(size)]

    def _place(self, member: Term) -> int:
        """The number of a member of a sort of its own that something is asked of."""
        return int(member.detail)

    def _value(self, symbol: Symbol, arguments: list[Term], *, primed: bool) -> Term:
        values_sort = symbol.function.sorts[-1]
        term = constant(f"beyond!{next(self._beyond)}", values_sort if values_sort.kind == "Bool" else INT)
        for values in itertools.product(*map(self.members, symbol.universes)):
            variable, element = self.place(symbol, values)
            held = _element(variable.next if primed else variable.term, element)
            tests = [self._is(argument, value) for argument, value in zip(arguments, values, strict=True)]
            if all(test is TRUE for test in tests):
                return held
            if not any(test is FALSE for test in tests):
                term = _chosen(And(tests), held, term)
        return term

    def _is(self, argument: Term, place: int) -> Condition:
        return simplified(_equal(argument, number(place)))

    def place(self, symbol: Symbol, arguments: tuple[int, ...]) -> tuple[Variable, int | None]:
        """The variable of the instance that a symbol is for these arguments, and the element of it if it is a subset."""
        given = iter(arguments)
        index = tuple(next(given) if i is None else i for i in symbol.index)
        if symbol.domain is not None:
            return self._variables[symbol.family, index], None
        return self._variables[symbol.family, index[:-1]], index[-1]


def _element(value: Term, element: int | None) -> Term:
    if element is None:
        return value
    assert isinstance(value, terms.Subset)
    return value.has(element)


def _is_same(one: Term, other: Term) -> bool:
    return one is other or truth_of(_equal(one, other)) is True


def _equal(one: Term, other: Term) -> Condition:
    """That two are the same: a number, or a name of a choice, which in a formula of any size is its number."""
    return made("=", BOOL, (one, other))


def _chosen(test: Condition, then: Term, otherwise: Term) -> Term:
    """One of two, of which either may be a number and the other a choice."""
    return made("ite", otherwise.sort if then.sort is otherwise.sort else INT, (test, then, otherwise))
