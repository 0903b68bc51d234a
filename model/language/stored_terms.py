"""Terms that were worked out once, stored, so that a later build of the same need not work them out.

To call the function of each action with all arguments, and that of each property, and to vet what they return, is most of what
building takes. A build that is recorded notes the guards, updates and moves, and the formulas, in the order in which they come.
One that reads them makes the very same terms in Z3, and does all else as ever.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple
from typing import Any, NamedTuple

import z3
from z3 import z3core

from fencepost.model.language.constants import Constants
from fencepost.model.language.declarations import Taken, Variable
from fencepost.model.language.formulas import ChoiceRef, SubsetRef
from fencepost.model.language.nodes import Node, Nodes, Row

Grounded = tuple[Any, dict[Variable, Any], tuple[Taken, ...]]
"""A guard, updates and moves."""

Worked = tuple[list[Any], Any]
"""Terms, and what else was worked out with them, in values that ``marshal`` takes."""

Source = Callable[[str, Constants, Callable[[], Worked]], Worked]

_SOURCE: ContextVar[Source | None] = ContextVar("source of terms", default=None)


class StrangerError(Exception):
    """What is stored is of something else."""


def worked_out(where: str, constants: Constants, make: Callable[[], Worked]) -> Worked:
    """What ``make`` works out over these constants, unless it is stored; ``where`` names it."""
    source = _SOURCE.get()
    return make() if source is None else source(where, constants, make)


def grounded(where: str, constants: Constants, make: Callable[[], Grounded]) -> Grounded:
    """What ``make`` makes of an action with its arguments, unless it is stored; ``where`` names both."""
    if _SOURCE.get() is None:
        return make()

    def flat() -> Worked:
        guard, updates, moves = make()
        return [guard, *updates.values()], ([v.name for v in updates], [_plain(taken) for taken in moves])

    (guard, *terms), (names, moves) = worked_out(where, constants, flat)
    updates = dict(zip(map(constants.__getitem__, names), terms, strict=True))
    return guard, updates, tuple(Taken(*taken) for taken in moves)


@contextmanager
def _from(source: Source | None) -> Iterator[None]:
    before = _SOURCE.set(source)
    try:
        yield
    finally:
        _SOURCE.reset(before)


class Recording:
    """The terms that are worked out within ``recorded``."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, Constants, Worked]] = []

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Within it what is built is noted."""
        with _from(self._note):
            yield

    def _note(self, where: str, constants: Constants, make: Callable[[], Worked]) -> Worked:
        with _from(None):  # what it works out on the way is part of it, and not worked out when it is read
            terms, besides = make()
        self._rows.append((where, constants, (list(terms), besides)))
        return terms, besides

    def encoded(self) -> bytes:
        """All that was noted; empty if something in it would not be the same when it is read."""
        table, rows = _Table(), list[Any]()
        try:
            for where, constants, (terms, besides) in self._rows:
                rows.append((where, [table.row(constants.nodes, term) for term in terms], besides))
            content = marshal.dumps((table.nodes, rows))
            read = _read(content).rows
        except (ValueError, KeyError, TypeError, z3.Z3Exception):
            return b""
        same = all(_are_same(terms, row.terms) for (_, _, (terms, _)), row in zip(self._rows, read, strict=True))
        return content if same else b""


@contextmanager
def reading(content: bytes) -> Iterator[None]:
    """Within it what is built has the terms that were recorded. Raises StrangerError for those of anything else."""
    stored = _read(content)
    rows, knowing = iter(stored.rows), list[Constants]()

    def source(where: str, constants: Constants, make: Callable[[], Worked]) -> Worked:
        if constants not in knowing:
            constants.nodes.know(stored.identities, stored.nodes, stored.terms)
            knowing.append(constants)
        row = next(rows, None)
        if row is None or row.where != where:
            raise StrangerError(where)
        return row.terms, row.besides

    with _from(source):
        yield
    if next(rows, None) is not None:
        raise StrangerError("more is stored than there is")


class _Row(NamedTuple):
    where: str
    terms: list[Any]
    besides: Any


class _Stored(NamedTuple):
    """What is stored, in Z3: the rows, the terms in them, and the nodes of these with what identifies each."""

    rows: list[_Row]
    terms: list[Any]
    nodes: list[Row]
    identities: list[int]


class _Table:
    """The nodes of terms, each after its arguments, which are named by their places."""

    def __init__(self) -> None:
        self.nodes: list[Row] = []
        self._places: dict[int, int] = {}

    def row(self, nodes: Nodes, term: Any) -> Any:
        """The place of a term, and what Python's object for it has besides."""
        names = term.names if isinstance(term, ChoiceRef) else None
        return self._place(nodes.of(term), nodes), type(term).__name__, names

    def _place(self, root: Node, nodes: Nodes) -> int:
        stack = [root]
        while stack:
            node = stack[-1]
            missing = [argument for argument in node.arguments if argument.identity not in self._places]
            stack.extend(missing)
            if not missing:
                stack.pop()
                if node.identity not in self._places:
                    self._places[node.identity] = len(self.nodes)
                    arguments = [self._places[argument.identity] for argument in node.arguments]
                    self.nodes.append(nodes.row(node, arguments))
        return self._places[root.identity]


def _plain(taken: Taken) -> tuple[Any, ...]:
    name, doc, mirrors, conditions, *rest = astuple(taken)
    return name, doc, tuple(mirrors), dict(conditions), *rest


def _are_same(originals: Sequence[Any], read: Sequence[Any]) -> bool:
    """Whether terms are the very same: of Z3, which has each once, and of Python."""
    return all(
        one.as_ast().value == other.as_ast().value
        and type(one) is type(other)
        and getattr(one, "names", None) == getattr(other, "names", None)
        for one, other in zip(originals, read, strict=True)
    )


def _read(content: bytes) -> _Stored:
    nodes, rows = marshal.loads(content)
    context = z3.main_ctx()
    held = z3.AstVector(ctx=context)  # until there are the terms, which hold on to what is below them
    asts = _in_z3(context.ref(), nodes, held)
    terms: dict[Any, Any] = {}

    def term(place: int, kind: str, names: Any) -> Any:
        key = place, kind, names
        if key not in terms:
            terms[key] = _of_python(asts[place], kind, names, context)
        return terms[key]

    read = [_Row(where, [term(*each) for each in these], besides) for where, these, besides in rows]
    return _Stored(read, list(terms.values()), nodes, [ast.value for ast in asts])


def _of_python(ast: Any, kind: str, names: Any, context: Any) -> Any:
    if kind == ChoiceRef.__name__:
        choice = ChoiceRef(ast, context)
        choice.names = names
        return choice
    if kind == SubsetRef.__name__:
        return SubsetRef(ast, context)
    return z3.z3._to_expr_ref(ast, context)


def _in_z3(context: Any, nodes: Sequence[Row], held: z3.AstVector) -> list[Any]:
    """The terms of a table in Z3, which ``held`` holds on to."""
    asts: list[Any] = []
    for kind, sort, bits, detail, arguments, _ in nodes:
        below = [asts[place] for place in arguments]
        if kind == z3.Z3_OP_UNINTERPRETED:
            ast = z3core.Z3_mk_const(context, z3core.Z3_mk_string_symbol(context, detail), _sort(context, sort, bits))
        elif kind in (z3.Z3_OP_ANUM, z3.Z3_OP_BNUM):
            ast = z3core.Z3_mk_numeral(context, str(detail), _sort(context, sort, bits))
        elif kind == z3.Z3_OP_EXTRACT:
            ast = z3core.Z3_mk_extract(context, *detail, *below)
        elif kind in _OF_SEVERAL:
            ast = _OF_SEVERAL[kind](context, len(below), (z3.Ast * len(below))(*below))
        else:
            ast = _OF_SOME[kind](context, *below)
        z3core.Z3_ast_vector_push(context, held.vector, ast)
        asts.append(ast)
    return asts


def _sort(context: Any, sort: int, bits: int) -> Any:
    if sort == z3.Z3_BV_SORT:
        return z3core.Z3_mk_bv_sort(context, bits)
    return z3core.Z3_mk_bool_sort(context) if sort == z3.Z3_BOOL_SORT else z3core.Z3_mk_int_sort(context)


_OF_SEVERAL: Mapping[int, Callable[..., Any]] = {
    z3.Z3_OP_AND: z3core.Z3_mk_and,
    z3.Z3_OP_OR: z3core.Z3_mk_or,
    z3.Z3_OP_DISTINCT: z3core.Z3_mk_distinct,
    z3.Z3_OP_ADD: z3core.Z3_mk_add,
    z3.Z3_OP_SUB: z3core.Z3_mk_sub,
    z3.Z3_OP_MUL: z3core.Z3_mk_mul,
}
_OF_SOME: Mapping[int, Callable[..., Any]] = {
    z3.Z3_OP_TRUE: z3core.Z3_mk_true,
    z3.Z3_OP_FALSE: z3core.Z3_mk_false,
    z3.Z3_OP_NOT: z3core.Z3_mk_not,
    z3.Z3_OP_IMPLIES: z3core.Z3_mk_implies,
    z3.Z3_OP_XOR: z3core.Z3_mk_xor,
    z3.Z3_OP_EQ: z3core.Z3_mk_eq,
    z3.Z3_OP_ITE: z3core.Z3_mk_ite,
    z3.Z3_OP_UMINUS: z3core.Z3_mk_unary_minus,
    z3.Z3_OP_LE: z3core.Z3_mk_le,
    z3.Z3_OP_LT: z3core.Z3_mk_lt,
    z3.Z3_OP_GE: z3core.Z3_mk_ge,
    z3.Z3_OP_GT: z3core.Z3_mk_gt,
    z3.Z3_OP_BAND: z3core.Z3_mk_bvand,
    z3.Z3_OP_BOR: z3core.Z3_mk_bvor,
    z3.Z3_OP_BXOR: z3core.Z3_mk_bvxor,
    z3.Z3_OP_BNOT: z3core.Z3_mk_bvnot,
    z3.Z3_OP_CONCAT: z3core.Z3_mk_concat,
}
