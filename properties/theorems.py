"""The words for what must hold of arithmetic, whatever the numbers: a theorem, proved in steps over terms.

A protocol has states and runs. Arithmetic has neither: a theorem is about all values of some constants and functions, and what
refutes it are values.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fencepost.model.language import And, Implies, Location, Number, Truth
from fencepost.model.terms.nodes import Term, constant
from fencepost.model.terms.sorts import INT
from fencepost.properties.registry import Instance, RegistryError
from fencepost.properties.registry import Value as RegistryValue
from fencepost.properties.vocabulary import Property

Bugs = frozenset[str]
Value: TypeAlias = "Callable[[Term], int]"
"""What a term is in a refutation."""


@dataclass(frozen=True)
class Step:
    """From ``given`` follows ``claim``, whatever values the constants and functions in them have.

    ``least`` are terms, none negative, that a refutation makes as small as can be, the first first. ``describe`` puts a
    refutation in words, computed again with plain numbers; or it gives None if with those nothing is wrong, which can be in an
    induction: the values then meet its hypothesis without being reached.
    """

    name: str
    given: tuple[Truth, ...]
    claim: Truth
    least: tuple[Number, ...]
    describe: Callable[[Value], str | None]


@dataclass(frozen=True)
class Theorem:
    """A statement (``name`` and ``doc``) and the steps that prove it. Each step is proved on its own from what it is given."""

    name: str
    doc: str
    steps: tuple[Step, ...]
    location: Location

    @property
    def property(self) -> Property:
        """The theorem as a property that must always hold."""
        formula = And(*(Implies(And(*step.given), step.claim) for step in self.steps))
        return Property(self.name, "always", formula, self.doc, self.location)


@dataclass(frozen=True)
class Theory:
    """Theorems about one piece of arithmetic: ``theorems`` states them for the arithmetic with these bugs in it.

    ``reach`` says for which numbers they are proved; ``bugs`` are the known bugs, each with one line.
    """

    name: str
    summary: str
    reach: str
    bugs: Mapping[str, str]
    theorems: Callable[[Bugs], list[Theorem]]

    @property
    def shown_by(self) -> Mapping[str, Mapping[str, RegistryValue]]:
        """Each bug, with the parameters in which it shows: there are none."""
        return {bug: {} for bug in self.bugs}

    def settings(self, texts: Iterable[str]) -> dict[str, RegistryValue]:
        """No parameters; RegistryError if some are given."""
        for text in texts:
            raise RegistryError(f"{self.name} holds for all numbers and takes no parameters, so not {text!r}")
        return {}

    def instances(self, size: str) -> tuple[Instance, ...]:
        """The one instance there is, at whatever size."""
        return (Instance("for all numbers", {}),)


class Statements:
    """The theorems of a theory, gathered by a decorator on functions that yield their steps."""

    def __init__(self) -> None:
        self.theorems: list[Theorem] = []

    def theorem(self, function: Callable[[], Iterable[Step]]) -> Callable[[], Iterable[Step]]:
        """Declares a theorem; its name and docstring are the function's."""
        doc = inspect.cleandoc(function.__doc__ or "")
        self.theorems.append(Theorem(function.__name__, doc, tuple(function()), Location.of(function)))
        return function


def numbers(names: str) -> tuple[Number, ...]:
    """Constants for any numbers, by names with spaces between."""
    return tuple(constant(name, INT) for name in names.split())
