"""JSON files, read into the model's records; what is wrong in them is named by its path in the file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from fencepost.checks.inputs.input_files import BYTE_ORDER_MARK, InputError, read_bytes

T = TypeVar("T")

SHOWN_ERRORS = 5

WRONG = {
    "greater_than_equal": "must not be negative",
    "less_than_equal": "must be finite",
    "finite_number": "must be finite",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be a string",
    "dict_type": "must be an object",
    "mapping_type": "must be an object",
    "dataclass_type": "must be an object",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "missing": "is missing",
}
"""What is said of a value by the kind of error that pydantic reports."""


def read_json(path: Path, kind: TypeAdapter[T], what: str) -> T:
    """What the file holds; ``what`` names such a file. Unknown fields are passed over.

    Raises InputError if it cannot be read, is no JSON, or holds a value that Pulsar would not write.
    """
    data = read_bytes(path, what)
    if not data.strip():
        raise InputError(f"{path}: is empty; give {what}")
    data = data.removeprefix(BYTE_ORDER_MARK)
    try:
        value = kind.validate_json(data, strict=True)
    except ValidationError as error:
        raise InputError(_message(path, error)) from None
    twice = _twice(json.loads(data, object_pairs_hook=_Object, parse_int=float))
    if twice:
        raise InputError(f"{path}: {json_path(twice)} is given twice, and only the last would count; leave one out")
    return value


def value_of(content: object, kind: TypeAdapter[T], path: Path) -> T:
    """A value of what was read of a file already; raises InputError."""
    try:
        return kind.validate_json(json.dumps(content), strict=True)
    except ValidationError as error:
        raise InputError(_message(path, error)) from None


class _Object(dict[str, object]):
    """An object of a JSON file that knows whether it was given a name twice."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        names = [name for name, _ in pairs]
        self.twice = next((name for name in self if names.count(name) > 1), None) if len(self) < len(pairs) else None


def _twice(value: object, place: tuple[str | int, ...] = ()) -> tuple[str | int, ...]:
    """The first place at which an object has a name twice; empty if none has."""
    if isinstance(value, _Object) and value.twice is not None:
        return (*place, value.twice)
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next((twice for key, part in parts if (twice := _twice(part, (*place, key)))), ())


def _message(path: Path, error: ValidationError) -> str:
    sentences = [_sentence(detail["type"], detail["loc"], detail["msg"], detail["input"]) for detail in error.errors()]
    more = f" (and {len(sentences) - SHOWN_ERRORS} more)" if len(sentences) > SHOWN_ERRORS else ""
    return f"{path}: {'; '.join(sentences[:SHOWN_ERRORS])}{more}"


def _sentence(kind: str, place: Sequence[str | int], message: str, value: object) -> str:
    if kind == "json_invalid":
        return f"is not JSON: {message.removeprefix('Invalid JSON: ')}"
    where = json_path(place)
    if isinstance(value, float) and value != value:
        return f"{where} is NaN; it must be a number"
    if kind == "missing":
        return f"{where} is missing"
    sentence = WRONG.get(kind) or message.removeprefix("Value error, ")
    return f"{where} is {_shown(value)}; it {sentence}" if kind in WRONG else f"{where}: {sentence}"


def json_path(place: Sequence[str | int]) -> str:
    """A place in a JSON file, such as ``$.brokers["b1:8080"].cpu.limit``."""
    parts = []
    for part in place:
        if isinstance(part, int):
            parts.append(f"[{part}]")
        else:
            parts.append(f".{part}" if part.isidentifier() else f'["{part}"]')
    return "$" + "".join(parts)


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
