"""Terms printed for Z3, and Z3's values read. Z3 is loaded with this module, so where something is proved and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce
from typing import Any, overload

import z3
from z3 import z3core

from fencepost.model.terms.nodes import Function, Term, in_order
from fencepost.model.terms.sorts import Sort
from fencepost.model.terms.values import Condition, Truth


class InZ3:
    """Z3's terms for terms, each made once, in one context of Z3."""

    def __init__(self, context: z3.Context | None = None) -> None:
        self._context = context or z3.main_ctx()
        self._reference = self._context.ref()
        self._known: dict[Term, z3.ExprRef] = {}

    @overload
    def __call__(self, term: Condition | bool) -> z3.BoolRef: ...
    @overload
    def __call__(self, term: Term) -> z3.ExprRef: ...
    def __call__(self, term: Term | bool) -> z3.ExprRef:
        """Z3's term for a term, or for a truth value."""
        if isinstance(term, bool):
            return z3.BoolVal(term, self._context)
        known = self._known
        for part in in_order([term], known.__contains__):
            known[part] = self._made(part, [known[argument] for argument in part.arguments])
        return known[term]

    def all(self, terms: Iterable[Truth]) -> list[z3.BoolRef]:
        """Z3's terms for some formulas."""
        return [self(term) for term in terms]

    def sort(self, sort: Sort[Term]) -> z3.SortRef:
        """Z3's sort for a sort."""
        return _sort(sort, self._context)

    def function(self, function: Function[Term]) -> z3.FuncDeclRef:
        """Z3's function for a function."""
        return z3.Function(function.name, *map(self.sort, function.sorts))

    def _made(self, term: Term, parts: list[Any]) -> Any:
        op = term.op
        if op == "constant":
            return z3.Const(term.detail, self.sort(term.sort))
        if op == "literal":
            return z3.z3._to_expr_ref(
                z3core.Z3_mk_numeral(self._reference, str(term.detail), self.sort(term.sort).ast), self._context
            )
        if op == "extract":
            high, low = term.detail
            return z3.Extract(high, low, parts[0])
        if op == "concat":
            return reduce(z3.Concat, parts)
        if op == "apply":
            return self.function(term.detail)(*parts)
        if op in ("forall", "exists"):
            bound = [z3.Const(one.detail, self.sort(one.sort)) for one in term.detail]
            return z3.ForAll(bound, parts[0]) if op == "forall" else z3.Exists(bound, parts[0])
        if op in ("none", "one"):
            return _datatype(term.sort, self._context).constructor(int(op == "one"))(*parts)
        asts = [part.as_ast() for part in parts]
        if op in _OF_SEVERAL:
            made = _OF_SEVERAL[op](self._reference, len(asts), (z3.Ast * len(asts))(*asts))
        else:
            made = _OF_SOME[op](self._reference, *asts)
        return z3.z3._to_expr_ref(made, self._context)


@cache
def _datatype(sort: Sort[Term], context: z3.Context) -> z3.DatatypeSortRef:
    assert sort.member is not None
    datatype = z3.Datatype(sort.name, context)
    datatype.declare(f"{sort.none} of {sort.universe}")
    datatype.declare(f"one {sort.universe}", (f"which {sort.universe}", _sort(sort.member, context)))
    return datatype.create()


@cache
def _sort(sort: Sort[Term], context: z3.Context) -> z3.SortRef:
    if sort.kind == "thing":
        return z3.DeclareSort(sort.name, context)
    if sort.kind == "one or none":
        return _datatype(sort, context)
    if sort.bits:
        return z3.BitVecSort(sort.bits, context)
    if sort.kind == "Real":
        return z3.RealSort(context)
    return z3.BoolSort(context) if sort.kind == "Bool" else z3.IntSort(context)


def raw(value: z3.BoolRef | z3.ArithRef | z3.BitVecRef) -> int:
    """The raw value of a literal of Z3's: 0 or 1, a number, the bits of a vector."""
    return int(z3.is_true(value)) if isinstance(value, z3.BoolRef) else int(value.as_long())


_OF_SEVERAL: Mapping[str, Callable[..., z3.Ast]] = {
    "and": z3core.Z3_mk_and,
    "or": z3core.Z3_mk_or,
    "distinct": z3core.Z3_mk_distinct,
    "+": z3core.Z3_mk_add,
    "-": z3core.Z3_mk_sub,
    "*": z3core.Z3_mk_mul,
}
_OF_SOME: Mapping[str, Callable[..., z3.Ast]] = {
    "true": z3core.Z3_mk_true,
    "false": z3core.Z3_mk_false,
    "not": z3core.Z3_mk_not,
    "=>": z3core.Z3_mk_implies,
    "xor": z3core.Z3_mk_xor,
    "=": z3core.Z3_mk_eq,
    "ite": z3core.Z3_mk_ite,
    "unary -": z3core.Z3_mk_unary_minus,
    "/": z3core.Z3_mk_div,
    "mod": z3core.Z3_mk_mod,
    "real": z3core.Z3_mk_int2real,
    "<=": z3core.Z3_mk_le,
    "<": z3core.Z3_mk_lt,
    ">=": z3core.Z3_mk_ge,
    ">": z3core.Z3_mk_gt,
    "bvand": z3core.Z3_mk_bvand,
    "bvor": z3core.Z3_mk_bvor,
    "bvxor": z3core.Z3_mk_bvxor,
    "bvnot": z3core.Z3_mk_bvnot,
}
