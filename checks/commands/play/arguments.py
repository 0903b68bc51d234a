"""The arguments of ``fencepost play`` and what its help teaches."""

from __future__ import annotations

import argparse

from fencepost.checks.commands.play.request import PlayRequest
from fencepost.checks.commands.requests import request_of
from fencepost.checks.console.options import Commands, add_bug, add_command, add_page, add_quiet, add_releases, add_set
from fencepost.checks.engines.results.verdicts import ExitStatus

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


def add_play(commands: Commands) -> None:
    """Adds the command."""
    play = add_command(commands, "play", "a page to play with a protocol in a browser", PLAY, EXAMPLES)
    play.add_argument("protocol", metavar="PROTOCOL", help="its name, or a file of your own, such as my_protocol.py")
    add_set(play)
    add_bug(play)
    add_releases(play)
    add_page(play, "the page to write (default: PROTOCOL.html)")
    add_quiet(play)
    play.set_defaults(command=_play)


def _play(asked: argparse.Namespace) -> ExitStatus:
    from fencepost.checks.commands.play.run import run

    return run(request_of(PlayRequest, asked))
