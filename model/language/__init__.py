"""The language in which a protocol is written: finite variables, guarded actions, faults and bugs, all as terms."""

from fencepost.model.language.declarations import ABSENT, Action, Family, OneOf, Variable, Variables
from fencepost.model.language.domains import Conditional, Universe
from fencepost.model.language.effects import Outcome, Updates, either
from fencepost.model.language.formulas import (
    And,
    If,
    Implies,
    Not,
    Or,
    all_of,
    any_of,
    at,
    at_least,
    how_many,
    maximum,
    minimum,
    same,
    select,
)
from fencepost.model.language.mistakes import Location, ModelError
from fencepost.model.language.protocol import Parameters, Protocol
from fencepost.model.terms.values import Choice, Condition, Number, Subset, Truth

__all__ = [
    "ABSENT",
    "Action",
    "And",
    "Choice",
    "Condition",
    "Conditional",
    "Family",
    "If",
    "Implies",
    "Location",
    "ModelError",
    "Not",
    "Number",
    "OneOf",
    "Or",
    "Outcome",
    "Parameters",
    "Protocol",
    "Subset",
    "Truth",
    "Universe",
    "Updates",
    "Variable",
    "Variables",
    "all_of",
    "any_of",
    "at",
    "at_least",
    "either",
    "how_many",
    "maximum",
    "minimum",
    "same",
    "select",
]
