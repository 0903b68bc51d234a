"""The link between a protocol of any size and its instances: at one size its formulas are those of the instance.

An instance and the protocol of any size are made by the same text, but by two ways of reading it. So that nothing rests on the
second way being right, the formulas that it made are taken to a certain size, with a conjunction for "for all", and compared
with those of the instance: domains, initial states, guards, new values, lemmas and properties. Whether they are equivalent Z3
decides.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from fencepost.checks.engines.any_size.instantiation import with_arguments
from fencepost.checks.engines.induction.counterexample import starts_as
from fencepost.checks.engines.solvers.solving import ask
from fencepost.model.language import Action
from fencepost.model.language.domains import Subset
from fencepost.model.language.first_order import AnySize
from fencepost.model.language.quorums import Quorum
from fencepost.model.language.unbounded import OneOrNone, Scheme, Symbol, Unbounded
from fencepost.properties.vocabulary import Property, Suite

SECONDS = 60.0

_OF_ANY_SORT = {z3.Z3_OP_EQ: operator.eq, z3.Z3_OP_DISTINCT: z3.Distinct, z3.Z3_OP_ITE: z3.If}
"""What is the same of things of a sort as of their numbers."""


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
        self._solver = z3.SimpleSolver()
        self._differing: list[str] = []

    def link(self) -> Link:
        """All of the comparison."""
        instance = self._instance
        domains = z3.And([v.domain.within(v.term) for v in instance.variables])
        stated = [self._at.of(z3.And([s.within() for s in self._protocol.symbols])), *self._at.choices()]
        self._compare("the domains", z3.And(stated) != domains)
        self._solver.add(domains, instance.primed(domains))
        begins = z3.And([self._at.of(symbol.begins()) for symbol in self._protocol.symbols])
        self._compare("the initial states", begins != z3.And([starts_as(v) for v in instance.variables]))
        formulas = 0
        for mine, theirs in self._statements():
            formulas += 1
            self._compare(mine.name, self._at.of(mine.formula) != theirs.formula)
        invariant = z3.And([s.formula for s in self._finite.lemmas])
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

    def _groundings(self, scheme: Scheme, actions: dict[tuple[str, tuple[Any, ...]], Action], invariant: Any) -> set[str]:
        """Compares an action for any members with those for each; returns its label if one of them is ever enabled."""
        ranges = [
            self._at.members(scheme.universes[name]) if isinstance(value, z3.ExprRef) else [value]
            for name, value in scheme.arguments.items()
        ]
        met = set()
        for values in itertools.product(*ranges):
            pairs = zip(scheme.arguments.values(), values, strict=True)
            given = [(mine, self._at.member(mine.sort(), value)) for mine, value in pairs if isinstance(mine, z3.ExprRef)]
            guard = self._at.of(_with(scheme.guard, given))
            action = actions.pop((scheme.name, values), None)
            if action is None:
                self._compare(f"{scheme.name}{values} is no action of the instance", guard)
                continue
            differs = [new != old for new, old in self._new_values(scheme, action, given) if not _is_same(new, old)]
            self._compare(action.label, z3.Or(guard != action.guard, z3.And(guard, z3.Or(differs))))
            if scheme.label not in met and self._asked(invariant, action.guard) == z3.sat:
                met.add(scheme.label)
        return met

    def _new_values(self, scheme: Scheme, action: Action, given: list[Any]) -> Iterator[tuple[Any, Any]]:
        """The new value of each variable that changes, by either."""
        changed = set()
        for symbol, update in scheme.updates.items():
            for arguments in itertools.product(*(self._at.members(universe) for universe in symbol.universes)):
                variable, element = self._at.place(symbol, arguments)
                changed.add((variable.name, element))
                members = (self._at.member(one.sort(), value) for one, value in zip(update.formal, arguments, strict=True))
                new = self._at.of(_with(update.of(*members), given))
                yield new, _element(action.updates.get(variable, variable.term), element)
        for variable, value in action.updates.items():
            elements = variable.domain.universe if isinstance(variable.domain, Subset) else [None]
            for element in elements:
                if (variable.name, element) not in changed:
                    yield _element(variable.term, element), _element(value, element)

    def _compare(self, what: str, differs: Any) -> None:
        if z3.is_false(z3.simplify(differs)):
            return
        answer = self._asked(differs)
        if answer != z3.unsat:
            self._differing.append(what if answer == z3.sat else f"{what} (not decided)")

    def _asked(self, *formulas: Any) -> Any:
        self._solver.push()
        self._solver.add(*formulas)
        answer = ask(self._solver, seconds=SECONDS)
        self._solver.pop()
        return answer


class AtSize:
    """The formulas of a protocol of any size at one size, over the variables of the instance."""

    def __init__(self, protocol: AnySize, finite: Suite, sizes: Mapping[str, int]) -> None:
        self._variables = {(v.family, v.index): v for v in finite.protocol.variables}
        self._symbols = {symbol.function: symbol for symbol in protocol.symbols}
        self._primed = {symbol.primed: symbol for symbol in protocol.symbols}
        self._fixed = {size.term.decl(): z3.IntVal(sizes[size.term.decl().name()]) for size in protocol.sizes}
        unbounded = [u for u in protocol.universes.values() if isinstance(u, Unbounded)]
        self._number_of = {universe.sort: len(self.members(universe)) for universe in unbounded}
        self._number_of[z3.IntSort()] = max((len(self.members(u)) for u in unbounded), default=0)
        self._quorums = {quorum.sort: self._sets(quorum) for quorum in protocol.quorums}
        self._relations = {quorum.has: quorum for quorum in protocol.quorums}
        self._always = {quorum.is_one for quorum in protocol.quorums}
        self._protocol = protocol
        self._ones, self._nones = dict[Any, Any](), dict[Any, int]()
        for symbol in protocol.symbols:
            if isinstance(symbol.domain, OneOrNone):
                sort = symbol.domain.sort
                self._ones[sort.constructor(1)], self._nones[sort.constructor(0)] = sort, self._number_of[symbol.domain.member]
        self._numbers: dict[Any, int] = {}
        self._done: dict[int, Any] = {}
        self._references: list[Any] = []

    def members(self, universe: Any) -> range:
        """The members of an unbounded universe at this size."""
        return range(self._size(universe.size.term))

    def member(self, sort: Any, number: int) -> Any:
        """The term for a member of that sort, or for a quorum, which at this size is its number."""
        if sort == z3.IntSort():
            return z3.IntVal(number)
        constant = z3.Const(f"{sort} number {number}", sort)
        self._numbers[constant.decl()] = number
        return constant

    def choices(self) -> Iterator[Any]:
        """Of the variables that hold a member or none: that it is one of so many."""
        for symbol in self._symbols.values():
            if isinstance(symbol.domain, OneOrNone):
                most = self._nones[symbol.domain.sort.constructor(0)]
                for arguments in itertools.product(*map(self.members, symbol.universes)):
                    term = self.place(symbol, arguments)[0].term
                    yield z3.And(term >= 0, term <= most)

    def _size(self, term: Any) -> int:
        given = [(function(), value) for function, value in self._fixed.items()]
        return int(z3.simplify(z3.substitute(term, *given)).as_long())

    def _sets(self, quorum: Quorum) -> list[tuple[int, ...]]:
        return list(itertools.combinations(range(self._size(quorum.size)), self._size(quorum.count)))

    def of(self, term: Any) -> Any:
        """The term at this size. Of what lies beyond a universe nothing is known."""
        known = self._done.get(term.get_id())
        if known is None:
            known = self._done[term.get_id()] = self._at_size(term)
            self._references.append(term)
        return known

    def _at_size(self, term: Any) -> Any:
        if z3.is_quantifier(term):
            values = itertools.product(*(self._all(term.var_sort(place)) for place in range(term.num_vars())))
            parts = [self.of(z3.substitute_vars(term.body(), *reversed(one))) for one in values]
            return z3.And(parts) if term.is_forall() else z3.Or(parts)
        function = term.decl()
        if function in self._fixed:
            return self._fixed[function]
        if function in self._always:
            return z3.BoolVal(True)
        if function in self._numbers:
            return z3.IntVal(self._numbers[function])
        if function in self._nones:
            return z3.IntVal(self._nones[function])
        arguments = [self.of(child) for child in term.children()]
        if function in self._ones:
            return arguments[0]
        if function in self._protocol.firsts:
            return z3.BoolVal(self._place(arguments[0]) < self._size(self._protocol.firsts[function]))
        if function in self._relations:
            of = self._quorums[function.domain(1)][self._place(arguments[1])]
            return z3.BoolVal(self._place(arguments[0]) in of)
        if function.kind() in _OF_ANY_SORT:
            return z3.simplify(_OF_ANY_SORT[function.kind()](*arguments))
        for symbols, primed in ((self._symbols, False), (self._primed, True)):
            if function in symbols:
                return self._value(symbols[function], [z3.simplify(argument) for argument in arguments], primed)
        return with_arguments(term, arguments) if arguments else term

    def _all(self, sort: Any) -> list[Any]:
        number = len(self._quorums[sort]) if sort in self._quorums else self._number_of[sort]
        return [self.member(sort, one) for one in range(number)]

    def _place(self, member: Any) -> int:
        """The number of a member of a sort of its own that something is asked of."""
        return int(member.as_long())

    def _value(self, symbol: Symbol, arguments: list[Any], primed: bool) -> Any:
        sort = z3.IntSort() if isinstance(symbol.domain, OneOrNone) else symbol.function.range()
        term = z3.FreshConst(sort, "beyond")
        for values in itertools.product(*map(self.members, symbol.universes)):
            variable, element = self.place(symbol, values)
            held = _element(variable.next if primed else variable.term, element)
            tests = [self._is(argument, value) for argument, value in zip(arguments, values, strict=True)]
            if all(map(z3.is_true, tests)):
                return held
            if not any(map(z3.is_false, tests)):
                term = z3.If(z3.And(tests), held, term)
        return term

    def _is(self, argument: Any, number: int) -> Any:
        return z3.simplify(argument == number)

    def place(self, symbol: Symbol, arguments: tuple[int, ...]) -> tuple[Any, int | None]:
        """The variable of the instance that a symbol is for these arguments, and the element of it if it is a subset."""
        given = iter(arguments)
        index = tuple(next(given) if i is None else i for i in symbol.index)
        if symbol.domain is not None:
            return self._variables[symbol.family, index], None
        return self._variables[symbol.family, index[:-1]], index[-1]


def _element(value: Any, element: int | None) -> Any:
    return value if element is None else z3.Extract(element, element, value) == 1


def _is_same(one: Any, other: Any) -> bool:
    return bool(z3.is_true(z3.simplify(one == other)))


def _with(term: Any, given: list[Any]) -> Any:
    return z3.substitute(term, *given) if given else term
