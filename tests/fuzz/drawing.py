"""Random protocols: every word of the language, in protocols that are small enough to be read in plain Python.

What is drawn depends on nothing but a source of chance: a ``random.Random``, or what Hypothesis has in its place, which shrinks
towards the options that come first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

from tests.fuzz.plain import Escape, Reading
from tests.fuzz.syntax import Deed, Family, Kind, Sort, Spec, Statement, Term, Update
from tests.fuzz.terms import FAR, FLAG, NUMBER, Ranged, Terms, const, fits
from tests.fuzz.writing import LITERALS

FAMILIES = ("mass", "need", "ore", "pit", "quay")
MOST_WORK = 4000
"""Nodes of terms, in all actions together, that plain Python is to read for each state."""

FEW = 8
"""States of a protocol in which little happens."""


def drawn(chance: Random) -> Spec:
    """A protocol with its properties; most of those in which next to nothing happens, or too much, are drawn again."""
    for _ in range(6):
        spec = Drawing(chance).spec()
        reading = Reading(spec)
        if reading.work > MOST_WORK:
            continue
        if chance.randrange(10) == 0:
            break
        try:
            if len(reading.explore(FEW).depth) > FEW:
                break
        except Escape:
            break
    return spec


SPECS: st.SearchStrategy[Spec] = st.randoms(use_true_random=False).map(drawn)
"""Random protocols, as Hypothesis draws and shrinks them."""


class Drawing(Terms):
    """One protocol while it is drawn; ``starts`` is the number of its initial states so far."""

    def __init__(self, chance: Random) -> None:
        super().__init__(chance)
        self.starts = 1

    # --- declarations

    def spec(self) -> Spec:
        for name in FAMILIES[: self.one_of((2, 3, 4, 5, 1))]:
            self.families.append(self._family(name))
        if self.traits.wide:
            self.families.append(self._padding())
        count = self.one_of((2, 1, 3, 4, 5, 6, 7, 0))
        deeds = tuple(self._deed(f"do_{number}") for number in range(count))
        if self.traits.many:
            deeds = (*deeds, self._deed("do_many", (("i", 9), ("j", 8))))
        budgets, universes = self.budgets, tuple(self.universes.items())
        return Spec(universes, tuple(self.families), budgets, deeds, tuple(self._statements(deeds)))

    def _family(self, name: str) -> Family:
        few = [u for u, size in self.universes.items() if size <= 4]
        per: tuple[str, ...] = ()
        if few and self.likely(55):
            per = tuple(self.one_of(few) for _ in range(1 if self.likely(80) else 2))
        if self.traits.vast and self.likely(10):
            per = ("vat",)
        sort = self._sort()
        count = math.prod(self.universes[u] for u in per)
        if self.traits.symmetric:
            return Family(name, sort, per, (self._initial(sort, count),) * count)
        return Family(name, sort, per, tuple(self._initial(sort, 1) for _ in range(count)))

    def _initial(self, sort: Sort, times: int) -> tuple[int, ...]:
        """Possible initial values of a variable; several only while there are few initial states."""
        if self.likely(75) or self.starts * 2**times > 16:
            return (self.value(sort),)
        self.starts *= 2**times
        return tuple(dict.fromkeys([self.value(sort), self.value(sort)]))

    def _sort(self) -> Sort:
        kind = self.one_of(("flag", "number", "number", "choice", "subset"))
        with_members = [u for u, size in self.universes.items() if size]
        if kind == "number":
            return self._range()
        if kind == "choice":
            if self.likely(50):
                universe, none = self.one_of([u for u, size in self.universes.items() if size < 5]), self.likely(60)
                size = self.universes[universe] + none
                return Sort("choice", 0, max(size, 1) - 1, universe, none or not size)
            return Sort("choice", 0, self.upto(3))
        if kind == "subset" and with_members:
            universe = self.one_of(with_members)
            return Sort("subset", 0, (1 << self.universes[universe]) - 1, universe)
        return FLAG

    def _range(self) -> Sort:
        if self.traits.far and self.likely(60):
            low, high = self.one_of(
                [(-FAR, FAR - 1), (FAR - 4, FAR - 1), (-FAR, -FAR + 3), (-FAR, 0), (-1, FAR - 1), (0, (1 << 62) + 1)]
            )
            return Sort("number", low, high)
        if self.traits.large:
            return Sort("number", 0, 5 + self.upto(40))
        low = self.one_of((0, 0, 1, -1, -3))
        return Sort("number", low, low + self.upto(5))

    def _padding(self) -> Family:
        """A family of whole words: subsets of 64, or numbers as far as they go."""
        self.universes["word"] = 9 + self.upto(3)
        sort = Sort("number", -FAR, FAR - 1) if self.likely(50) or "vat" not in self.universes else None
        sort = sort or Sort("subset", 0, (1 << self.universes["vat"]) - 1, "vat")
        initial = tuple(self._initial(sort, 4) for _ in range(self.universes["word"]))
        return Family("wide", sort, ("word",), initial if not self.traits.symmetric else initial[:1] * len(initial))

    # --- actions

    def _deed(self, name: str, parameters: tuple[tuple[str, str | int], ...] = ()) -> Deed:
        if not parameters:
            over: list[str | int] = [u for u, size in self.universes.items() if size <= 4 or self.likely(30)]
            over += [] if self.traits.symmetric else [2, 3]
            count = 0 if not over else self.one_of((0, 1, 1, 2))
            parameters = tuple((n, self.one_of(over)) for n in ("i", "j")[:count])
            if sum(self.size(over) > 4 for _, over in parameters) > 1:
                parameters = parameters[:1]
        self.scope = list(parameters)
        guards: list[Term] = [] if self.likely(45) else [self.truth(self.upto(2))]
        usable = [f for f in self.families if self.places(f)]
        chosen = [self.one_of(usable) for _ in range(1 + self.upto(2))] if usable else []
        updates = [self._update(family, guards) for family in dict.fromkeys(chosen)]
        fault = self.likely(25)
        spends = self.one_of(self.budgets)[0] if self.budgets and self.likely(40) else ""
        apart = len(parameters) == 2 and self.likely(40)
        by = self.one_of(["someone", *(n for n, _ in parameters)])
        guard = guards[0] if len(guards) == 1 else Term("and", tuple(guards)) if guards else const(FLAG, 1)
        self.scope = []
        return Deed(name, by, parameters, guard, tuple(updates), fault, not fault and self.likely(50), spends, apart)

    def _update(self, family: Family, guards: list[Term]) -> Update:
        if family.per and self.likely(20):
            bound = tuple((f"k{place}", universe) for place, universe in enumerate(family.per))
            self.scope += bound
            value = self._new(family.sort, None)
            del self.scope[-len(bound) :]
            return Update(family.name, tuple(name for name, _ in bound), value, bound)
        index = self.one_of(self.places(family))
        return Update(family.name, index, self._new(family.sort, guards, Term("var", (), (family.name, index, False))))

    def _new(self, sort: Sort, guards: list[Term] | None, old: Term | None = None) -> Term:
        """A new value; what keeps a number in its domain is added to the guards, if that can be."""
        if sort.kind == "flag":
            return self.truth(self.upto(2))
        if sort.kind == "subset":
            return self.subset(sort, self.upto(2), whole=True)
        if sort.kind == "choice":
            return self.choice(sort, self.upto(1), whole=True)
        value = self.number(self.upto(2))
        if old is not None and self.likely(50):
            step = self.one_of((1, -1, 2))
            if fits(sort.low + step, sort.high + step):
                value = Ranged(Term("add", (old, const(NUMBER, step))), sort.low + step, sort.high + step)
        if value.term.op in LITERALS and not sort.low <= value.low <= value.high <= sort.high:
            return const(sort, self.value(sort), self.likely(50))
        if self.likely(15):
            return const(sort, self.value(sort), self.likely(50))
        if (sort.low <= value.low and value.high <= sort.high) or (self.traits.leaky and self.likely(30)):
            return value.term
        inside = (
            Term("le", (const(NUMBER, sort.low), value.term)),
            Term("ge", (const(NUMBER, sort.high, self.likely(50)), value.term)),
        )
        if guards is not None and self.likely(60):
            guards.extend(inside)
            return value.term
        if old is not None and self.likely(50):
            return Term("ite", (Term("and", inside), value.term, const(sort, sort.low)))
        if self.likely(50):
            capped = Term("min", (value.term, const(NUMBER, sort.high)))
            return Term("max", (const(NUMBER, sort.low), capped))
        return Term("ite", (Term("and", inside), value.term, const(sort, self.value(sort))))

    # --- properties

    def _statements(self, deeds: Sequence[Deed]) -> list[Statement]:
        properties = [Statement("reached", "sometimes", (self._rare(),))]

        def add(name: str, kind: Kind, *formulas: Term, unfair: tuple[str, ...] = ()) -> None:
            properties.append(Statement(name, kind, formulas, unfair))

        for number in range(1 + self.upto(1)):
            add(f"holds_{number}", "always", self.invariant())
        if self.likely(50):
            self.primed = True
            add("moves", "step", self.invariant())
            self.primed = False
        if self.likely(50):
            add("ended", "ends", self.one_of([const(FLAG, 0), self.truth(1)]))
        if self.likely(30):
            add("control", "strict", self.invariant())
        for number in range(self.upto(2)):
            pairs = [self._promise() for _ in range(1 + self.upto(1))]
            unfair = tuple(deed.name for deed in deeds if self.likely(20))
            add(f"comes_{number}", "leads_to", *(formula for pair in pairs for formula in pair), unfair=unfair)
        statements = [s for s in properties if s.kind == "always"]
        lemmas = [s.formulas[0] for s in statements if self.likely(70)] + [self.invariant() for _ in range(self.upto(1))]
        for number, formula in enumerate(lemmas or [const(FLAG, 1)]):
            add(f"lemma_{number}", "lemma", formula)
        return properties

    def _promise(self) -> tuple[Term, Term]:
        return self.one_of([self.truth(1), const(FLAG, 1)]), self.one_of([self._rare(), self.truth(1)])

    def invariant(self) -> Term:
        """Something that may hold of every state, or of most."""
        kind = self.one_of(("never", "never", "implies", "any"))
        if kind == "never":
            return Term("not", (self._rare(),))
        if kind == "implies":
            return Term("implies", (self.truth(1), Term("or", (self.truth(1), self.truth(1)))))
        return self.truth(2)

    def _rare(self) -> Term:
        """Several things at once."""
        return Term("and", tuple(self.truth(self.upto(1)) for _ in range(2 + self.upto(1))))
