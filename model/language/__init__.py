"""The language in which a protocol is written: finite variables, guarded actions, faults and defects, all as Z3 terms."""

from model.language.connectives import And, Implies, Not, Or
from model.language.declarations import Action, Location, OneOf, Variable
from model.language.domains import Universe
from model.language.formulas import If, all_of, any_of, at_least, how_many, maximum, minimum, select
from model.language.mistakes import ModelError
from model.language.protocol import Protocol

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
    "at_least",
    "how_many",
    "maximum",
    "minimum",
    "select",
]
