"""A second opinion: what Z3 discharged is given to cvc5, so that no proof rests on one solver alone.

The two get different problems. Z3 reasons about integers; cvc5 gets every number as a bit vector, wide enough that nothing
that can be computed within the domains overflows, and decides by bit blasting and SAT.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import cvc5
import z3
from cvc5 import Kind

from fencepost.checks.engines.solvers.answers import Answer, Solve
from fencepost.model.language import Protocol
from fencepost.model.language.nodes import Node


def ground_answer(formulas: Sequence[Any], seconds: float) -> Answer:
    """cvc5's answer to whether formulas over integers, things of sorts and functions of them can hold together.

    With quantifiers, which are over things, it goes on from instances that it meets to all of the terms that there are.
    """
    if seconds <= 0:
        return "unknown"
    script = z3.SimpleSolver()
    script.add(*formulas)
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    text = script.sexpr()
    theories = "UFDTLIA" if "(declare-datatypes " in text else "UFLIA"
    if "(forall " in text or "(exists " in text:
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


def cvc5_solver(protocol: Protocol, assumptions: Sequence[Any]) -> Solve:
    """cvc5, asked each question from scratch: its bit blasting is eager, which takes a tenth of the time of the other way."""
    terms = Terms(protocol)

    def solve(formulas: Sequence[Any], seconds: float) -> Answer:
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


SAME: dict[int, Kind] = {
    z3.Z3_OP_NOT: Kind.NOT,
    z3.Z3_OP_IMPLIES: Kind.IMPLIES,
    z3.Z3_OP_XOR: Kind.XOR,
    z3.Z3_OP_EQ: Kind.EQUAL,
    z3.Z3_OP_DISTINCT: Kind.DISTINCT,
    z3.Z3_OP_ITE: Kind.ITE,
    z3.Z3_OP_UMINUS: Kind.BITVECTOR_NEG,
    z3.Z3_OP_LE: Kind.BITVECTOR_SLE,
    z3.Z3_OP_LT: Kind.BITVECTOR_SLT,
    z3.Z3_OP_GE: Kind.BITVECTOR_SGE,
    z3.Z3_OP_GT: Kind.BITVECTOR_SGT,
    z3.Z3_OP_BNOT: Kind.BITVECTOR_NOT,
    z3.Z3_OP_CONCAT: Kind.BITVECTOR_CONCAT,
}

FOLDED: dict[int, Kind] = {
    z3.Z3_OP_AND: Kind.AND,
    z3.Z3_OP_OR: Kind.OR,
    z3.Z3_OP_ADD: Kind.BITVECTOR_ADD,
    z3.Z3_OP_SUB: Kind.BITVECTOR_SUB,
    z3.Z3_OP_MUL: Kind.BITVECTOR_MULT,
    z3.Z3_OP_BAND: Kind.BITVECTOR_AND,
    z3.Z3_OP_BOR: Kind.BITVECTOR_OR,
    z3.Z3_OP_BXOR: Kind.BITVECTOR_XOR,
}
"""Operators that Z3 applies to any number of arguments, even to one, and to none where TRUE_OF_NONE has the value."""

TRUE_OF_NONE = {z3.Z3_OP_AND: True, z3.Z3_OP_OR: False, z3.Z3_OP_TRUE: True, z3.Z3_OP_FALSE: False}


class Terms:
    """cvc5's terms for the terms of a protocol, with every integer as a bit vector of ``bits`` bits in two's complement."""

    def __init__(self, protocol: Protocol) -> None:
        self.manager = cvc5.TermManager()
        self.bits = 1
        self._protocol = protocol
        self._measured: set[int] = set()
        self._terms: dict[int, Any] = {}

    def widen(self, formulas: Iterable[Any]) -> None:
        """Makes ``bits`` so great that no number in the formulas overflows; must come before ``of``."""
        needed = self.bits
        for formula in formulas:
            for node in self._protocol.constants.nodes.below(formula, self._measured):
                if node.sort == z3.Z3_INT_SORT:
                    low, high = self._protocol.constants.ranges.of(node)
                    needed = max(needed, 1 + max(high, -low - 1, 0).bit_length())
        if needed > self.bits:
            self.bits = needed
            self._terms.clear()

    def of(self, term: Any) -> Any:
        """cvc5's term for a term that was measured."""
        root = self._protocol.constants.nodes.of(term)
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node.identity in self._terms:
                continue
            if ready or not node.arguments:
                below = [self._terms[argument.identity] for argument in node.arguments]
                self._terms[node.identity] = self._make(node, below)
            else:
                stack.append((node, True))
                stack.extend((argument, False) for argument in node.arguments)
        return self._terms[root.identity]

    def _make(self, node: Node, arguments: list[Any]) -> Any:
        if node.is_variable:
            return self.manager.mkConst(self._sort(node), node.detail)
        if node.kind in (z3.Z3_OP_ANUM, z3.Z3_OP_BNUM):
            bits = node.bits or self.bits
            return self.manager.mkBitVector(bits, node.detail % (1 << bits))
        if not arguments:
            return self.manager.mkBoolean(TRUE_OF_NONE[node.kind])
        if node.kind == z3.Z3_OP_EXTRACT:
            return self.manager.mkTerm(self.manager.mkOp(Kind.BITVECTOR_EXTRACT, *node.detail), *arguments)
        if node.kind in FOLDED:
            return reduce(lambda left, right: self.manager.mkTerm(FOLDED[node.kind], left, right), arguments)
        return self.manager.mkTerm(SAME[node.kind], *arguments)

    def _sort(self, constant: Node) -> Any:
        if constant.sort == z3.Z3_BOOL_SORT:
            return self.manager.getBooleanSort()
        return self.manager.mkBitVectorSort(constant.bits or self.bits)
