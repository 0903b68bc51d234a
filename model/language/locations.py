"""Where something is written, for people who want to go there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Location:
    """A line of a file."""

    file: str
    line: int

    @classmethod
    def of(cls, function: Callable[..., object]) -> Location:
        code = inspect.unwrap(function).__code__
        return cls(code.co_filename, code.co_firstlineno)

    def __str__(self) -> str:
        path = Path(self.file)
        if "fencepost" in path.parts:
            package = len(path.parts) - 1 - path.parts[::-1].index("fencepost")
            return f"{'/'.join(path.parts[package + 1 :])}:{self.line}"
        here = Path.cwd()
        return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{self.line}"
