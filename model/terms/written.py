"""Terms in the words of the language, for messages: as their author may have written them, cut where they grow long."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.terms.nodes import Term, in_order

LONGEST = 300
"""Characters of a term that are worth reading in a message."""

_INFIX: Mapping[str, str] = {
    "=": "==",
    "distinct": "!=",
    "<=": "<=",
    "<": "<",
    ">=": ">=",
    ">": ">",
    "+": "+",
    "-": "-",
    "*": "*",
    "/": "/",
    "mod": "%",
    "bvand": "&",
    "bvor": "|",
    "bvxor": "^",
    "xor": "^",
}
_COMPARISONS, _ARITHMETIC = ("=", "distinct", "<=", "<", ">=", ">"), ("+", "-", "*", "/", "mod")
_PREFIX: Mapping[str, str] = {"unary -": "-", "bvnot": "~"}
_CALLED: Mapping[str, str] = {"and": "And", "or": "Or", "not": "Not", "=>": "Implies", "ite": "If", "concat": "Concat"}
_QUANTIFIED: Mapping[str, str] = {"forall": "all_of", "exists": "any_of"}


def written(root: Term) -> str:
    """A term as text."""
    known: dict[Term, str] = {}
    for term in in_order([root], known.__contains__):
        text = _text(term, [known[argument] for argument in term.arguments])
        known[term] = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
    return known[root]


def _text(term: Term, parts: list[str]) -> str:
    op = term.op
    if op in ("constant", "apply"):
        name = term.detail if op == "constant" else term.detail.name
        return f"{name}({', '.join(parts)})" if parts else str(name)
    if op == "literal":
        return _literal(term)
    if op == "=" and (member := _membership(term)) is not None:
        return f"{_inner(term.arguments[1].arguments[0], parts[1].rpartition('[')[0])}.has({member})"
    if op in _INFIX and len(parts) > 1:
        return f" {_INFIX[op]} ".join(_inner(each, text, op) for each, text in zip(term.arguments, parts, strict=True))
    if op in _PREFIX:
        return f"{_PREFIX[op]}{_inner(term.arguments[0], parts[0])}"
    if op in _CALLED or op in _INFIX:
        return f"{_CALLED.get(op, op)}({', '.join(parts)})"
    if op == "extract":
        return f"{_inner(term.arguments[0], parts[0])}[{':'.join(map(str, term.detail))}]"
    if op in _QUANTIFIED:
        return f"{_QUANTIFIED[op]}({parts[0]} for {', '.join(str(one.detail) for one in term.detail)})"
    return parts[0] if op in ("one", "real") else term.sort.none if op == "none" else op.capitalize()


def _literal(term: Term) -> str:
    if term.sort.names:
        inside = 0 <= term.detail < len(term.sort.names)
        return repr(term.sort.names[term.detail]) if inside else str(term.detail)
    if term.sort.bits:
        return "{" + ", ".join(str(bit) for bit in range(term.sort.bits) if term.detail >> bit & 1) + "}"
    return str(term.detail)


def _membership(term: Term) -> int | None:
    """The member, if an equation says that a subset has one."""
    one, bit = term.arguments
    is_one = one.op == "literal" and one.sort.bits == 1 and one.detail == 1
    return bit.detail[0] if is_one and bit.op == "extract" else None


def _inner(term: Term, text: str, outer: str = "") -> str:
    bracketed = term.op in _INFIX and " " in text and not (outer in _COMPARISONS and term.op in _ARITHMETIC)
    return f"({text})" if bracketed else text
