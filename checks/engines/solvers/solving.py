"""Questions to Z3, each with its time, which Ctrl-C ends; what solvers answer, and what it means if two of them differ."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import z3

from fencepost.model.language import Protocol
from fencepost.model.terms.nodes import Term, below
from fencepost.model.terms.values import Condition


def ask(solver: z3.Solver, *assumptions: z3.BoolRef, seconds: float = float("inf")) -> z3.CheckSatResult:
    """What Z3 answers; ``unknown`` if the ``seconds`` are over.

    While Z3 thinks it takes a Ctrl-C for itself, says that it was canceled, as it says when its time is over, and the program
    hears nothing of it. Here what is canceled before its time is passed on to the program's handler.
    """
    if seconds < float("inf"):
        seconds = max(1, int(seconds * 1000)) / 1000  # as Z3 counts
        solver.set("timeout", round(seconds * 1000))
    started = time.monotonic()
    answer = solver.check(*assumptions)
    early = time.monotonic() - started < seconds
    if answer == z3.unknown and early and solver.reason_unknown() in ("canceled", "interrupted from keyboard"):
        signal.raise_signal(signal.SIGINT)
    return answer


Answer = Literal["sat", "unsat", "unknown"]
Solve = Callable[[Sequence[Condition], float], Answer]
SecondSolver = Callable[[Protocol, Sequence[Condition]], Solve]
"""Given a protocol and what is always assumed, which must keep every variable in its domain: what answers, in so many
seconds, whether further formulas can hold together with that."""


class Disagreement(Exception):
    """Z3 and the second solver answer differently; the message names the obligation. One of them has a bug."""


def bits_of(protocol: Protocol, formulas: Iterable[Condition], measured: set[Term]) -> int:
    """How many bits every number in the formulas fits in, of what is not yet ``measured``."""
    bits = 1
    for term in below(formulas, measured):
        if term.sort.kind == "Int":
            low, high = protocol.constants.ranges.of(term)
            bits = max(bits, 1 + max(high, -low - 1, 0).bit_length())
    return bits
