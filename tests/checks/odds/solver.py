"""The solver that tests of odds share: a worker makes the graph of each way once."""

from __future__ import annotations

from fencepost.checks.odds.solving import Solver

SOLVER = Solver(1)
