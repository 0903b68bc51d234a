"""A second opinion: what Z3 discharged is given to cvc5, so that no proof rests on one solver alone.

The two get different problems. Z3 reasons about integers; cvc5 gets every number as a bit vector, wide enough that nothing
that can be computed within the domains overflows, and decides by bit blasting and SAT.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import cvc5
from cvc5 import Kind

from fencepost.checks.engines.solvers.solving import Answer, Solve, bits_of
from fencepost.model.language import Protocol
from fencepost.model.terms.in_smtlib import InSmtLib
from fencepost.model.terms.nodes import Term, in_order
from fencepost.model.terms.values import Condition, Truth


def ground_answer(formulas: Sequence[Truth], seconds: float, logic: str = "") -> Answer:
    """cvc5's answer to whether formulas over integers, things of sorts and functions of them can hold together.

    With quantifiers, which are over things, it goes on from instances that it meets to all of the terms that there are. What
    has other arithmetic names its ``logic``.
    """
    if seconds <= 0:
        return "unknown"
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    text = "\n".join(InSmtLib().script(formulas))
    theories = "UFDTLIA" if "(declare-datatypes " in text else "UFLIA"
    if logic:
        solver.setLogic(logic)
    elif "(forall " in text or "(exists " in text:
        solver.setLogic(theories)
        solver.setOption("enum-inst", "true")
    else:
        solver.setLogic(f"QF_{theories}")
    solver.setOption("tlimit-per", str(max(1, int(seconds * 1000))))
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, symbols)
    answer = solver.checkSat()
    return "sat" if answer.isSat() else "unsat" if answer.isUnsat() else "unknown"


def cvc5_solver(protocol: Protocol, assumptions: Sequence[Condition]) -> Solve:
    """cvc5, asked each question from scratch: its bit blasting is eager, which takes a tenth of the time of the other way."""
    terms = Terms(protocol)

    def solve(formulas: Sequence[Condition], seconds: float) -> Answer:
        terms.widen([*assumptions, *formulas])
        solver = cvc5.Solver(terms.manager)
        solver.setLogic("QF_BV")
        solver.setOption("bitblast", "eager")
        solver.setOption("tlimit-per", str(max(1, int(seconds * 1000))))
        for formula in (*assumptions, *formulas):
            solver.assertFormula(terms.of(formula))
        answer = solver.checkSat()
        return "sat" if answer.isSat() else "unsat" if answer.isUnsat() else "unknown"

    return solve


SAME: dict[str, Kind] = {
    "not": Kind.NOT,
    "=>": Kind.IMPLIES,
    "xor": Kind.XOR,
    "=": Kind.EQUAL,
    "distinct": Kind.DISTINCT,
    "ite": Kind.ITE,
    "unary -": Kind.BITVECTOR_NEG,
    "<=": Kind.BITVECTOR_SLE,
    "<": Kind.BITVECTOR_SLT,
    ">=": Kind.BITVECTOR_SGE,
    ">": Kind.BITVECTOR_SGT,
    "bvnot": Kind.BITVECTOR_NOT,
    "concat": Kind.BITVECTOR_CONCAT,
}

FOLDED: dict[str, Kind] = {
    "and": Kind.AND,
    "or": Kind.OR,
    "+": Kind.BITVECTOR_ADD,
    "-": Kind.BITVECTOR_SUB,
    "*": Kind.BITVECTOR_MULT,
    "bvand": Kind.BITVECTOR_AND,
    "bvor": Kind.BITVECTOR_OR,
    "bvxor": Kind.BITVECTOR_XOR,
}
"""Operators that are applied to any number of arguments, even to one, and to none where TRUE_OF_NONE has the value."""

TRUE_OF_NONE = {"and": True, "or": False, "true": True, "false": False}


class Terms:
    """cvc5's terms for the terms of a protocol, with every integer as a bit vector of ``bits`` bits in two's complement."""

    def __init__(self, protocol: Protocol) -> None:
        self.manager = cvc5.TermManager()
        self.bits = 1
        self._protocol = protocol
        self._measured: set[Term] = set()
        self._terms: dict[Term, cvc5.Term] = {}

    def widen(self, formulas: Iterable[Condition]) -> None:
        """Makes ``bits`` so great that no number in the formulas overflows; must come before ``of``."""
        needed = bits_of(self._protocol, formulas, self._measured)
        if needed > self.bits:
            self.bits = needed
            self._terms.clear()

    def of(self, term: Term) -> cvc5.Term:
        """cvc5's term for a term that was measured."""
        known = self._terms
        for part in in_order([term], known.__contains__):
            known[part] = self._make(part, [known[argument] for argument in part.arguments])
        return known[term]

    def _make(self, term: Term, arguments: list[cvc5.Term]) -> cvc5.Term:
        if term.is_constant:
            return self.manager.mkConst(self._sort(term), term.detail)
        if term.op == "literal":
            bits = term.sort.bits or self.bits
            return self.manager.mkBitVector(bits, term.detail % (1 << bits))
        if not arguments:
            return self.manager.mkBoolean(TRUE_OF_NONE[term.op])
        if term.op == "extract":
            return self.manager.mkTerm(self.manager.mkOp(Kind.BITVECTOR_EXTRACT, *term.detail), *arguments)
        if term.op in FOLDED:
            return reduce(lambda left, right: self.manager.mkTerm(FOLDED[term.op], left, right), arguments)
        return self.manager.mkTerm(SAME[term.op], *arguments)

    def _sort(self, constant: Term) -> cvc5.Sort:
        if constant.sort.kind == "Bool":
            return self.manager.getBooleanSort()
        return self.manager.mkBitVectorSort(constant.sort.bits or self.bits)
