"""Native loops as object code, made by Numba, and the machine instructions that Numba has no words for.

The text of a loop names the instructions from ``loops``. Only a loop that is not stored loads this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TypeAlias

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext as Target
from numba.core.types import Type
from numba.core.typing import Context, Signature
from numba.extending import intrinsic

from fencepost.model.kernel.compiler import loop_compiler
from fencepost.model.kernel.compiler.loop_target import LoopDispatcher, object_code, optimised
from fencepost.model.kernel.compiler.loops import SLOTS, Instruction, Loop, P, R
from fencepost.model.kernel.compiler.store import Stored

I64 = ir.IntType(64)
POINTER = ir.PointerType()

Values: TypeAlias = Sequence[ir.Value]
Instructions: TypeAlias = tuple[Signature, Callable[[Target, ir.IRBuilder, Signature, Values], ir.Value]]
"""The types of an instruction, and what writes it."""


def _at(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    return builder.inttoptr(address, POINTER)


@intrinsic  # type: ignore[untyped-decorator]
def load(typing: Context, address: Type) -> Instructions:
    """The word at an address."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return builder.load(_at(builder, args[0]), typ=I64)

    return types.uint64(types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def load_int(typing: Context, address: Type) -> Instructions:
    """The word at an address, as a signed number."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return builder.load(_at(builder, args[0]), typ=I64)

    return types.int64(types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def bump(typing: Context, address: Type, amount: Type) -> Instructions:
    """Adds to a counter of this thread."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        at = _at(builder, args[0])
        builder.store(builder.add(builder.load(at, typ=I64), args[1]), at)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def store(typing: Context, address: Type, word: Type) -> Instructions:
    """Writes a word at an address."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        builder.store(args[1], _at(builder, args[0]))
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), emit


def _store_part(bits: int) -> Callable[[Target, ir.IRBuilder, Signature, Values], ir.Value]:
    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        builder.store(builder.trunc(args[1], ir.IntType(bits)), _at(builder, args[0]), align=bits // 8)
        return context.get_dummy_value()

    return emit


@intrinsic  # type: ignore[untyped-decorator]
def store_half(typing: Context, address: Type, number: Type) -> Instructions:
    """Writes the lower 32 bits of a number at an address."""
    return types.void(types.int64, types.int64), _store_part(32)


@intrinsic  # type: ignore[untyped-decorator]
def store_quarter(typing: Context, address: Type, number: Type) -> Instructions:
    """Writes the lower 16 bits of a number at an address."""
    return types.void(types.int64, types.int64), _store_part(16)


@intrinsic  # type: ignore[untyped-decorator]
def store_byte(typing: Context, address: Type, number: Type) -> Instructions:
    """Writes the lower 8 bits of a number at an address."""
    return types.void(types.int64, types.int64), _store_part(8)


@intrinsic  # type: ignore[untyped-decorator]
def load_byte(typing: Context, address: Type) -> Instructions:
    """The byte at an address."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return builder.zext(builder.load(_at(builder, args[0]), typ=ir.IntType(8), align=1), I64)

    return types.int64(types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def load_published(typing: Context, address: Type) -> Instructions:
    """The word at an address, with all that its writer wrote before publishing it (acquire)."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return builder.load_atomic(_at(builder, args[0]), "acquire", 8, typ=I64)

    return types.uint64(types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def publish(typing: Context, address: Type, word: Type) -> Instructions:
    """Writes a word where there is zero, after all that this thread wrote before (release); returns the word that was
    there: zero if this succeeded."""
    return types.uint64(types.int64, types.uint64), _publishing(64)


@intrinsic  # type: ignore[untyped-decorator]
def publish_half(typing: Context, address: Type, word: Type) -> Instructions:
    """The same with the lower 32 bits of a word, where 32 bits are zero."""
    return types.uint64(types.int64, types.uint64), _publishing(32)


def _publishing(bits: int) -> Callable[[Target, ir.IRBuilder, Signature, Values], ir.Value]:
    kind = ir.IntType(bits)

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        word = args[1] if bits == I64.width else builder.trunc(args[1], kind)
        pair = builder.cmpxchg(_at(builder, args[0]), ir.Constant(kind, 0), word, "acq_rel", "acquire")
        there = builder.extract_value(pair, 0)
        return there if bits == I64.width else builder.zext(there, I64)

    return emit


@intrinsic  # type: ignore[untyped-decorator]
def alike(typing: Context, line: Type, word: Type, mask: Type) -> Instructions:
    """The bit set of the words of the cache line at an address that equal a word in the bits of a mask. The eight are compared
    at once, each as it was at some moment (relaxed)."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        mask = _splat(builder, args[2])
        return _where_zero(builder, builder.and_(_differing(builder, args[0], args[1]), mask))

    return types.uint64(types.int64, types.uint64, types.uint64), emit


@intrinsic  # type: ignore[untyped-decorator]
def alike_halves(typing: Context, line: Type, word: Type) -> Instructions:
    """The same of the half words of the cache line that equal the lower half of a word."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return _where_zero(builder, _differing(builder, args[0], builder.trunc(args[1], ir.IntType(32))))

    return types.uint64(types.int64, types.uint64), emit


def _differing(builder: ir.IRBuilder, line: ir.Value, value: ir.Value) -> ir.Value:
    """The bits in which each part of a cache line differs from a value that is as wide."""
    its = _splat(builder, value)
    return builder.xor(builder.load(_at(builder, line), typ=its.type, align=8 * SLOTS), its)


def _where_zero(builder: ir.IRBuilder, parts: ir.Value) -> ir.Value:
    count = parts.type.count
    equal = builder.icmp_unsigned("==", parts, ir.Constant(parts.type, [0] * count))
    return builder.zext(builder.bitcast(equal, ir.IntType(count)), I64)


def _splat(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    count = SLOTS * I64.width // value.type.width
    kind, numbers = ir.VectorType(value.type, count), ir.VectorType(ir.IntType(32), count)
    single = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, single, ir.Constant(numbers, [0] * count))


@intrinsic  # type: ignore[untyped-decorator]
def fetch_add(typing: Context, address: Type, amount: Type) -> Instructions:
    """Adds to a shared counter; returns what it was before."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return builder.atomic_rmw("add", _at(builder, args[0]), args[1], "monotonic")

    return types.int64(types.int64, types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Context, address: Type) -> Instructions:
    """Asks for the cache line at an address, to be written soon."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        i32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [POINTER, i32, i32, i32])
        function = builder.module.globals.get("llvm.prefetch.p0") or ir.Function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [_at(builder, args[0]), ir.Constant(i32, 0), ir.Constant(i32, 3), ir.Constant(i32, 1)])
        return context.get_dummy_value()

    return types.void(types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(typing: Context, word: Type) -> Instructions:
    """The number of the lowest bit that is set; 64 if none is."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), emit


@intrinsic  # type: ignore[untyped-decorator]
def bit_count(typing: Context, word: Type) -> Instructions:
    """How many bits are set."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), emit


@intrinsic  # type: ignore[untyped-decorator]
def deposit(typing: Context, bits: Type, mask: Type) -> Instructions:
    """The low bits put, in order, where the mask has ones (pdep)."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        name = "llvm.x86.bmi.pdep.64"
        function = builder.module.globals.get(name) or ir.Function(builder.module, ir.FunctionType(I64, [I64, I64]), name)
        return builder.call(function, args)

    return types.uint64(types.uint64, types.uint64), emit


def _call(builder: ir.IRBuilder, function: ir.Value, args: Values) -> None:
    """Calls a function of a protocol by its address; its arguments are all words or addresses."""
    kind = ir.FunctionType(ir.VoidType(), [I64] * len(args))
    builder.call(builder.inttoptr(function, kind.as_pointer()), args)


@intrinsic  # type: ignore[untyped-decorator]
def call2(typing: Context, function: Type, first: Type, second: Type) -> Instructions:
    """Calls the function at an address with two words: ``enabled``, ``observe``, ``canonical`` and those in planes."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        _call(builder, args[0], args[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


@intrinsic  # type: ignore[untyped-decorator]
def call3(typing: Context, function: Type, first: Type, second: Type, third: Type) -> Instructions:
    """Calls the function at an address with three words: ``apply`` and ``observe_step``."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        _call(builder, args[0], args[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), emit


@intrinsic  # type: ignore[untyped-decorator]
def call4(typing: Context, function: Type, first: Type, second: Type, third: Type, fourth: Type) -> Instructions:
    """Calls the function at an address with four words: ``step_planes``."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        _call(builder, args[0], args[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), emit


@intrinsic  # type: ignore[untyped-decorator]
def call6(
    typing: Context, function: Type, first: Type, second: Type, third: Type, fourth: Type, fifth: Type, sixth: Type
) -> Instructions:
    """Calls the function at an address with six words: ``advance``."""

    def emit(context: Target, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
        _call(builder, args[0], args[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 7), emit


_FROM_THE_SYSTEM = ("memcpy", "memset", "memmove")
"""What object code may call that is not in it."""

_DISPATCHERS: dict[object, LoopDispatcher] = {}
"""By loop."""


def compiled(loop: Loop[P, R], arguments: Sequence[object]) -> Stored:
    """The loop for arguments of these types. Raises what Numba raises, and TypeError for a loop whose code needs something of
    Numba's: it may not allocate."""
    written = _dispatcher(loop).written(tuple(_type(each) for each in arguments))
    module = optimised(written)
    missing = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    if needed := sorted(set(missing) - set(_FROM_THE_SYSTEM)):
        raise TypeError(f"{loop.function.__qualname__}: a native loop can have no use for {', '.join(needed)}")
    return Stored(object_code(written, module), written.fndesc.llvm_func_name, str(written.signature.return_type))


def _dispatcher(loop: Loop[P, R]) -> LoopDispatcher:
    """A loop as Numba has it: the loops and the instructions that it calls are in its globals as Numba's."""
    if loop not in _DISPATCHERS:
        function = loop.function
        named = set(function.__code__.co_names)
        around = {name: _meant(value) if name in named else value for name, value in function.__globals__.items()}
        copy = FunctionType(function.__code__, around, function.__name__, function.__defaults__)
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        _DISPATCHERS[loop] = LoopDispatcher(copy, nogil=True, forceinline=loop.inline)
    return _DISPATCHERS[loop]


def _meant(value: object) -> object:
    if isinstance(value, Loop):
        return _dispatcher(value)
    return getattr(loop_compiler, value.name) if isinstance(value, Instruction) else value


def _type(argument: object) -> Type:
    """The type that an argument is passed as: 64 bits for each number."""
    kind: Type
    if isinstance(argument, tuple):
        kind = types.BaseTuple.from_types([_type(each) for each in argument], type(argument))
    elif isinstance(argument, (np.ndarray, np.uint64)):
        kind = numba.typeof(argument)
    else:
        kind = numba.typeof(int(argument)) if isinstance(argument, int) else types.int64
    return kind
