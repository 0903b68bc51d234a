"""The command line: ``fencepost list``, ``releases``, ``check``, ``teeth``, ``lemmas``, ``explore``, ``play``, ``new``,
``trace``, ``conform``, ``reproduce``, ``export``, ``policy`` and ``odds``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from fencepost.checks.commands.exit_status import EXIT_STATUS
from fencepost.checks.console.extras import ExtraError
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.language import ModelError
from fencepost.model.releases import ReleaseError
from fencepost.properties.registry import RegistryError

COMMANDS = {
    "list": "list",
    "releases": "releases.arguments",
    "check": "check.arguments",
    "explore": "explore.arguments",
    "teeth": "teeth.arguments",
    "lemmas": "lemmas.arguments",
    "play": "play.arguments",
    "new": "new.arguments",
    "trace": "trace.arguments",
    "conform": "conform.arguments",
    "reproduce": "reproduce",
    "export": "export.arguments",
    "policy": "policy.arguments",
    "odds": "odds.arguments",
}
"""The module of each command, which has a function that adds it; of the others none is loaded."""

FIRST = """to begin with:
  fencepost check --conf broker.conf    what a cluster with these settings guarantees
  fencepost list                        what can be checked
  fencepost COMMAND --help              what a command does, its options and examples"""


def run(arguments: Sequence[str]) -> int:
    """Runs the command that the arguments ask for; returns the exit status."""
    options = _parser(*arguments[:1]).parse_args(arguments)
    command: Callable[[argparse.Namespace], ExitStatus] = options.command
    if sys.stdout is None:  # closed by who called: Python then has none
        print("fencepost: standard output is closed: cannot write results", file=sys.stderr)
        return int(ExitStatus.SYSTEM)
    try:
        return int(command(options))
    except (RegistryError, ModelError, ReleaseError) as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return int(ExitStatus.USAGE)
    except ExtraError as error:
        print(error, file=sys.stderr)
        return int(ExitStatus.SYSTEM)
    except BrokenPipeError:
        sys.stderr.close()
        return int(ExitStatus.SYSTEM)
    except OSError as error:
        print(f"fencepost: {error.filename}: {error.strerror}" if error.filename else f"fencepost: {error}", file=sys.stderr)
        return int(ExitStatus.SYSTEM)
    except MemoryError as error:
        print(f"fencepost: {str(error) or 'there is not enough memory for this'}", file=sys.stderr)
        return int(ExitStatus.SYSTEM)


class _Version(argparse.Action):
    """Prints the version, which is read only when it is asked for, and ends the program."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            text = version("fencepost")
        except PackageNotFoundError:
            text = "is running from source; see pyproject.toml for the version"
        print(f"fencepost {text}")
        parser.exit()


def _parser(first: str = "") -> argparse.ArgumentParser:
    """The parser of the command that the first word names, or of all if it names none."""
    parser = argparse.ArgumentParser(
        prog="fencepost",
        description="Verifies Apache Pulsar's control plane and BookKeeper's ledger protocol.",
        epilog=f"{FIRST}\n\n{EXIT_STATUS}",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the installed version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in [first] if first in COMMANDS else COMMANDS:
        getattr(import_module(f"{__package__}.{COMMANDS[name]}"), f"add_{name}")(commands)
    return parser
