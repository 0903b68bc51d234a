"""The best plain Python can do, and a second oracle: a protocol's terms made into Python code over tuples of raw values.

Each guard, update and observed formula becomes a Python expression once; a state is then a tuple, and running the protocol
is running those expressions. A node that several terms share is computed once for each state and kept in a local name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fencepost.model.language import Protocol
from fencepost.model.terms.nodes import Term, in_order

State = tuple[int, ...]

DEEPEST = 40  # how far expressions may nest before a local name breaks them up; Python's parser gives up at 200

INFIX: dict[str, str] = {
    "and": " and ",
    "or": " or ",
    "xor": " ^ ",
    "=": " == ",
    "+": " + ",
    "-": " - ",
    "*": " * ",
    "<=": " <= ",
    "<": " < ",
    ">=": " >= ",
    ">": " > ",
    "bvand": " & ",
    "bvor": " | ",
    "bvxor": " ^ ",
}


class _Body:
    """The body of a Python function that computes some terms, statement by statement."""

    def __init__(self, terms: Sequence[Any], leaves: Mapping[str, str]) -> None:
        self.lines: list[str] = []
        self._leaves = leaves
        self._texts: dict[Term, tuple[str, int]] = {}  # by node: its expression and how deep that nests
        self._uses: dict[Term, int] = {}
        self._count(terms)
        self.results = [self._text(term) for term in terms]

    def _count(self, terms: Sequence[Any]) -> None:
        stack = list(terms)
        while stack:
            node = stack.pop()
            self._uses[node] = self._uses.get(node, 0) + 1
            if self._uses[node] == 1:
                stack.extend(node.arguments)

    def _text(self, term: Term) -> str:
        for node in in_order([term], self._texts.__contains__):
            parts = [self._texts[argument] for argument in node.arguments]
            text, depth = self._expression(node, [text for text, _ in parts]), 1 + max((d for _, d in parts), default=-1)
            if node.arguments and (self._uses[node] > 1 or depth > DEEPEST):
                name = f"t{len(self.lines)}"
                self.lines.append(f"{name} = {text}")
                text, depth = name, 0
            self._texts[node] = text, depth
        return self._texts[term][0]

    def _expression(self, node: Term, parts: list[str]) -> str:
        kind = node.op
        if kind in INFIX and parts:
            return f"({INFIX[kind].join(parts)})"
        match kind:
            case "constant":
                return self._leaves[node.detail]
            case "true" | "and":
                return "True"
            case "false" | "or":
                return "False"
            case "literal":
                return f"({node.detail})"
            case "not":
                return f"(not {parts[0]})"
            case "=>":
                return f"(not {parts[0]} or {parts[1]})"
            case "ite":
                return f"({parts[1]} if {parts[0]} else {parts[2]})"
            case "distinct":
                return f"(len({{{', '.join(parts)}}}) == {len(parts)})"
            case "unary -":
                return f"(-{parts[0]})"
            case "bvnot":
                return f"(~{parts[0]} & {(1 << node.sort.bits) - 1})"
            case "extract":
                high, low = node.detail
                return f"({parts[0]} >> {low} & {(1 << (high - low + 1)) - 1})"
            case "concat":
                text = parts[0]
                for child, part in zip(node.arguments[1:], parts[1:], strict=True):
                    text = f"({text} << {child.sort.bits} | {part})"
                return text
        raise AssertionError(f"no Python for {node.op}")


class Generated:
    """A protocol as generated Python code, with the same four functions as its kernel; states are tuples of raw values."""

    def __init__(self, protocol: Protocol, observed: Sequence[Any] = (), observed_steps: Sequence[Any] = ()) -> None:
        names = [v.name for v in protocol.variables]
        self._here = {name: f"x{i}" for i, name in enumerate(names)}
        after = {name + "'": f"y{i}" for i, name in enumerate(names)}
        take, take_after = self._unpacked("s", self._here.values()), self._unpacked("a", after.values())
        guards = [action.guard for action in protocol.actions]
        self.enabled: Callable[[State], list[int]] = self._numbers("s", [take], guards, self._here)
        self.observe: Callable[[State], list[int]] = self._numbers("s", [take], observed, self._here)
        self.observe_step: Callable[[State, State], list[int]] = self._numbers(
            "s, a", [take, take_after], observed_steps, self._here | after
        )
        self._effects: list[Callable[[State], State]] = []
        for action in protocol.actions:
            body = _Body(list(action.updates.values()), self._here)
            changed = dict(zip((v.name for v in action.updates), body.results, strict=True))
            fields = "".join(f"{changed.get(name, self._here[name])}, " for name in names)
            self._effects.append(self._compiled("s", [take, *body.lines], f"({fields})"))

    def apply(self, state: State, action: int) -> State:
        """The state after an action, whose guard is taken to hold."""
        return self._effects[action](state)

    @staticmethod
    def _unpacked(state: str, names: Any) -> str:
        return "".join(f"{name}, " for name in names) + f"= {state}"

    def _numbers(self, arguments: str, lines: Sequence[str], formulas: Sequence[Any], leaves: Mapping[str, str]) -> Any:
        """A function that returns the numbers of the formulas that hold."""
        body = _Body(formulas, leaves)
        truths = "".join(f"{result}, " for result in body.results)
        return self._compiled(arguments, [*lines, *body.lines], f"[i for i, holds in enumerate(({truths})) if holds]")

    @staticmethod
    def _compiled(arguments: str, lines: Sequence[str], result: str) -> Any:
        text = "\n    ".join([f"def function({arguments}):", *lines, f"return {result}"])
        namespace: dict[str, Any] = {}
        exec(compile(text, "<terms>", "exec"), namespace)
        return namespace["function"]
