"""Tasks spread over forked processes: the same results, in the same order, whatever their number."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

Result = TypeVar("Result")


def spread(tasks: int, workers: int, start: Callable[[], Callable[[int], Result]]) -> list[Result | None]:
    """The results of tasks 0, 1, ...; None for a task whose process died.

    ``start`` is called once in each process and returns what does one task. The processes are forked, so that they share
    what was built before; where there is no fork, or with one worker, everything runs in this process. An exception that a
    task raises is raised here.
    """
    workers = min(workers, tasks)
    if workers <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        work = start() if tasks else None
        return [work(task) for task in range(tasks)] if work else []
    context = multiprocessing.get_context("fork")
    results: list[Result | None] = [None] * tasks
    processes, ends = [], []
    for worker in range(workers):
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(range(worker, tasks, workers), start, sending), daemon=True)
        process.start()
        sending.close()  # so that the end of the process is seen as the end of the pipe
        processes.append(process)
        ends.append(receiving)
    try:
        while ends:
            for end in wait(ends):
                assert isinstance(end, Connection)
                try:
                    task, result, error = end.recv()
                except EOFError:
                    ends.remove(end)
                    continue
                if error is not None:
                    raise error
                results[task] = result
    finally:
        for process in processes:
            process.terminate()
            process.join()
    return results


def _run(tasks: range, start: Callable[[], Callable[[int], Any]], sending: Connection) -> None:
    task = tasks.start
    try:
        work = start()
        for task in tasks:
            sending.send((task, work(task), None))
    except Exception as error:  # whatever it is, it belongs to the process that asked
        sending.send((task, None, error))
    sending.close()
