"""Tasks spread over forked processes: the same results, in the same order, whatever their number."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import TypeVar

from fencepost.checks.console.termination import end_with, not_passed_on

Result = TypeVar("Result")

SECONDS_BETWEEN_LOOKS = 0.5


def spread(
    tasks: int,
    workers: int | None,
    start: Callable[[], Callable[[int], Result]],
    *,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Result | None]:
    """The results of tasks 0, 1, ...; None for a task whose process died or that was not done when ``should_stop`` said so.

    ``start`` is called once in each process and returns what does one task. The processes (None: one for each core) are
    forked, so that they share what was built before; where there is no fork, or with one worker, everything runs in this
    process. ``progress`` is told how many tasks of how many are done. An exception that a task raises is raised here.
    """
    workers = min(os.cpu_count() or 1 if workers is None else workers, tasks)
    if workers <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        done = _in_this_process(tasks, start, should_stop)
    else:
        done = _in_processes(tasks, workers, start, should_stop)
    results: list[Result | None] = [None] * tasks
    for count, (task, result) in enumerate(done, start=1):
        results[task] = result
        if progress is not None:
            progress(count, tasks)
    return results


def _in_this_process(
    tasks: int, start: Callable[[], Callable[[int], Result]], should_stop: Callable[[], bool]
) -> Iterator[tuple[int, Result]]:
    work = start()
    for task in range(tasks):
        if should_stop():
            return
        yield task, work(task)


def _in_processes(
    tasks: int, workers: int, start: Callable[[], Callable[[int], Result]], should_stop: Callable[[], bool]
) -> Iterator[tuple[int, Result]]:
    context = multiprocessing.get_context("fork")
    processes, ends = [], []
    try:
        for worker in range(workers):
            receiving, sending = context.Pipe(duplex=False)
            own = range(worker, tasks, workers)
            process = context.Process(target=_run, args=(os.getpid(), own, start, sending), daemon=True)
            process.start()
            sending.close()  # so that the end of the process is seen as the end of the pipe
            processes.append(process)
            ends.append(receiving)
        while ends and not should_stop():
            ready = wait(ends, SECONDS_BETWEEN_LOOKS)
            for end in [end for end in ends if end in ready]:
                try:
                    task, result, error = end.recv()
                except EOFError:
                    ends.remove(end)
                    continue
                if error is not None:
                    raise error
                yield task, result
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _run(parent: int, tasks: range, start: Callable[[], Callable[[int], object]], sending: Connection) -> None:
    end_with(parent)
    not_passed_on()
    task = tasks.start
    with suppress(KeyboardInterrupt):  # at the terminal it is for all processes, and the one that asked tells of it
        try:
            work = start()
            for task in tasks:
                sending.send((task, work(task), None))
        except Exception as error:  # whatever it is, it belongs to the process that asked
            sending.send((task, None, error))
    sending.close()
