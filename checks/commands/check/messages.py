"""What a check tells a person while it runs: on standard output where that is the report, else beside it."""

from __future__ import annotations

import sys

from fencepost.checks.commands.check.outputs import Outputs
from fencepost.checks.commands.check.request import CheckRequest


class Teller:
    """Prints for a person, in the formats that are for one; ``at_the_end`` keeps the lines for a report that begins with the
    verdict."""

    def __init__(self, asked: CheckRequest, *, at_the_end: bool = False) -> None:
        self.as_text = Outputs.of(asked).printed.is_for_people
        self.at_the_end = at_the_end
        self.lines: list[str] = []

    def tell(self, *lines: str) -> None:
        """Prints some lines, at once, where the format is for people; in others the document has what they say."""
        if self.as_text and self.at_the_end:
            self.lines += lines
        elif self.as_text and lines:
            print("\n".join(lines), flush=True)

    def tell_at_once(self, *lines: str) -> None:
        """Prints what is not to wait for the end."""
        if self.as_text:
            print("\n".join(lines), flush=True)

    def name(self, what: str) -> None:
        """Prints what was written and where; in a format for programs to standard error."""
        if self.as_text:
            self.tell(what)
        else:
            print(what, file=sys.stderr)
