"""What solvers answer, and what it means if two of them differ. The second solver is loaded only where it is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from fencepost.model.language import Protocol
from fencepost.model.terms.values import Condition

Answer = Literal["sat", "unsat", "unknown"]
Solve = Callable[[Sequence[Condition], float], Answer]
SecondSolver = Callable[[Protocol, Sequence[Condition]], Solve]
"""Given a protocol and what is always assumed, which must keep every variable in its domain: what answers, in so many
seconds, whether further formulas can hold together with that."""


class Disagreement(Exception):
    """Z3 and the second solver answer differently; the message names the obligation. One of them has a bug."""
