"""Where the answer of a check goes: what is printed, and the documents that are written beside it, all in one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.commands.check.formats import ANNOTATED, DOCUMENTS, TEXT, Format
from fencepost.checks.settings.files.input_files import STANDARD_INPUT
from fencepost.properties.registry import RegistryError
from fencepost.traces.files.writing import write_text

if TYPE_CHECKING:
    from fencepost.checks.commands.check.request import CheckRequest
    from fencepost.checks.reports.refusal import Refusal

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
