"""Threads that run native loops, and the eye that is kept on them meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")

_GLANCE = 0.05
"""Seconds between two calls of ``meanwhile``."""


class Crew:
    """A fixed number of threads; by default as many as there are cores for this process."""

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"the number of workers is {workers}, and it must be at least 1")
        self.size = workers or _cores()
        self._pool = ThreadPoolExecutor(self.size)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._pool.shutdown()

    def run(
        self,
        task: Callable[[int], T],
        meanwhile: Callable[[], None] = lambda: None,
        abandon: Callable[[], None] = lambda: None,
    ) -> list[T]:
        """Runs ``task(worker)`` for every worker and returns what each returned; calls ``meanwhile`` in this thread while
        they run. If that or an interrupt raises, calls ``abandon``, waits for the workers and raises it."""
        futures = [self._pool.submit(task, worker) for worker in range(self.size)]
        try:
            while wait(futures, timeout=_GLANCE).not_done:
                meanwhile()
        except BaseException:
            abandon()
            wait(futures)
            raise
        return [future.result() for future in futures]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
