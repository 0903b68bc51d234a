"""What a check prints for a person while it goes on: each instance in full, or a line for each protocol."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fencepost.checks.commands.check.messages import Teller
from fencepost.checks.console.terminal import colour, width
from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.reports.in_short import failure_text, is_of_known_bug, protocol_line
from fencepost.checks.reports.report import text
from fencepost.model.releases import Releases


class Shown:
    """Prints instances as they come. If it is ``brief`` a protocol has one line, and what failed is there in full; what a
    configuration guarantees comes first, so its report is printed as a whole at the end. Runs of a ledger that explain a step
    are those of the ``releases``."""

    def __init__(self, teller: Teller, releases: Releases | None, *, brief: bool) -> None:
        self._teller, self._releases, self.brief = teller, releases, brief
        self._of_protocol: list[Checked] = []

    def begin(self, notes: Sequence[str], remarks: Sequence[str]) -> None:
        """What there is to say before anything is checked: all of it, or the ``remarks`` among it."""
        if not self._teller.at_the_end:
            self._teller.tell(*(remarks if self.brief else notes))

    def add(self, checked: Checked) -> None:
        """An instance that was checked."""
        if self._teller.at_the_end:
            return
        if not self.brief:
            whole = not sys.stdout.isatty()
            self._teller.tell(text(checked, width=width(), colour=colour(), whole=whole, releases=self._releases))
            return
        if self._of_protocol and self._of_protocol[0].entry.name != checked.entry.name:
            self.end()
        if failed := failure_text(checked, width=width(), colour=colour()):
            self._teller.tell(failed)
        if not is_of_known_bug(checked):
            self._of_protocol.append(checked)

    def end(self) -> None:
        """No more instances come."""
        if self._of_protocol:
            self._teller.tell(protocol_line(self._of_protocol))
        self._of_protocol = []
