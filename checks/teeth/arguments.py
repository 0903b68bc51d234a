"""The arguments of ``fencepost teeth``."""

from __future__ import annotations

import argparse

from checks.verdicts import ExitStatus

DESCRIPTION = """Makes small mistakes in a protocol, one at a time, and looks whether its properties notice.

A mutant is the protocol with one mistake in one action: a condition of its guard left out, a family of variables not updated, a
comparison replaced by its neighbour, a parameter read as one more or less. The mutants are checked in the instances of a size,
the smallest first, until one notices. The score is the share of those noticed among all that make a difference."""

EXAMPLES = """examples:
  fencepost teeth election                       the mutants that nothing notices, and the score
  fencepost teeth election --all                 how each of them was noticed
  fencepost teeth election --mutant propose.3    one of them, with the run that gives it away
  fencepost teeth ledger --set entries=1         the mutants of an instance of your own

exit status: 0 the score is at least that of --least, 10 it is not, 20 interrupted, 2 wrong usage"""


def add_teeth(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to those of ``fencepost``."""
    teeth = commands.add_parser(
        "teeth",
        help="whether the properties would notice a mistake",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = teeth.add_argument
    add("protocols", nargs="*", metavar="PROTOCOL", help="whose mutants (all, unless named)")
    add("--size", choices=("ci", "standard", "deep"), help="in which instances (default: small ones)")
    add("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="one instance with these parameters")
    add("--mutant", action="append", default=[], metavar="NAME", help="only this, or all of an action; with the run that tells")
    add("--all", action="store_true", help="a line for each mutant, not only for those that survive")
    add("--least", type=float, default=95.0, metavar="PERCENT", help="the score that is demanded (default: 95)")
    add("--format", choices=("text", "json"), default="text", help="for people or for programs")
    add("--states", type=int, default=50_000, metavar="N", help="leave instances out that have more states (default: 50000)")
    add("--memory", type=float, default=0.25, metavar="GIB", help="memory of one search of a mutant (default: 0.25)")
    add("--workers", type=int, metavar="N", help="processes (default: one for each core)")
    add("--quiet", action="store_true", help="no progress on standard error")
    teeth.set_defaults(command=_teeth)


def _teeth(options: argparse.Namespace) -> ExitStatus:
    from checks.teeth.command import run

    return run(options)
