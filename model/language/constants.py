"""The variables of a protocol as constants in terms: which variables a term mentions, and how large a number may become."""

from __future__ import annotations

from fencepost.model.language.declarations import Variable
from fencepost.model.language.mistakes import ModelError
from fencepost.model.language.ranges import Ranges, is_computed
from fencepost.model.terms.nodes import Term, below, in_order


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

    def vet(self, what: str, term: Term, *, primed: bool = False) -> None:
        """Raises ModelError, naming ``what``, unless the term is over the variables (and, if ``primed``, their next values)
        and uses only operators that the kernel compiles."""
        computed = False
        for part in below([term], self._vetted[primed]):
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
