"""Where something is written, and what is said of a mistake there: whatever goes wrong in a function that declares is one."""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import ParamSpec, TypeVar

from fencepost.model.terms.nodes import Term

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Location:
    """A line of a file."""

    file: str
    line: int

    @classmethod
    def of(cls, function: Callable[..., object]) -> Location:
        code = inspect.unwrap(function).__code__
        return cls(code.co_filename, code.co_firstlineno)

    def __str__(self) -> str:
        path = Path(self.file)
        if "fencepost" in path.parts:
            package = len(path.parts) - 1 - path.parts[::-1].index("fencepost")
            return f"{'/'.join(path.parts[package + 1 :])}:{self.line}"
        here = Path.cwd()
        return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{self.line}"


@cache
def _plain(docstring: str) -> str:
    return inspect.cleandoc(docstring)


def doc_of(function: Callable[..., object]) -> str:
    """What a function says of itself, without the indentation of its text."""
    return _plain(function.__doc__ or "")


_LANGUAGE = tuple(f"fencepost.model.{room}." for room in ("language", "any_size", "analysis", "terms"))
_MODELS = ("fencepost.model.", "fencepost.properties.")


class ModelError(Exception):
    """A protocol that cannot be built as written; the message names the action and the variable, and the remedy.

    ``location`` is the line of the model that is to blame and comes first where the error is printed: unless it is given, the
    line that called the language, which found the mistake. An error that a model raises itself has none.
    """

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location or _calling(sys._getframe(1))

    def __str__(self) -> str:
        return f"{self.location}: {self.args[0]}" if self.location else str(self.args[0])


class ArgumentError(ModelError):
    """What is asked of a protocol that it does not have: no line of the model is to blame."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.location = None


def _calling(frame: FrameType | None) -> Location | None:
    """The line of a model from which the language was called that this frame is of; None if it is none of the language's."""
    if frame is None or not _is_of_language(frame):
        return None
    while frame is not None and _is_of_language(frame):
        frame = frame.f_back
    return None if frame is None or not _is_of_model(frame) else Location(frame.f_code.co_filename, frame.f_lineno)


_SIGNATURES: dict[CodeType, inspect.Signature] = {}


def signature_of(function: Callable[..., object]) -> inspect.Signature:
    """The signature of a function, made once for each text of one: those of a protocol are there again in each instance of it.
    Raises what ``inspect.signature`` raises."""
    is_plain = isinstance(function, FunctionType) and not (function.__defaults__ or function.__kwdefaults__ or vars(function))
    if not is_plain:
        return inspect.signature(function)
    known = _SIGNATURES.get(function.__code__)
    return known or _SIGNATURES.setdefault(function.__code__, inspect.signature(function))


def raised_at(trace: TracebackType | None) -> Location | None:
    """The innermost line of a model that an exception came through."""
    innermost = None
    while trace is not None:
        if not _is_of_language(trace.tb_frame) and _is_of_model(trace.tb_frame):
            innermost = Location(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return innermost


def _is_of_language(frame: FrameType) -> bool:
    """Whether it is the language's, or of a module above it that asks, as pytest has it, to be left out of what is shown."""
    return _module(frame).startswith(_LANGUAGE) or bool(frame.f_globals.get("__tracebackhide__"))


def _is_of_model(frame: FrameType) -> bool:
    """Whether it is of a model, Fencepost's or a user's, and not of what works on models."""
    return not _module(frame).startswith("fencepost.") or _module(frame).startswith(_MODELS)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def guess(name: str, names: Iterable[str]) -> str:
    """What may be meant by a name that is none of ``names``, to be put behind it in a message; empty if none is like it."""
    close = difflib.get_close_matches(name, list(names), 1)
    return f" (did you mean {close[0]}?)" if close else ""


def reason(error: BaseException) -> str:
    """What an exception says, in one line."""
    text = str(error.args[0]) if error.args else type(error).__name__
    if isinstance(error, AttributeError) and error.name and error.obj is not None and "did you mean" not in text:
        text += guess(error.name, [name for name in dir(error.obj) if not name.startswith("_")])
    if isinstance(error, KeyError):
        any_member = bool(error.args) and isinstance(error.args[0], Term)
        remedy = ": of any number of members a formula is written where it is used, not looked up" if any_member else ""
        return f"a dict has no entry {text!r}{remedy}"
    return " ".join(text.split())


MISTAKES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    ModelError,
    NameError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What Python raises in a function that is written wrong."""


_REMEDIES = {
    "Protocol.step() ": '; write @p.step(by="who does it", member=universe)',
    "Protocol.fault() ": '; write @p.fault(by="who does it", member=universe)',
    "argument of type 'Subset' is not iterable": "; whether a subset has a member is subset.has(member)",
    "'Subset' object is not iterable": "; go through its universe, and ask subset.has(member)",
    "'Subset' has no len()": "; at_least(n, (subset.has(member) for member in universe)) counts",
    "'Family' object is not callable": "; an index is in square brackets",
    "'int' object has no attribute 'has'": "; it is the subset that has a member: subset.has(member)",
    "all_of() takes": "; And joins formulas that are written out",
    "any_of() takes": "; Or joins formulas that are written out",
    "object is not iterable": "; a universe, p.universe(name, size), or a range is meant",
    "unexpected keyword argument 'bugs'": "; a function that builds a protocol takes bugs=()",
    "'Choice' and": "; a choice has no order, and nothing is added to it: compare it by ==, != or .among(...)",
    "and 'Choice'": "; a choice has no order, and nothing is added to it: compare it by ==, != or .among(...)",
    "unexpected keyword argument": "; the parameters of an action are those that its decorator names",
}
"""What to do about what Python says in words of its own."""


def build(where: str, function: Callable[P, R], /, *arguments: P.args, **named: P.kwargs) -> R:
    """What the function returns; ModelError, beginning with ``where``, if it fails or asks Python for a formula's truth."""
    try:
        return function(*arguments, **named)
    except MISTAKES as error:
        location = error.location if isinstance(error, ModelError) else None
        message = reason(error)
        remedy = next((remedy for words, remedy in _REMEDIES.items() if words in message), "")
        raise ModelError(f"{where}: {message}{remedy}", location or raised_at(error.__traceback__) or _of(function)) from error


def built(where: str, what: type[R], function: Callable[..., object], /, *arguments: object, **named: object) -> R:
    """What a function returns that makes a ``what``: a protocol, its properties. Raises ModelError as ``build`` does, or if it
    returns anything else, but leaves those that the function raises as they are."""
    try:
        value = build(where, function, *arguments, **named)
    except ModelError as error:
        if isinstance(error.__cause__, ModelError):
            raise error.__cause__ from None
        raise
    if not isinstance(value, what):
        shown = "nothing: is its return forgotten?" if value is None else f"{value!r}"
        raise ModelError(f"{where}: it returns a {what.__name__}, not {shown}", _of(function))
    return value


def _of(function: Callable[..., object]) -> Location | None:
    return Location.of(function) if hasattr(inspect.unwrap(function), "__code__") else None
