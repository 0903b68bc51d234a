"""Questions to Z3 and Ctrl-C."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import z3

from fencepost.checks.console.progress import interruptible
from fencepost.checks.engines.solvers.solving import ask

PIGEONS = 14


def pigeons(where: Sequence[Sequence[Any]] = ()) -> list[Any]:
    """There is no room for one pigeon more than there are holes; Z3 needs very long to see it."""
    where = where or [[z3.Bool(f"pigeon {p} in {hole}") for hole in range(PIGEONS - 1)] for p in range(PIGEONS)]
    alone = [z3.Not(z3.And(a, b)) for column in zip(*where, strict=True) for a, b in itertools.combinations(column, 2)]
    return [*(z3.Or(row) for row in where), *alone]


def ctrl_c_once_it_thinks() -> None:
    """Presses it when the processor has had so much to do that Z3 is at it, however long that takes."""
    main, thinks = threading.main_thread().ident, time.process_time() + 0.3
    assert main is not None

    def press() -> None:
        while time.process_time() < thinks:
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=press).start()


def solver(kind: Callable[[], z3.Solver]) -> z3.Solver:
    solver = kind()
    solver.push()
    solver.add(*pigeons())
    return solver


@pytest.mark.parametrize("kind", [z3.Solver, z3.SimpleSolver])
def test_ctrl_c_ends_a_question_and_is_heard(kind: Callable[[], z3.Solver]) -> None:
    question = solver(kind)
    with interruptible() as interrupt:
        ctrl_c_once_it_thinks()
        assert ask(question, seconds=60.0) == z3.unknown
        assert interrupt()


def test_ctrl_c_without_a_handler_is_what_it_always_is() -> None:
    question = solver(z3.Solver)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests behind it has it ignored
    try:
        ctrl_c_once_it_thinks()
        with pytest.raises(KeyboardInterrupt):
            ask(question)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("kind", [z3.Solver, z3.SimpleSolver])
def test_time_that_is_over_is_no_ctrl_c(kind: Callable[[], z3.Solver]) -> None:
    with interruptible() as interrupt:
        assert ask(solver(kind), seconds=0.1) == z3.unknown
        assert not interrupt()
