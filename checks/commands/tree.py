"""A command is a request with what its help teaches and the function that answers it; a group has commands, each by its name.

Only the parser of the command that is asked for is made, and only its module is loaded.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

from fencepost.checks.console.help_text import HelpFormatter
from fencepost.checks.console.places import require_places
from fencepost.checks.console.requests import add_arguments

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from fencepost.checks.engines.results.verdicts import ExitStatus


HERE = "fencepost.checks.commands"

Request = TypeVar("Request", bound="DataclassInstance")


@dataclass(frozen=True)
class Command:
    """What a command is asked, and which function answers: ``check.run:run`` is ``run`` of that module among the commands.

    A place that cannot be written is refused before it answers, by itself if it ``refuses`` in documents also.
    """

    request: type[DataclassInstance]
    answer: str
    description: str
    epilog: str = ""
    usage: str | None = None
    refuses: bool = False

    def parser(self, name: str) -> argparse.ArgumentParser:
        """The parser of its arguments."""
        parser = _parser(name, self.description, self.epilog, self.usage)
        add_arguments(parser, self.request)
        return parser

    def run(self, options: argparse.Namespace) -> ExitStatus:
        """Answers what the command line asks."""
        asked = request_of(self.request, options)
        if not self.refuses:
            require_places(asked)
        answer: Callable[[Any], ExitStatus] = _named(self.answer)
        return answer(asked)


@dataclass(frozen=True)
class Entry:
    """A command or a group in the list of a group: ``where`` is its name in a module, as in ``check.request:COMMAND``.

    Several names may be of one command, whose first argument they are: ``is_argument``.
    """

    where: str
    helps: str
    is_argument: bool = False

    @property
    def node(self) -> Node:
        """The command or the group, whose module is then loaded."""
        node: Node = _named(self.where)
        return node


@dataclass(frozen=True)
class Group:
    """Commands, below headings. ``itself`` is what is done without the name of one, if anything is."""

    description: str
    entries: Mapping[str, Mapping[str, Entry]]
    epilog: str = ""
    metavar: str = "COMMAND"
    itself: Command | None = None

    @property
    def by_name(self) -> dict[str, Entry]:
        """All commands and groups."""
        return {name: entry for entries in self.entries.values() for name, entry in entries.items()}

    def parser(self, name: str) -> argparse.ArgumentParser:
        """The parser of a command line that names no command: it can show the help."""
        usage = None if self.itself else f"{name} [-h] {self.metavar} ..."
        parser = _parser(name, f"{self.description}\n\n{self._listed()}", self.epilog, usage)
        if self.itself is not None:
            add_arguments(parser, self.itself.request)
        return parser

    def _listed(self) -> str:
        width = max(map(len, self.by_name))
        return "\n\n".join(
            "\n".join([f"{title}:", *(f"  {name:<{width}}  {entry.helps}" for name, entry in entries.items())])
            for title, entries in self.entries.items()
        )


Node: TypeAlias = "Command | Group"


def chosen(
    group: Group, words: Sequence[str], name: str, add: Callable[[argparse.ArgumentParser], None] = lambda parser: None
) -> tuple[Command, argparse.Namespace]:
    """The command that the words name, and its arguments; ``add`` adds what the group itself takes.

    Ends the program for --help and for wrong usage, as argparse does.
    """
    entry = group.by_name.get(words[0]) if words else None
    if entry is not None:
        node = entry.node
        if isinstance(node, Group):
            return chosen(node, words[1:], f"{name} {words[0]}")
        if entry.is_argument:
            return node, node.parser(name).parse_intermixed_args(words)
        return node, node.parser(f"{name} {words[0]}").parse_intermixed_args(words[1:])
    parser = group.parser(name)
    add(parser)
    if words and not words[0].startswith("-"):
        parser.error(f"there is no {group.metavar} {words[0]!r}{_meant(words[0], group.by_name)}; {name} --help lists them")
    options = parser.parse_intermixed_args(words)
    if group.itself is not None:
        return group.itself, options
    raise SystemExit(parser.error(f"which {group.metavar}? {name} --help lists them"))


def request_of(kind: type[Request], options: argparse.Namespace) -> Request:
    """The request with what the command line has for each of its fields, by its name."""
    values = {field.name: getattr(options, field.name) for field in fields(kind) if hasattr(options, field.name)}
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def whole_parser(group: Group, parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The parser with all commands of the group and what each takes, for what completes a command line."""
    commands = parser.add_subparsers(metavar=group.metavar)
    for name, entry in group.by_name.items():
        node = entry.node
        below = commands.add_parser(name, help=entry.helps, allow_abbrev=False)
        if isinstance(node, Group):
            whole_parser(node, below)
        else:
            add_arguments(below, node.request, skipped=int(entry.is_argument))
    return parser


def _named(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(f"{HERE}.{module}"), name)


class _Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong, what may be meant, and where the help is."""

    def error(self, message: str) -> NoReturn:
        help_ = "" if "--help" in message else f"; {self.prog} --help lists all options"
        self.exit(2, f"{self.prog}: {_wrong(message, self._option_string_actions)}{help_}\n")


UNKNOWN = "unrecognized arguments: "
"""How argparse begins its message about them."""
NO_CHOICE = re.compile(r"argument (?P<option>\S+): invalid choice: (?P<word>'.*') \(choose from (?P<choices>.*)\)")
"""What argparse says of a value that is none of those that there are."""


def _wrong(message: str, options: Iterable[str]) -> str:
    """What argparse's message says, in the words of the other commands."""
    _, is_unknown, words = message.partition(UNKNOWN)
    if is_unknown:
        word = words.split()[0].partition("=")[0]
        return f"there is no option {word}{_meant(word, options)}" if word.startswith("-") else f"{words!r} is too much"
    if found := NO_CHOICE.fullmatch(message):
        word, choices = found["word"].strip("'"), [each.strip("'") for each in found["choices"].split(", ")]
        return f"{found['option']} {word!r} is none of {', '.join(choices)}{_meant(word, choices)}"
    return message.removeprefix("argument ")


def _meant(word: str, names: Iterable[str]) -> str:
    close = get_close_matches(word, names, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _parser(name: str, description: str, epilog: str, usage: str | None) -> argparse.ArgumentParser:
    return _Parser(
        prog=name,
        usage=usage,
        description=description,
        epilog=epilog or None,
        allow_abbrev=False,
        formatter_class=HelpFormatter,
    )


EXIT_STATUS = """exit status:
  0    everything holds
  2    wrong usage
  10   an assumption of the model does not hold
  11   a deadlock
  12   safety is violated
  13   liveness is violated
  14   a known bug affects the release
  15   weaker than before
  16   less than is required
  20   inconclusive (a limit was reached, or the run was interrupted)
  75   nothing was checked
  150  an input cannot be read
  153  a failure of the system"""
