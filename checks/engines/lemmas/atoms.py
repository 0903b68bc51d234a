"""What can be said of a state in few words: atoms, made from the domains of a protocol's variables.

An atom is written as Python, as it stands in the lemmas of ``properties/``. That text is what is evaluated, for certain members
of the universes, for a protocol of any size, and when its lemma is proved: there is no second form of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fencepost.model.analysis.symmetry import symmetry_of
from fencepost.model.language import And, Implies, Not, Or, Protocol, Universe, Variable, all_of, any_of, at_least
from fencepost.model.language.domains import Choice, Flag, Number, Subset
from fencepost.model.terms.values import Condition

WORDS = {
    "And": And,
    "Implies": Implies,
    "Not": Not,
    "Or": Or,
    "all_of": all_of,
    "any_of": any_of,
    "at_least": at_least,
}
"""The names that the text of atoms and lemmas uses besides those of variables, universes and their members."""

FEW_VALUES = 5
"""A number that counts no members of a universe is compared with each of its values if there are at most so many."""

MOST_MEMBERS = 9
"""Universes with more members are not counted in."""


@dataclass(frozen=True)
class Index:
    """A name for any member of a universe; ``letter`` stands for it in texts."""

    letter: str
    universe: Universe


@dataclass(frozen=True)
class Atom:
    """A formula about the members that its ``scope`` names. ``name`` is for the names of lemmas.

    ``counts`` tells by how many things it counts members, if it does; ``compares`` that it compares numbers with each other;
    ``is_mode`` that it says in which of several ways something is, which makes a good premise.
    """

    text: str
    name: str
    scope: tuple[Index, ...]
    counts: int = 0
    compares: bool = False
    is_mode: bool = False


class Vocabulary:
    """The atoms of a protocol, the names in which they are written, and their formulas.

    The first of the ``plain`` ones is the property of that name, which is to be proved.
    """

    def __init__(self, protocol: Protocol, statement: Condition, name: str) -> None:
        self.protocol = protocol
        text = f'suite.named("{name}").formula'
        self.goal = Atom(text, f"holds_{name}", ())
        self._statement = statement
        self._names = _Names(protocol)
        self._ordered = _ordered(protocol, statement)
        self.universes = self._names.universes
        self.plain = [self.goal, *_unlike([*_plain(protocol, self._names, self._ordered)])]
        self.indices = [index for index in self._names.indices if any(index in atom.scope for atom in self.plain)]

    def counting(self, atoms: Sequence[Atom]) -> list[Atom]:
        """The atoms that say of how many members some of the plain ones hold."""
        return _unlike([*_counted(atoms, self._names, self._ordered)])

    @property
    def places(self) -> list[tuple[int, ...]]:
        """Each choice of a member for each index."""
        return list(itertools.product(*(index.universe for index in self.indices)))

    def scope(self, atom: Atom) -> int:
        """The indices that an atom mentions, as a bit set."""
        return sum(1 << number for number, index in enumerate(self.indices) if index in atom.scope)

    def formulas(self, atom: Atom) -> dict[tuple[int, ...], Condition]:
        """The formula of the atom for each choice of the members that it mentions."""
        if atom is self.goal:
            return {(): self._statement}
        code = compile(atom.text, "<atom>", "eval")
        known = {**WORDS, "s": self.protocol.state, **self.universes}
        formulas = {}
        for members in itertools.product(*(index.universe for index in atom.scope)):
            formulas[members] = eval(code, {**known, **dict(zip((i.letter for i in atom.scope), members, strict=True))})
        return formulas


class _Names:
    """The names of universes and of their members, each of which stands for one thing."""

    def __init__(self, protocol: Protocol) -> None:
        self.universes: Mapping[str, Universe] = dict(protocol.universes)
        self._taken = {"s", "p", *WORDS, *self.universes}
        self._indices: dict[tuple[str, int], Index] = {}
        for ordinal in (0, 1):
            for universe in self.universes.values():
                self._indices[universe.name, ordinal] = Index(self._letter(universe), universe)

    def _letter(self, universe: Universe) -> str:
        wanted = [*universe.prefix[:1], *universe.name, *(f"{universe.name[0]}{number}" for number in range(2, 100))]
        letter: str = next(letter for letter in wanted if letter.isidentifier() and letter not in self._taken)
        self._taken.add(letter)
        return letter

    @property
    def indices(self) -> list[Index]:
        return list(self._indices.values())

    def index(self, universe: Universe, ordinal: int = 0) -> Index:
        """A name for a member, the other one if ``ordinal`` is 1."""
        return self._indices[universe.name, ordinal]

    def other_than(self, universe: Universe, scope: Sequence[Index]) -> list[Index]:
        """The names for members with which a thing of that scope is compared: of one that it is about, and of another."""
        first, second = self.index(universe), self.index(universe, 1)
        return [first, second] if first in scope and universe.size > 1 else [first]


@dataclass(frozen=True)
class _Place:
    """A variable, or any of a family."""

    variable: Variable
    text: str
    name: str
    scope: tuple[Index, ...]


def _places(protocol: Protocol, names: _Names) -> Iterator[_Place]:
    for family in dict.fromkeys(v.family for v in protocol.variables):
        first = next(v for v in protocol.variables if v.family == family)
        scope: list[Index] = []
        for universe in first.universes:
            scope.append(names.index(universe, int(names.index(universe) in scope)))
        text = f"s.{family}[{', '.join(index.letter for index in scope)}]" if scope else f"s.{family}"
        yield _Place(first, text, family, tuple(dict.fromkeys(scope)))


def _ordered(protocol: Protocol, statement: Condition) -> set[Universe]:
    """The universes whose members are in an order that the protocol goes by: they are not interchangeable, and numbers range
    over them."""
    alike = {c.universe for c in symmetry_of(protocol, {"the property": statement}).classes}
    return {
        universe
        for universe in protocol.universes.values()
        if universe.size > 1 and universe not in alike and any(_ranges(protocol, v, universe) for v in protocol.variables)
    }


def _ranges(protocol: Protocol, variable: Variable, universe: Universe) -> bool:
    """Whether a number is a member of the universe, none before the first, or the one after the last."""
    domain = variable.domain
    if not isinstance(domain, Number) or variable in protocol.counters:
        return False
    return domain.lowest in (-1, 0) and domain.highest in (universe.size - 1, universe.size)


def _plain(protocol: Protocol, names: _Names, ordered: set[Universe]) -> Iterator[Atom]:
    """What the variables are, one by one and compared with each other."""
    places = list(_places(protocol, names))
    for place in places:
        yield from _about(protocol, place, names, ordered)
    for one, other in itertools.combinations(places, 2):
        yield from _between(one, other)


def _about(protocol: Protocol, place: _Place, names: _Names, ordered: set[Universe]) -> Iterator[Atom]:
    domain, text, name, scope = place.variable.domain, place.text, place.name, place.scope
    if isinstance(domain, Flag):
        yield Atom(text, name, scope, is_mode=True)
    elif isinstance(domain, Subset):
        for index in names.other_than(domain.universe, scope):
            yield Atom(f"{text}.has({index.letter})", name, _with(scope, index))
    elif isinstance(domain, Choice):
        if domain.universe is not None:
            for index in names.other_than(domain.universe, scope):
                yield Atom(f"{text} == {index.letter}", f"{name}_is_{index.letter}", _with(scope, index))
        plain = domain.names[domain.universe.size if domain.universe else 0 :]
        for word in plain:
            yield Atom(f'{text} == "{word}"', f"{name}_{word}", scope, is_mode=True)
    elif isinstance(domain, Number):
        over = [universe for universe in ordered if _ranges(protocol, place.variable, universe)]
        for universe in over:
            for index in names.other_than(universe, scope):
                letter, whole = index.letter, _with(scope, index)
                yield Atom(f"{letter} <= {text}", f"{letter}_upto_{name}", whole)
                yield Atom(f"{letter} == {text}", f"{letter}_is_{name}", whole, is_mode=True, compares=True)
                yield Atom(f"{letter} == {text} + 1", f"{letter}_after_{name}", whole, is_mode=True, compares=True)
        few = domain.size <= FEW_VALUES and not over
        values = range(domain.lowest, domain.highest + 1) if few else sorted(set(place.variable.initial))
        for value in values:
            label = f"{name}_is_{value}".replace("-", "minus_")
            yield Atom(f"{text} == {value}", label, scope, compares=True, is_mode=True)


def _between(one: _Place, other: _Place) -> Iterator[Atom]:
    mine, scope = one.variable.domain, _with(one.scope, *other.scope)
    if type(mine) is not type(other.variable.domain) or mine != other.variable.domain:
        return
    if isinstance(mine, Choice) and mine.universe is not None:
        yield Atom(f"{one.text} == {other.text}", f"{one.name}_is_{other.name}", scope)
    if isinstance(mine, Number):
        yield Atom(f"{one.text} <= {other.text}", f"{one.name}_upto_{other.name}", scope, compares=True)
        yield Atom(f"{other.text} <= {one.text}", f"{other.name}_upto_{one.name}", scope, compares=True)


def _counted(plain: Sequence[Atom], names: _Names, ordered: set[Universe]) -> Iterator[Atom]:
    """How many members are so; all of them are what a clause says anyway."""
    for universe in names.universes.values():
        if universe in ordered or not 1 < universe.size <= MOST_MEMBERS:
            continue
        index = names.index(universe)
        about = [a for a in plain if index in a.scope and not a.compares]
        signed = [(atom, holds) for atom in about for holds in (True, False)]
        alone = [((atom, holds),) for atom, holds in signed]
        together = [pair for pair in itertools.combinations(signed, 2) if pair[0][0] is not pair[1][0]]
        for least in range(1, universe.size):
            for parts in [*alone, *(together if least > 1 else ())]:
                yield _count(least, parts, universe, index)


def _count(least: int, parts: Sequence[tuple[Atom, bool]], universe: Universe, index: Index) -> Atom:
    texts = [atom.text if holds else f"Not({atom.text})" for atom, holds in parts]
    name = "_and_".join(atom.name if holds else f"not_{atom.name}" for atom, holds in parts)
    each = texts[0] if len(texts) == 1 else f"And({', '.join(texts)})"
    of = f"{each} for {index.letter} in {universe.name}"
    scope = tuple(i for i in _with(*(atom.scope for atom, _ in parts)) if i != index)
    if least == 1:
        return Atom(f"any_of({of})", f"some_{name}", scope, counts=len(parts))
    return Atom(f"at_least({least}, ({of}))", f"{least}_{name}", scope, counts=len(parts))


def _with(scope: tuple[Index, ...], *more: Index | tuple[Index, ...]) -> tuple[Index, ...]:
    extra = itertools.chain.from_iterable(part if isinstance(part, tuple) else (part,) for part in more)
    return tuple(dict.fromkeys((*scope, *extra)))


def _unlike(atoms: Sequence[Atom]) -> list[Atom]:
    """Each atom once, by its text."""
    return list({atom.text: atom for atom in atoms}.values())
