"""What ``fencepost lemmas`` is asked for, and what its help teaches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fencepost.checks.commands.tree import Command
from fencepost.checks.console.options import (
    Budget,
    Bugs,
    Format,
    NamedReleases,
    Quiet,
    Set,
    Workers,
    memory,
    seed,
    size,
)
from fencepost.checks.console.requests import Argument, Option

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


@dataclass(frozen=True, kw_only=True)
class LemmasRequest(NamedReleases):
    """The property of a protocol to prove, in which instances, with how long clauses, and where to write the lemmas."""

    protocol: Annotated[str, Argument("its name, or a file of your own, such as my_protocol.py", "PROTOCOL")]
    property: Annotated[str, Option("the property to prove: one of single states", "NAME", once=True)]
    set: Set = ()
    size: Annotated[str | None, size("none, but the instance that --set makes")] = None
    bug: Bugs = ()
    literals: Annotated[
        int, Option("maximum literals per clause; counting clauses may have one extra premise at 3", choices=(1, 2, 3))
    ] = 3
    seed: Annotated[int, seed("the states that need not be reachable")] = 0
    out: Annotated[Path | None, Option("also write the lemmas there", "FILE", writes="file")] = None
    format: Format = "text"
    budget: Budget = None
    memory: Annotated[float, memory("the states that are looked at")] = 1.0
    workers: Workers = None
    quiet: Quiet = False


COMMAND = Command(LemmasRequest, "lemmas.run:run", LEMMAS, EXAMPLES)
