"""What a check tells a person while it runs: on standard output where that is the report, else beside it."""

from __future__ import annotations

import sys

from fencepost.checks.commands.check.formats import FORMATS
from fencepost.checks.commands.check.request import CheckRequest


class Teller:
    """Prints for a person, in the formats that are for one."""

    def __init__(self, asked: CheckRequest) -> None:
        self.as_text = FORMATS[asked.format].is_for_people

    def tell(self, *lines: str) -> None:
        """Prints some lines, at once, where the format is for people; in others the document has what they say."""
        if self.as_text and lines:
            print("\n".join(lines), flush=True)

    def name(self, what: str) -> None:
        """Prints what was written and where; in a format for programs to standard error."""
        print(what, file=sys.stdout if self.as_text else sys.stderr)
