"""Where a reproduction runs: a folder, the processes started in it, and the account of what happens."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from fencepost.checks.conformance.java_side.harness import RELEASED, SHARED, Harness, harness
from fencepost.checks.conformance.java_side.jars import Release
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.java_side.toolchain import Toolchain

T = TypeVar("T")

LOGGING = (f"-Dlog4j2.configurationFile={SHARED / 'kept.properties'}",)
"""Of a JVM whose folder is kept: a log in it, of what its libraries tell."""

SECONDS = 180.0
"""How long one request may take: a broker or a bookie may have to start for it, on a machine that has other work."""


class Stage:
    """One run's folder, which must not exist yet, and its processes, which all end with it.

    ``say`` prints a line of the account, ``progress`` a line for those who wait; ``own`` takes the place of the release's jars.
    With ``logs`` each JVM writes one into its folder.
    """

    def __init__(
        self,
        folder: Path,
        tools: Toolchain,
        say: Callable[[str], None],
        progress: Callable[[str], None] = lambda _: None,
        own: OwnBuild = RELEASED,
        logs: bool = False,
    ) -> None:
        self.folder, self.tools, self.own, self.logs = folder, tools, own, logs
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
            options = (*options, *(LOGGING if self.logs else ()))
            self._harnesses[main] = harness(
                folder, main, release, besides=besides, options=options, tools=self.tools, own=self.own
            )
        return self._harnesses[main]

    def session(self, name: str, harness: Harness) -> Session:
        """A harness, started in the folder ``name``, which holds what it writes. Raises SessionError."""
        return self.ends(Session(harness, seconds=SECONDS, folder=self.folder / name))

    def until(self, condition: Callable[[], bool], seconds: float = SECONDS, pause: float = 0.2) -> bool:
        """Waits for a condition; whether it came within that time."""
        end = time.monotonic() + seconds
        while not (is_so := condition()) and time.monotonic() < end:
            time.sleep(pause)
        return is_so

    def ends(self, context: contextlib.AbstractContextManager[T]) -> T:
        """Enters a context that is left when the stage is."""
        return self._ending.enter_context(context)
