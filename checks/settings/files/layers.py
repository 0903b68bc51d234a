"""The files that make a configuration, in whatever form they are found, each as its settings with the lines they are on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fencepost.checks.settings.files.environment_files import (
    BOOKKEEPER,
    PREFIX,
    Image,
    Owner,
    as_applied,
    bookkeepers,
    is_environment,
    variables,
)
from fencepost.checks.settings.files.input_files import BYTE_ORDER_MARK, InputError, Place, read_bytes
from fencepost.checks.settings.files.properties_file import MalformedEscape, Setting, settings


@dataclass(frozen=True)
class Layer:
    """A file, or a part of one: its settings, those that count last at the end, and what a user should know of how it was
    read. ``of`` says whose settings they are, as far as the file says it, ``image`` which image applies them to a file of its
    own."""

    path: Path
    settings: list[Setting]
    notes: tuple[str, ...] = ()
    of: Owner = ""
    image: Image = ""


def read_layers(path: Path) -> list[Layer]:
    """The settings of a broker.conf, standalone.conf or bookkeeper.conf, an environment file, the values of a Helm chart or
    ConfigMaps, ``-`` being standard input.

    Raises InputError, with the line where there is one, if it cannot be read or has no settings.
    """
    data = read_bytes(path, "a broker.conf")
    if b"\0" in data:
        place = Place(path, data[: data.index(b"\0")].count(b"\n") + 1)
        raise InputError(f"{place}: is not plain text (a zero byte); save it as ASCII or UTF-8", place)
    # Java takes a broker.conf for ISO-8859-1; YAML and an environment file are UTF-8
    text = data.removeprefix(BYTE_ORDER_MARK).decode("utf-8", errors="replace")
    if _is_yaml(path, text):
        from fencepost.checks.settings.files.yaml_files import parts_of  # loads a parser, which most configurations do not need

        parts = parts_of(path, text)
        note = f"{path}: read is {' and '.join(part.name for part in parts)}"
        layers = [Layer(path, part.settings, part.notes, part.of, part.image) for part in parts]
        layers[0] = replace(layers[0], notes=(note, *layers[0].notes))
    elif is_environment(text):
        layers = list(_environment(path, list(variables(text))))
    else:
        layers = [_properties(path, data)]
    if not any(layer.settings for layer in layers):
        what = "has only comments and blank lines" if data.strip() else "is empty"
        raise InputError(f"{path}: {what}; give the broker.conf that the brokers start with", Place(path))
    return layers


def _is_yaml(path: Path, text: str) -> bool:
    """Whether a file is YAML (or JSON, which is YAML): by its name, or by what only such a file has at the beginning of a
    line."""
    known = path.suffix in (".yaml", ".yml", ".json")
    return known or re.search(r'^[\s{]*"?(apiVersion|configData)"?\s*:', text, re.MULTILINE) is not None


def _environment(path: Path, settings: list[Setting]) -> Iterator[Layer]:
    """The variables for Pulsar's image, which both brokers and bookies run, and those for BookKeeper's."""
    of_bookkeeper = bookkeepers(settings)
    rest = [one for one in settings if not one.key.startswith(BOOKKEEPER)]
    if any(one.key.startswith(PREFIX) for one in rest):
        note = f"{path}: read as the environment of an image, which takes {PREFIX} off"
        yield Layer(path, as_applied(rest), (note,), image="pulsar")
    if of_bookkeeper:
        note = f"{path}: read as the environment of BookKeeper's image, which takes {BOOKKEEPER} off"
        yield Layer(path, of_bookkeeper, (note,), "bookie", "bookkeeper")


def _properties(path: Path, data: bytes) -> Layer:
    notes: tuple[str, ...] = ()
    if data.startswith(BYTE_ORDER_MARK):
        notes = (f"{path}:1: begins with a byte order mark, which Java takes for part of the first line; save it without",)
    try:
        return Layer(path, settings(data), notes)
    except MalformedEscape as error:
        place = Place(path, error.line)
        raise InputError(f"{place}: {error}; double the backslash if it is meant as one", place) from error
