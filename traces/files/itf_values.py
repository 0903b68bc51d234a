"""The values of an ITF file: how a raw value of each domain is written, and read back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fencepost.model.language import Variable
from fencepost.model.language.domains import Choice, Domain, Flag, Number, Subset

EXACT = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly; beyond it ITF has ``#bigint``."""


def encode(domain: Domain, raw: int) -> object:
    """A raw value as ITF has it: a truth value, an integer, a name, a set of labels."""
    match domain:
        case Flag():
            return bool(raw)
        case Number():
            return raw if abs(raw) <= EXACT else {"#bigint": str(raw)}
        case Subset(universe):
            return {"#set": [universe.label(member) for member in universe if raw >> member & 1]}
        case _:
            return domain.show(raw)


def decode(domain: Domain, value: object) -> int:
    """The raw value that ITF has there; ValueError, saying why, if it is none of the domain."""
    match domain:
        case Flag():
            if not isinstance(value, bool):
                raise ValueError(f"{_short(value)} is not true or false")
            return int(value)
        case Number():
            return domain.raw(_integer(value))
        case Choice():
            if not isinstance(value, str):
                raise ValueError(f"{_short(value)} is not a name")
            return domain.raw(value)
        case Subset(universe):
            labels = _only(value, "#set")
            members = {universe.label(member): member for member in universe}
            if labels is None or not all(isinstance(label, str) for label in labels):
                raise ValueError(f"{_short(value)} is not a set of labels")
            strangers = [label for label in labels if label not in members]
            if strangers:
                raise ValueError(f"{strangers[0]!r} is not a {universe.name}")
            return domain.raw(members[str(label)] for label in labels)
    raise AssertionError(domain)


def key_of(variable: Variable) -> object:
    """The key of a member of a family: its label, or a tuple of labels where several universes index the family."""
    labels = [universe.label(member) for universe, member in zip(variable.universes, variable.index, strict=True)]
    return labels[0] if len(labels) == 1 else {"#tup": labels}


def unkeyed(members: Sequence[Variable], value: object) -> list[object]:
    """The values of a family's members, in their order; ValueError unless the map has exactly their keys."""
    held = _only(value, "#map")
    pairs = [pair for pair in held or () if isinstance(pair, list) and len(pair) == 2]
    if held is None or len(pairs) < len(held):
        raise ValueError(f"{_short(value)} is not a map")
    rest, values = list(pairs), []
    for variable in members:
        wanted = key_of(variable)
        mine = [pair for pair in rest if pair[0] == wanted]
        if len(mine) != 1:
            raise ValueError(f"{variable.name} is {'given twice' if mine else 'missing'}")
        values.append(mine[0][1])
        rest.remove(mine[0])
    if rest:
        raise ValueError(f"unknown key {_short(rest[0][0])}")
    return values


def picked(argument: str) -> dict[str, object]:
    """An action's parameter as Quint writes it."""
    return {"tag": "Some", "value": argument}


def _integer(value: object) -> int:
    if isinstance(value, dict):
        digits = value.get("#bigint") if len(value) == 1 else None
        if not isinstance(digits, str) or not re.fullmatch(r"-?[0-9]{1,4000}", digits):
            raise ValueError(f"{_short(value)} is not an integer")
        return int(digits)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{_short(value)} is not an integer")
    return value


def _only(value: object, name: str) -> list[object] | None:
    held = value.get(name) if isinstance(value, dict) and len(value) == 1 else None
    return held if isinstance(held, list) else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
