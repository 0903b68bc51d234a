"""The language in which a protocol is written: finite variables, guarded actions, faults and bugs, all as terms."""

from fencepost.model.language.connectives import And, Implies, Not, Or
from fencepost.model.language.declarations import Action, OneOf, Variable
from fencepost.model.language.domains import Universe
from fencepost.model.language.effects import either
from fencepost.model.language.formulas import If, all_of, any_of, at, at_least, how_many, maximum, minimum, select
from fencepost.model.language.locations import Location
from fencepost.model.language.mistakes import ModelError
from fencepost.model.language.protocol import Protocol

__all__ = [
    "Action",
    "And",
    "If",
    "Implies",
    "Location",
    "ModelError",
    "Not",
    "OneOf",
    "Or",
    "Protocol",
    "Universe",
    "Variable",
    "all_of",
    "any_of",
    "at",
    "at_least",
    "either",
    "how_many",
    "maximum",
    "minimum",
    "select",
]
