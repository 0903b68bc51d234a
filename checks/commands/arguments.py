"""The command line: ``fencepost list``, ``check``, ``teeth``, ``lemmas``, ``explore``, ``play``, ``trace``, ``conform``,
``reproduce``, ``export`` and ``policy``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fencepost.checks.certify.arguments import add_certify
from fencepost.checks.commands.conform_arguments import add_conform
from fencepost.checks.commands.lemmas_arguments import add_lemmas
from fencepost.checks.commands.play_arguments import add_play
from fencepost.checks.commands.reproduce import add_reproduce
from fencepost.checks.commands.trace_arguments import UNNAMED, add_trace, page_name
from fencepost.checks.commands.verdict_cache import Record
from fencepost.checks.console.extras import PLOTS, SPARK, ExtraError, require
from fencepost.checks.console.numbers import positive, whole
from fencepost.checks.console.options import (
    Commands,
    Once,
    add_command,
    add_conf,
    add_defect,
    add_format,
    add_memory,
    add_quiet,
    add_releases,
    add_set,
    add_size,
    add_walks,
    add_workers,
)
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.export.arguments import add_export
from fencepost.checks.policy.arguments import add_policy
from fencepost.checks.questions.requirements import requirement
from fencepost.checks.teeth.arguments import add_teeth
from fencepost.model.language import ModelError
from fencepost.model.releases import ReleaseError
from fencepost.properties.registry import RegistryError

EXIT_STATUS = """exit status:
  0 everything holds      10 an assumption of the model does not hold   11 a deadlock
  12 safety is violated   13 liveness is violated                       14 the release has a hazard
  15 weaker than before   16 less than is required
  20 inconclusive (a limit was reached)                                 2 wrong usage
  75 nothing was checked  150 an input cannot be read                   153 a failure of the system"""

FIRST = """to begin with:
  fencepost check --conf broker.conf    what the settings of a cluster are worth
  fencepost list                        what can be checked
  fencepost COMMAND --help              what a command does, its options and examples"""

LIST = """Names what can be checked: protocols and theories. Of each it shows the parameters that --set changes, with their
defaults, the instances of each size, the properties by kind, the actions with the methods of Pulsar or BookKeeper that
they mirror, and the defects that can be switched on. --defects shows which releases have which of them, --java finds the
actions of a method."""

LIST_EXAMPLES = """examples:
  fencepost list             everything
  fencepost list ledger      one protocol
  fencepost list election --defects
                             since when each mistake is there, and in which release it is fixed
  fencepost list --java sendAddSuccessCallbacks
                             where a method of the real system is to be found"""

CHECK = """Checks protocols and prints a verdict on each of their properties.

Without --set, --conf or --defect the instances of a size are checked (ci, unless --size says otherwise). --conf takes the
instance from a cluster's broker.conf; --set changes parameters of whatever is checked; --defect switches a known mistake
on, in a small instance in which it shows. `fencepost list ledger` shows parameters, sizes, properties and defects.

--pulsar and --bookkeeper name the releases that a cluster runs (with --conf the newest, unless named): the check then also
looks for the hazards of these, mistakes that are known of them, and shows the shortest run to each, what it costs, and in
which release it is mended."""

EXAMPLES = """examples:
  fencepost check                                     all protocols at the size for continuous integration
  fencepost check --conf broker.conf                  what the ledger settings of a cluster are worth
  fencepost check --conf new.conf --against old.conf  what a change makes weaker, and the runs that show it
  fencepost check --conf broker.conf --guarantees --require 'disks>=1' --require 'bookies_down>=1'
                                                      fail if it guarantees less, and say what to change
  fencepost check --conf broker.conf --pulsar 4.0.8   what that release can do wrong with these settings
  fencepost check ledger --set bookies=4 changes=1    an instance of your own
  fencepost check ledger --defect recovery_reads_do_not_fence --property no_truncation
                                                      the shortest way to lose an acknowledged entry
  fencepost check my_protocol.py --set clients=3      a protocol of your own, with the same options
  fencepost check --conf broker.conf --baseline accepted.json
                                                      fail only for what nobody has accepted yet
"""

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


def run(arguments: Sequence[str], record: Record | None = None) -> int:
    """Runs the command that the arguments ask for; returns the exit status. ``record`` is told whether it can be remembered."""
    options = _parser().parse_args(arguments)
    options.record = record or Record()
    command: Callable[[argparse.Namespace], ExitStatus] = options.command
    if sys.stdout is None:  # closed by who called: Python then has none
        print("fencepost: standard output is closed, so there is nowhere to tell what is found", file=sys.stderr)
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
            told = version("fencepost")
        except PackageNotFoundError:
            told = "is run from its sources, and not installed: their pyproject.toml has the version"
        print(f"fencepost {told}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fencepost",
        description="Verifies Apache Pulsar's control plane and BookKeeper's ledger protocol.",
        epilog=f"{FIRST}\n\n{EXIT_STATUS}",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="the version that is installed")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_list(commands)
    _add_check(commands)
    _add_explore(commands)
    add_teeth(commands)
    add_lemmas(commands)
    add_play(commands)
    add_trace(commands)
    add_conform(commands)
    add_reproduce(commands)
    add_export(commands)
    add_certify(commands)
    add_policy(commands)
    return parser


def _add_list(commands: Commands) -> None:
    helps = "the protocols, their parameters, sizes, properties and defects"
    listing = add_command(commands, "list", helps, LIST, LIST_EXAMPLES)
    listing.add_argument("protocols", nargs="*", metavar="PROTOCOL", help="all, unless named")
    listing.add_argument("--defects", action="store_true", help="only the defects, with the releases that have them")
    listing.add_argument("--java", metavar="NAME", help="which actions mirror a method, by a part of its Class.method")
    listing.set_defaults(command=_list)


def _add_check(commands: Commands) -> None:
    check = add_command(commands, "check", "a verdict on each property", CHECK, f"{EXAMPLES}\n{EXIT_STATUS}")
    add = check.add_argument
    helps = "what to check: names, or files of protocols of your own, such as my_protocol.py (all, unless named)"
    add("protocols", nargs="*", metavar="PROTOCOL", help=helps)
    add_conf(check, "take the settings from a broker.conf, an environment file, Helm values or a ConfigMap (-: standard input)")
    add("--guarantees", action="store_true", help="of a configuration only what it guarantees, each with the run beyond it")
    helps = "fail if it guarantees less (exit 16), whatever else is checked"
    add("--require", action="append", default=[], type=requirement, metavar="NAME>=N", help=helps)
    add("--against", type=Path, action="append", metavar="FILE", help="fail if it guarantees less than this one (exit 15)")
    add("--bookies", type=whole(1), action=Once, metavar="N", help="of the cluster (default: one more than an ensemble)")
    add_releases(check, "behave as this release of Pulsar, and look for its hazards, too")
    add_set(check)
    add_size(check)
    add("--by", choices=("exhaustive", "walks", "induction", "bounded"), help="the engine (default: the strongest that ends)")
    add_defect(check)
    add("--property", action="append", default=[], metavar="NAME", help="check only this; may be given several times")
    add_format(check, "junit", "sarif", "github")
    add("--budget", type=positive, metavar="SECONDS", help="time for the whole run (default: no limit)")
    add_memory(check, 4.0, "an exhaustive search")
    add_workers(check)
    add("--trace-dir", type=Path, metavar="DIR", help="write the traces of violated properties there, as ITF files")
    add("--html", nargs="?", const=UNNAMED, type=page_name, metavar="PAGE", help="a page to explore these traces in a browser")
    add("--depth", type=whole(1), default=8, metavar="K", help="how deep --by bounded unrolls (default: 8)")
    add_walks(check, 100_000, "how many walks --by walks makes")
    helps = "prove it by induction for any number of these: entries, bookies, recoverers (ledger), brokers (ownership), ..."
    add("--any", nargs="+", action="extend", default=[], metavar="NAME", help=helps)
    add("--second-solver", action="store_true", help="have cvc5 confirm every obligation that Z3 discharges")
    add("--certificate", type=Path, metavar="DIR", help="write what --by induction proved there, for fencepost certify")
    add("--symmetry", action="store_true", help="search one state for all that differ only in which bookie (...) is which")
    add("--no-slice", action="store_true", help="search all of a protocol, not only what the named properties can see")
    add("--checkpoint", type=Path, metavar="DIR", help="keep the levels of an exhaustive search there")
    add("--resume", action="store_true", help="go on from what --checkpoint DIR holds")
    add("--strict", action="store_true", help="what makes success suspicious keeps the run from succeeding (exit 10)")
    add("--baseline", type=Path, action=Once, metavar="FILE", help="fail only for what is new since, or gone")
    add("--write-baseline", type=Path, action=Once, metavar="FILE", help="write what can be accepted there, and succeed")
    add("--no-cache", action="store_true", help="check, even if the same check was made before, and do not remember it")
    add_quiet(check)
    check.set_defaults(command=_check)


def _add_explore(commands: Commands) -> None:
    explore = add_command(
        commands,
        "explore",
        "random walks by the billion, or all states, on Spark",
        EXPLORE,
        f"{EXPLORE_EXAMPLES}\n{EXIT_STATUS}",
        usage="fencepost explore PROTOCOL --out DIR [OPTION ...]\n"
        "       fencepost explore report DIR [--plots DIR]\n"
        "       fencepost explore trace DIR --walk N [--whole] [--out FILE]",
    )
    add = explore.add_argument
    add("subject", metavar="PROTOCOL", help="what to explore; or report, or trace")
    add("folder", nargs="?", type=Path, metavar="DIR", help="the run to report on or to take a walk from")
    add("--out", type=Path, metavar="DIR", help="the folder of the run (of a trace: the ITF file to write)")
    add_walks(explore, 1_000_000, "how many walks")
    add_set(explore)
    add_releases(explore)
    add_defect(explore)
    add("--exhaustive", action="store_true", help="visit every state, level by level, instead of walking")
    add("--stop-on-first", action="store_true", help="end with the first violation that is not expected")
    add("--master", default="local[*]", metavar="URL", help="Spark's master (default: local[*], all cores of this machine)")
    add("--spark-conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark; may be repeated")
    add("--walk", type=whole(0), metavar="N", help="which walk to trace")
    add("--whole", action="store_true", help="trace the walk as it was, not shrunk to the steps that matter")
    add("--plots", type=Path, metavar="DIR", help="write the report's plots there, as SVG files")
    add_quiet(explore)
    explore.set_defaults(command=_explore)


def _list(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.reports.listing import defects, listing, mirrored

    shown = defects if options.defects else listing
    print(mirrored(options.java) if options.java else shown(options.protocols), end="")
    return ExitStatus.HOLDS


def _check(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.check import run

    return run(options)


def _explore(options: argparse.Namespace) -> ExitStatus:
    require(SPARK, "explore")
    if options.plots is not None:
        require(PLOTS, "explore report --plots")
    from fencepost.checks.commands.explore import run

    return run(options)
