"""Packages that are installed with an extra: a command that needs them says so before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True)
class Extra:
    """An extra of the package: its name, what it brings in the words of a user, and the packages that are then there."""

    name: str
    brings: str
    packages: tuple[str, ...]


SPARK = Extra("spark", "Spark", ("pyspark", "pyarrow", "pandas"))
PARQUET = Extra("parquet", "PyArrow", ("pyarrow",))
PLOTS = Extra("plots", "Matplotlib and NetworkX", ("matplotlib", "networkx"))
ODDS = Extra("odds", "SciPy", ("scipy",))
SECOND_SOLVER = Extra("second-solver", "cvc5", ("cvc5",))
HYPOTHESIS = Extra("hypothesis", "Hypothesis", ("hypothesis",))


class ExtraError(Exception):
    """A command lacks an extra; the message says which one and how to get it."""


def require(extra: Extra, command: str) -> None:
    """Raises ExtraError if a package of the extra is missing. None is loaded by that."""
    if any(find_spec(package) is None for package in extra.packages):
        to_install = f"pip install 'fencepost[{extra.name}]', or in a clone: make .venv/installed-{extra.name}"
        raise ExtraError(f"fencepost {command} needs {extra.brings}: {to_install}")
