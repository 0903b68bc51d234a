"""A generated protocol as a program in the project's own language: what is run is what is printed when something differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fencepost.model.language import Protocol
from fencepost.properties.vocabulary import Suite
from tests.fuzz.syntax import Deed, Family, Index, Sort, Spec, Statement, Term, Update

LITERALS = ("const", "member", "same")
"""What Python knows by itself. At least one side of an operator is a term, as the language asks for."""

INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "union": "|",
    "inter": "&",
}
CALLS = {
    "and": "And",
    "or": "Or",
    "not": "Not",
    "implies": "Implies",
    "xor": "xor",
    "distinct": "distinct",
    "max": "maximum",
    "min": "minimum",
    "how_many": "how_many",
}
DECORATORS = {"strict": 'strict("the real system does it, too", when=True)'}

PREAMBLE = """from fencepost.model.language import And, If, Implies, Not, OneOf, Or, Protocol
from fencepost.model.language import all_of, any_of, at_least, how_many, maximum, minimum, select
from fencepost.model.terms.nodes import Term, number
from fencepost.model.terms.values import condition
from fencepost.model.terms.values import distinct as all_differ
from fencepost.properties.vocabulary import Suite


def xor(one, other):
    return condition(one) ^ other


def distinct(*given):
    known = next(one for one in given if isinstance(one, Term))
    return all_differ(*(one if isinstance(one, Term) else (known == one).arguments[1] for one in given))


"""


def program(spec: Spec) -> str:
    """The program; it leaves a protocol ``p`` and its ``suite``."""
    return "\n".join([PREAMBLE, *_protocol(spec), "", "suite, n = Suite(p), p.next", *_suite(spec)]) + "\n"


def refining(fine: Spec, coarse: Spec, mapping: Mapping[str, Term]) -> str:
    """A program with two protocols, the second of which refines the first: ``p`` and its ``suite`` are of the second."""
    values = [f'"{f.name}": {_text(mapping[f.name], "term") if f.name in mapping else f"s.{f.name}"}' for f in coarse.families]
    carries = tuple(statement.name for statement in coarse.statements)
    return "\n".join(
        [
            program(coarse),
            "coarse = suite\n\n",
            program(fine),
            f"\n@suite.refines(coarse, carries={carries})",
            "def refined():",
            '    """Each step is one of the coarse protocol."""',
            f"    return {{{', '.join(values)}}}\n",
        ]
    )


def run(text: str) -> tuple[Protocol, Suite]:
    """What a program makes. Raises ModelError if the language refuses it."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "<generated>", "exec"), namespace)
    return namespace["p"], namespace["suite"]


def names(sort: Sort) -> list[str]:
    """The names of the values of a choice."""
    members = [f"{sort.universe[0]}{m}" for m in range(sort.size - sort.none)] if sort.universe else []
    return (members or [f"v{place}" for place in range(sort.size - sort.none)]) + ["nobody"] * sort.none


# --- declarations


def _protocol(spec: Spec) -> Iterator[str]:
    yield 'p = Protocol("generated")'
    for name, size in spec.universes:
        yield f'{name} = p.universe("{name}", {size})'
    for family in spec.families:
        yield f"p.{_declaration(spec, family)}"
    for name, limit in spec.budgets:
        yield f'p.budget("{name}", {limit})'
    yield "s = p.state"
    for deed in spec.deeds:
        yield from _deed(deed)


def _declaration(spec: Spec, family: Family) -> str:
    sort = family.sort
    given = [f'"{family.name}"']
    if sort.kind == "number":
        given += [str(sort.low), str(sort.high)]
    elif sort.kind == "choice":
        given += [sort.universe or repr(names(sort))]
    elif sort.kind == "subset":
        given += [sort.universe]
    if sort.none:
        given += ['none="nobody"']
    if family.per:
        given += [f"per=({', '.join(family.per)},)"]
    options = [f"OneOf(({', '.join(_literal(sort, value) for value in several)},))" for several in family.initial]
    if len(set(options)) == 1:
        given += [f"init={options[0]}"]
    elif options:
        by_index = ", ".join(f"{i}: {option}" for i, option in zip(spec.indices(family), options, strict=True))
        given += [f"init=lambda *i: {{{by_index}}}[i]"]
    return f"{sort.kind}({', '.join(given)})"


def _deed(deed: Deed) -> Iterator[str]:
    given = [f'by="{deed.by}"', *(["fair=True"] if deed.fair else []), *([f'spends="{deed.spends}"'] if deed.spends else [])]
    given += [f"{name}={over if isinstance(over, str) else f'range({over})'}" for name, over in deed.parameters]
    names = [name for name, _ in deed.parameters]
    if deed.apart:
        given.append(f"only_if=lambda {', '.join(names)}: {names[0]} != {names[1]}")
    yield f"\n\n@p.{'fault' if deed.fault else 'step'}({', '.join(given)})"
    yield f"def {deed.name}({', '.join(names)}):"
    yield '    """It happens."""'
    yield f"    guard = {_text(deed.guard, 'literal')}"
    yield f"    return guard, {{{', '.join(map(_update, deed.updates))}}}"


def _update(update: Update) -> str:
    item = f"{_place('s', update.family, update.index)}: {_text(update.value, 'name')}"
    if not update.bound:
        return item
    loops = " ".join(f"for {name} in {universe}" for name, universe in update.bound)
    return f"**{{{item} {loops}}}"


def _suite(spec: Spec) -> Iterator[str]:
    for statement in spec.statements:
        yield f"\n\n@suite.{_decorator(statement)}"
        yield f"def {statement.name}():"
        yield '    """It is so."""'
        parts = [_text(formula, "literal") for formula in statement.formulas]
        if statement.kind == "leads_to":
            parts = [", ".join(f"({one}, {other})" for one, other in zip(parts[::2], parts[1::2], strict=True))]
            parts = [f"[{parts[0]}]"]
        yield f"    return {parts[0]}"


def _decorator(statement: Statement) -> str:
    if statement.kind == "leads_to":
        return f"leads_to(unfair={statement.unfair!r})"
    return DECORATORS.get(statement.kind, statement.kind)


# --- terms


def _text(term: Term, mode: str) -> str:
    """A term; mode "term": all of it is one, "literal": it may be a literal of Python's, "name": also a name or a set."""
    if term.op in WAYS:
        return WAYS[term.op](term, mode)
    if term.op in INFIX:
        one, other = _together(term.args)
        return f"({one} {INFIX[term.op]} {other})"
    return f"{CALLS[term.op]}({', '.join(_together(term.args))})"


def _together(args: Sequence[Term]) -> list[str]:
    """Arguments of an operator: literals are Python's where another argument is a term; names where a choice stands there."""
    literal = "term" if all(arg.op in LITERALS for arg in args) else "literal"
    mode = "name" if any(arg.op == "var" for arg in args) else literal
    return [_text(arg, mode if arg.op in LITERALS else "term") for arg in args]


def _const(term: Term, mode: str) -> str:
    sort, value, plain = term.detail
    if sort.kind == "subset":
        return _literal(sort, value)
    if sort.kind == "choice":
        return str(value) if plain and mode == "literal" else _literal(sort, value)
    if mode == "term" or not plain:
        return f"condition({bool(value)})" if sort.kind == "flag" else f"number({value})"
    return _literal(sort, value)


def _literal(sort: Sort, value: int) -> str:
    if sort.kind == "choice":
        return repr(names(sort)[value])
    if sort.kind == "subset":
        members = [str(m) for m in range(value.bit_length()) if value >> m & 1]
        return f"{{{', '.join(members)}}}" if members else "()"
    return str(bool(value)) if sort.kind == "flag" else str(value)


def _member(term: Term, mode: str) -> str:
    return f"number({term.detail})" if mode == "term" else str(term.detail)


def _same(term: Term, mode: str) -> str:
    one, other = term.detail
    return f"condition({one} == {other})" if mode == "term" else f"({one} == {other})"


def _variable(term: Term, mode: str) -> str:
    family, index, primed = term.detail
    return _place("n" if primed else "s", family, index)


def _place(where: str, family: str, index: Index) -> str:
    return f"{where}.{family}[{', '.join(map(str, index))}]" if index else f"{where}.{family}"


def _if(term: Term, mode: str) -> str:
    condition, *sides = term.args
    if mode != "name":
        mode = "term" if all(side.op in LITERALS for side in sides) else "literal"
    return f"If({_text(condition, 'literal')}, {', '.join(_text(side, mode) for side in sides)})"


def _of_members(call: str) -> Callable[[Term, str], str]:
    def way(term: Term, mode: str) -> str:
        name, universe = term.detail[-2:]
        return call.format(f"{_text(term.args[0], 'term')} for {name} in {universe}", *term.detail)

    return way


def _method(name: str) -> Callable[[Term, str], str]:
    return lambda term, mode: f"{_text(term.args[0], 'term')}.{name}({_text(term.args[1], 'literal')})"


WAYS: dict[str, Callable[[Term, str], str]] = {
    "const": _const,
    "member": _member,
    "same": _same,
    "var": _variable,
    "ite": _if,
    "neg": lambda term, mode: f"(-{_text(term.args[0], 'term')})",
    "complement": lambda term, mode: f"(~{_text(term.args[0], 'term')})",
    "empty": lambda term, mode: f"{_text(term.args[0], 'term')}.is_empty",
    "has": _method("has"),
    "plus": _method("plus"),
    "minus": _method("minus"),
    "among": lambda term, mode: f"{_text(term.args[0], 'term')}.among({', '.join(map(repr, term.detail))})",
    "select": lambda term, mode: f"select({_text(term.args[0], 'term')}, [{', '.join(_together(term.args[1:]))}])",
    "at_least": lambda term, mode: f"at_least({term.detail}, [{', '.join(_together(term.args))}])",
    "all": _of_members("all_of({0})"),
    "any": _of_members("any_of({0})"),
    "at_least_of": _of_members("at_least({1}, [{0}])"),
    "how_many_of": _of_members("how_many(*({0}))"),
}
