"""The state of a TLA+ module: its variables, their domains and how they begin."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence

from fencepost.checks.export.tla.columns import fresh
from fencepost.checks.export.tla.expressions import FALSE, TRUE, Expression, conditional, equality, member, name, number, of
from fencepost.checks.export.tla.kinds import choice, subset
from fencepost.checks.export.tla.layout import WIDTH, Layout
from fencepost.checks.export.tla.lifting import Parameter
from fencepost.model.language import Protocol, Universe, Variable
from fencepost.model.language.domains import Choice, Domain, Flag, Number, Subset


class State:
    """Writes what a module says of its state, given what things are called in it."""

    def __init__(
        self,
        protocol: Protocol,
        layout: Layout,
        variables: Mapping[str, str],
        universes: Mapping[Universe, str],
        taken: Collection[str],
    ) -> None:
        self._layout, self._names, self._universes, self._taken = layout, variables, universes, taken
        self._families: dict[str, list[Variable]] = {}
        for variable in protocol.variables:
            self._families.setdefault(variable.family, []).append(variable)

    def declarations(self) -> Iterator[str]:
        """The variables, and the universes that index them."""
        listed = ", ".join(self._names[family] for family in self._families)
        yield "VARIABLES\n" + textwrap.fill(listed, WIDTH, initial_indent="  ", subsequent_indent="  ") + "\n"
        yield f"vars == {self._tuple(list(self._families), 8)}\n"
        for universe, called in self._universes.items():
            yield f"{called} == {self._members(universe)}"
        yield ""

    def domains_and_beginning(self) -> Iterator[str]:
        """``TypeOK`` and ``Init``."""
        types, beginnings = [], []
        for family, its in self._families.items():
            types.append(f"  /\\ {self._names[family]} \\in {self._function_set(its[0], self.domain(its[0].domain))}")
            beginnings += [f"  /\\ {line}" for line in self._beginning(family, its)]
        yield "TypeOK ==\n" + "\n".join(types) + "\n"
        yield "Init ==\n" + "\n".join(beginnings) + "\n"

    def unchanged(self, families: Sequence[str], column: int) -> str:
        """What an action leaves as it is."""
        if len(families) == len(self._families):
            return "UNCHANGED vars"
        return f"UNCHANGED {self._tuple(families, column + 10)}"

    def range_of(self, parameter: Parameter) -> str:
        """What a parameter ranges over."""
        if parameter.universe is not None:
            return self._universes[parameter.universe]
        values = parameter.values
        if values == tuple(range(values[0], values[-1] + 1)):
            return f"{values[0]}..{values[-1]}"
        return "{" + ", ".join(map(str, values)) + "}"

    def domain(self, domain: Domain) -> str:
        """The set of a domain's values."""
        if isinstance(domain, Flag):
            return "BOOLEAN"
        if isinstance(domain, Number):
            return f"{domain.lowest}..{domain.highest}"
        if isinstance(domain, Subset):
            return f"SUBSET {self._universes[domain.universe]}"
        assert isinstance(domain, Choice)
        if domain.universe is None:
            return "{" + ", ".join(f'"{label}"' for label in domain.names) + "}"
        others = ", ".join(f'"{label}"' for label in domain.names[domain.universe.size :])
        return f"{self._universes[domain.universe]} \\cup {{{others}}}" if others else self._universes[domain.universe]

    def _members(self, universe: Universe) -> str:
        if universe.size and self._layout.member(universe, 0) == "0":
            return f"0..{universe.size - 1}"
        return "{" + ", ".join(self._layout.member(universe, m) for m in universe) + "}"

    def _function_set(self, variable: Variable, values: str) -> str:
        if not variable.universes:
            return values
        keys = " \\X ".join(self._universes[universe] for universe in variable.universes)
        return f"[{keys} -> {values}]"

    def _beginning(self, family: str, members: Sequence[Variable]) -> Iterator[str]:
        """How the variables of a family begin."""
        called, first = self._names[family], members[0]
        if all(len(variable.initial) == 1 for variable in members):
            head = f"{called} = "
            yield head + self._layout.block(self._table(members), 5 + len(head))
            return
        options = list(dict.fromkeys(raw for variable in members for raw in variable.initial))
        yield f"{called} \\in {self._function_set(first, self._set(first, options))}"
        for variable in members:
            if set(variable.initial) < set(options):
                index = ", ".join(map(self._layout.member, variable.universes, variable.index))
                yield f"{called}[{index}] \\in {self._set(variable, variable.initial)}"

    def _table(self, members: Sequence[Variable]) -> Expression:
        """The one initial value of each member of a family, as a function."""
        universes = members[0].universes
        values = {variable.index: literal(variable.domain, variable.initial[0]) for variable in members}
        if not universes:
            return values[()]
        dimensions: list[str] = []
        for universe in universes:
            dimensions.append(fresh(universe, lambda candidate: candidate in self._taken or candidate in dimensions))
        counted = sorted(dict.fromkeys(values.values()), key=lambda value: -list(values.values()).count(value))
        body, *others = counted
        for value in others:
            keys = [self._key(universes, index) for index in values if values[index] == value]
            here = of("tuple", *map(name, dimensions)) if len(dimensions) > 1 else name(dimensions[0])
            test = equality(here, keys[0]) if len(keys) == 1 else of("in", here, of("set", *keys))
            body = of("if", test, value, body) if value not in (TRUE, FALSE) else conditional(test, value, body)
        ranges = (of("universe", detail=universe) for universe in universes)
        return of("function", *ranges, body, detail=tuple(dimensions))

    @staticmethod
    def _key(universes: Sequence[Universe], index: tuple[int, ...]) -> Expression:
        parts = [member(universe, i) for universe, i in zip(universes, index, strict=True)]
        return of("tuple", *parts) if len(parts) > 1 else parts[0]

    def _set(self, variable: Variable, raws: Sequence[int]) -> str:
        return "{" + ", ".join(self._layout.flat(literal(variable.domain, raw)) for raw in raws) + "}"

    def _tuple(self, families: Sequence[str], column: int) -> str:
        listed = ", ".join(self._names[family] for family in families)
        return "<<" + f"\n{' ' * (column + 2)}".join(textwrap.wrap(listed, WIDTH - column - 4)) + ">>"


def literal(domain: Domain, raw: int) -> Expression:
    """A raw value of a domain."""
    if isinstance(domain, Flag):
        return TRUE if raw else FALSE
    if isinstance(domain, Choice):
        return choice(domain, raw)
    return subset(domain, raw) if isinstance(domain, Subset) else number(raw)
