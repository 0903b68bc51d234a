"""What readers of YAML files share: a part of a configuration, and the keys, values and lines of a mapping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from fencepost.checks.settings.files.input_files import InputError, Place
from fencepost.checks.settings.files.properties_file import Image, Owner, Setting

NULL = "tag:yaml.org,2002:null"


@dataclass(frozen=True)
class Part:
    """What a YAML file has of the settings of brokers or of bookies: the name of the part that was read, its settings, notes on
    it, whose it is, and which image applies it."""

    name: str
    settings: list[Setting]
    notes: tuple[str, ...] = ()
    of: Owner = ""
    image: Image = ""


def child(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """The value of a key; of a key that is given twice the last, as most readers take it."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in reversed(pairs) if key.value == name), None)


def scalar(node: yaml.Node | None, name: str) -> str:
    """The text of a key; empty if it has none."""
    value = child(node, name)
    return value.value if isinstance(value, yaml.ScalarNode) else ""


def entries_of(path: Path, node: yaml.MappingNode, name: str) -> Iterator[Setting]:
    """The settings that a mapping has, with their lines; InputError for a key or a value that is no text."""
    for key, value in node.value:
        line = key.start_mark.line + 1
        if key.value == "<<" or not (isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)):
            what = f"{key.value} is no text" if isinstance(key, yaml.ScalarNode) else "a key is no text"
            what = "merges another mapping" if key.value == "<<" else what
            place = Place(path, line)
            raise InputError(f"{place}: {name}: {what}; write each setting as KEY: 'VALUE'", place)
        yield Setting(key.value, "" if value.tag == NULL else value.value, line)


def line_of(node: yaml.Node) -> int:
    """The line on which it begins, from 1."""
    return int(node.start_mark.line) + 1
