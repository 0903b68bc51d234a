"""How what is declared now is understood, which is not said where a protocol is written: in outline, of any size, and so on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fencepost.model.language.formulas import Joining
    from fencepost.model.language.protocol import Protocol


@dataclass(frozen=True)
class Circumstances:
    """How what is declared now is understood: all that is not said where a protocol is written.

    ``outlined`` says that only names are wanted, and ``wanted`` names the properties whose formulas are (none: all). Of any
    size protocols are made as a ``kind`` of their own, formulas are ``joining`` in their own way, and those of these kinds of
    properties are ``stated``.
    """

    outlined: bool = False
    wanted: frozenset[str] = frozenset()
    kind: type[Protocol] | None = None
    joining: Joining | None = None
    stated: tuple[str, ...] = ()


_NONE = Circumstances()
_NOW = ContextVar("circumstances", default=_NONE)

now = _NOW.get
"""The circumstances of what is declared now."""


@contextmanager
def under(circumstances: Circumstances) -> Iterator[None]:
    """Within it these are the circumstances."""
    before = _NOW.set(circumstances)
    try:
        yield
    finally:
        _NOW.reset(before)


def in_outline() -> AbstractContextManager[None]:
    """Within it protocols and suites keep to what is declared: variables, bugs and properties by name.

    There is no action, and the formula of each property is None: to make these takes nearly all of the time, and who only
    tells what there is needs none.
    """
    return under(replace(now(), outlined=True))


def is_outline() -> bool:
    """Whether what is declared now is an outline."""
    return now().outlined


def wanting(names: Collection[str]) -> AbstractContextManager[None]:
    """Within it a suite makes the formulas of the properties of these names, and of lemmas; with no name those of all.

    The formula of each other property is None. Who searches for what one property says needs no other, and the formulas of a
    large suite take as long to make as its protocol does.
    """
    return under(replace(now(), wanted=frozenset(names)))


def wanted() -> tuple[str, ...]:
    """The names of the properties that are wanted, in order; none if all are."""
    return tuple(sorted(now().wanted))


def is_wanted(name: str) -> bool:
    """Whether the formula of a property of that name is to be made: it is wanted, or what a refinement carries of it is."""
    names = now().wanted
    return not names or any(each == name or each.endswith(f"_{name}") for each in names)


def is_part_wanted(name: str) -> bool:
    """Whether a formula is to be made of any property that a refinement of that name declares."""
    names = now().wanted
    return not names or any(each == name or each.startswith(f"{name}_") for each in names)
