"""``fencepost completion``: what completes the command line in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fencepost.checks.commands.tree import Command
from fencepost.checks.console.requests import Argument

if TYPE_CHECKING:
    from fencepost.checks.engines.results.verdicts import ExitStatus

COMPLETION = """Prints what completes the command line in a shell: commands, options, files, and names of protocols, of known
bugs, of properties, events, findings and releases. The shell reads it once, when it starts: run it again after an update of
Fencepost."""

EXAMPLES = """examples:
  fencepost completion bash >> ~/.bash_completion
  fencepost completion zsh > "${fpath[1]}/_fencepost"
  fencepost completion fish > ~/.config/fish/completions/fencepost.fish"""


@dataclass(frozen=True, kw_only=True)
class CompletionRequest:
    """The shell."""

    shell: Annotated[str, Argument("the shell", "SHELL", choices=("bash", "zsh", "fish"))]


COMMAND = Command(CompletionRequest, "completion:run", COMPLETION, EXAMPLES)


def run(asked: CompletionRequest) -> ExitStatus:
    """Prints it."""
    import shtab

    from fencepost.checks.commands.arguments import whole_line
    from fencepost.checks.engines.results.verdicts import ExitStatus

    parser, names = whole_line(), Names.known()
    files = {"FILE": shtab.FILE, "FILE.py": shtab.FILE, "PAGE": shtab.FILE, "OTHER": shtab.FILE, "DIR": shtab.DIRECTORY}
    for command, action in _actions(parser):
        if action.metavar == PROTOCOL:
            _complete(action, _names_and_files(names.protocols))
        elif action.metavar == EVENTS_IN_A_ROW:
            _complete(action, _in_a_row(names.events))
        elif action.metavar in files:
            _complete(action, files[action.metavar])
        else:
            action.choices = action.choices or names.of(command, action) or None
    print(shtab.complete(parser, asked.shell))
    return ExitStatus.HOLDS


PROTOCOL = "PROTOCOL"
"""What the help calls the name of a protocol, or a file of the user's own protocols."""
EVENTS_IN_A_ROW = "EVENT[,EVENT]"
"""What it calls names of events, with commas between them."""


@dataclass(frozen=True)
class Names:
    """The names that there are, each kind in the order in which it is listed."""

    protocols: Sequence[str]
    bugs: Sequence[str]
    properties: Sequence[str]
    findings: Sequence[str]
    events: Sequence[str]
    pulsar: Sequence[str]
    bookkeeper: Sequence[str]
    kafka: Sequence[str]

    @classmethod
    def known(cls) -> Names:
        """Those that Fencepost has. This loads every protocol."""
        from fencepost.checks.conformance.reproductions.registry import REPRODUCTIONS
        from fencepost.checks.questions.answers.ways import EVENTS
        from fencepost.model.releases import BOOKKEEPER, KAFKA, PULSAR
        from fencepost.properties.protocols import PROTOCOLS
        from fencepost.properties.theories import THEORIES

        every = PROTOCOLS.values()
        bugs = dict.fromkeys(name for entry in every for name in entry.bugs)
        instances = ((entry, instance) for entry in every for several in entry.sizes.values() for instance in several)
        outlines = (entry.outline(instance.parameters) for entry, instance in instances)
        properties = dict.fromkeys(prop.name for outline in outlines for prop in outline.properties)
        properties |= dict.fromkeys(each.name for theory in THEORIES.values() for each in theory.theorems(frozenset()))
        return cls(
            [*PROTOCOLS, *THEORIES],
            list(bugs),
            list(properties),
            list(REPRODUCTIONS),
            list(EVENTS),
            list(PULSAR),
            list(BOOKKEEPER),
            list(KAFKA),
        )

    def of(self, command: str, action: argparse.Action) -> Sequence[str]:
        """The names that can follow an option, or take the place of an argument of a command; none where any word can."""
        releases = [*self.pulsar, *self.bookkeeper, *self.kafka]
        by_name = {
            **dict.fromkeys(("--pulsar", "--against-pulsar", "FROM", "TO"), self.pulsar),
            **dict.fromkeys(("--bookkeeper", "--bookkeeper-client"), self.bookkeeper),
            **dict.fromkeys(("--release", "--as", "FIRST", "SECOND"), releases),
            "--bug": self.bugs,
            "--property": self.properties,
            "reproduce NAME": self.findings,
            "--kafka": self.kafka,
        }
        keys = action.option_strings or [str(action.metavar), f"{command} {action.metavar}"]
        return next((by_name[key] for key in keys if key in by_name), ())


def _actions(parser: argparse.ArgumentParser, command: str = "") -> Iterator[tuple[str, argparse.Action]]:
    """The arguments of all commands, each with the name of its command."""
    for action in parser._actions:
        yield command, action
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from _actions(below, name)


def _complete(action: argparse.Action, by_shell: Mapping[str, object]) -> None:
    """Has shtab complete an argument by what it says of each shell."""
    action.complete = by_shell  # type: ignore[attr-defined]


def _names_and_files(names: Sequence[str]) -> Mapping[str, object]:
    """What completes names and files of Python: a function in ``bash`` and ``zsh``, words in ``fish``."""
    words, function = " ".join(names), "_fencepost_names_and_files"
    bash = f"""{function}() {{ compgen -W "{words}" -- "$1"; compgen -f -X '!*.py' -- "$1"; }}"""
    zsh = f"""{function}() {{ _alternative 'names:protocol:({words})' 'files:file:_files -g "*.py"'; }}"""
    fish = f"{words} (__fish_complete_suffix .py)"
    return {"bash": function, "zsh": function, "fish": fish, "preamble": {"bash": bash, "zsh": zsh}}


def _in_a_row(names: Sequence[str]) -> Mapping[str, object]:
    """What completes the last of several names that have commas between them."""
    words, function = " ".join(names), "_fencepost_names_in_a_row"
    before = '[[ "$1" == *,* ]] && before="${1%,*},"'
    bash = f"""{function}() {{ local before=""; {before}; compgen -P "$before" -W "{words}" -- "${{1##*,}}"; }}"""
    zsh = f"""{function}() {{ local -a names=({words}); _sequence compadd - $names; }}"""
    fish = f"(__fish_append , {words})"
    return {"bash": function, "zsh": function, "fish": fish, "preamble": {"bash": bash, "zsh": zsh}}
