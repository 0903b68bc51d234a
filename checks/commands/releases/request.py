"""The requests of ``fencepost releases``, and what its help teaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fencepost.checks.commands.tree import Command, Entry, Group
from fencepost.checks.console.options import Format, Quiet
from fencepost.checks.console.requests import Argument, Option

RELEASES = """Lists the releases of Pulsar, BookKeeper and Kafka that the protocols mirror. For each it says what was read in
its code, what was run on its classes, and what was not."""

EXAMPLES = """examples:
  fencepost releases                          what was read and run of each release
  fencepost releases diff 5.0.0-M1 5.0.1      what there is to read in the second
  fencepost releases diff 5.0.1 5.0.2         of a release that nobody has read
  fencepost releases diff 5.0.1 build/jars    of your own build
  fencepost releases order 4.2.4 5.0.1        which to upgrade first, bookies or brokers"""

DIFF = """Compares two releases by the bytecode of each method that an action or a known bug names, and of what that method
calls in its class. It lists what to read in the second release: methods that are gone, that changed, or whose callees did, with
the actions and bugs that stand on them, those with bugs first. A bug whose methods are all the same is still there.

Line numbers, names of variables and numbers that the compiler gives are left out of the comparison. A release is named by its
number, also one that is not modelled, or by a folder with its jars. The command needs a JDK and Maven, which fetches the jars
once."""

ORDER = """Compares the two orders of an upgrade from one release of Pulsar to another: the bookies first, or the brokers.
On the way the bookies have one release of BookKeeper, and the brokers with their BookKeeper client the other. For each order it
lists the known bugs that are fixed by then, those that are new, and those that are still there."""

STATUS = """exit status: 0 compared, 2 wrong usage, 153 no Java or no Maven, or no such release"""


@dataclass(frozen=True, kw_only=True)
class ListRequest:
    """The releases that are modelled, in this format."""

    format: Format = "text"


@dataclass(frozen=True, kw_only=True)
class DiffRequest:
    """Two releases, by their numbers or by folders with their jars."""

    first: Annotated[str, Argument("a release that was read", "FIRST")]
    second: Annotated[str, Argument("another release, or a folder with its jars", "SECOND")]
    record: Annotated[bool, Option("also write into rows beside the bugs what became of their methods (in a checkout)")] = False
    format: Format = "text"
    quiet: Quiet = False


@dataclass(frozen=True, kw_only=True)
class OrderRequest:
    """Two releases of Pulsar, each with the BookKeeper that it ships."""

    first: Annotated[str, Argument("the release of Pulsar that runs", "FROM")]
    second: Annotated[str, Argument("the release of Pulsar to which it is upgraded", "TO")]
    format: Format = "text"


DIFF_COMMAND = Command(DiffRequest, "releases.diff:run", DIFF, STATUS)

ORDER_COMMAND = Command(OrderRequest, "releases.order:run", ORDER)

COMMAND = Group(
    RELEASES,
    {
        "besides": {
            "diff": Entry("releases.request:DIFF_COMMAND", "what there is to read in a release"),
            "order": Entry("releases.request:ORDER_COMMAND", "which to upgrade first, bookies or brokers"),
        }
    },
    EXAMPLES,
    metavar="VERB",
    itself=Command(ListRequest, "releases.run:run", RELEASES),
)
