"""Native loops: Python functions of words and addresses that Numba compiles once, as object code that later processes load.

Addresses are plain integers. A loop takes the addresses of a protocol's compiled functions as values, so it is compiled once
for all protocols. What a loop writes to it also gets by address, or as an array that its caller has made: it allocates nothing
itself, so that its code needs nothing of Numba's. Numba is loaded where a loop is not stored.

A crew of threads runs such a loop on all cores.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from queue import Empty, SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, cast

import llvmlite.binding as llvm
import numpy as np

from fencepost.model.kernel.compiler.instructions import Code
from fencepost.model.kernel.compiler.store import Stored, read_loop, turn_at, write_loop

SLOTS = 8
"""Words in a cache line."""

Word: TypeAlias = np.uint64
Integer: TypeAlias = "int | np.int64"
"""A signed number, or an address, in a loop."""

Truth: TypeAlias = "bool | np.bool_"
Real: TypeAlias = "float | np.float64"

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Instruction(Generic[P, R_co]):
    """Stands in the text of a loop for the function of that name in ``loop_compiler``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *_: P.args, **__: P.kwargs) -> R_co:
        raise TypeError(f"{self.name} is an instruction of the machine: only a native loop has a use for it")


load: Instruction[[Integer], Word] = Instruction("load")
load_int: Instruction[[Integer], int] = Instruction("load_int")
store: Instruction[[Integer, Word], None] = Instruction("store")
store_half: Instruction[[Integer, Integer], None] = Instruction("store_half")
store_quarter: Instruction[[Integer, Integer], None] = Instruction("store_quarter")
store_byte: Instruction[[Integer, Integer], None] = Instruction("store_byte")
load_byte: Instruction[[Integer], int] = Instruction("load_byte")
bump: Instruction[[Integer, Integer], None] = Instruction("bump")
load_published: Instruction[[Integer], Word] = Instruction("load_published")
publish: Instruction[[Integer, Word], Word] = Instruction("publish")
fetch_add: Instruction[[Integer, Integer], int] = Instruction("fetch_add")
publish_half: Instruction[[Integer, Word], Word] = Instruction("publish_half")
alike: Instruction[[Integer, Word, Word], Word] = Instruction("alike")
alike_halves: Instruction[[Integer, Word], Word] = Instruction("alike_halves")
prefetch: Instruction[[Integer], None] = Instruction("prefetch")
lowest_bit: Instruction[[Word], int] = Instruction("lowest_bit")
bit_count: Instruction[[Word], int] = Instruction("bit_count")
deposit: Instruction[[Word, Word], Word] = Instruction("deposit")
call2: Instruction[[Integer, Integer, Integer], None] = Instruction("call2")
call3: Instruction[[Integer, Integer, Integer, Integer], None] = Instruction("call3")
call4: Instruction[[Integer, Integer, Integer, Integer, Integer], None] = Instruction("call4")
call6: Instruction[[Integer, Integer, Integer, Integer, Integer, Integer, Integer], None] = Instruction("call6")

_LOADING = threading.RLock()
_LONGEST = 60.0
"""Seconds that another process may take to compile a loop before this one does it, too: ten times as many as the longest."""


class Loop(Generic[P, R]):
    """A native loop. It is called with integers, arrays and named tuples of these, and runs without Python's lock; other loops
    have it compiled into them: ``inline`` says whether in each place that calls it."""

    def __init__(self, function: Callable[P, R], *, inline: bool = False) -> None:
        self.function, self.inline = function, inline
        self._ready: dict[str, _Native] = {}

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Raises TypeError for arguments by name."""
        if named:
            raise TypeError(f"a native loop takes its arguments in order, not {', '.join(named)}")
        kind, words = _kind_and_words(arguments)
        native_code = self._ready.get(kind) or self._made_ready(kind, arguments)
        return cast(R, native_code(words))  # what object code returns is of the type that its loop was compiled for

    @property
    def is_ready(self) -> bool:
        """Whether it has been made ready, for arguments of some types."""
        return bool(self._ready)

    def prepare(self, arguments: Sequence[object], *, wait: bool) -> None:
        """Makes the loop ready for arguments of these types; without ``wait`` only if no other process compiles it just now."""
        kind, words = _kind_and_words(arguments)
        with _LOADING:
            if kind not in self._ready and (stored := self._stored(kind, arguments, wait=wait)) is not None:
                self._ready[kind] = _Native(stored, len(words))

    def _made_ready(self, kind: str, arguments: Sequence[object]) -> _Native:
        self.prepare(arguments, wait=True)
        return self._ready[kind]

    def _stored(self, kind: str, arguments: Sequence[object], *, wait: bool) -> Stored | None:
        function = self.function
        place = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__.lstrip('_')}"
        code = function.__code__
        exact = repr((function.__module__, kind, code.co_code, code.co_consts, code.co_names)).encode()
        name = f"{place}-{hashlib.sha256(exact).hexdigest()[:16]}"
        return read_loop(name) or self._compiled(name, arguments, wait=wait)

    def _compiled(self, name: str, arguments: Sequence[object], *, wait: bool) -> Stored | None:
        with turn_at(name, _LONGEST if wait else 0.0) as is_mine:
            if not (is_mine or wait):
                return None
            if (stored := read_loop(name)) is not None:  # by whoever's turn it was before
                return stored
            from fencepost.model.kernel.compiler.loop_compiler import compiled

            new = compiled(self, arguments)
            write_loop(name, new)
            return new


def prepare(*calls: tuple[Loop[..., Any], Sequence[object]]) -> None:
    """Makes loops ready for arguments like these. What another process compiles just now comes last: processes that begin at
    the same time share the work."""
    for wait in (False, True):
        for loop, arguments in calls:
            loop.prepare(arguments, wait=wait)


class _Native:
    """The object code of a loop for arguments of some types, in Numba's way of calling: the addresses of the result and of what
    was raised, then each word of the arguments; a status comes back, which is negative or 0 unless something was raised."""

    def __init__(self, stored: Stored, words: int) -> None:
        self._object = Code(stored.code, [stored.symbol])
        address = self._object.address(stored.symbol)
        self._call = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * words)(address)
        self._returns = _RESULTS[stored.returns]

    def __call__(self, words: Sequence[int]) -> Result:
        result, raised = (ctypes.c_int64 * 4)(), ctypes.c_void_p()
        if (status := self._call(ctypes.addressof(result), ctypes.addressof(raised), *words)) not in _RETURNED:
            raise RuntimeError(f"a native loop ended with status {status}")
        return self._returns(result)


_GREATEST = (1 << 63) - 1
"""The greatest number that is passed with a sign."""

_RETURNED = (0, -2)
"""The statuses of a function that returned, something and None."""

Result: TypeAlias = "bool | int | tuple[int, int] | None"

_RESULTS: dict[str, Callable[[ctypes.Array[ctypes.c_int64]], Result]] = {
    "none": lambda _: None,
    "bool": lambda result: bool(result[0] & 1),
    "int64": lambda result: result[0],
    "uint64": lambda result: result[0] & (1 << 64) - 1,
    "UniTuple(int64 x 2)": lambda result: (result[0], result[1]),
}
"""What loops return, by Numba's name of the type."""


def _kind_and_words(arguments: Iterable[object]) -> tuple[str, list[int]]:
    """What decides how a loop is compiled for arguments, and their words."""
    kinds, words = list[str](), list[int]()
    for argument in arguments:
        _flatten(argument, kinds, words)
    return " ".join(kinds), words


def _flatten(argument: object, kinds: list[str], words: list[int]) -> None:
    """Adds what decides how an argument is compiled, and its words in Numba's order; TypeError for what no loop takes."""
    if isinstance(argument, (int, np.integer, np.bool_)):
        kinds.append("u" if isinstance(argument, np.uint64) or argument > _GREATEST else "i")
        words.append(int(argument))
    elif isinstance(argument, np.ndarray):
        layout = "C" if argument.flags.c_contiguous else "F" if argument.flags.f_contiguous else "A"
        kinds.append(f"{argument.dtype.str}{argument.ndim}{layout}{'' if argument.flags.writeable else ' read'}")
        words += (0, 0, argument.size, argument.itemsize, argument.ctypes.data, *argument.shape, *argument.strides)
    elif isinstance(argument, tuple):
        try:
            its_kind, its_words = _flat(type(argument).__name__, *argument)
        except TypeError:  # of arrays, which are not hashed
            its_kind, its_words = _flattened(type(argument).__name__, argument)
        kinds.append(its_kind)
        words += its_words
    else:
        raise TypeError(f"a native loop takes no {type(argument).__name__}")


def _flattened(name: str, parts: Sequence[object]) -> tuple[str, list[int]]:
    """What decides how a tuple is compiled, and its words."""
    kinds, words = [f"{name}("], list[int]()
    for each in parts:
        _flatten(each, kinds, words)
    return " ".join((*kinds, ")")), words


@lru_cache(maxsize=256, typed=True)
def _flat(name: str, *parts: object) -> tuple[str, list[int]]:
    """The same, once for each tuple of addresses and sizes: a small search calls its loops with these again and again."""
    return _flattened(name, parts)


def native(function: Callable[P, R]) -> Loop[P, R]:
    """Makes a function a native loop."""
    return Loop(function)


def native_inline(function: Callable[P, R]) -> Loop[P, R]:
    """Makes a function a native loop whose code is in each place that calls it. A call hands over every word of a named tuple:
    for each successor of a search that takes longer than to hash it."""
    return Loop(function, inline=True)


@native
def by_deposit(word: Word, rank: Integer) -> Integer:
    """What ``lowest_bit_but`` gives, without a branch."""
    return lowest_bit(deposit(np.uint64(1) << np.uint64(rank), word))


@native
def by_clearing(word: Word, rank: Integer) -> Integer:
    """What ``lowest_bit_but`` gives, on any machine."""
    for _ in range(rank):
        word &= word - np.uint64(1)
    return lowest_bit(word)


HAS_DEPOSIT = bool(llvm.get_host_cpu_features().get("bmi2"))
lowest_bit_but = by_deposit if HAS_DEPOSIT else by_clearing
"""The number of the lowest bit of a word that is set except for ``rank`` lower ones; there must be one."""


T = TypeVar("T")

_GLANCE = 0.05
"""Seconds between two calls of ``meanwhile``."""


class Crew:
    """A fixed number of threads; by default as many as there are cores for this process.

    A search has work for them at every level, often for less than a millisecond; to hand it over by queues takes less than half
    the time that an executor of the standard library takes.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"the number of workers is {workers}, and it must be at least 1")
        self.size = workers or _cores()
        self._tasks: list[SimpleQueue[Callable[[int], None] | None]] = [SimpleQueue() for _ in range(self.size)]
        self._ended: SimpleQueue[int] = SimpleQueue()
        self._threads = list[Thread]()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for tasks in self._tasks:
            tasks.put(None)
        for thread in self._threads:
            thread.join()

    def run(
        self,
        task: Callable[[int], T],
        meanwhile: Callable[[], None] = lambda: None,
        abandon: Callable[[], None] = lambda: None,
    ) -> list[T]:
        """Runs ``task(worker)`` for every worker and returns what each returned; calls ``meanwhile`` in this thread while
        they run. If that or an interrupt raises, calls ``abandon``, waits for the workers and raises it; if a task raises,
        that. The threads start with the first task: many a search is too small for any."""
        if not self._threads:
            for number in range(self.size):
                thread = Thread(target=self._work, args=(number,))
                thread.start()  # there may be no room for one more: only those that run are waited for
                self._threads.append(thread)
        returned, raised = dict[int, T](), dict[int, BaseException]()

        def do(number: int) -> None:
            try:
                returned[number] = task(number)
            except BaseException as error:
                raised[number] = error

        for tasks in self._tasks:
            tasks.put(do)
        try:
            self._wait(returned, raised, meanwhile)
        except BaseException:
            abandon()
            self._wait(returned, raised, lambda: None)
            raise
        for error in raised.values():
            raise error
        return [returned[number] for number in range(self.size)]

    def _wait(self, returned: Mapping[int, object], raised: Mapping[int, BaseException], meanwhile: Callable[[], None]) -> None:
        """Waits until all workers have ended. That is told by what they have left behind: an interrupt may take what the queue
        gives, and then it only wakes too early."""
        while len(returned) + len(raised) < self.size:
            try:
                self._ended.get(timeout=_GLANCE)
            except Empty:
                meanwhile()

    def _work(self, number: int) -> None:
        while (task := self._tasks[number].get()) is not None:
            task(number)
            self._ended.put(number)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
