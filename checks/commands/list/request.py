"""Arguments of ``fencepost list``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fencepost.checks.commands.tree import Command
from fencepost.checks.console.requests import Argument, Option

LIST = """Lists what can be checked: protocols and theories. Each has its parameters with their defaults (--set changes them),
the instances of each size, and the properties by kind. Then come the actions, with the methods of Pulsar or BookKeeper that
they mirror, and the bugs. --bugs shows which releases have which bug. --java finds the actions of a method, and the rules of
load balancing that mirror it. --events has the events that `fencepost check --never` leaves out."""

LIST_EXAMPLES = """examples:
  fencepost list             everything
  fencepost list ledger      one protocol
  fencepost list election --bugs
                             which release introduced each bug, and which fixes it
  fencepost list --java sendAddSuccessCallbacks
                             where a method of the real system is mirrored"""


@dataclass(frozen=True, kw_only=True)
class ListRequest:
    """What is listed: protocols, or all; only their bugs; the events of ways; or the actions that mirror a method."""

    protocols: Annotated[
        Sequence[str], Argument("the protocols, or files with protocols of your own (default: all)", "PROTOCOL")
    ] = ()
    bugs: Annotated[bool, Option("only the bugs, with the releases that have them", hidden=("--defects",))] = False
    events: Annotated[bool, Option("the events that ways can need, by the names that --never takes")] = False
    java: Annotated[str | None, Option("which actions mirror a method, by a part of its Class.method", "NAME")] = None


COMMAND = Command(ListRequest, "list.run:run", LIST, LIST_EXAMPLES)
