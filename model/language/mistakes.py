"""Where something is written, and what is said of a mistake there."""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType

from fencepost.model.terms.nodes import Term


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


_LANGUAGE = ("fencepost.model.language.", "fencepost.model.any_size.", "fencepost.model.terms.")
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
    if isinstance(error, KeyError):
        any_member = bool(error.args) and isinstance(error.args[0], Term)
        remedy = ": of any number of members a formula is written where it is used, not looked up" if any_member else ""
        return f"a dict has no entry {text!r}{remedy}"
    return " ".join(text.split())
