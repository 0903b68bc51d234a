"""Where the answer of a check goes: what is printed, while it goes on and at its end, and the documents beside it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.commands.check.formats import ANNOTATED, DOCUMENTS, TEXT, Format
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.commands.check.subject import is_of_everything
from fencepost.checks.console.printing import colour, width
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.inputs.input_files import STANDARD_INPUT
from fencepost.checks.reports.in_short import failure_text, is_of_known_bug, protocol_line
from fencepost.checks.reports.report import text
from fencepost.model.releases import Releases
from fencepost.properties.registry import RegistryError
from fencepost.traces.files.writing import write_text

if TYPE_CHECKING:
    from fencepost.checks.reports.documents import Refusal


STANDARD_OUTPUT = STANDARD_INPUT
"""The name of a document that is printed in place of the text."""


@dataclass(frozen=True)
class Outputs:
    """The format that is ``printed``, and the ``files`` of the other documents, by their names."""

    printed: Format
    files: Mapping[str, Path]

    @classmethod
    def of(cls, asked: CheckRequest) -> Outputs:
        """What the command line names. RegistryError if two documents would be one file, or would both be printed."""
        named = {name: path for name in DOCUMENTS if (path := getattr(asked, name)) is not None}
        twice = next((path for path, number in Counter(named.values()).items() if number > 1), None)
        if twice is not None:
            options = " and ".join(f"--{name}" for name, path in named.items() if path == twice)
            raise RegistryError(f"{options} name the same file, {twice}: give each a file of its own")
        files = {name: path for name, path in named.items() if path != STANDARD_OUTPUT}
        printed = next((DOCUMENTS[name] for name in named if name not in files), None)
        if printed is not None and asked.annotations:
            raise RegistryError("--annotations are lines among the text: give the document a file, not -")
        return cls(printed or (ANNOTATED if asked.annotations else TEXT), files)

    def write(self, document: Callable[[Format], str]) -> Iterator[str]:
        """Writes each document that has a file; what was written, and where. Raises OSError."""
        for name, path in self.files.items():
            write_text(path, document(DOCUMENTS[name]))
            yield f"{name}: {path}"

    def refuse(self, refusal: Refusal) -> None:
        """Prints why nothing was checked, and writes it into each document that can be written."""
        for name, path in self.files.items():
            with suppress(OSError):  # it may be the file that cannot be written which is refused
                write_text(path, DOCUMENTS[name].refusal(refusal))
        print(self.printed.refusal(refusal), end="")


def is_brief(asked: CheckRequest) -> bool:
    """Whether a protocol has one line, because all are asked for."""
    return is_of_everything(asked) and not asked.all


def shows_only_failures(asked: CheckRequest) -> bool:
    """Whether nothing is shown or written of what is as it should be, except how much that is. With settings a negative
    control may fail because of them."""
    beside = (asked.trace_dir, asked.html, asked.baseline, asked.write_baseline, *(getattr(asked, name) for name in DOCUMENTS))
    return is_brief(asked) and not asked.conf and all(each is None for each in beside)


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
