"""The command line: ``fencepost list``, ``check``, ``teeth``, ``explore``, ``trace``, ``export`` and ``policy``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from checks.export.arguments import add_export
from checks.policy.arguments import add_policy
from checks.teeth.arguments import add_teeth
from checks.trace_arguments import UNNAMED, add_trace, page_name
from checks.verdicts import ExitStatus
from model.language import ModelError
from properties.registry import RegistryError

EXIT_STATUS = """exit status:
  0 everything holds      10 an assumption of the model does not hold   11 a deadlock
  12 safety is violated   20 inconclusive (a limit was reached)         2 wrong usage
  75 nothing was checked  150 an input cannot be read                   153 a failure of the system"""

CHECK = """Checks protocols and prints a verdict on each of their properties.

Without --set, --conf or --defect the instances of a size are checked (ci, unless --size says otherwise). --conf takes the
instance from a cluster's broker.conf; --set changes parameters of whatever is checked; --defect switches a known mistake
on, in a small instance in which it shows. `fencepost list ledger` shows parameters, sizes, properties and defects."""

EXAMPLES = """examples:
  fencepost check                                     all protocols at the size for continuous integration
  fencepost check --conf broker.conf                  what the ledger settings of a cluster are worth
  fencepost check ledger --set bookies=4 changes=1    an instance of your own
  fencepost check ledger --defect recovery_reads_do_not_fence --property no_truncation
                                                      the shortest way to lose an acknowledged entry
"""

STRATEGY = """how a walk goes on: uniform, with any of the enabled actions, all as likely; swarm, the same of those that it does
not leave out; held, every other walk with the first of a random order that is kept for some steps (default: held)"""

EXPLORE = """Explores a protocol on Spark, on this machine unless --master names a cluster: by random walks, or all states
with --exhaustive, beyond one machine's memory and level by level.

What the walks find is certain; what they do not find was not seen, no more. The same seed gives the same walks, and the same
rows in DIR, on any number of machines. A run that was cut short goes on with the same command; `report` tells what a run's
folder says so far, `trace` shows any of its walks."""

EXPLORE_EXAMPLES = """examples:
  fencepost explore ledger --walks 1000000 --out found           a million walks of up to 100 steps
  fencepost explore ledger --defect closes_at_lac --walks 100000 --stop-on-first --out broken
  fencepost explore ledger --set entries=3 recoverers=2 --exhaustive --out everything
  fencepost explore ledger --walks 10000000000 --master spark://host:7077 --out /shared/found
  fencepost explore report found --plots plots                   violations, coverage, what is unseen
  fencepost explore trace broken --walk 1905                     one walk, step by step
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], ExitStatus] = options.command
    try:
        return int(command(options))
    except (RegistryError, ModelError) as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return int(ExitStatus.USAGE)
    except BrokenPipeError:
        sys.stderr.close()
        return int(ExitStatus.SYSTEM)
    except (OSError, MemoryError) as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return int(ExitStatus.SYSTEM)
    except KeyboardInterrupt:
        print("fencepost: given up", file=sys.stderr)
        return int(ExitStatus.INCONCLUSIVE)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fencepost",
        description="Verifies Apache Pulsar's control plane and BookKeeper's ledger protocol.",
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_list(commands)
    _add_check(commands)
    _add_explore(commands)
    add_teeth(commands)
    add_trace(commands)
    add_export(commands)
    add_policy(commands)
    return parser


def _add_list(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    listing = commands.add_parser("list", help="the protocols, their parameters, sizes, properties and defects")
    listing.add_argument("protocols", nargs="*", metavar="PROTOCOL", help="all, unless named")
    listing.set_defaults(command=_list)


def _add_check(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    check = commands.add_parser(
        "check",
        help="a verdict on each property",
        description=CHECK,
        epilog=f"{EXAMPLES}\n{EXIT_STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = check.add_argument
    add("protocols", nargs="*", metavar="PROTOCOL", help="what to check (all, unless named)")
    add("--conf", type=Path, metavar="FILE", help="take the settings from a Pulsar broker.conf")
    add("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="parameters of the instance")
    add("--size", choices=("ci", "standard", "deep"), help="which instances (default: ci)")
    add("--by", choices=("exhaustive", "walks", "induction", "bounded"), help="the engine (default: the strongest that ends)")
    add("--defect", action="append", default=[], metavar="NAME", help="switch a known mistake on; may be given several times")
    add("--property", action="append", default=[], metavar="NAME", help="check only this; may be given several times")
    add("--format", choices=("text", "json", "junit", "sarif", "github"), default="text", help="for people, programs or CI")
    add("--budget", type=_positive(float), metavar="SECONDS", help="time for the whole run (default: no limit)")
    add("--memory", type=_positive(float), default=4.0, metavar="GIB", help="memory of an exhaustive search (default: 4)")
    add("--workers", type=_positive(int), metavar="N", help="threads or processes (default: one for each core)")
    add("--trace-dir", type=Path, metavar="DIR", help="write the traces of violated properties there, as ITF files")
    add("--html", nargs="?", const=UNNAMED, type=page_name, metavar="PAGE", help="a page to explore these traces in a browser")
    add("--depth", type=_positive(int), default=8, metavar="K", help="how deep --by bounded unrolls (default: 8)")
    add("--walks", type=_positive(int), default=100_000, metavar="N", help="how many walks --by walks makes (default: 100000)")
    add("--steps", type=_positive(int), default=100, metavar="N", help="steps of each walk (default: 100)")
    add("--seed", type=int, default=0, metavar="S", help="seed of the walks (default: 0)")
    add("--strategy", choices=("uniform", "swarm", "held"), default="held", help=STRATEGY)
    add("--second-solver", action="store_true", help="have cvc5 confirm every obligation that Z3 discharges")
    add("--symmetry", action="store_true", help="search one state for all that differ only in which bookie (...) is which")
    add("--checkpoint", type=Path, metavar="DIR", help="keep the levels of an exhaustive search there")
    add("--resume", action="store_true", help="go on from what --checkpoint DIR holds")
    add("--strict", action="store_true", help="what makes success suspicious keeps the run from succeeding (exit 10)")
    add("--quiet", action="store_true", help="no progress on standard error")
    check.set_defaults(command=_check)


def _add_explore(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    explore = commands.add_parser(
        "explore",
        help="random walks by the billion, or all states, on Spark",
        usage="fencepost explore PROTOCOL --out DIR [OPTION ...]\n"
        "       fencepost explore report DIR [--plots DIR]\n"
        "       fencepost explore trace DIR --walk N [--whole] [--out FILE]",
        description=EXPLORE,
        epilog=f"{EXPLORE_EXAMPLES}\n{EXIT_STATUS}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = explore.add_argument
    add("subject", metavar="PROTOCOL", help="what to explore; or report, or trace")
    add("folder", nargs="?", type=Path, metavar="DIR", help="the run to report on or to take a walk from")
    add("--out", type=Path, metavar="DIR", help="the folder of the run (of a trace: the ITF file to write)")
    add("--walks", type=_positive(int), default=1_000_000, metavar="N", help="how many walks (default: 1000000)")
    add("--steps", type=_positive(int), default=100, metavar="K", help="steps of each walk, at most (default: 100)")
    add("--seed", type=int, default=0, metavar="S", help="seed of the walks (default: 0)")
    add("--strategy", choices=("uniform", "swarm", "held"), default="held", help=STRATEGY)
    add("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="parameters of the instance")
    add("--defect", action="append", default=[], metavar="NAME", help="switch a known mistake on; may be given several times")
    add("--exhaustive", action="store_true", help="visit every state, level by level, instead of walking")
    add("--stop-on-first", action="store_true", help="end with the first violation that is not expected")
    add("--master", default="local[*]", metavar="URL", help="Spark's master (default: local[*], all cores of this machine)")
    add("--spark-conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark; may be repeated")
    add("--walk", type=int, metavar="N", help="which walk to trace")
    add("--whole", action="store_true", help="trace the walk as it was, not shrunk to the steps that matter")
    add("--plots", type=Path, metavar="DIR", help="write the report's plots there, as SVG files")
    add("--quiet", action="store_true", help="no progress on standard error")
    explore.set_defaults(command=_explore)


def _positive(kind: type[int] | type[float]) -> Callable[[str], int | float]:
    def parse(text: str) -> int | float:
        try:
            value = kind(text)
        except ValueError:
            value = 0
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
        return value

    return parse


def _list(options: argparse.Namespace) -> ExitStatus:
    from checks.listing import listing

    print(listing(options.protocols), end="")
    return ExitStatus.HOLDS


def _check(options: argparse.Namespace) -> ExitStatus:
    from checks.command import run

    return run(options)


def _explore(options: argparse.Namespace) -> ExitStatus:
    from checks.explore import run

    return run(options)


if __name__ == "__main__":
    sys.exit(main())
