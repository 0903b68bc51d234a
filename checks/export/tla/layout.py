"""TLA+ expressions as text: parentheses where precedence asks for them, long ones broken into lists of conjuncts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fencepost.checks.export.tla.expressions import Expression
from fencepost.model.language import ModelError, Universe

WIDTH = 110

INFIX: Mapping[str, tuple[str, int]] = {
    "and": ("/\\", 3),
    "or": ("\\/", 3),
    "=>": ("=>", 1),
    "~>": ("~>", 2),
    "=": ("=", 5),
    "#": ("#", 5),
    "<": ("<", 5),
    "<=": ("<=", 5),
    ">": (">", 5),
    ">=": (">=", 5),
    "in": ("\\in", 5),
    "notin": ("\\notin", 5),
    "cup": ("\\cup", 6),
    "cap": ("\\cap", 6),
    "minus": ("\\", 6),
    "+": ("+", 7),
    "-": ("-", 7),
    "*": ("*", 7),
}
"""How an operator is written between its operands, and how tightly it binds."""

PREFIX = {"not": ("~", 4), "negative": ("-", 7)}
QUANTIFIERS = {"all": "\\A", "some": "\\E"}
OPEN, ATOM = 0, 9
"""Of what extends as far to the right as it can, and of what needs no parentheses anywhere."""

FUNCTIONS = {"max": "Max", "min": "Min", "count": "Cardinality", "holds": "Holds"}


class Layout:
    """Writes expressions, given what universes and their members are called in the module."""

    def __init__(self, universes: Mapping[Universe, str], numbered: set[Universe], names: Callable[[str], str]) -> None:
        self._universes, self._numbered, self._names = universes, numbered, names

    def block(self, expression: Expression, column: int, room: int = WIDTH) -> str:
        """The expression where it may be broken into lines, the first of which begins at the column."""
        flat = self.flat(expression)
        if column + len(flat) <= room:
            return flat
        operator, operands = expression.operator, expression.operands
        if operator in ("and", "or"):
            return self.bullets(INFIX[operator][0], operands, column)
        if operator in QUANTIFIERS:
            body = self.block(operands[1], column + 2)
            return f"{QUANTIFIERS[operator]} {expression.detail} \\in {self.flat(operands[0])} :{_line(column + 2)}{body}"
        if operator == "if":
            words = zip(("IF ", "THEN ", "ELSE "), operands, strict=True)
            return _line(column).join(word + self.block(part, column + len(word)) for word, part in words)
        if operator == "not":
            return f"~({self.block(operands[0], column + 2)})"
        if operator == "holds":
            return f"Holds({self.block(operands[0], column + len('Holds('))})"
        if operator == "next":
            return self._assignment(expression, column)
        if operator == "function":
            return self._function(expression, column)
        if operator == "except":
            return self._exceptions(expression, column)
        if operator in ("=", "#", "<", "<=", ">", ">=") and operands[0].operator == "count":
            counted = self._filter(operands[0].operands[0], column + len("Cardinality("))
            return f"Cardinality({counted}) {INFIX[operator][0]} {self.flat(operands[1])}"
        if operator in INFIX and len(operands) > 1:
            return self._infix(expression, column)
        return flat

    def bullets(self, sign: str, parts: Sequence[Expression], column: int) -> str:
        """The parts as a list, each behind the sign on lines of its own."""
        return _line(column).join(f"{sign} {self.block(part, column + len(sign) + 1)}" for part in parts)

    def flat(self, expression: Expression) -> str:
        """The expression on one line."""
        operator, operands = expression.operator, expression.operands
        if operator in INFIX:
            sign, level = INFIX[operator]
            return f" {sign} ".join(self._flat_operand(operand, level) for operand in operands)
        if operator in PREFIX:
            return PREFIX[operator][0] + self._flat_operand(operands[0], ATOM - 1)
        if operator in QUANTIFIERS:
            return f"{QUANTIFIERS[operator]} {expression.detail} \\in {self.flat(operands[0])} : {self.flat(operands[1])}"
        if operator == "if":
            condition, then, otherwise = map(self.flat, operands)
            return f"IF {condition} THEN {then} ELSE {otherwise}"
        if operator in FUNCTIONS:
            return f"{FUNCTIONS[operator]}({', '.join(map(self.flat, operands))})"
        return self._atom(expression)

    def _atom(self, expression: Expression) -> str:
        operator, operands, detail = expression.operator, expression.operands, expression.detail
        if operator in ("true", "false"):
            return operator.upper()
        if operator in ("number", "name"):
            return str(detail)
        if operator == "text":
            return f'"{detail}"'
        if operator == "universe":
            assert isinstance(detail, Universe)
            return self._universes[detail]
        if operator == "member":
            assert isinstance(detail, tuple)
            return self.member(*detail)
        if operator == "other":
            assert isinstance(detail, Universe)
            return f"{other(self._universes[detail])}({self.flat(operands[0])})"
        if operator == "variable":
            assert isinstance(detail, tuple)
            family, primed = detail
            index = f"[{', '.join(map(self.flat, operands))}]" if operands else ""
            return f"{self._names(str(family))}{chr(39) if primed else ''}{index}"
        if operator == "enabled":
            return "ENABLED Next"
        if operator == "set":
            return "{" + ", ".join(map(self.flat, operands)) + "}"
        if operator == "tuple":
            return "<<" + ", ".join(map(self.flat, operands)) + ">>"
        if operator == "filter":
            return f"{{{detail} \\in {self.flat(operands[0])} : {self.flat(operands[1])}}}"
        if operator == "next":
            value = self.flat(operands[1])
            return f"{self.flat(operands[0])} = {f'({value})' if OPEN < _level(operands[1]) <= INFIX['='][1] else value}"
        if operator == "function":
            return f"[{self._ranges(expression)} |-> {self.flat(operands[-1])}]"
        if operator == "except":
            return f"[{self.flat(operands[0])} EXCEPT {', '.join(map(self._entry, operands[1:]))}]"
        raise ModelError(f"TLA+ has no words for {operator}")

    def member(self, universe: Universe, index: int) -> str:
        """A member of a universe: a string, or a number where the protocol reckons with it."""
        return str(index) if universe in self._numbered else f'"{universe.label(index)}"'

    def _flat_operand(self, operand: Expression, level: int) -> str:
        return f"({self.flat(operand)})" if _level(operand) <= level else self.flat(operand)

    def _operand(self, operand: Expression, level: int, column: int) -> str:
        """An operand that may be broken into lines; in parentheses if it is, because a list ends where its column does."""
        if _level(operand) > level and column + len(self.flat(operand)) <= WIDTH:
            return self.flat(operand)
        return f"({self.block(operand, column + 1)})"

    def _infix(self, expression: Expression, column: int) -> str:
        """Each operand on lines of its own, all but the first behind the operator."""
        sign, level = INFIX[expression.operator]
        first, *others = expression.operands
        behind = column + len(sign) + 1
        lines = [self._operand(first, level, column), *(f"{sign} {self._operand(part, level, behind)}" for part in others)]
        return _line(column).join(lines)

    def _assignment(self, expression: Expression, column: int) -> str:
        variable, value = expression.operands
        begin = f"{self.flat(variable)} = "
        if OPEN < _level(value) <= INFIX["="][1]:
            return f"{begin}({self.block(value, column + len(begin) + 1, WIDTH - 1)})"
        return begin + self.block(value, column + len(begin))

    def _function(self, expression: Expression, column: int) -> str:
        body = self.block(expression.operands[-1], column + 2)
        return f"[{self._ranges(expression)} |->{_line(column + 2)}{body}]"

    def _exceptions(self, expression: Expression, column: int) -> str:
        family, *entries = expression.operands
        lines = []
        for entry in entries:
            *index, value = entry.operands
            head = f"![{', '.join(map(self.flat, index))}] = "
            lines.append(head + self.block(value, column + 2 + len(head)))
        return f"[{self.flat(family)} EXCEPT{_line(column + 2)}" + f",{_line(column + 2)}".join(lines) + "]"

    def _entry(self, entry: Expression) -> str:
        *index, value = entry.operands
        return f"![{', '.join(map(self.flat, index))}] = {self.flat(value)}"

    def _filter(self, expression: Expression, column: int) -> str:
        body = self.block(expression.operands[1], column + 2)
        return f"{{{expression.detail} \\in {self.flat(expression.operands[0])} :{_line(column + 2)}{body}}}"

    def _ranges(self, expression: Expression) -> str:
        assert isinstance(expression.detail, tuple)
        pairs = zip(expression.detail, expression.operands[:-1], strict=True)
        return ", ".join(f"{bound} \\in {self.flat(over)}" for bound, over in pairs)


def other(universe: str) -> str:
    """What the operator is called that gives the other member of a universe of two."""
    return f"Other{universe}"


def _level(expression: Expression) -> int:
    """How tightly the expression holds together."""
    operator = expression.operator
    if operator in INFIX and len(expression.operands) > 1:
        return INFIX[operator][1]
    if operator in PREFIX:
        return PREFIX[operator][1]
    if operator == "number" and isinstance(expression.detail, int) and expression.detail < 0:
        return PREFIX["negative"][1]
    return OPEN if operator in (*QUANTIFIERS, "if") else ATOM


def _line(column: int) -> str:
    return "\n" + " " * column
