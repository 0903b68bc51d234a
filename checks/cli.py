"""The entry of the command line. It loads next to nothing at first, so that Ctrl-C and SIGTERM while the solvers load
end as they do later."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from fencepost.checks.console.printing import spelled
from fencepost.checks.console.termination import TERMINATED, terminable

GIVEN_UP = 20
"""``ExitStatus.INCONCLUSIVE``, which may not be loaded yet."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    with spelled(), terminable() as termination:
        try:
            status = _run(words)
        except KeyboardInterrupt:
            print("fencepost: given up", file=sys.stderr)
            status = GIVEN_UP
    return TERMINATED if termination.received else status


def _run(words: Sequence[str]) -> int:
    # Formulas and modules are many and stay: to look through them for garbage each 700 takes a twentieth of a small check.
    gc.set_threshold(100_000, 20, 20)
    from fencepost.checks.commands.arguments import run

    return run(words)


if __name__ == "__main__":
    sys.exit(main())
