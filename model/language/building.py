"""Calling the functions of which a protocol or a suite is made: whatever goes wrong in one is a mistake in the protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import z3

from fencepost.model.language.mistakes import ModelError, reason

_OUTLINED = ContextVar("outlined", default=False)


@contextmanager
def in_outline() -> Iterator[None]:
    """Within it protocols and suites keep to what is declared: variables, defects and properties by name.

    There is no action, and the formula of each property is None: to make these takes nearly all of the time, and who only
    tells what there is needs none.
    """
    before = _OUTLINED.set(True)
    try:
        yield
    finally:
        _OUTLINED.reset(before)


def is_outline() -> bool:
    """Whether what is declared now is an outline."""
    return _OUTLINED.get()


def build(where: str, function: Callable[..., Any], /, **arguments: Any) -> Any:
    """What the function returns; ModelError, beginning with ``where``, if it fails or asks Python for a formula's truth."""
    try:
        with _no_python_truth():
            return function(**arguments)
    except (ValueError, TypeError, AttributeError, LookupError, ModelError, z3.Z3Exception) as error:
        raise ModelError(f"{where}: {reason(error)}") from error


@contextmanager
def _no_python_truth() -> Iterator[None]:
    """While it lasts, Python's ``and``, ``or``, ``not`` and ``if`` on an equation raise TypeError.

    Z3 answers them by whether both sides are the same text, so that ``a == b and c`` would silently lose one half. Equations
    between one and the same term remain true: dictionaries rely on them.
    """
    usual = z3.BoolRef.__bool__

    def strict(formula: Any) -> bool:
        truth: bool = usual(formula)
        if not truth and not z3.is_false(formula):
            raise TypeError(f"Python's and, or, not and if cannot see the value of {formula}: write And, Or, Not or If")
        return truth

    z3.BoolRef.__bool__ = strict
    try:
        yield
    finally:
        z3.BoolRef.__bool__ = usual
