"""Threads that run native loops, and the eye that is kept on them meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from threading import Thread
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")

_GLANCE = 0.05
"""Seconds between two calls of ``meanwhile``."""


class Crew:
    """A fixed number of threads; by default as many as there are cores for this process.

    A search has work for them at every level, often for less than a millisecond; to hand it over by queues takes less than half
    the time that an executor of the standard library takes.
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"the number of workers is {workers}, and it must be at least 1")
        self.size = workers or _cores()
        self._tasks: list[SimpleQueue[Callable[[int], None] | None]] = [SimpleQueue() for _ in range(self.size)]
        self._ended: SimpleQueue[int] = SimpleQueue()
        self._threads = list[Thread]()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for tasks in self._tasks:
            tasks.put(None)
        for thread in self._threads:
            thread.join()

    def run(
        self,
        task: Callable[[int], T],
        meanwhile: Callable[[], None] = lambda: None,
        abandon: Callable[[], None] = lambda: None,
    ) -> list[T]:
        """Runs ``task(worker)`` for every worker and returns what each returned; calls ``meanwhile`` in this thread while
        they run. If that or an interrupt raises, calls ``abandon``, waits for the workers and raises it; if a task raises,
        that. The threads start with the first task: many a search is too small for any."""
        if not self._threads:
            self._threads = [Thread(target=self._work, args=(number,)) for number in range(self.size)]
            for thread in self._threads:
                thread.start()
        returned, raised = dict[int, T](), dict[int, BaseException]()

        def do(number: int) -> None:
            try:
                returned[number] = task(number)
            except BaseException as error:
                raised[number] = error

        for tasks in self._tasks:
            tasks.put(do)
        try:
            self._wait(returned, raised, meanwhile)
        except BaseException:
            abandon()
            self._wait(returned, raised, lambda: None)
            raise
        for error in raised.values():
            raise error
        return [returned[number] for number in range(self.size)]

    def _wait(self, returned: Mapping[int, object], raised: Mapping[int, BaseException], meanwhile: Callable[[], None]) -> None:
        """Waits until all workers have ended. That is told by what they have left behind: an interrupt may take what the queue
        gives, and then it only wakes too early."""
        while len(returned) + len(raised) < self.size:
            try:
                self._ended.get(timeout=_GLANCE)
            except Empty:
                meanwhile()

    def _work(self, number: int) -> None:
        while (task := self._tasks[number].get()) is not None:
            task(number)
            self._ended.put(number)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
