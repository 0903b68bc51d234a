"""The command line: ``fencepost list``, ``check``, ``teeth``, ``lemmas``, ``explore``, ``play``, ``new``, ``trace``,
``conform``, ``reproduce``, ``export`` and ``policy``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version

from fencepost.checks.commands.certify.arguments import add_certify
from fencepost.checks.commands.check.arguments import add_check
from fencepost.checks.commands.conform.arguments import add_conform
from fencepost.checks.commands.exit_status import EXIT_STATUS
from fencepost.checks.commands.explore.arguments import add_explore
from fencepost.checks.commands.export.arguments import add_export
from fencepost.checks.commands.lemmas.arguments import add_lemmas
from fencepost.checks.commands.list import add_list
from fencepost.checks.commands.new.arguments import add_new
from fencepost.checks.commands.play.arguments import add_play
from fencepost.checks.commands.policy.arguments import add_policy
from fencepost.checks.commands.reproduce import add_reproduce
from fencepost.checks.commands.teeth.arguments import add_teeth
from fencepost.checks.commands.trace.arguments import add_trace
from fencepost.checks.commands.verdict_cache import Record
from fencepost.checks.console.extras import ExtraError
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.language import ModelError
from fencepost.model.releases import ReleaseError
from fencepost.properties.registry import RegistryError

FIRST = """to begin with:
  fencepost check --conf broker.conf    what a cluster with these settings guarantees
  fencepost list                        what can be checked
  fencepost COMMAND --help              what a command does, its options and examples"""

def run(arguments: Sequence[str], record: Record | None = None) -> int:
    """Runs the command that the arguments ask for; returns the exit status. ``record`` is told whether it can be remembered."""
    options = _parser().parse_args(arguments)
    options.record = record or Record()
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
        try:
            text = version("fencepost")
        except PackageNotFoundError:
            text = "is running from source; see pyproject.toml for the version"
        print(f"fencepost {text}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fencepost",
        description="Verifies Apache Pulsar's control plane and BookKeeper's ledger protocol.",
        epilog=f"{FIRST}\n\n{EXIT_STATUS}",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the installed version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_list(commands)
    add_check(commands)
    add_explore(commands)
    add_teeth(commands)
    add_lemmas(commands)
    add_play(commands)
    add_new(commands)
    add_trace(commands)
    add_conform(commands)
    add_reproduce(commands)
    add_export(commands)
    add_certify(commands)
    add_policy(commands)
    return parser
