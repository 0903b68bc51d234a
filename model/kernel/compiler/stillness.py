"""What is certain of a formula over two states wherever a step changes nothing of what it says.

Most of what a rule of conduct says is about other variables than those that an action changes: found out once, such parts need
not be looked at again for each of hundreds of actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_

from fencepost.model.kernel.compiler.instructions import Constant, Value
from fencepost.model.kernel.compiler.terms import Terms
from fencepost.model.terms.nodes import Term


class Stillness:
    """The parts of formulas over two states.

    Sets of variables are the bits of a number here, one for each variable in ``bits``. ``still`` emits terms for a step that
    changes nothing, into a function that is thrown away.
    """

    def __init__(self, formulas: Sequence[Term], still: Terms, bits: Mapping[str, int]) -> None:
        self.formulas, self._still, self._bits = formulas, still, bits
        self._parts: dict[Term, tuple[int, Value | None]] = {}
        for formula in formulas:
            self._look_at(formula)

    def certain(self, part: Term, changed: int) -> Value | None:
        """The value of a part in every step that changes just these variables, if it is certain because it reads the new value
        of none of them."""
        reads, value = self._parts[part]
        return None if reads & changed else value

    def _look_at(self, formula: Term) -> None:
        stack = [formula]
        while stack:
            part = stack[-1]
            ahead = [argument for argument in part.arguments if argument not in self._parts]
            if ahead:
                stack += ahead
                continue
            stack.pop()
            read = [self._parts[argument][0] for argument in part.arguments]
            value = self._still.emit(part)
            self._parts[part] = reduce(or_, read, self._own(part)), value if isinstance(value, Constant) else None

    def _own(self, part: Term) -> int:
        return self._bits[part.detail.removesuffix("'")] if part.is_constant and part.detail.endswith("'") else 0
