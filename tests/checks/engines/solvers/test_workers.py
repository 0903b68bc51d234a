"""Spreading tasks over processes changes neither results nor order, and hides neither errors nor deaths."""

import os
from collections.abc import Callable

import pytest

from fencepost.checks.engines.solvers.workers import spread


def squares() -> Callable[[int], int]:
    return lambda task: task * task


@pytest.mark.parametrize("workers", [1, 2, 3, 99, None])
@pytest.mark.parametrize("tasks", [0, 1, 7])
def test_results_come_in_the_order_of_the_tasks(tasks: int, workers: int | None) -> None:
    assert spread(tasks, workers, squares) == [task * task for task in range(tasks)]


def test_there_are_as_many_processes_as_asked_for() -> None:
    seen = spread(6, 3, lambda: lambda task: os.getpid())
    assert len(set(seen)) == 3
    assert os.getpid() not in seen
    assert set(spread(6, 1, lambda: lambda task: os.getpid())) == {os.getpid()}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_task_is_raised_here(workers: int) -> None:
    def start() -> Callable[[int], int]:
        def work(task: int) -> int:
            if task == 3:
                raise ValueError("task 3 is wrong")
            return task

        return work

    with pytest.raises(ValueError, match="task 3 is wrong"):
        spread(6, workers, start)


def test_tasks_of_a_process_that_dies_have_no_result() -> None:
    def start() -> Callable[[int], int]:
        def work(task: int) -> int:
            if task == 2:
                os._exit(1)
            return task

        return work

    assert spread(6, 2, start) == [0, 1, None, 3, None, 5]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_not_done_when_it_is_stopped_has_no_result(workers: int) -> None:
    assert spread(4, workers, squares, should_stop=lambda: True) == [None] * 4


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_is_told_of_every_task(workers: int) -> None:
    reports: list[tuple[int, int]] = []
    spread(5, workers, squares, progress=lambda done, count: reports.append((done, count)))
    assert reports == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
