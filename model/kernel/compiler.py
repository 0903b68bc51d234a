"""Z3 terms to LLVM IR: what each operator becomes, and the functions that the loops call.

Every function takes pointers to packed states (arrays of i64 words) and is free of side effects but for its output:

- ``enabled(state, mask)`` writes the bit set of the actions whose guard holds;
- ``apply(state, action, after)`` writes the state after that action, whether or not its guard holds;
- ``advance(state, action, after, enabled, observed)`` does the same and brings the two bit sets, which are those of ``state``,
  up to date, looking only at what the action may change;
- ``observe(state, mask)`` writes the bit set of the observed formulas that hold;
- ``observe_step(state, after, mask)`` writes the bit set of the observed formulas over two states that hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import z3
from llvmlite import ir

from model.kernel.packing import Packing
from model.language import Action, ModelError, Variable

I1, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
POINTER = ir.PointerType()
VOID = ir.VoidType()


class Node(NamedTuple):
    """A node of a Z3 term: its id, its operator and its arguments."""

    identity: int
    kind: int
    term: Any
    arguments: tuple[Node, ...]


class Nodes:
    """The nodes of terms, each looked at once: asking Z3 for them is what would take most of the time."""

    def __init__(self) -> None:
        self._known: dict[int, Node] = {}

    def of(self, term: Any) -> Node:
        """The node of a term, with all below it."""
        stack: list[tuple[Any, int, Any]] = [(term, term.get_id(), None)]
        while stack:
            node, identity, below = stack.pop()
            if identity in self._known:
                continue
            if below is None:
                below = [(child, child.get_id()) for child in node.children()]
                stack.append((node, identity, below))
                stack.extend((child, its, None) for child, its in below if its not in self._known)
            else:
                known = tuple(self._known[its] for _, its in below)
                self._known[identity] = Node(identity, node.decl().kind(), node, known)
        return self._known[term.get_id()]


class Terms:
    """Emits Z3 terms into one basic block after another; a term that was emitted before is not emitted again."""

    def __init__(self, nodes: Nodes, builder: ir.IRBuilder, leaf: Callable[[str], ir.Value]) -> None:
        self._nodes = nodes
        self._builder = builder
        self._leaf = leaf
        self._values: dict[int, ir.Value] = {}

    def emit(self, term: Any) -> ir.Value:
        """The LLVM value of a term: i1 for Bool, i64 for Int, iN for a bit vector of N bits."""
        root = self._nodes.of(term)
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if node.identity in self._values:
                continue
            if ready:
                arguments = [self._values[argument.identity] for argument in node.arguments]
                self._values[node.identity] = self._instruction(node, arguments)
            else:
                stack.append((node, True))
                stack.extend((argument, False) for argument in node.arguments)
        return self._values[root.identity]

    def _instruction(self, node: Node, arguments: list[ir.Value]) -> ir.Value:
        term, kind = node.term, node.kind
        if kind == z3.Z3_OP_UNINTERPRETED:
            return self._leaf(term.decl().name())
        if kind == z3.Z3_OP_EXTRACT:
            high, low = term.decl().params()
            width = arguments[0].type.width
            shifted = self._builder.lshr(arguments[0], ir.Constant(arguments[0].type, low)) if low else arguments[0]
            return self._builder.trunc(shifted, ir.IntType(high - low + 1)) if high - low + 1 < width else shifted
        if kind in (z3.Z3_OP_ANUM, z3.Z3_OP_BNUM):
            return ir.Constant(I64 if kind == z3.Z3_OP_ANUM else ir.IntType(term.size()), term.as_long())
        rule = RULES.get(kind)
        if rule is None:
            raise ModelError(f"the kernel cannot compile {term.decl().name()}")
        return rule(self._builder, arguments)


Rule = Callable[[ir.IRBuilder, list[ir.Value]], ir.Value]


def _fold(name: str) -> Rule:
    return lambda b, args: reduce(lambda x, y: getattr(b, name)(x, y), args)


def _compare(sign: str) -> Rule:
    return lambda b, args: b.icmp_signed(sign, *args)


def _distinct(b: ir.IRBuilder, args: list[ir.Value]) -> ir.Value:
    pairs = [b.icmp_signed("!=", x, y) for i, x in enumerate(args) for y in args[i + 1 :]]
    return reduce(b.and_, pairs, ir.Constant(I1, 1))


def _concat(b: ir.IRBuilder, args: list[ir.Value]) -> ir.Value:
    def join(high: ir.Value, low: ir.Value) -> ir.Value:
        wide = ir.IntType(high.type.width + low.type.width)
        return b.or_(b.shl(b.zext(high, wide), ir.Constant(wide, low.type.width)), b.zext(low, wide))

    return reduce(join, args)


RULES: dict[int, Rule] = {
    z3.Z3_OP_TRUE: lambda b, args: ir.Constant(I1, 1),
    z3.Z3_OP_FALSE: lambda b, args: ir.Constant(I1, 0),
    z3.Z3_OP_AND: lambda b, args: reduce(b.and_, args, ir.Constant(I1, 1)),
    z3.Z3_OP_OR: lambda b, args: reduce(b.or_, args, ir.Constant(I1, 0)),
    z3.Z3_OP_NOT: lambda b, args: b.not_(args[0]),
    z3.Z3_OP_IMPLIES: lambda b, args: b.or_(b.not_(args[0]), args[1]),
    z3.Z3_OP_XOR: _fold("xor"),
    z3.Z3_OP_EQ: _compare("=="),
    z3.Z3_OP_DISTINCT: _distinct,
    z3.Z3_OP_ITE: lambda b, args: b.select(*args),
    z3.Z3_OP_ADD: _fold("add"),
    z3.Z3_OP_SUB: _fold("sub"),
    z3.Z3_OP_UMINUS: lambda b, args: b.neg(args[0]),
    z3.Z3_OP_MUL: _fold("mul"),
    z3.Z3_OP_LE: _compare("<="),
    z3.Z3_OP_LT: _compare("<"),
    z3.Z3_OP_GE: _compare(">="),
    z3.Z3_OP_GT: _compare(">"),
    z3.Z3_OP_BAND: _fold("and_"),
    z3.Z3_OP_BOR: _fold("or_"),
    z3.Z3_OP_BXOR: _fold("xor"),
    z3.Z3_OP_BNOT: lambda b, args: b.not_(args[0]),
    z3.Z3_OP_CONCAT: _concat,
}


class _Function:
    """One LLVM function over packed states, under construction."""

    def __init__(self, module: ir.Module, name: str, packing: Packing, arguments: Sequence[ir.Type]) -> None:
        self.function = ir.Function(module, ir.FunctionType(VOID, arguments), name)
        self.function.attributes.add("nounwind")
        self.packing = packing
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))

    def load(self, pointer: ir.Value) -> list[ir.Value]:
        return [self.builder.load(self._at(pointer, w), typ=I64) for w in range(self.packing.words)]

    def _at(self, pointer: ir.Value, word: int) -> ir.Value:
        return self.builder.gep(pointer, [ir.Constant(I64, word)], source_etype=I64)

    def store(self, words: Iterable[ir.Value], pointer: ir.Value, first: int = 0) -> None:
        for index, word in enumerate(words, first):
            self.builder.store(word, self._at(pointer, index))

    def value(self, variable: Variable, words: list[ir.Value]) -> ir.Value:
        """The value of a variable in loaded words."""
        field = self.packing.fields[variable.name]
        sort = variable.term.sort()
        if field.bits == 0:
            return ir.Constant(I64, field.low)
        shifted = self.builder.lshr(words[field.word], ir.Constant(I64, field.shift))
        if sort.kind() == z3.Z3_INT_SORT:
            masked = self.builder.and_(shifted, ir.Constant(I64, field.mask))
            return self.builder.add(masked, ir.Constant(I64, field.low)) if field.low else masked
        return self.builder.trunc(shifted, ir.IntType(field.bits)) if field.bits < 64 else shifted

    def replace(self, words: list[ir.Value], variable: Variable, value: ir.Value) -> None:
        """Sets a variable in loaded words."""
        field = self.packing.fields[variable.name]
        if field.bits == 0:
            return
        if value.type.width < 64:
            value = self.builder.zext(value, I64)
        elif field.low:
            value = self.builder.sub(value, ir.Constant(I64, field.low))
        cleared = self.builder.and_(words[field.word], ir.Constant(I64, ~(field.mask << field.shift) & (1 << 64) - 1))
        placed = self.builder.shl(value, ir.Constant(I64, field.shift))
        words[field.word] = self.builder.or_(cleared, placed)

    def amend(self, flags: Mapping[int, ir.Value], pointer: ir.Value) -> None:
        """Sets some bits of a bit set in memory, by number, and leaves the others."""
        for word in sorted({number // 64 for number in flags}):
            mine = {number % 64: flag for number, flag in flags.items() if number // 64 == word}
            others = ir.Constant(I64, (1 << 64) - 1 - sum(1 << bit for bit in mine))
            kept = self.builder.and_(self.builder.load(self._at(pointer, word), typ=I64), others)
            bits = (self.builder.shl(self.builder.zext(flag, I64), ir.Constant(I64, bit)) for bit, flag in mine.items())
            self.builder.store(reduce(self.builder.or_, bits, kept), self._at(pointer, word))

    def mask(self, flags: Sequence[ir.Value]) -> ir.Value:
        """At most 64 flags as the bits of a word."""
        bits = (self.builder.shl(self.builder.zext(flag, I64), ir.Constant(I64, bit)) for bit, flag in enumerate(flags))
        return reduce(self.builder.or_, bits, ir.Constant(I64, 0))


@dataclass(frozen=True)
class Group:
    """Formulas that are evaluated together, by the number of their bit: guards or, if ``observed``, observed formulas; and the
    variables that any of them mentions."""

    formulas: Mapping[int, Any]
    variables: frozenset[Variable]
    observed: bool


class Compiler:
    """Builds the LLVM module of one protocol and its observed formulas."""

    def __init__(self, variables: Sequence[Variable], packing: Packing) -> None:
        self.module = ir.Module("kernel")
        self._packing = packing
        self._variables = {v.name: v for v in variables}
        self._nodes = Nodes()

    def enabled(self, actions: Sequence[Action]) -> None:
        self._masked("enabled", [a.guard for a in actions], 1)

    def observe(self, formulas: Sequence[Any]) -> None:
        self._masked("observe", formulas, 1)

    def observe_step(self, formulas: Sequence[Any]) -> None:
        self._masked("observe_step", formulas, 2)

    def _masked(self, name: str, formulas: Sequence[Any], states: int) -> None:
        """A function that writes the truth of the formulas as a bit set. Each word of it has a function of its own if there
        are several, because the time that LLVM takes for straight lines grows faster than they do."""
        if len(formulas) <= 64:
            self._word(name, formulas, states, 0)
            return
        made = _Function(self.module, name, self._packing, [POINTER] * (states + 1))
        for word, start in enumerate(range(0, len(formulas), 64)):
            part = self._word(f"{name}_{word}", formulas[start : start + 64], states, word)
            part.linkage = "internal"
            made.builder.call(part, made.function.args)
        made.builder.ret_void()

    def _word(self, name: str, formulas: Sequence[Any], states: int, word: int) -> ir.Function:
        made = _Function(self.module, name, self._packing, [POINTER] * (states + 1))
        loaded = [made.load(argument) for argument in made.function.args[:states]]

        def leaf(constant: str) -> ir.Value:
            return made.value(self._variables[constant.removesuffix("'")], loaded[constant.endswith("'")])

        terms = Terms(self._nodes, made.builder, leaf)
        made.store([made.mask([terms.emit(f) for f in formulas])], made.function.args[states], word)
        made.builder.ret_void()
        return made.function

    def apply(self, actions: Sequence[Action]) -> None:
        made = _Function(self.module, "apply", self._packing, [POINTER, I64, POINTER])
        before, _, after = made.function.args
        words = made.load(before)
        for action in self._cases(made, actions):
            self._step(made, action, words, after)

    def advance(self, actions: Sequence[Action], groups: Sequence[Group]) -> None:
        """Like ``apply``, and brings the bit sets of ``enabled`` and ``observe`` up to date. A group, which is evaluated as a
        whole if the action changes any of its variables, costs a call; its code is there once. Each action has a function
        of its own, because the time that LLVM takes for one with many calls grows with their square."""
        refresh = [self._refresh(number, group) for number, group in enumerate(groups)]
        made = _Function(self.module, "advance", self._packing, [POINTER, I64, POINTER, POINTER, POINTER])
        before, _, *outputs = made.function.args
        for action in self._cases(made, actions):
            part = _Function(self.module, self.module.get_unique_name("step"), self._packing, [POINTER] * 4)
            part.function.linkage = "internal"
            state, after, *masks = part.function.args
            self._step(part, action, part.load(state), after)
            for group, function in zip(groups, refresh, strict=True):
                if not group.variables.isdisjoint(action.updates):
                    part.builder.call(function, [after, masks[group.observed]])
            part.builder.ret_void()
            made.builder.call(part.function, [before, *outputs], tail=True)

    def _refresh(self, number: int, group: Group) -> ir.Function:
        made = _Function(self.module, f"refresh_{number}", self._packing, [POINTER, POINTER])
        made.function.linkage = "internal"
        state, mask = made.function.args
        words = made.load(state)
        terms = Terms(self._nodes, made.builder, lambda name: made.value(self._variables[name], words))
        made.amend({bit: terms.emit(formula) for bit, formula in group.formulas.items()}, mask)
        made.builder.ret_void()
        return made.function

    def _cases(self, made: _Function, actions: Sequence[Action]) -> Iterator[Action]:
        """Yields each action with the builder where that action is done, given its number as the second argument."""
        end = made.function.append_basic_block("end")
        switch = made.builder.switch(made.function.args[1], end)
        for number, action in enumerate(actions):
            block = made.function.append_basic_block(f"action_{number}")
            switch.add_case(ir.Constant(I64, number), block)
            made.builder.position_at_end(block)
            yield action
            made.builder.branch(end)
        made.builder.position_at_end(end)
        made.builder.ret_void()

    def _step(self, made: _Function, action: Action, words: list[ir.Value], after: ir.Value) -> None:
        """Writes the state after an action on the words of the state before it."""
        terms = Terms(self._nodes, made.builder, lambda name: made.value(self._variables[name], words))
        changed = list(words)
        for variable, term in action.updates.items():
            made.replace(changed, variable, terms.emit(term))
        made.store(changed, after)
