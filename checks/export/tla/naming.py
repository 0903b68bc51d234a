"""What things are called in a TLA+ module: an identifier is declared once, whatever it is of."""

from __future__ import annotations

import re

_LANGUAGE = """ASSUME ASSUMPTION AXIOM BOOLEAN CASE CHOOSE CONSTANT CONSTANTS DOMAIN ELSE ENABLED EXCEPT EXTENDS IF IN INSTANCE
LAMBDA LET LOCAL MODULE OTHER SF_ STRING SUBSET THEN THEOREM UNCHANGED UNION VARIABLE VARIABLES WF_ WITH TRUE FALSE"""
_MODULES = "Nat Int Cardinality IsFiniteSet"
_OWN = "Max Min Holds Init Next Spec TypeOK vars one other another condition"
RESERVED = frozenset(f"{_LANGUAGE} {_MODULES} {_OWN}".split())
"""The words of TLA+, of the modules that are extended, and of every module that is written here."""


class Identifiers:
    """Gives out identifiers, each once."""

    def __init__(self) -> None:
        self.taken: set[str] = set(RESERVED)

    def claim(self, wanted: str) -> str:
        """The identifier wanted, without the dots of parts and with underscores behind it until it is nobody else's."""
        wanted = wanted.replace(".", "_")
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted


def camel(name: str) -> str:
    """``find_none`` as ``FindNone``, as operators and modules of TLA+ are called."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))
