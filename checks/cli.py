"""The entry of the command line. It loads nothing at first, so that Ctrl-C while the solvers load ends as it does later."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fencepost.checks.commands.verdict_cache import Record

GIVEN_UP = 20
"""``ExitStatus.INCONCLUSIVE``, which may not be loaded yet."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if words[:1] == ["check"]:
            from fencepost.checks.commands.verdict_cache import remembering

            return remembering(words, partial(_run, words))
        return _run(words)
    except KeyboardInterrupt:
        print("fencepost: given up", file=sys.stderr)
        return GIVEN_UP


def _run(words: Sequence[str], record: Record | None = None) -> int:
    from fencepost.checks.commands.arguments import run

    return run(words, record)


if __name__ == "__main__":
    sys.exit(main())
