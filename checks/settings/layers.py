"""The files that make a configuration, in whatever form they are found, each as its settings with the lines they are on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fencepost.checks.settings.environment_files import PREFIX, as_applied, is_environment, variables
from fencepost.checks.settings.input_files import BYTE_ORDER_MARK, InputError, Place, read_bytes
from fencepost.checks.settings.properties_file import MalformedEscape, Setting, settings
from fencepost.checks.settings.yaml_files import brokers_part, is_yaml


@dataclass(frozen=True)
class Layer:
    """One file: its settings, those that count last at the end, and what a user should know of how it was read."""

    path: Path
    settings: list[Setting]
    notes: tuple[str, ...] = ()


def read_layer(path: Path) -> Layer:
    """The settings of a broker.conf or standalone.conf, an environment file, the values of a Helm chart or a ConfigMap, ``-``
    being standard input.

    Raises InputError, with the line where there is one, if it cannot be read or has no settings.
    """
    data = read_bytes(path, "a broker.conf")
    if b"\0" in data:
        place = Place(path, data[: data.index(b"\0")].count(b"\n") + 1)
        raise InputError(f"{place}: is not plain text (a zero byte); save it as ASCII or UTF-8", place)
    # Java takes a broker.conf for ISO-8859-1; YAML and an environment file are UTF-8
    text = data.removeprefix(BYTE_ORDER_MARK).decode("utf-8", errors="replace")
    if is_yaml(path, text):
        part = brokers_part(path, text)
        layer = Layer(path, part.settings, (f"{path}: read is {part.name}", *part.notes))
    elif is_environment(text):
        note = f"{path}: read as the environment of an image, which takes {PREFIX} off"
        layer = Layer(path, as_applied(list(variables(text))), (note,))
    else:
        layer = _properties(path, data)
    if not layer.settings:
        what = "has only comments and blank lines" if data.strip() else "is empty"
        raise InputError(f"{path}: {what}; give the broker.conf that the brokers start with", Place(path))
    return layer


def _properties(path: Path, data: bytes) -> Layer:
    notes: tuple[str, ...] = ()
    if data.startswith(BYTE_ORDER_MARK):
        notes = (f"{path}:1: begins with a byte order mark, which Java takes for part of the first line; save it without",)
    try:
        return Layer(path, settings(data), notes)
    except MalformedEscape as error:
        place = Place(path, error.line)
        raise InputError(f"{place}: {error}; double the backslash if it is meant as one", place) from error
