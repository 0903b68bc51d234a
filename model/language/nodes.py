"""Z3 terms as plain Python values: whatever looks at every node of many terms looks at these.

Z3's own Python objects are made again, reference counts and error checks included, each time a child is asked for; that is most
of what building a protocol, or its machine code, would take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from hashlib import blake2b
from operator import attrgetter
from typing import Any, NamedTuple

import z3

from fencepost.model.language.operators import OPERATORS


class Node(NamedTuple):
    """A node of a Z3 term: what identifies it, its operator (-1: it is a quantifier or a bound variable), its arguments, the
    kind of its sort, the bits of a vector (else 0), and what else there is to it: the name of a variable or of a function
    that is none of Z3's, the value of a literal, the bounds of an extract.

    ``size`` counts what is at it and below, and ``in_turn`` are the arguments as they are best looked at, where one may settle
    the whole: the smallest first."""

    identity: int
    kind: int
    arguments: tuple[Node, ...]
    sort: int
    bits: int
    detail: Any
    in_turn: tuple[Node, ...]
    size: int

    @property
    def is_variable(self) -> bool:
        """Whether it is an uninterpreted constant."""
        return self.kind == z3.Z3_OP_UNINTERPRETED and not self.arguments

    @property
    def stranger(self) -> str | None:
        """What in this node (not below it) the kernel cannot compile, named as SMT-LIB does, or None."""
        if self.kind not in OPERATORS or (self.kind == z3.Z3_OP_UNINTERPRETED and self.arguments):
            return "a quantifier or bound variable" if self.kind < 0 else str(self.detail)
        if self.sort not in (z3.Z3_BOOL_SORT, z3.Z3_INT_SORT, z3.Z3_BV_SORT):
            return "a sort that is neither Bool nor Int nor a bit vector"
        return f"a bit vector of {self.bits} bits" if self.bits > 64 else None


_SIZE = attrgetter("size")
_SETTLED_BY_ONE = (z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_IMPLIES)


Row = tuple[int, int, int, Any, list[int], bytes]
"""A node in a table: its operator, the kind of its sort, its bits, what else there is to it, the places of its arguments in the
table, and its digest."""


class Nodes:
    """The nodes of terms, each made once; what identifies a node is its own for as long as this object is there."""

    def __init__(self) -> None:
        self._known: dict[int, Node] = {}
        self._operators: dict[int, tuple[int, int, int]] = {}
        self._references: list[Any] = []
        self._digests: dict[int, bytes] = {}

    def of(self, term: Any) -> Node:
        """The node of a term, with all below it."""
        root = term.as_ast()
        if root.value in self._known:
            return self._known[root.value]
        self._references.append(term)
        context = term.ctx_ref()
        stack: list[tuple[Any, Any]] = [(root, None)]
        while stack:
            ast, below = stack.pop()
            if ast.value in self._known:
                continue
            if below is None and z3.Z3_is_app(context, ast):
                count = z3.Z3_get_app_num_args(context, ast)
                below = [z3.Z3_get_app_arg(context, ast, place) for place in range(count)]
                stack.append((ast, below))
                stack.extend((child, None) for child in below if child.value not in self._known)
            else:
                self._known[ast.value] = self._node(context, ast, below)
        return self._known[root.value]

    def constant(self, term: Any, name: str) -> Node:
        """The node of a constant that has this name, which is known without asking Z3."""
        identity: int = term.as_ast().value
        if identity not in self._known:
            bits = term.size() if isinstance(term, z3.BitVecRef) else 0
            sort = z3.Z3_BV_SORT if bits else z3.Z3_BOOL_SORT if isinstance(term, z3.BoolRef) else z3.Z3_INT_SORT
            self._references.append(term)
            self._known[identity] = _with(identity, z3.Z3_OP_UNINTERPRETED, (), sort, bits, name)
        return self._known[identity]

    def know(self, identities: Sequence[int], rows: Sequence[Row], terms: Iterable[Any]) -> None:
        """Takes the nodes of some terms, and their digests, from rows that were written elsewhere, each after its arguments;
        ``identities`` says what identifies the nodes here. To ask Z3 for each takes several times as long."""
        self._references.extend(terms)
        nodes, known = list[Node](), self._known
        for identity, (kind, sort, bits, detail, places, digest) in zip(identities, rows, strict=True):
            node = known.get(identity)
            if node is None:
                node = known[identity] = _with(identity, kind, tuple([nodes[place] for place in places]), sort, bits, detail)
            nodes.append(node)
            self._digests[identity] = digest

    def row(self, node: Node, places: list[int]) -> Row:
        """What ``know`` takes of a node, whose arguments have these places."""
        return node.kind, node.sort, node.bits, node.detail, places, self._digest(node)

    def below(self, term: Any, seen: set[int]) -> Iterator[Node]:
        """Every node of a term that is not yet in ``seen`` (their identities), each once; what is met is added to it."""
        stack = [self.of(term)]
        while stack:
            node = stack.pop()
            if node.identity not in seen:
                seen.add(node.identity)
                yield node
                stack.extend(node.arguments)

    def digest(self, term: Any) -> bytes:
        """What identifies a term in any process: terms have it in common just if they are written alike. ValueError for a
        quantifier."""
        return self._digest(self.of(term))

    def _digest(self, root: Node) -> bytes:
        known, stack = self._digests, [root]
        while stack:
            node = stack[-1]
            missing = [argument for argument in node.arguments if argument.identity not in known]
            stack.extend(missing)
            if not missing:
                if node.kind < 0:
                    raise ValueError("a quantifier has no digest")
                stack.pop()
                head = repr((node.kind, node.sort, node.bits, node.detail, len(node.arguments))).encode()
                below = b"".join([known[argument.identity] for argument in node.arguments])
                known[node.identity] = blake2b(head + below, digest_size=16).digest()
        return known[root.identity]

    def _node(self, context: Any, ast: Any, below: list[Any] | None) -> Node:
        if below is None:
            return Node(ast.value, -1, (), z3.Z3_UNKNOWN_SORT, 0, None, (), 1)
        arguments = tuple(self._known[child.value] for child in below)
        decl = z3.Z3_get_app_decl(context, ast)
        if decl.value not in self._operators:
            sort = z3.Z3_get_range(context, decl)
            kind = z3.Z3_get_sort_kind(context, sort)
            bits = z3.Z3_get_bv_sort_size(context, sort) if kind == z3.Z3_BV_SORT else 0
            self._operators[decl.value] = z3.Z3_get_decl_kind(context, decl), kind, bits
        kind, sort, bits = self._operators[decl.value]
        return _with(ast.value, kind, arguments, sort, bits, _detail(context, ast, decl, kind))


def _with(identity: int, kind: int, arguments: tuple[Node, ...], sort: int, bits: int, detail: Any) -> Node:
    in_turn = tuple(sorted(arguments, key=_SIZE)) if kind in _SETTLED_BY_ONE else arguments
    return Node(identity, kind, arguments, sort, bits, detail, in_turn, 1 + sum(map(_SIZE, arguments)))


def _detail(context: Any, ast: Any, decl: Any, kind: int) -> Any:
    if kind in (z3.Z3_OP_ANUM, z3.Z3_OP_BNUM):
        written = z3.Z3_get_numeral_string(context, ast)
        return Fraction(written) if "/" in written else int(written)
    if kind == z3.Z3_OP_EXTRACT:
        return tuple(z3.Z3_get_decl_int_parameter(context, decl, place) for place in range(2))
    if kind in OPERATORS and kind != z3.Z3_OP_UNINTERPRETED:
        return None
    return z3.Z3_get_symbol_string(context, z3.Z3_get_decl_name(context, decl))
