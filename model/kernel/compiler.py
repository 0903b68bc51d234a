"""The functions of a protocol that the loops call, as LLVM IR.

Every function takes pointers to packed states (arrays of i64 words) and to bit sets, and has no effect but its output:

- ``enabled(state, mask)`` writes the bit set of the actions whose guard holds;
- ``observe(state, mask)`` writes the bit set of the observed formulas that hold;
- ``observe_step(state, after, mask)`` writes the bit set of the observed formulas over two states that hold;
- ``apply(state, action, after, steps)`` writes the state after that action, whether or not its guard holds, and, if there are
  any, what ``observe_step`` writes of these two, which for one action is little;
- ``advance(state, action, after, steps, enabled, observed)`` does the same and brings the bit sets of ``enabled`` and
  ``observe``, which are those of ``state``, up to date, looking only at what the action may change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from llvmlite import ir

from model.kernel.operations import FALSE, I64, TRUE, Value
from model.kernel.packing import Packing
from model.kernel.terms import Nodes, Terms, Values
from model.language import Action, Variable
from model.language.domains import Choice, Number

POINTER = ir.PointerType()
VOID = ir.VoidType()
_ONES = (1 << 64) - 1


@dataclass(frozen=True)
class Group:
    """Guards (or, if ``observed``, observed formulas) that are evaluated together: by their bit in one word of the bit set; and
    the variables of which an action must change one for any of them to change."""

    formulas: Mapping[int, Any]
    word: int
    observed: bool
    variables: frozenset[Variable]


@dataclass(frozen=True)
class Formula:
    """A formula over two states, and the variables of which an action must change one for it to hold, unless ``always``."""

    term: Any
    variables: frozenset[Variable]
    always: bool = False

    def concerns(self, action: Action) -> bool:
        """Whether it need be looked at when that action is taken."""
        return self.always or not self.variables.isdisjoint(action.updates)


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

    def apply(self, actions: Sequence[Action], steps: Sequence[Formula]) -> None:
        made = _Function(self.module, "apply", [POINTER, I64, POINTER, POINTER])
        state, _, after, mask = made.function.args
        words = made.load_all(state, self._packing.words)
        made.copy(state, after, self._packing.words)
        for action in self._cases(made, actions):
            step = _Step(self, made, words, action)
            step.write_after(after)
            step.write_steps(steps, mask)

    def advance(self, actions: Sequence[Action], steps: Sequence[Formula], groups: Sequence[Group]) -> None:
        """A group, which is evaluated as a whole if the action changes any of its variables, costs a call; its code is there
        once. Each action has a function of its own, because the time that LLVM takes for one with many calls grows with their
        square."""
        refresh = [self._refresh(number, group) for number, group in enumerate(groups)]
        made = _Function(self.module, "advance", [POINTER, I64, *[POINTER] * 4])
        state, _, *outputs = made.function.args
        for action in self._cases(made, actions):
            part = _Function(self.module, self.module.get_unique_name("step"), [POINTER] * 5)
            part.function.linkage = "internal"
            before, after, held, *masks = part.function.args
            step = _Step(self, part, part.load_all(before, self._packing.words), action)
            part.copy(before, after, self._packing.words)
            step.write_after(after)
            step.write_steps(steps, held)
            concerned = defaultdict[tuple[bool, int], list[ir.Function]](list)
            for group, function in zip(groups, refresh, strict=True):
                if not group.variables.isdisjoint(action.updates):
                    concerned[group.observed, group.word].append(function)
            for (observed, word), functions in concerned.items():
                mask = masks[observed]
                bits = reduce(lambda bits, f: part.builder.call(f, [after, bits]), functions, part.load(mask, word))
                part.store(bits, mask, word)
            part.builder.ret_void()
            made.builder.call(part.function, [state, *outputs], tail=True)

    def _refresh(self, number: int, group: Group) -> ir.Function:
        """A function of a state and of a word of a bit set that returns the word as it is in that state."""
        made = _Function(self.module, f"refresh_{number}", [POINTER, I64], I64)
        made.function.linkage = "internal"
        state, bits = made.function.args
        terms = Terms(self._nodes, Values(made.builder), self.reader(made, made.load_all(state, self._packing.words)))
        flags = {bit: terms.emit(formula) for bit, formula in group.formulas.items()}
        others = ir.Constant(I64, _ONES - sum(1 << bit for bit in flags))
        made.builder.ret(made.builder.or_(made.builder.and_(bits, others), made.bits(flags)))
        return made.function

    def _masked(self, name: str, formulas: Sequence[Any], states: int) -> None:
        """A function that writes the truth of the formulas as a bit set. Each word of it has a function of its own if there
        are several, because the time that LLVM takes for straight lines grows faster than they do."""
        if len(formulas) <= 64:
            self._word(name, formulas, states, 0)
            return
        made = _Function(self.module, name, [POINTER] * (states + 1))
        for word, start in enumerate(range(0, len(formulas), 64)):
            part = self._word(f"{name}_{word}", formulas[start : start + 64], states, word)
            part.linkage = "internal"
            made.builder.call(part, made.function.args)
        made.builder.ret_void()

    def _word(self, name: str, formulas: Sequence[Any], states: int, word: int) -> ir.Function:
        made = _Function(self.module, name, [POINTER] * (states + 1))
        *pointers, mask = made.function.args
        readers = [self.reader(made, made.load_all(pointer, self._packing.words)) for pointer in pointers]
        terms = Terms(self._nodes, Values(made.builder), lambda name: readers[name.endswith("'")](name.removesuffix("'")))
        made.store(made.bits({bit: terms.emit(f) for bit, f in enumerate(formulas)}), mask, word)
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

    def terms(self, values: Values, leaf: Callable[[str], Value]) -> Terms:
        """A way to emit terms over what ``leaf`` gives."""
        return Terms(self._nodes, values, leaf)

    def reader(self, made: _Function, words: Sequence[Value]) -> Callable[[str], Value]:
        """The values of variables, by name, in loaded words; each is taken out once."""
        known: dict[str, Value] = {}

        def read(name: str) -> Value:
            if name not in known:
                known[name] = made.field(self._packing, self._variables[name], words)
            return known[name]

        return read

    @property
    def packing(self) -> Packing:
        """Where each variable lies in a state."""
        return self._packing


class _Step:
    """One action, where it is done on the words of a state: what it writes."""

    def __init__(self, compiler: Compiler, made: _Function, words: list[Value], action: Action) -> None:
        self._compiler, self._made, self._words, self._action = compiler, made, words, action
        self._updates = {variable.name: term for variable, term in action.updates.items()}
        self._values = Values(made.builder)
        self._read = compiler.reader(made, words)
        self._before = compiler.terms(self._values, self._read)

    def _later(self, name: str) -> Value:
        """The value of a variable after the step."""
        return self._before.emit(self._updates[name]) if name in self._updates else self._read(name)

    def write_after(self, pointer: Value) -> None:
        """Writes what the action changes of the state, whose other words are there."""
        packing = self._compiler.packing
        changed: dict[int, list[tuple[Variable, Value]]] = {}
        for variable in self._action.updates:
            if packing.fields[variable.name].bits:
                changed.setdefault(packing.fields[variable.name].word, []).append((variable, self._later(variable.name)))
        for word, values in changed.items():
            self._made.store(self._made.replaced(packing, self._words[word], values), pointer, word)

    def write_steps(self, formulas: Sequence[Formula], pointer: Value) -> None:
        """Writes which formulas over two states hold of the step."""

        def leaf(name: str) -> Value:
            return self._later(name[:-1]) if name.endswith("'") else self._read(name)

        both = self._compiler.terms(self._values, leaf)
        flags = {bit: both.emit(f.term) for bit, f in enumerate(formulas) if f.concerns(self._action)}
        for word in range(-(-len(formulas) // 64)):
            mine = {bit % 64: flag for bit, flag in flags.items() if bit // 64 == word}
            self._made.store(self._made.bits(mine), pointer, word)


class _Function:
    """One LLVM function over packed states and bit sets, under construction."""

    def __init__(self, module: ir.Module, name: str, arguments: Sequence[ir.Type], result: ir.Type = VOID) -> None:
        self.function = ir.Function(module, ir.FunctionType(result, arguments), name)
        self.function.attributes.add("nounwind")
        for argument in self.function.args:
            if argument.type is POINTER:
                argument.add_attribute("noalias")
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))

    def _at(self, pointer: Value, word: int) -> Value:
        return self.builder.gep(pointer, [ir.Constant(I64, word)], source_etype=I64) if word else pointer

    def load(self, pointer: Value, word: int) -> Value:
        return self.builder.load(self._at(pointer, word), typ=I64)

    def load_all(self, pointer: Value, words: int) -> list[Value]:
        return [self.load(pointer, word) for word in range(words)]

    def store(self, value: Value, pointer: Value, word: int) -> None:
        self.builder.store(value, self._at(pointer, word))

    def copy(self, source: Value, target: Value, words: int) -> None:
        module = self.function.module
        kind = ir.FunctionType(VOID, [POINTER, POINTER, I64, ir.IntType(1)])
        name = "llvm.memcpy.p0.p0.i64"
        function = module.globals.get(name) or ir.Function(module, kind, name)
        self.builder.call(function, [target, source, ir.Constant(I64, 8 * words), FALSE])

    def field(self, packing: Packing, variable: Variable, words: Sequence[Value]) -> Value:
        """The value of a variable in loaded words."""
        field = packing.fields[variable.name]
        if field.bits == 0:
            return ir.Constant(I64, field.low)
        shifted = self.builder.lshr(words[field.word], ir.Constant(I64, field.shift)) if field.shift else words[field.word]
        if not isinstance(variable.domain, (Number, Choice)):
            return self.builder.trunc(shifted, ir.IntType(field.bits)) if field.bits < 64 else shifted
        masked = self.builder.and_(shifted, ir.Constant(I64, field.mask)) if field.shift + field.bits < 64 else shifted
        return self.builder.add(masked, ir.Constant(I64, field.low)) if field.low else masked

    def replaced(self, packing: Packing, word: Value, values: Iterable[tuple[Variable, Value]]) -> Value:
        """A word with new values of some of its variables."""
        kept, known, placed = _ONES, 0, []
        for variable, value in values:
            field = packing.fields[variable.name]
            kept &= ~(field.mask << field.shift)
            if isinstance(value, ir.Constant):
                known |= (value.constant - field.low & field.mask) << field.shift
                continue
            wide = self.builder.zext(value, I64) if value.type.width < 64 else value
            raw = self.builder.sub(wide, ir.Constant(I64, field.low)) if field.low else wide
            placed.append(self.builder.shl(raw, ir.Constant(I64, field.shift)) if field.shift else raw)
        return self._united([self.builder.and_(word, ir.Constant(I64, kept)), *placed], known)

    def bits(self, flags: Mapping[int, Value]) -> Value:
        """Flags as the bits of a word, by number."""
        known = sum(1 << bit for bit, flag in flags.items() if flag is TRUE)
        shown = {bit: flag for bit, flag in flags.items() if flag is not TRUE and flag is not FALSE}
        wide = {bit: self.builder.zext(flag, I64) for bit, flag in shown.items()}
        placed = [self.builder.shl(flag, ir.Constant(I64, bit)) if bit else flag for bit, flag in wide.items()]
        return self._united(placed, known)

    def _united(self, parts: list[Value], known: int) -> Value:
        """The bits of all parts: a tree, so that none has to wait for all others."""
        parts = [*parts, ir.Constant(I64, known)] if known or not parts else parts
        while len(parts) > 1:
            pairs = [self.builder.or_(one, other) for one, other in zip(parts[::2], parts[1::2], strict=False)]
            parts = pairs + parts[len(parts) - len(parts) % 2 :]
        return parts[0]
