"""What ``fencepost export`` is asked for, and what its help teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fencepost.checks.commands.tree import Command
from fencepost.checks.console.options import Bugs, NamedReleases, Quiet, Set, Sizes
from fencepost.checks.console.requests import Argument, Option
from fencepost.checks.questions.planning import Wanted

EXPORT = """Writes a protocol for other tools.

tla: a TLA+ module with its actions, invariants and temporal properties, and the configuration files to run it in TLC. It has
the same reachable states, transitions and properties as the protocol here, and is meant to be read.

smt2: the proof by induction as SMT-LIB 2 scripts: one for the initial states, one for what the invariant implies, and one for
each action. If the proof holds, any bit-vector solver answers every (check-sat) with unsat. index.json names the obligations
of each script in their order.

--set, --size and --bug choose instances as for check, and --property what is written of their properties. Several instances
get a folder each."""

EXAMPLES = """examples:
  fencepost export election --set brokers=3 --format tla --out tla
  java -cp tla2tools.jar tlc2.TLC -config tla/Election.cfg tla/Election.tla
                                                           the same states, searched by TLC
  fencepost export ledger --bug closes_at_lac --format tla --out broken
  fencepost export ledger --set entries=3 --format smt2 --out smt
  fencepost export ledger --property no_truncation --format tla --out one
                                                           one property, and all actions
  z3 smt/001-implied.smt2                                  do the lemmas imply the properties?"""


@dataclass(frozen=True, kw_only=True)
class ExportRequest(Wanted, NamedReleases):
    """What to write, in which format, and the folder to write it to."""

    protocols: Annotated[Sequence[str], Argument("what to write", "PROTOCOL")]
    format: Annotated[str, Option("the format: TLA+ or SMT-LIB", choices=("tla", "smt2"))]
    set: Set = ()
    size: Sizes = None
    bug: Bugs = ()
    property: Annotated[
        Sequence[str],
        Option("write only this property, and the lemmas that its proof takes; may be given several times", "NAME"),
    ] = ()
    by: str | None = None
    any: Sequence[str] = ()
    out: Annotated[Path, Option("the folder to write to", "DIR", writes="folder")]
    quiet: Quiet = False


COMMAND = Command(ExportRequest, "export.run:run", EXPORT, EXAMPLES)
