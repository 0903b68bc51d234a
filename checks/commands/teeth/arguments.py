"""The arguments of ``fencepost teeth``."""

from __future__ import annotations

import argparse

from fencepost.checks.commands.requests import request_of
from fencepost.checks.commands.teeth.request import TeethRequest
from fencepost.checks.console.numbers import score, whole
from fencepost.checks.console.options import (
    Commands,
    add_command,
    add_format,
    add_memory,
    add_quiet,
    add_releases,
    add_seed,
    add_set,
    add_size,
    add_workers,
)
from fencepost.checks.engines.results.verdicts import ExitStatus

DESCRIPTION = """Makes small mistakes in a protocol, one at a time, and checks whether the properties notice.

A mutant is the protocol with one mistake in one action: a condition of its guard dropped, a family of variables not updated, a
comparison replaced by its neighbour, a parameter off by one, an action that need not happen. Each mutant is checked in the
instances of a size, the smallest first, until a property fails. The score is the share of mutants noticed, among those that
make a difference."""

EXAMPLES = """examples:
  fencepost teeth election                       the mutants that nothing notices, and the score
  fencepost teeth election --all                 how each of them was noticed
  fencepost teeth election --mutant propose.3    one of them, with the run that kills it
  fencepost teeth election --property single_leader --all
                                                 what one property notices
  fencepost teeth ledger --set entries=1         the mutants of an instance of your own
  fencepost teeth service_unit --sample 200      a sample, where all of them would take hours

exit status: 0 the score is at least --least, 10 it is lower, 75 there is none, 20 interrupted, 2 wrong usage"""


def add_teeth(commands: Commands) -> None:
    """Adds the command to those of ``fencepost``."""
    teeth = add_command(commands, "teeth", "whether the properties would notice a mistake", DESCRIPTION, EXAMPLES)
    add = teeth.add_argument
    add("protocols", nargs="*", metavar="PROTOCOL", help="the protocols to mutate (default: all)")
    add_size(teeth, "small ones")
    add_set(teeth)
    add_releases(teeth)
    helps = "only this mutant, or all mutants of an action; also prints the run that kills it"
    add("--mutant", action="append", default=[], metavar="NAME", help=helps)
    helps = "count only what this property notices; may be given several times"
    add("--property", action="append", default=[], metavar="NAME", help=helps)
    add("--sample", type=whole(1), metavar="N", help="check a random sample of N mutants")
    add_seed(teeth, "the sample")
    add("--all", action="store_true", help="a line for each mutant, not only for those that survive")
    add("--least", type=score, default=95.0, metavar="PERCENT", help="minimum score (default: 95)")
    add_format(teeth)
    add("--states", type=whole(1), default=50_000, metavar="N", help="leave out instances with more states (default: 50000)")
    add_memory(teeth, 0.25, "one search of a mutant")
    add_workers(teeth)
    add_quiet(teeth)
    teeth.set_defaults(command=_teeth)


def _teeth(options: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.teeth.run import run

    return run(request_of(TeethRequest, options))
