"""The arguments of ``fencepost lemmas`` and what its help teaches."""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.checks.commands.lemmas.request import LemmasRequest
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.options import (
    Commands,
    Once,
    add_budget,
    add_bug,
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

LEMMAS = """Finds lemmas that prove a property by induction, and prints them as Python for properties/.

A property that holds in all reachable states need not be inductive: a step from an unreachable state may break it. The
lemmas exclude such states. Candidates are clauses over the variables of the protocol, of one to three literals, for all
members of the universes that they mention. A literal is an equation with a value or member, a membership, a comparison of
numbers, or a count of members. Clauses that fail in a reached state are dropped. Among the others the command searches for an
inductive set with the property, and makes it as small as possible.

Whatever is printed as proved has been proved again from the printed text, by `fencepost check --by induction`. Where the
protocol has a proof for any size, that is checked also."""

EXAMPLES = """examples:
  fencepost lemmas ownership --property single_owner    why two brokers never own one bundle
  fencepost lemmas ownership --property single_owner --set disconnects=1 releases=1
                                                        the same for an instance of your own
  fencepost lemmas ledger --property no_truncation --out found.py
                                                        minutes; the lemmas go to a file
  fencepost lemmas my_protocol.py --property mutual_exclusion --literals 2
                                                        for a protocol of your own, with short clauses only

exit status: 0 the lemmas prove the property, 12 the property fails in a state that can be reached, 20 no such lemmas were found
  or it was stopped, 2 wrong usage, 150 the file cannot be read"""


def add_lemmas(commands: Commands) -> None:
    """Adds the command."""
    lemmas = add_command(commands, "lemmas", "find the lemmas that prove a property", LEMMAS, EXAMPLES)
    add = lemmas.add_argument
    add("protocol", metavar="PROTOCOL", help="its name, or a file of your own, such as my_protocol.py")
    add("--property", required=True, action=Once, metavar="NAME", help="the property to prove: one of single states")
    add_set(lemmas)
    add_size(lemmas, "none, but the instance that --set makes")
    add_releases(lemmas)
    add_bug(lemmas)
    helps = "maximum literals per clause; counting clauses may have one extra premise at 3 (default: 3)"
    add("--literals", type=int, choices=(1, 2, 3), default=3, help=helps)
    add_seed(lemmas, "the states that need not be reachable")
    add("--out", type=Path, metavar="FILE", help="also write the lemmas there")
    add_format(lemmas)
    add_budget(lemmas)
    add_memory(lemmas, 1.0, "the states that are looked at")
    add_workers(lemmas)
    add_quiet(lemmas)
    lemmas.set_defaults(command=_lemmas)


def _lemmas(asked: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.lemmas.run import run

    return run(request_of(LemmasRequest, asked))
