"""What ``fencepost play`` is asked for, and what its help teaches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fencepost.checks.commands.tree import Command
from fencepost.checks.console.options import Bugs, NamedReleases, Quiet, Set, page
from fencepost.checks.console.requests import Argument

PLAY = """Writes a page in which you play a protocol: take any enabled action, undo it, go back to any state and branch off. At
each step the page shows which properties hold and why an action cannot happen. It finds the shortest way to a violation,
or to a state that you describe. The page is one file that opens from disk and loads nothing. It runs the same terms that
`fencepost check` checks, compiled to WebAssembly."""

EXAMPLES = """examples:
  fencepost play election                                     from the initial state of the usual instance
  fencepost play ledger --set bookies=4 --html ledger.html    for an instance of your own
  fencepost play ledger --bug recovery_reads_do_not_fence  with a known bug, in the small instance that shows it
  fencepost play ownership --pulsar 4.0.8                     as that release behaves
  fencepost play my_protocol.py                               a protocol of your own

exit status: 0 written, 2 wrong usage, 20 the model is too large for a page, 150 the file cannot be read"""


@dataclass(frozen=True, kw_only=True)
class PlayRequest(NamedReleases):
    """The protocol to play with, in which instance, and the page to write."""

    protocol: Annotated[str, Argument("its name, or a file of your own, such as my_protocol.py", "PROTOCOL")]
    set: Set = ()
    bug: Bugs = ()
    html: Annotated[Path | None, page("the page to write (default: PROTOCOL.html)")] = None
    quiet: Quiet = False


COMMAND = Command(PlayRequest, "play.run:run", PLAY, EXAMPLES)
