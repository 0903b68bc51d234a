"""What ``fencepost teeth`` is asked for, and what its help teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fencepost.checks.commands.tree import Command
from fencepost.checks.console.numbers import score
from fencepost.checks.console.options import Format, NamedReleases, Quiet, Set, Workers, memory, number, seed, size
from fencepost.checks.console.requests import Argument, Option

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


@dataclass(frozen=True, kw_only=True)
class TeethRequest(NamedReleases):
    """Whose mutants, and which of them; in which instances, with which properties; which score is enough."""

    protocols: Annotated[Sequence[str], Argument("the protocols to mutate (default: all)", "PROTOCOL")] = ()
    size: Annotated[str | None, size("small ones")] = None
    set: Set = ()
    mutant: Annotated[
        Sequence[str], Option("only this mutant, or all mutants of an action; also prints the run that kills it", "NAME")
    ] = ()
    property: Annotated[Sequence[str], Option("count only what this property notices; may be given several times", "NAME")] = ()
    sample: Annotated[int | None, number("check a random sample of N mutants")] = None
    seed: Annotated[int, seed("the sample")] = 0
    all: Annotated[bool, Option("a line for each mutant, not only for those that survive")] = False
    least: Annotated[float, Option("minimum score", "PERCENT", score)] = 95.0
    format: Format = "text"
    states: Annotated[int, number("leave out instances with more states")] = 50_000
    memory: Annotated[float, memory("one search of a mutant")] = 0.25
    workers: Workers = None
    quiet: Quiet = False


COMMAND = Command(TeethRequest, "teeth.run:run", DESCRIPTION, EXAMPLES)
