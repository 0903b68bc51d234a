"""The bugs of a protocol as its room has them: ``bugs.toml``, a table for each.

A table is a ``Bug`` by the names of its fields. ``same_as`` names another protocol that has the same bug: what the table leaves
out is then as it is there, but for what is the instance's and the harness's own (``OWN``). ``project`` stands before the tables
and holds for each.

A file is read when somebody asks for a bug, once. What it names is checked then: the releases, the parameters and their values,
and the fields. ``unknown_names`` also checks what takes a protocol to be built: its switches, properties, weak moves and steps.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from fencepost.model.language import Protocol
from fencepost.model.language.mistakes import guess
from fencepost.model.releases import ReleaseError
from fencepost.properties.bugs import Bug
from fencepost.properties.conditions import condition
from fencepost.properties.registry import Entry, RegistryError

OWN = ("shown_by", "run", "held", "with_others")
"""What a protocol does not take from another that has the same bug."""

NAME = "bugs.toml"


class BugFileError(RegistryError):
    """A file of bugs that cannot be read; the message names the file, the line and the remedy."""


class Bugs(Mapping[str, Bug]):
    """Bugs by name that are read when somebody looks at them; ``read`` is asked each time, and remembers."""

    def __init__(self, read: Callable[[], Mapping[str, Bug]]) -> None:
        self._read = read

    def __getitem__(self, name: str) -> Bug:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def bugs_in(path: Path | str, function: Callable[..., Protocol]) -> Bugs:
    """The bugs in a file, of the protocol that ``function`` builds. To look at one raises BugFileError for what is wrong."""
    return Bugs(partial(read_bugs, Path(path), function))


def bugs_beside(module: str, function: Callable[..., Protocol]) -> Bugs:
    """The bugs in the room of a module, which its ``__file__`` names."""
    return bugs_in(Path(module).with_name(NAME), function)


@cache
def read_bugs(path: Path, function: Callable[..., Protocol]) -> Mapping[str, Bug]:
    """The bugs in a file of a protocol that ``function`` builds. Raises BugFileError."""
    parameters = {p.name: p.default for p in inspect.signature(function).parameters.values()}
    bugs = {}
    for name, table in _tables(path).items():
        if isinstance(table, dict):
            bugs[name] = _bug(path, name, _whole(path, name, table))
            if wrong := _wrong_parameters(bugs[name], parameters):
                raise _error(path, name, wrong)
    return bugs


def _tables(path: Path) -> dict[str, dict[str, object]]:
    import tomllib  # only commands that look at bugs need it

    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BugFileError(f"{_shown(path)}: cannot be read as a file of bugs: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise BugFileError(f"{_shown(path)}: is no TOML: {error}") from error
    project = {"project": tables.pop("project")} if "project" in tables else {}
    if strange := [name for name, table in tables.items() if not isinstance(table, dict)]:
        raise BugFileError(f"{_shown(path)}: {strange[0]} belongs into the table of a bug: only project stands before them")
    return {name: {**project, **table} for name, table in tables.items()}


@cache
def _tables_of(room: str) -> dict[str, dict[str, object]]:
    return _tables(Path(__file__).parent / room / NAME)


def _whole(path: Path, name: str, table: Mapping[str, object]) -> dict[str, object]:
    """A table with what it has from that of another protocol."""
    if "same_as" not in table:
        return dict(table)
    other, rest = table["same_as"], {key: value for key, value in table.items() if key != "same_as"}
    if not (Path(__file__).parent / str(other) / NAME).exists() or name not in _tables_of(other):
        raise _error(path, name, f"same_as: {other} has no bug {name}")
    its = _whole(path, name, _tables_of(other)[name])
    return {**{key: value for key, value in its.items() if key not in OWN}, **rest}


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter  # which takes longer than to read a file

    return TypeAdapter(Bug)


def _bug(path: Path, name: str, table: Mapping[str, object]) -> Bug:
    from pydantic import ValidationError

    try:
        bug: Bug = _adapter().validate_python(table)
    except ValidationError as error:
        first = error.errors()[0]
        where, fields = ".".join(map(str, first["loc"])), [*Bug.__dataclass_fields__, "same_as"]
        unknown = first["type"] == "unexpected_keyword_argument"
        what = f"there is no such field{guess(where, fields)}" if unknown else first["msg"].removeprefix("Value error, ")
        raise _error(path, name, f"{where}: {what}" if where else what) from error
    except (ReleaseError, ValueError) as error:
        raise _error(path, name, str(error)) from error
    return bug


def _wrong_parameters(bug: Bug, parameters: Mapping[str, bool | int | str | tuple[()]]) -> str:
    """What is wrong with the parameters that a bug names; empty if nothing is."""
    named = {"only": bug.only, "regardless": bug.regardless, "shown_by": bug.shown_by, "applies": condition(bug.applies).names}
    for field, names in named.items():
        if unknown := next((name for name in names if name not in parameters or name in NO_PARAMETERS), None):
            return f"{field}: the protocol has no parameter {unknown!r}{guess(unknown, parameters)}"
    values = [("shown_by", name, value) for name, value in bug.shown_by.items()]
    values += [("only", name, value) for name, several in bug.only.items() for value in several]
    for field, name, value in values:
        if type(value) is not type(parameters[name]):
            return f"{field}: {name} is as {parameters[name]!r} is, not {value!r}"
    return ""


NO_PARAMETERS = ("bugs", "parts")
"""What a function that builds a protocol takes besides its parameters."""


def _error(path: Path, name: str, what: str) -> BugFileError:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    line = next((number for number, text in enumerate(lines, 1) if re.match(rf"\[{re.escape(name)}\]", text)), 0)
    return BugFileError(f"{_shown(path)}:{line}: {name}: {what}" if line else f"{_shown(path)}: {name}: {what}")


def _shown(path: Path) -> Path:
    """A path as it is read most easily: from the folder in which the command runs, if it is below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def unknown_names(entry: Entry, weak: Iterable[str] = ()) -> Iterator[str]:
    """What the bugs of an entry name that its protocol does not have, each in a line; nothing if all is there.

    Each bug is a switch of the protocol. ``harm`` is a property of the instance that shows the bug, the moves
    are ``weak`` ones of stand-ins, and the steps of ``run`` are the protocol's with the bug. Builds an instance for each bug.
    """
    switches = entry.outline({}).protocol.bugs
    yield from (f"{name}: the model has no such switch" for name in entry.bugs if name not in switches)
    for name, bug in entry.bugs.items():
        yield from (f"{name}: there is no weak move {move}" for move in (*bug.allows, *bug.unfair) if move not in weak)
        if name not in switches:
            continue
        stated = {prop.name for prop in entry.outline(bug.shown_by).properties}
        if bug.harm and bug.harm not in stated:
            yield f"{name}: {entry.name} has no property {bug.harm}"
