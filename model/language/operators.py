"""The Z3 operators that a protocol may use: those that the kernel compiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

OPERATORS: dict[int, str] = {
    z3.Z3_OP_TRUE: "true",
    z3.Z3_OP_FALSE: "false",
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
    z3.Z3_OP_NOT: "not",
    z3.Z3_OP_IMPLIES: "=>",
    z3.Z3_OP_XOR: "xor",
    z3.Z3_OP_EQ: "=",
    z3.Z3_OP_DISTINCT: "distinct",
    z3.Z3_OP_ITE: "ite",
    z3.Z3_OP_ANUM: "numeral",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_UMINUS: "unary -",
    z3.Z3_OP_MUL: "*",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_BNUM: "bit-vector numeral",
    z3.Z3_OP_BAND: "bvand",
    z3.Z3_OP_BOR: "bvor",
    z3.Z3_OP_BXOR: "bvxor",
    z3.Z3_OP_BNOT: "bvnot",
    z3.Z3_OP_EXTRACT: "extract",
    z3.Z3_OP_CONCAT: "concat",
    z3.Z3_OP_UNINTERPRETED: "constant",
}


def walk(term: Any, seen: set[int]) -> Iterator[Any]:
    """Every node of a term that is not yet in ``seen`` (AST ids), each once; what is met is added to ``seen``."""
    stack = [term]
    while stack:
        node = stack.pop()
        identity = node.get_id()
        if identity not in seen:
            seen.add(identity)
            yield node
            stack.extend(node.children())


def is_constant(node: Any) -> bool:
    """Whether the node is a variable: an uninterpreted constant."""
    return bool(z3.is_const(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED)
