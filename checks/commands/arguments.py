"""The command line: which commands there are, what ends each, and what a shell completes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fencepost.checks.commands.tree import EXIT_STATUS, Entry, Group, chosen, whole_parser

if TYPE_CHECKING:
    from fencepost.checks.engines.results.verdicts import ExitStatus

COMMANDS = Group(
    "Checks what an Apache Pulsar cluster guarantees, by models of its control plane and of BookKeeper's ledgers.",
    {
        "for a cluster": {
            "check": Entry("check.request:COMMAND", "what a cluster guarantees; a verdict on each property of a protocol"),
            "odds": Entry("odds.request:COMMAND", "how often an acknowledged message is lost, and what decides it"),
            "policy": Entry("policy.request:COMMAND", "what a load-balancing policy would do"),
            "ingest": Entry("ingest.request:COMMAND", "a cluster's files into tables on Spark, for policy compare --history"),
            "reproduce": Entry("reproduce:COMMAND", "show a finding on released software"),
            "trace": Entry("trace.request:COMMAND", "show, replay, compare, explain, draw, shrink or pin a run"),
            "releases": Entry("releases.request:COMMAND", "which releases are modelled, and what changed between two"),
            "list": Entry("list.request:COMMAND", "the protocols, their parameters, sizes, properties and bugs"),
        },
        "for work on models": {
            "play": Entry("play.request:COMMAND", "a page to play with a protocol in a browser"),
            "new": Entry("new.request:COMMAND", "the skeleton of a protocol of your own"),
            "explore": Entry("explore.request:COMMAND", "random walks by the billion on Spark, or all states on disk"),
            "conform": Entry("conform.request:COMMAND", "check protocols against the real code"),
            "teeth": Entry("teeth.request:COMMAND", "whether the properties would notice a mistake"),
            "lemmas": Entry("lemmas.request:COMMAND", "find the lemmas that prove a property"),
            "export": Entry("export.request:COMMAND", "protocols and proofs for other tools: TLC and SMT solvers"),
            "completion": Entry("completion:COMMAND", "what completes these commands in your shell"),
        },
    },
    f"""to begin with:
  fencepost check --conf broker.conf    can messages be lost, and what to change first
  fencepost list                        what can be checked
  fencepost COMMAND --help              what a command does, its options and examples

{EXIT_STATUS}""",
)


def run(arguments: Sequence[str]) -> int:
    """Runs the command that the arguments ask for; returns the exit status. Ends the program for --help and wrong usage."""
    command, options = chosen(COMMANDS, arguments, "fencepost", _with_version)
    from fencepost.checks.engines.results.verdicts import ExitStatus

    if sys.stdout is None:  # closed by who called: Python then has none
        print("fencepost: standard output is closed: cannot write results", file=sys.stderr)
        return int(ExitStatus.SYSTEM)
    try:
        return int(command.run(options))
    except BrokenPipeError:
        sys.stderr.close()
        return int(ExitStatus.SYSTEM)
    except OSError as error:
        print(f"fencepost: {error.filename}: {error.strerror}" if error.filename else f"fencepost: {error}", file=sys.stderr)
        return int(ExitStatus.SYSTEM)
    except MemoryError as error:
        print(f"fencepost: {str(error) or 'there is not enough memory for this'}", file=sys.stderr)
        return int(ExitStatus.SYSTEM)
    except Exception as error:
        return int(_reported(error))


def _reported(error: Exception) -> ExitStatus:
    """The status of a mistake of the user's, which is printed; raises any other error again."""
    from fencepost.checks.conformance.java_side.session import SessionError
    from fencepost.checks.conformance.java_side.toolchain import ToolchainError
    from fencepost.checks.conformance.logs.events import EmptyLogError, LogError
    from fencepost.checks.console.extras import ExtraError
    from fencepost.checks.engines.results.verdicts import ExitStatus
    from fencepost.checks.inputs.input_files import InputError
    from fencepost.checks.policy.usage import WrongUsage
    from fencepost.model.language import ModelError
    from fencepost.model.releases import ReleaseError
    from fencepost.properties.registry import RegistryError
    from fencepost.traces.files.itf import TraceFileError

    statuses: dict[type[Exception], ExitStatus] = {
        **dict.fromkeys((RegistryError, ModelError, ReleaseError, WrongUsage), ExitStatus.USAGE),
        **dict.fromkeys((InputError, TraceFileError, LogError), ExitStatus.INPUT),
        **dict.fromkeys((ToolchainError, SessionError, ExtraError), ExitStatus.SYSTEM),
        EmptyLogError: ExitStatus.EVALUATION,
    }
    status = next((status for kind, status in statuses.items() if isinstance(error, kind)), None)
    if status is not None:
        print(error if isinstance(error, ExtraError) else f"fencepost: {error}", file=sys.stderr)
        return status
    from fencepost.checks.policy.strategies import fault_text  # which load the policies
    from fencepost.model.balance.user_policy import PolicyFault

    if isinstance(error, PolicyFault):
        print(f"fencepost: {fault_text(error)}", file=sys.stderr)
        return ExitStatus.EVALUATION
    raise error


def whole_line() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(prog="fencepost", allow_abbrev=False)
    _with_version(parser)
    return whole_parser(COMMANDS, parser)


def _with_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", action=_Version, nargs=0, help="print the installed version")


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
