"""A function that a user wrote, taken from the text of its file: what is wrong with the file is named by its line.

The text travels with the function, so that a worker elsewhere runs the very same.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import Any, Protocol

from fencepost.model.own_sources import run_code_of

Called = Callable[..., Any]


class Code(Protocol):
    """Something of a user's that answers: a function of Python, or a class of a jar."""

    @property
    def call(self) -> Called:
        """What is called."""
        ...

    def takes(self, arguments: int) -> bool:
        """Whether it can be called with that many arguments."""
        ...

    def message_of(self, error: BaseException) -> str:
        """An error as a user reads it."""
        ...


class UserCodeError(Exception):
    """A file that cannot be used as a policy; the message names the file, the line if there is one, and the remedy."""


@dataclass(frozen=True)
class UserFunction:
    """A function by name in a file of Python: the file's name, its text, the function's name."""

    file: str
    text: str = field(repr=False)
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"

    @property
    def call(self) -> Called:
        """The function; the file is executed once in each process. Raises UserCodeError."""
        return _defined(self)

    def takes(self, arguments: int) -> bool:
        """Whether it can be called with that many arguments. Raises UserCodeError."""
        return _takes(self, arguments)

    def line_of(self, error: BaseException) -> int | None:
        """The line of the file from which an error comes; None if it is not from there."""
        if isinstance(error, SyntaxError) and error.filename == self.file:
            return error.lineno
        lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == self.file]
        return lines[-1] if lines else None

    def message_of(self, error: BaseException) -> str:
        """An error as a user reads it: file, line, kind and message."""
        line = self.line_of(error)
        where = self.file if line is None else f"{self.file}:{line}"
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        return f"{where}: {type(error).__name__}{': ' if message else ''}{message}"


@lru_cache(maxsize=32)
def _defined(function: UserFunction) -> Called:
    module = ModuleType(f"policy in {function.file}")
    sys.modules[module.__name__] = module  # dataclasses look up the module of a class there
    run_code_of(function.file)
    try:
        exec(compile(function.text, function.file, "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:
        raise UserCodeError(function.message_of(error)) from error
    value = getattr(module, function.name, None)
    if not inspect.isroutine(value):
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        functions = [name for name in own if inspect.isroutine(getattr(module, name))]
        there = f"it has {', '.join(functions)}" if functions else "it has none"
        raise UserCodeError(f"{function.file}: has no function {function.name!r}; {there}")
    return value


@lru_cache(maxsize=64)
def _takes(function: UserFunction, arguments: int) -> bool:
    try:
        inspect.signature(function.call).bind(*[None] * arguments)
    except TypeError:
        return False
    return True
