"""Runs that are taken at once and counted in their order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fencepost.checks.conformance.java_side.session import taking_turns

Taken = TypeVar("Taken")


def in_order(
    take: Callable[[int, int], Taken],
    count: Callable[[Taken], bool],
    runs: int,
    *,
    workers: int,
    ahead: int,
    should_stop: Callable[[], bool],
) -> bool:
    """Has workers take runs, each by ``take(worker, run)``, and counts these one after the other, until ``count`` says no.

    A run begins when all but the ``ahead`` before it are counted. Workers are threads that take turns: only one goes on at a
    time, while the others wait for answers of the code. Returns whether it was ``should_stop`` that ended it. Raises what a
    worker raises; the others then end with the run that they are at.
    """
    lock = threading.Lock()
    changed = threading.Condition(lock)
    taken: dict[int, Taken] = {}
    begun = counted = 0
    stopped = enough = False

    def due() -> bool:
        return not (stopped or enough) and begun < runs

    def next_one() -> bool:
        return not due() or begun < counted + ahead

    def work(worker: int) -> None:
        nonlocal begun, counted, stopped, enough
        with taking_turns(lock):
            try:
                while True:
                    changed.wait_for(next_one)
                    stopped = stopped or (due() and should_stop())
                    if not due():
                        return
                    run, begun = begun, begun + 1
                    taken[run] = take(worker, run)
                    while not enough and counted in taken:
                        enough = not count(taken.pop(counted))
                        counted += 1
                    changed.notify_all()
            except BaseException:
                enough = True
                raise
            finally:
                changed.notify_all()

    with ThreadPoolExecutor(max(1, workers - 1)) as pool:
        others = [pool.submit(work, worker) for worker in range(1, workers)]
        work(0)
    for other in others:
        other.result()
    return stopped
