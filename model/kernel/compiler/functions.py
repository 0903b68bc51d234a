"""The functions of a protocol that the loops call, as LLVM IR.

Every function takes pointers to packed states (arrays of i64 words) and to bit sets, and has no effect but its output:

- ``enabled(state, mask)`` writes the bit set of the actions whose guard holds;
- ``observe(state, mask)`` writes the bit set of the observed formulas that hold;
- ``observe_step(state, after, mask)`` writes the bit set of the observed formulas over two states that hold;
- ``apply(state, action, after)`` writes the state after that action, whether or not its guard holds;
- ``advance(state, action, after, steps, enabled, observed)`` does the same, writes what ``observe_step`` writes of these two,
  and brings the bit sets of ``enabled`` and ``observe``, which are those of ``state``, up to date, looking only at what the
  action may change.

Everything that is said of one action's step is written with that action's updates in place of the variables: of what they make
certain nothing is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from fencepost.model.kernel.compiler.instructions import ONES, Constant, Function, Value, constant
from fencepost.model.kernel.compiler.packing import Packing
from fencepost.model.kernel.compiler.terms import Stillness, Terms
from fencepost.model.language import Action, Protocol, Variable
from fencepost.model.language.domains import Choice, Number
from fencepost.model.terms.values import Condition


class Compiler:
    """Writes the LLVM functions of one protocol and its observed formulas; as text they are the module."""

    def __init__(self, protocol: Protocol, packing: Packing) -> None:
        self.protocol, self.packing = protocol, packing
        self.variables = {v.name: v for v in protocol.variables}
        self.bits = {v.name: 1 << place for place, v in enumerate(protocol.variables)}
        self._functions: list[Function] = []

    def __str__(self) -> str:
        return "\n".join(map(str, self._functions))

    def enabled(self, actions: Sequence[Action]) -> None:
        self._masked("enabled", [a.guard for a in actions], 1)

    def observe(self, formulas: Sequence[Condition]) -> None:
        self._masked("observe", formulas, 1)

    def observe_step(self, formulas: Sequence[Condition]) -> None:
        self._masked("observe_step", formulas, 2)

    def apply(self, actions: Sequence[Action]) -> None:
        function = self._function("apply", 3, words=[1])
        state, number, after = function.arguments
        words = function.load_all(state, self.packing.words)
        for place, word in enumerate(words):
            function.store(word, after, place)
        function.switch(number, len(actions))
        for case, action in enumerate(actions):
            function.block(f"case_{case}")
            _Step(self, function, words, action).write_after(after)
            function.branch("end")
        function.block("end")
        function.end()

    def advance(self, actions: Sequence[Action], formulas: Sequence[Condition], observed: Sequence[Condition]) -> None:
        """Each action has a function of its own, because the time that LLVM takes for one grows faster than its text."""
        stillness = self._stillness(formulas)
        guards = [action.guard for action in actions]
        self._by_action(
            "advance", [self._advance_by(case, action, stillness, guards, observed) for case, action in enumerate(actions)]
        )

    def _by_action(self, name: str, parts: Sequence[Function]) -> None:
        """A function that takes the number of an action second and does what the part for that action does with the rest."""
        function = self._function(name, len(parts[0].arguments) + 1 if parts else 2, words=[1])
        state, number, *outputs = function.arguments
        function.switch(number, len(parts))
        for case, part in enumerate(parts):
            function.block(f"case_{case}")
            function.call(part, [state, *outputs], tail=True)
            function.branch("end")
        function.block("end")
        function.end()

    def _advance_by(
        self, case: int, action: Action, stillness: Stillness, guards: Sequence[Condition], observed: Sequence[Condition]
    ) -> Function:
        part = self._function(f"step_{case}", 5, inner=True)
        before, after, held, enabled, seen = part.arguments
        words = part.load_all(before, self.packing.words)
        for place, word in enumerate(words):
            part.store(word, after, place)
        step = _Step(self, part, words, action)
        step.write_after(after)
        step.write_steps(stillness, held)
        step.write_changes(guards, enabled)
        step.write_changes(observed, seen)
        part.end()
        return part

    def _stillness(self, formulas: Sequence[Condition]) -> Stillness:
        scratch = Function("still", 1)
        read = self.reader(scratch, scratch.load_all(scratch.arguments[0], self.packing.words))
        still = Terms(scratch, lambda name: read(name.removesuffix("'")))
        return Stillness(list(formulas), still, self.bits)

    def _masked(self, name: str, formulas: Sequence[Condition], states: int) -> None:
        """A function that writes the truth of the formulas as a bit set, which has a word even if there are none of them."""
        function = self._function(name, states + 1)
        *addresses, mask = function.arguments
        readers = [self.reader(function, function.load_all(address, self.packing.words)) for address in addresses]
        terms = Terms(function, lambda name: readers[name.endswith("'")](name.removesuffix("'")))
        flags = {place: terms.emit(formula) for place, formula in enumerate(formulas)}
        for word, mine in _by_word(flags).items():
            function.store(function.bits(mine), mask, word)
        if not flags:
            function.store(constant(64, 0), mask, 0)
        function.end()

    def _function(self, name: str, takes: int, words: Sequence[int] = (), *, inner: bool = False) -> Function:
        function = Function(name, takes, words, inner=inner)
        self._functions.append(function)
        return function

    def reader(self, function: Function, words: Sequence[Value]) -> Callable[[str], Value]:
        """The values of variables, by name, in loaded words; each is taken out once."""
        known: dict[str, Value] = {}

        def read(name: str) -> Value:
            if name not in known:
                known[name] = self._taken_out(function, self.variables[name], words)
            return known[name]

        return read

    def _taken_out(self, function: Function, variable: Variable, words: Sequence[Value]) -> Value:
        field = self.packing.fields[variable.name]
        if field.bits == 0:
            return constant(64, field.low)
        shifted = function.shifted(words[field.word], -field.shift)
        if not isinstance(variable.domain, (Number, Choice)):
            return function.resized(shifted, field.bits)
        masked = function.join("and", shifted, constant(64, field.mask)) if field.shift + field.bits < 64 else shifted
        return function.join("add", masked, constant(64, field.low)) if field.low else masked

    def replaced(self, function: Function, word: Value, values: Iterable[tuple[Variable, Value]]) -> Value:
        """A word with new values of some of its variables."""
        mask, known, placed = ONES, 0, list[Value]()
        for variable, value in values:
            field = self.packing.fields[variable.name]
            mask &= ~(field.mask << field.shift)
            if isinstance(value, Constant):
                known |= (value.constant - field.low & field.mask) << field.shift
                continue
            wide = function.resized(value, 64)
            raw = function.join("sub", wide, constant(64, field.low)) if field.low else wide
            placed.append(function.shifted(raw, field.shift))
        return function.united([function.join("and", word, constant(64, mask)), *placed], known)


class _Step:
    """One action, where it is done on the words of a state: what it writes."""

    def __init__(self, compiler: Compiler, function: Function, words: list[Value], action: Action) -> None:
        self._compiler, self._function, self._words, self._action = compiler, function, words, action
        self._updates = {variable.name: term for variable, term in action.updates.items()}
        self._read = compiler.reader(function, words)
        self._before = Terms(function, self._read)

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
            self._function.store(self._compiler.replaced(self._function, self._words[word], values), pointer, word)

    def write_changes(self, formulas: Sequence[Condition], pointer: Value) -> None:
        """Brings up to date which formulas hold, in a bit set that is there."""
        later = Terms(self._function, self._later)
        concerned = (not self._compiler.protocol.variables_of(f).isdisjoint(self._action.updates) for f in formulas)
        flags = {bit: later.emit(formulas[bit]) for bit, is_it in enumerate(concerned) if is_it}
        for word, mine in _by_word(flags).items():
            others = constant(64, ONES - sum(1 << bit for bit in mine))
            unchanged = self._function.join("and", self._function.load(pointer, word), others)
            self._function.store(self._function.united([unchanged, self._function.bits(mine)]), pointer, word)

    def write_steps(self, stillness: Stillness, pointer: Value) -> None:
        """Writes which formulas over two states hold of the step."""
        changed = sum(self._compiler.bits[name] for name in self._updates)

        def leaf(name: str) -> Value:
            return self._later(name[:-1]) if name.endswith("'") else self._read(name)

        both = Terms(self._function, leaf, lambda part: stillness.certain(part, changed))
        flags = {bit: both.emit(formula) for bit, formula in enumerate(stillness.formulas)}
        for word, mine in _by_word(flags).items():
            self._function.store(self._function.bits(mine), pointer, word)


def _by_word(flags: Mapping[int, Value]) -> dict[int, dict[int, Value]]:
    """Flags by the word of a bit set that they are in, and by the bit of that word."""
    words = defaultdict[int, dict[int, Value]](dict)
    for number, flag in flags.items():
        words[number // 64][number % 64] = flag
    return words
