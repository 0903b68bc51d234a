"""The formats of ``fencepost conform TARGET``: each is one entry of one table.

The command line takes its choices from the table, so reports are loaded only when a format prints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.checks.console.printing import colour, width

if TYPE_CHECKING:
    from fencepost.checks.commands.conform.report import Held
    from fencepost.checks.engines.results.verdicts import ExitStatus


def _text(held: Held, status: ExitStatus, files: Sequence[Path]) -> str:
    from fencepost.checks.commands.conform.report import text

    return text(held, files, width=width(), colour=colour())


def _json(held: Held, status: ExitStatus, files: Sequence[Path]) -> str:
    from fencepost.checks.commands.conform.report import as_json

    return as_json(held, status, files)


def _junit(held: Held, status: ExitStatus, files: Sequence[Path]) -> str:
    from fencepost.checks.commands.conform.report import as_junit

    return as_junit(held, status)


FORMATS: Mapping[str, Callable[[Held, ExitStatus, Sequence[Path]], str]] = {"text": _text, "json": _json, "junit": _junit}
"""The formats by their names; ``files`` are the traces that were written. A name that is not here is a KeyError."""
