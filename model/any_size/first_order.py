"""A protocol of any size: the same text with unbounded universes, so that its guards and updates become first-order formulas.

There is no second transcription of a protocol. Within ``any_size`` the function that builds it makes one of this kind: where an
instance has a variable for each member of a universe, here is a function of the member; where it has an action for each member,
here is one with a constant for any; and where the text joins formulas over all members, here is a quantifier.

Instances are not made of these formulas. Most protocols are written for members that are numbers, of which Python can decide;
and that the two readings agree, at two sizes, is what a proof for any size rests on (``checks/engines/any_size/link.py``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, TypeAlias

from fencepost.model.any_size.markers import Markers
from fencepost.model.any_size.memberships import Membership, subset_of
from fencepost.model.any_size.quorums import Quorum
from fencepost.model.any_size.sizes import Size
from fencepost.model.any_size.unbounded import (
    Alike,
    Enumerated,
    OneOrNone,
    Scheme,
    Symbol,
    Unbounded,
    Update,
    any_number,
    members_of,
)
from fencepost.model.language.actors import Talk
from fencepost.model.language.circumstances import now, under
from fencepost.model.language.declarations import OneOf, Variable
from fencepost.model.language.domains import Domain, Flag, Subset, Universe, choice_of
from fencepost.model.language.effects import outcome
from fencepost.model.language.formulas import And
from fencepost.model.language.grounding import Definition
from fencepost.model.language.mistakes import Location, ModelError, build
from fencepost.model.language.protocol import Per, Protocol
from fencepost.model.terms import values as terms
from fencepost.model.terms.nodes import Function, S, Term
from fencepost.model.terms.simplification import simplified
from fencepost.model.terms.sorts import BOOL, Sort
from fencepost.model.terms.traversal import Rewriting, substituted
from fencepost.model.terms.values import (
    FALSE,
    TRUE,
    Condition,
    Number,
    Numeric,
    Truth,
    condition,
    conditional,
    conjunction,
    equation,
)

Key: TypeAlias = "tuple[int | Term | None, ...]"
"""An index, with None for each member of an unbounded universe."""

Case: TypeAlias = "tuple[list[Term], Callable[..., Truth | Term]]"
"""For which members something is updated, and what makes the new value for those that are left."""


def any_size(*, steps: bool = False) -> AbstractContextManager[None]:
    """Within it protocols are of any size: a universe whose size is a ``Size`` is unbounded. So are their suites to be made,
    with formulas of their properties of single states and, with ``steps``, of steps."""
    stated = ("always", "lemma", "step") if steps else ("always", "lemma")
    return under(replace(now(), kind=AnySize, joining=Markers(), stated=stated))


class AnySize(Protocol):
    """A protocol of any size: its variables are ``symbols``, its actions ``schemes``. What it cannot say raises ModelError."""

    is_finite = False

    def __init__(self, name: str, **given: Any) -> None:
        super().__init__(name, **given)
        self.symbols: list[Symbol] = []
        self.schemes: list[Scheme] = []
        markers = now().joining
        assert isinstance(markers, Markers)
        self._markers = markers
        self._families: dict[str, tuple[tuple[Universe, ...], Domain, dict[Key, Symbol]]] = {}
        self._of_function: dict[Function[Term], Symbol] = {}
        self._primed: Rewriting | None = None
        self._markers.quorums.suppose([size.is_allowed for size in self.sizes])

    # --- universes and variables

    def universe(self, name: str, size: int | Size, prefix: str | None = None, *, names: Sequence[str] = ()) -> Universe:
        """A universe; of any size if its size is a ``Size``."""
        if isinstance(size, Size):
            self._claim("universe", name)
            kind = Alike if size.alike else Unbounded
            universe: Universe = kind(name, size, prefix or name[0], markers=self._markers)
        else:
            plain = super().universe(name, size, prefix, names=names)
            universe = Enumerated(plain.name, plain.size, plain.prefix, plain.names)
        self.universes[name] = universe
        return universe

    def upto(self, most: int | Size) -> Iterable[int]:
        """The numbers from 0 to ``most``, which may be a size, as a parameter of an action."""
        if not isinstance(most, Size):
            return super().upto(most)
        numbers: Universe = Unbounded("number", Size(most.term + 1, most.least + 1), "n", markers=self._markers)
        return numbers

    @property
    def sizes(self) -> list[Size]:
        """The sizes that are not known, each once."""
        by_term = {size.term: size for size in self.parameters.values() if isinstance(size, Size)}
        by_term |= {u.size.term: u.size for u in self.universes.values() if isinstance(u, Unbounded)}
        return list(by_term.values())

    def number(self, name: str, low: Numeric, high: Numeric, *, per: Per = (), init: object = None) -> object:  # type: ignore[override]
        """A variable that holds an integer from ``low`` to ``high``, which may be terms."""
        return self.add_family(name, any_number(low, high), per, low if init is None else init)

    def choice(self, name: str, of: Universe | Sequence[str], *, per: Per = (), init: object = None, none: str = "") -> object:  # type: ignore[override]
        """A variable that holds one of several names."""
        if not isinstance(of, Unbounded):
            return self.add_family(name, choice_of(of, none), per, (none or 0) if init is None else init)
        if not none or not isinstance(of, Alike):
            raise ModelError(f"{self.name}: choice {name}: of the members of {of.name} there are any number")
        return self.add_family(name, OneOrNone(of.name, of.sort, none), per, none if init is None else init)

    def subset(self, name: str, of: Universe, *, per: Per = (), init: object = ()) -> object:  # type: ignore[override]
        """A variable that holds a subset of a universe."""
        return self.add_family(name, Subset(of), per, init)

    def add_family(self, name: str, domain: Domain, per: Per, init: object) -> object:
        """Adds the functions of a family and returns its value, or the family."""
        self._claim("variable", name)
        owners = (per,) if isinstance(per, Universe) else tuple(per)
        places = (*owners, domain.universe) if isinstance(domain, Subset) else owners
        symbols: dict[Key, Symbol] = {}
        through: list[list[int | None]] = [[None] if isinstance(u, Unbounded) else [*u] for u in places]
        for index in itertools.product(*through):
            symbol = symbols[index] = self._symbol(name, domain, places, index, init)
            self.symbols.append(symbol)
            self._of_function[symbol.function] = symbol
        self._families[name] = owners, domain, symbols
        for names, primed in ((self.state, False), (self.next, True)):
            setattr(names, name, _Family(self, name, primed) if owners else self.value(name, (), primed))
        return getattr(self.state, name)

    def _symbol(
        self, name: str, domain: Domain, places: tuple[Universe, ...], index: tuple[int | None, ...], init: object
    ) -> Symbol:
        shown = ", ".join(u.label(i) for u, i in zip(places, index, strict=True) if isinstance(i, int))
        full = f"{name}[{shown}]" if shown else name
        universes = tuple(u for u in places if isinstance(u, Unbounded))
        is_flag = isinstance(domain, (Subset, Flag))
        value = BOOL if is_flag else domain.sort
        sorts = [*(universe.sort for universe in universes), value]

        def initial(*arguments: Term) -> Term:
            given = iter(arguments)
            at = [next(given) if i is None else i for i in index]
            owner = at[:-1] if isinstance(domain, Subset) else at
            value = init(*owner) if callable(init) else init
            if isinstance(value, OneOf):
                raise ModelError(f"{self.name}: {full} has several initial values, which is not supported for any size")
            if isinstance(domain, Subset):
                return subset_of(members_of(domain), value).has(at[-1])
            return domain.coerce(value)

        if any(str(size) == full for size in self.sizes):
            full += " so far"  # the size is how often a fault may happen, and the variable how often it did
        function, primed = (Function(full + mark, *sorts) for mark in ("", "'"))
        return Symbol(full, name, index, universes, None if isinstance(domain, Subset) else domain, function, primed, initial)

    def value(self, name: str, index: tuple[int | Term, ...], primed: bool = False) -> Term | Membership:
        """The value of the member of a family at that index: a term, or a subset."""
        _, domain, _ = self._families[name]
        if isinstance(domain, Subset):
            holds = lambda member: condition(self._applied(name, (*index, member), primed))  # noqa: E731
            return Membership(members_of(domain), holds, (name, index))
        return self._applied(name, index, primed)

    def _applied(self, name: str, index: tuple[int | Term, ...], primed: bool) -> Term:
        owners, domain, symbols = self._families[name]
        places = (*owners, domain.universe) if isinstance(domain, Subset) else owners
        if len(index) != len(places):
            raise ModelError(f"{name} has {len(places)} indices, not {len(index)}")
        key = tuple(None if isinstance(u, Unbounded) else i for u, i in zip(places, index, strict=True))
        if key not in symbols:
            raise ModelError(f"{name} has no member {', '.join(map(repr, index))}; an index is a member of its universe")
        arguments = [i for u, i in zip(places, index, strict=True) if isinstance(u, Unbounded)]
        symbol = symbols[key]
        return (symbol.primed if primed else symbol.function)(*arguments)

    def include(self, prefix: str, *_: object, **__: object) -> object:  # type: ignore[override]
        """Raises ModelError: what is made of parts has a proof for a stated instance only."""
        raise ModelError(f"{self.name}: part {prefix}: a protocol made of parts has no proof for any size")

    # --- actions

    def receivers(self, where: str, parameters: Mapping[str, object], talk: Talk, location: Location) -> Mapping[str, Variable]:
        """Nothing: it is for drawings, which are of instances."""
        return {}

    def add_actions(self, definition: Definition) -> None:
        """Adds a scheme for each tuple of members of finite universes, and any of the others."""
        name, doc, function, manner, _ = definition
        parameters = {k: u for k, u in manner.parameters.items() if not callable(u)}
        spends = manner.spends
        unbounded = {k: u for k, given in parameters.items() if (u := _unbounded(given)) is not None}
        through: list[Iterable[Term | int]] = []
        for k, given in parameters.items():
            through.append([unbounded[k].fresh(k)] if k in unbounded else given)
        for values in itertools.product(*through):
            bound = dict(zip(parameters, values, strict=True))
            if not manner.admits(bound):
                continue
            where = f"{self.name}: action {name}"
            effect = outcome(where, build(where, function, **bound))
            guard, updates = effect.guard, {key: given.value for key, given in effect.updates.items()}
            within = [u.within(bound[k]) for k, u in unbounded.items()]
            if spends is not None:
                counter = self.value(spends, ())
                assert isinstance(counter, terms.Number)
                within.append(counter < self.budgets[spends])
                updates[counter] = counter + 1
            guard = condition(guard)
            self._refuse_open(f"{where}: its guard", guard)
            guard = simplified(And(guard, *within))
            if guard is FALSE:
                continue
            news = self._updates(where, updates.items())
            self.schemes.append(Scheme(name, bound, parameters, guard, news, doc, Location.of(function)))

    def _updates(self, where: str, updates: Iterable[tuple[object, object]]) -> dict[Symbol, Update]:
        """For each symbol that changes its new value, put together from the updates that concern it."""
        cases: dict[Symbol, list[Case]] = {}
        for key, value in updates:
            if isinstance(key, Membership):
                assert key.place is not None
                name, index = key.place
                owners, domain, symbols = self._families[name]
                elements = members_of(domain)
                news = key.beside(value)
                open_ = [i for u, i in zip(owners, index, strict=True) if isinstance(u, Unbounded) and isinstance(i, Term)]
                for element in [None] if isinstance(elements, Unbounded) else elements:
                    at = (*(None if isinstance(u, Unbounded) else i for u, i in zip(owners, index, strict=True)), element)
                    cases.setdefault(symbols[at], []).append((open_, _holding(news, element)))
            elif isinstance(key, Term) and key.op == "apply" and key.detail in self._of_function:
                symbol = self._of_function[key.detail]
                assert symbol.domain is not None
                term = build(f"{where}: new value of {symbol.name}", symbol.domain.coerce, value)
                cases.setdefault(symbol, []).append((list(key.arguments), _constantly(term)))
            else:
                raise ModelError(f"{where}: it updates {key}, which is not a variable of the protocol")
        return {symbol: self._update(where, symbol, given) for symbol, given in cases.items()}

    def _update(self, where: str, symbol: Symbol, cases: list[Case]) -> Update:
        formal = tuple(universe.fresh() for universe in symbol.universes)
        value = symbol.function(*formal)
        for given, make in cases:  # of two that concern the same member the later one counts
            with self._markers.alive(given):
                term = make(*formal[len(given) :])
            term = condition(term) if isinstance(term, bool) else term
            pairs = list(zip(given, formal, strict=False))
            for_all = {marker: f for marker, f in pairs if self._markers.is_marker(marker)}
            term = substituted(term, for_all)
            tests = [equation(f, substituted(one, for_all)) for one, f in pairs if not self._markers.is_marker(one)]
            narrowing = (self._markers.narrowing(marker) for marker in for_all)
            tests += [substituted(one, for_all) for one in narrowing if one is not TRUE]
            value = conditional(conjunction(tuple(tests)), term, value) if tests else term
        self._refuse_open(f"{where}: the new value of {symbol.name}", value)
        return Update(formal, simplified(value))

    def _refuse_open(self, where: str, term: Term) -> None:
        if self._markers.of(term):
            raise ModelError(f"{where} is meant for each member of a universe: join these with all_of or any_of")

    # --- formulas

    def formulates(self, kind: str) -> bool:
        """Whether statements of this kind are put into formulas for any size."""
        return kind in now().stated

    def vet(self, what: str, term: Term, *, primed: bool = False) -> None:
        """Raises ModelError unless the term is closed."""
        self._refuse_open(what, term)

    @property
    def assumed(self) -> list[Condition]:
        """What is known of the sizes, and of quorums."""
        return [size.is_allowed for size in self.sizes] + list(self._markers.quorums.axioms())

    @property
    def quorums(self) -> list[Quorum]:
        """The quorums that its formulas speak of."""
        return list(self._markers.quorums.known.values())

    def exchanged(self, leaving: Term, joining: Term) -> list[Condition]:
        """That a quorum in which one thing is in the place of another is a quorum."""
        return list(self._markers.quorums.exchanged(leaving, joining))

    @property
    def firsts(self) -> dict[Function[Condition], Number]:
        """The relations that tell the first so many members of a universe, with how many these are."""
        return {holds: size for size, holds in self._markers.quorums.firsts.values()}

    @property
    def counted(self) -> list[Sort[Term]]:
        """The sorts of things that are counted, and of quorums of them."""
        return list(self._markers.quorums.sorts())

    def rewriting(self, scheme: Scheme) -> Rewriting:
        """What takes a formula to what it says of the state after an action."""
        return Rewriting({symbol.function: update.of for symbol, update in scheme.updates.items()})

    def stepping(self, scheme: Scheme) -> Rewriting:
        """What takes a formula over values and next values to what it says of a step by an action."""
        news = {symbol.primed: symbol.function for symbol in self.symbols}
        return Rewriting(news | {symbol.primed: update.of for symbol, update in scheme.updates.items()})

    def primed(self, formula: S) -> S:
        """A formula over values, said of the next values."""
        if self._primed is None:
            self._primed = Rewriting({symbol.function: symbol.primed for symbol in self.symbols})
        return self._primed.of(formula)


class _Family:
    """Variables of one name, one for each member of a universe or each tuple of members of several."""

    def __init__(self, protocol: AnySize, name: str, primed: bool) -> None:
        self._protocol, self._name, self._primed = protocol, name, primed

    def __getitem__(self, index: int | Term) -> object:
        return self._protocol.value(self._name, index if isinstance(index, tuple) else (index,), self._primed)


def _unbounded(given: object) -> Unbounded | None:
    return given if isinstance(given, Unbounded) else None


def _holding(subset: Membership, element: int | None) -> Callable[..., Truth]:
    return subset.holds if element is None else lambda: subset.holds(element)


def _constantly(term: Term) -> Callable[..., Term]:
    return lambda *_: term
