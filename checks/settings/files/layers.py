"""The files that make a configuration, in whatever form they are found, each as its settings with the lines they are on."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from fencepost.checks.settings.files.input_files import BYTE_ORDER_MARK, InputError, Place, read_bytes
from fencepost.checks.settings.files.properties_file import (
    BOOKKEEPER,
    PREFIX,
    MalformedEscape,
    Setting,
    as_applied,
    bookkeepers,
    is_environment,
    settings,
    variables,
)
from fencepost.model.counts import listed


def settings_in(path: Path) -> tuple[list[Setting], list[str]]:
    """The settings of a broker.conf, standalone.conf or bookkeeper.conf, an environment file, the values of a Helm chart or
    ConfigMaps, ``-`` being standard input: those that count last at the end. And what a user should know of how it was read.

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
        note = f"{path}: only {listed([part.name for part in parts])} {'are' if len(parts) > 1 else 'is'} read"
        read = [replace(one, of=part.of, image=part.image) for part in parts for one in part.settings]
        notes = [note, *(note for part in parts for note in part.notes)]
    elif _lists_bookies(text):
        from fencepost.checks.settings.files.printed import listed_bookies  # loads the parser of YAML, seldom needed

        part = listed_bookies(text)
        read, notes = part.settings, [f"{path}: {note}" for note in ("only the number of bookies is read", *part.notes)]
    elif is_environment(text):
        read, notes = _environment(path, list(variables(text)))
    else:
        read, notes = _properties(path, data)
    if not read:
        what = "has only comments and blank lines" if data.strip() else "is empty"
        raise InputError(f"{path}: {what}; give the broker.conf that the brokers start with", Place(path))
    return [replace(one, file=path) for one in read], notes


def _is_yaml(path: Path, text: str) -> bool:
    """Whether a file is YAML (or JSON, which is YAML): by its name, or by what only such a file has at the beginning of a
    line."""
    known = path.suffix in (".yaml", ".yml", ".json")
    return known or re.search(r'^[\s{]*"?(apiVersion|configData)"?\s*:', text, re.MULTILINE) is not None


def _lists_bookies(text: str) -> bool:
    return "BookieID:" in text and " Bookies :" in text


def _environment(path: Path, settings: list[Setting]) -> tuple[list[Setting], list[str]]:
    """The variables for Pulsar's image, which both brokers and bookies run, and those for BookKeeper's."""
    of_bookkeeper, read, notes = bookkeepers(settings), list[Setting](), list[str]()
    rest = [one for one in settings if not one.key.startswith(BOOKKEEPER)]
    if any(one.key.startswith(PREFIX) for one in rest):
        notes.append(f"{path}: read as the environment of an image, which takes {PREFIX} off")
        read += [replace(one, image="pulsar") for one in as_applied(rest)]
    if of_bookkeeper:
        notes.append(f"{path}: read as the environment of BookKeeper's image, which takes {BOOKKEEPER} off")
        read += [replace(one, of="bookie", image="bookkeeper") for one in of_bookkeeper]
    return read, notes


def _properties(path: Path, data: bytes) -> tuple[list[Setting], list[str]]:
    marked = f"{path}:1: begins with a byte order mark, which Java takes for part of the first line; save it without"
    try:
        return settings(data), [marked] if data.startswith(BYTE_ORDER_MARK) else []
    except MalformedEscape as error:
        place = Place(path, error.line)
        raise InputError(f"{place}: {error}; double the backslash if it is meant as one", place) from error
