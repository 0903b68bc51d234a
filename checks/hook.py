"""``fencepost-hook``: what pre-commit runs on the configurations of a commit, each for itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fencepost.checks.cli import main as fencepost
from fencepost.checks.engines.results.verdicts import ExitStatus

NO_MATTER = (ExitStatus.HOLDS, ExitStatus.KNOWN_BUG)
"""A known bug of the release is there whatever is committed; to fail for it is a matter of continuous integration."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Checks each file; returns the first status that is a failure, or 0.

    What begins with ``-`` is an option of ``fencepost check``, with its value behind ``=``, everything else is a file.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = [word for word in words if word.startswith("-")]
    statuses = [fencepost(["check", "--quiet", *options, "--conf", file]) for file in words if file not in options]
    return next((status for status in statuses if status not in NO_MATTER), 0)


if __name__ == "__main__":
    sys.exit(main())
