"""The styles of a terminal that the program itself uses: only these reach one (``checks.console.printing``)."""

from __future__ import annotations

BOLD, RED, PLAIN = STYLES = ("\x1b[1m", "\x1b[31m", "\x1b[0m")
