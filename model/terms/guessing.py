"""Guesses at values for which a condition does not hold, aimed by how it is written: a solver is asked where they fail."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from fencepost.model.terms.evaluation import Evaluation
from fencepost.model.terms.nodes import Term

TRIES = 24
"""Guesses at each condition."""


class Guesses:
    """Guesses at values of constants, each within the range of that constant. They are the same each time."""

    def __init__(self, values: Mapping[Term, range]) -> None:
        self._values, chance = values, Random(0)
        self._drawn = [{one: self._any(chance, one) for one in values} for _ in range(TRIES)]

    def refute(self, condition: Term) -> bool:
        """Whether a guess was found for which the condition does not hold."""
        chance = Random(0)
        return not all(Evaluation(drawn | self._aimed(chance, condition))(condition) for drawn in self._drawn)

    def _any(self, chance: Random, constant: Term) -> int:
        values = self._values[constant]
        return chance.randrange(values.start, values.stop)

    def _aimed(self, chance: Random, condition: Term) -> dict[Term, int]:
        """Values of some constants: each part of the condition is aimed to be true or false so that the whole does not hold.
        Where one part of several is enough, chance picks it."""
        aimed, stack = dict[Term, int](), [(condition, False)]
        while stack:
            part, holds = stack.pop()
            op, parts = part.op, part.arguments
            if op == "not":
                stack.append((parts[0], not holds))
            elif op == "=>":
                both = [(parts[0], not holds), (parts[1], holds)]
                stack += [chance.choice(both)] if holds else both
            elif op in ("and", "or") and parts:
                stack += [(one, holds) for one in (parts if (op == "and") is holds else [chance.choice(parts)])]
            elif op == "constant":
                aimed.setdefault(part, int(holds))
            elif op in ("=", "distinct") and len(parts) == 2:
                one, other = parts if parts[0].op == "constant" else parts[::-1]
                is_value = one.op == "constant" and other.op == "literal" and (op == "=") is holds
                if is_value and other.detail in self._values[one]:
                    aimed.setdefault(one, other.detail)
        return aimed
