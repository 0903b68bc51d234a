"""A request is a frozen dataclass that is filled from the command line; each of its fields says, once, how it is asked for.

A field is ``Annotated`` with an ``Option`` or an ``Argument``, and its type and its default say the rest: a bool is a flag, a
sequence takes an option that may be given several times, what has no default is required, and the help ends with the default.
A field without such an annotation keeps its default.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
"""How the address of a file elsewhere begins."""


@dataclass(frozen=True)
class Option:
    """How a field is asked for: its line in the help, what its value is called there, and what a value may be.

    ``names`` replace ``--field-name``, and ``hidden`` are spellings that the help does not show. With ``several`` one name is
    followed by several values; with ``listed`` one value is the whole sequence, as ``parse`` reads it. ``once`` refuses a
    second value. ``unnamed`` is the value of an option that is given without one. Options of a ``group`` have a heading in the
    help; of those with the same ``either`` one is required. ``writes`` says what is written at the place that an option names:
    a ``file``, a ``folder``, or ``any`` of both.
    """

    helps: str
    metavar: str | None = None
    parse: Callable[[str], object] | None = None
    choices: Collection[object] = ()
    names: Sequence[str] = ()
    hidden: Sequence[str] = ()
    several: bool = False
    listed: bool = False
    once: bool = False
    unnamed: object = None
    group: str = ""
    either: str = ""
    writes: Literal["", "file", "folder", "any"] = ""


class Argument(Option):
    """A field that is asked for by its place on the command line."""


class Once(argparse.Action):
    """Keeps the value of an option that may be given once: of two the first would be lost without a word."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: object, values: object, *_: object) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{self.option_strings[0]} is given twice; give it once")
        setattr(namespace, self.dest, values)


def add_arguments(parser: argparse.ArgumentParser, kind: type[DataclassInstance], skipped: int = 0) -> None:
    """Adds what the fields of a request ask for but the first ``skipped``; its own come before those of what it extends."""
    hints, by_name, groups = get_type_hints(kind, include_extras=True), {f.name: f for f in fields(kind)}, dict[str, object]()
    for name in list(dict.fromkeys(name for part in kind.__mro__ for name in vars(part).get("__annotations__", ())))[skipped:]:
        if name in by_name and get_origin(hints[name]) is Annotated:
            value, option = get_args(hints[name])
            to: Any = parser
            if option.group:
                to = groups[option.group] = groups.get(option.group) or parser.add_argument_group(option.group)
            if option.either:
                to = groups[option.either] = groups.get(option.either) or parser.add_mutually_exclusive_group(required=True)
            _add(to, by_name[name], value, option)


def _add(to: Any, field: Field[object], kind: Any, option: Option) -> None:
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    is_many, is_required = get_origin(kind) is Sequence, field.default is MISSING
    choices = tuple(get_args(kind) if get_origin(kind) is Literal else option.choices)
    kind = get_args(kind)[0] if is_many else str if get_origin(kind) is Literal else kind
    how: dict[str, Any] = {"help": _helps(field, option)}
    if kind is bool:
        how["action"] = "store_true"
    else:
        default = None if is_required else list(field.default) if isinstance(field.default, tuple) else field.default
        how |= {"type": option.parse or (local_path if kind is Path else kind), "metavar": option.metavar, "default": default}
        how |= {"choices": choices} if choices else {}
    if option.unnamed is not None:
        how |= {"nargs": "?", "const": option.unnamed}
    if isinstance(option, Argument):
        if is_many or not is_required:
            how["nargs"] = "?" if not is_many else "+" if is_required else "*"
        to.add_argument(field.name, **how)
        return
    if option.once:
        how["action"] = Once
    elif is_many and not option.listed:
        how |= {"nargs": "+", "action": "extend"} if option.several else {"action": "append"}
    is_needed = {"required": True} if is_required and not option.either else {}
    to.add_argument(*(option.names or (f"--{field.name.replace('_', '-')}",)), dest=field.name, **is_needed, **how)
    for name in option.hidden:
        to.add_argument(name, dest=field.name, **{**how, "help": argparse.SUPPRESS, "default": argparse.SUPPRESS})


def _helps(field: Field[object], option: Option) -> str:
    default = field.default
    if default is MISSING or default is None or default is False or default in ((), ""):
        return option.helps
    shown = f"{default:g}" if isinstance(default, float) else "this folder" if default == Path() else str(default)
    return f"{option.helps} (default: {shown})"


def local_or_url(text: str) -> Path | str:
    """The folder of that name on this machine, or a URL as it is."""
    return text if URL.match(text) else local_path(text)


def local_path(text: str) -> Path:
    """The file or folder of that name; argparse's error for a URL, which would be a folder called like its scheme."""
    if URL.match(text):
        raise argparse.ArgumentTypeError(f"{text} is a URL: name a file or folder that this machine has mounted")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError(f"the name {text} is not UTF-8: rename it") from None
    return Path(text)
