"""The entry of the command line. It loads nothing at first, so that Ctrl-C while the solvers load ends as it does later."""

from __future__ import annotations

import sys
from collections.abc import Sequence

GIVEN_UP = 20
"""``ExitStatus.INCONCLUSIVE``, which may not be loaded yet."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    try:
        from fencepost.checks.commands.arguments import run

        return run(arguments)
    except KeyboardInterrupt:
        print("fencepost: given up", file=sys.stderr)
        return GIVEN_UP


if __name__ == "__main__":
    sys.exit(main())
