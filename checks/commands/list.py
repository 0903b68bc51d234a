"""``fencepost list``: what can be checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fencepost.checks.commands.tree import Command
from fencepost.checks.console.requests import Argument, Option

if TYPE_CHECKING:
    from fencepost.checks.engines.results.verdicts import ExitStatus

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


COMMAND = Command(ListRequest, "list:run", LIST, LIST_EXAMPLES)


def run(request: ListRequest) -> ExitStatus:
    """Prints what the request asks for."""
    from fencepost.checks.engines.results.verdicts import ExitStatus
    from fencepost.checks.reports.listing import bugs, listing, mirrored  # loads every protocol

    if request.events:
        from fencepost.checks.questions.events import EVENTS

        acts = {name: " (an act of an administrator)" if event.is_act else "" for name, event in EVENTS.items()}
        print("".join(f"{name:<20} {event.says}{acts[name]}\n" for name, event in EVENTS.items()), end="")
        return ExitStatus.HOLDS
    shown = bugs if request.bugs else listing
    print(mirrored(request.java) if request.java else shown(request.protocols), end="")
    return ExitStatus.HOLDS
