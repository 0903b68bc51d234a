"""The variables of a protocol as constants in terms: which variables a term mentions, and how large a number may become.

The kernel computes with 64 bits, where Z3 has no limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from fencepost.model.language.declarations import Variable
from fencepost.model.language.domains import Domain
from fencepost.model.language.mistakes import ModelError
from fencepost.model.terms.nodes import Term, below, in_order

Range = tuple[int, int]

_FITS = 1 << 62
_ARITHMETIC = frozenset({"+", "-", "unary -", "*"})


def is_computed(term: Term) -> bool:
    """Whether it may be a number that is larger than variables are."""
    return term.op in _ARITHMETIC or (term.op == "literal" and not term.sort.bits and abs(term.detail) > _FITS)


class Ranges:
    """The range of every number in a term, from the domains of the variables: an upper estimate that ignores conditions."""

    def __init__(self) -> None:
        self._of: dict[Term, Range] = {}

    def declare(self, constant: Term, domain: Domain) -> None:
        """Takes note of a constant that stays in a domain."""
        self._of[constant] = domain.low, domain.low + domain.size - 1

    def too_wide(self, term: Term) -> Term | None:
        """A number within the term that might not fit 64 bits, or None. The term must be free of strangers."""
        for part in in_order([term], self._of.__contains__):
            low, high = self._of[part] = self._range(part)
            if low < -(1 << 63) or high >= 1 << 63:
                return part
        return None

    def of(self, term: Term) -> Range:
        """The range of a number of which ``too_wide`` found nothing to say."""
        if term not in self._of:
            self.too_wide(term)
        return self._of[term]

    def _range(self, term: Term) -> Range:
        if term.sort.kind != "Int":
            return 0, 0
        if term.op == "literal":
            return term.detail, term.detail
        return range_of_parts(term, [self._of[argument] for argument in term.arguments])


def range_of_parts(term: Term, parts: Sequence[Range]) -> Range:
    """The range of a number that is computed, from those of its arguments; of a choice between two, that of either."""
    if term.op == "ite":
        return min(parts[1][0], parts[2][0]), max(parts[1][1], parts[2][1])
    if term.op == "unary -":
        return -parts[0][1], -parts[0][0]
    if term.op == "-":
        return parts[0][0] - sum(high for _, high in parts[1:]), parts[0][1] - sum(low for low, _ in parts[1:])
    if term.op == "*":
        size = prod(max(abs(low), abs(high)) for low, high in parts)
        return -size, size
    return sum(low for low, _ in parts), sum(high for _, high in parts)


class Constants:
    """The constants of the variables declared so far, for values before a step and, primed, after it."""

    def __init__(self) -> None:
        self.ranges = Ranges()
        self._by_name: dict[str, Variable] = {}
        self._now: dict[Term, Variable] = {}
        self._next: dict[Term, Variable] = {}
        self._vetted: dict[bool, set[Term]] = {False: set(), True: set()}  # by whether next values may occur
        self._mentioned: dict[Term, frozenset[Variable]] = {}

    def __getitem__(self, name: str) -> Variable:
        return self._by_name[name]

    def add(self, variable: Variable) -> None:
        """Takes note of a variable, which stays in its domain before and after each step."""
        self._by_name[variable.name] = variable
        for of, term in ((self._now, variable.term), (self._next, variable.next)):
            of[term] = variable
            self.ranges.declare(term, variable.domain)
            self._mentioned[term] = frozenset([variable])

    def variable_of(self, term: object) -> Variable | None:
        """The variable whose value before a step this very term is, sort included; None for any other term or value."""
        return self._now.get(term) if isinstance(term, Term) else None

    def before(self, term: Term) -> Term:
        """The value before a step of the variable whose value after it this is; any other term itself."""
        variable = self._next.get(term)
        return term if variable is None else variable.term

    def vet(self, what: str, term: Term, *, primed: bool = False) -> None:
        """Raises ModelError, naming ``what``, unless the term is over the variables (and, if ``primed``, their next values)
        and uses only operators that the kernel compiles."""
        vetted, computed, stack = self._vetted[primed], False, [term]
        while stack:
            part = stack.pop()
            if part in vetted:
                continue
            vetted.add(part)
            stack.extend(part.arguments)
            computed = computed or is_computed(part)
            if part.stranger is not None:
                raise ModelError(f"{what} uses {part.stranger}, which the kernel cannot compile")
            if part.is_constant and part not in self._now and not (primed and part in self._next):
                also = "; it may not speak of the state after the step" if part in self._next else ""
                raise ModelError(f"{what} mentions {part}, which is not a variable of the protocol{also}")
        too_wide = self.ranges.too_wide(term) if computed else None
        if too_wide is not None:
            raise ModelError(f"{what}: {too_wide} may be too large for the kernel's 64-bit numbers")

    def next_variables_of(self, formula: Term) -> set[Variable]:
        """The variables whose value after a step the formula mentions."""
        return {self._next[part] for part in below([formula], set()) if part in self._next}

    def variables_of(self, formula: Term) -> frozenset[Variable]:
        """The variables whose value, before or after a step, the formula mentions."""
        known = self._mentioned
        for part in in_order([formula], known.__contains__):
            known[part] = frozenset().union(*[known[argument] for argument in part.arguments])
        return known[formula]
