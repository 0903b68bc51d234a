"""A second opinion: what Z3 discharged is given to cvc5 as SMT-LIB text, so that no proof rests on one solver alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import cvc5
import z3

from model.language import Variable

Answer = Literal["sat", "unsat", "unknown"]
Solve = Callable[[Sequence[Any]], Answer]
SecondSolver = Callable[[Sequence[Variable], Sequence[Any], float], Solve]
"""Given the variables, what is always assumed and the seconds that a question may take: what answers a question, namely
whether these further formulas can hold together with that."""


class Disagreement(Exception):
    """Z3 and the second solver answer differently; the message names the obligation. One of them has a bug."""


def cvc5_solver(variables: Sequence[Variable], assumptions: Sequence[Any], seconds: float) -> Solve:
    """cvc5, with the assumptions asserted once."""
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setOption("incremental", "true")
    solver.setOption("tlimit-per", str(int(seconds * 1000)))
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)

    def say(text: str) -> str:
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
        answers = []
        while not (command := parser.nextCommand()).isNull():
            answers.append(command.invoke(solver, symbols))
        answer = "".join(answers).strip()
        if answer.startswith("(error"):
            raise RuntimeError(f"cvc5 does not accept an obligation: {answer}")
        return answer

    declared = [f"(declare-const {v.term.sexpr()} {v.term.sort().sexpr()})" for v in variables]
    say("\n".join(["(set-logic ALL)", *declared, *map(_asserted, assumptions)]))

    def solve(formulas: Sequence[Any]) -> Answer:
        match say("\n".join(["(push 1)", *map(_asserted, formulas), "(check-sat)", "(pop 1)"])):
            case "sat":
                return "sat"
            case "unsat":
                return "unsat"
        return "unknown"

    return solve


def _asserted(formula: Any) -> str:
    # SMT-LIB has no conjunction or disjunction of nothing
    written = z3.substitute(formula, (z3.And([]), z3.BoolVal(True)), (z3.Or([]), z3.BoolVal(False)))
    return f"(assert {written.sexpr()})"
