"""The request of a command: a frozen dataclass, filled from the command line, which everything below the commands takes."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Request = TypeVar("Request", bound="DataclassInstance")


def request_of(kind: type[Request], options: argparse.Namespace) -> Request:
    """The request with what the command line has for each of its fields, by its name."""
    values = {field.name: getattr(options, field.name) for field in fields(kind)}
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
