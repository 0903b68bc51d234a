"""Where a reproduction runs: a folder, the processes started in it, and the account of what happens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from fencepost.checks.conformance.java_side.harness import RELEASED, Harness, harness
from fencepost.checks.conformance.java_side.jars import Release
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.java_side.toolchain import Toolchain

T = TypeVar("T")

SECONDS = 180.0
"""How long one request may take: a broker or a bookie may have to start for it, on a machine that has other work."""


class Stage:
    """One run's folder, which must not exist yet, and its processes, which all end with it.

    ``say`` prints a line of the account, ``progress`` a line for those who wait; ``own`` takes the place of the release's jars.
    """

    def __init__(
        self,
        folder: Path,
        tools: Toolchain,
        say: Callable[[str], None],
        progress: Callable[[str], None] = lambda _: None,
        own: OwnBuild = RELEASED,
    ) -> None:
        self.folder, self.tools, self.own = folder, tools, own
        self.say, self.progress = say, progress
        self._ending = contextlib.ExitStack()
        self._harnesses: dict[str, Harness] = {}

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ending.close()

    def harness(
        self, folder: str, main: str, release: Release, options: Sequence[str] = (), besides: Sequence[str] = ()
    ) -> Harness:
        """The harness of ``java/reproductions/FOLDER``, compiled with the folders ``besides`` it. Raises ToolchainError."""
        if main not in self._harnesses:
            self.progress(f"fetching the jars of {release}, compiling")
            folder = f"reproductions/{folder}"
            self._harnesses[main] = harness(
                folder, main, release, besides=besides, options=options, tools=self.tools, own=self.own
            )
        return self._harnesses[main]

    def session(self, name: str, harness: Harness) -> Session:
        """A harness, started in the folder ``name``, which holds what it writes. Raises SessionError."""
        return self.ends(Session(harness, seconds=SECONDS, folder=self.folder / name))

    def ends(self, context: contextlib.AbstractContextManager[T]) -> T:
        """Enters a context that is left when the stage is."""
        return self._ending.enter_context(context)
