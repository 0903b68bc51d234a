"""Threads that work together: what they return, and what becomes of errors and interrupts."""

from __future__ import annotations

import threading

import pytest

from fencepost.model.kernel.compiler.loops import Crew


def test_what_each_returned_comes_in_order_time_after_time() -> None:
    with Crew(3) as crew:
        for add in range(200):
            assert crew.run(lambda number: number + add) == [add, add + 1, add + 2]  # noqa: B023


def test_a_crew_needs_a_worker() -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        Crew(0)


def test_what_a_task_raises_is_raised_when_all_have_ended() -> None:
    ended = list[int]()

    def task(number: int) -> None:
        if number == 0:
            raise KeyError("zero")
        ended.append(number)

    with Crew(2) as crew:
        for _ in range(3):
            with pytest.raises(KeyError, match="zero"):
                crew.run(task)
        assert ended == [1, 1, 1]
        assert crew.run(lambda number: number) == [0, 1]


def test_an_interrupt_abandons_the_work_and_waits_for_it() -> None:
    abandoned, ended = threading.Event(), list[int]()

    def task(number: int) -> None:
        abandoned.wait()
        ended.append(number)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with Crew(2) as crew:
        with pytest.raises(KeyboardInterrupt):
            crew.run(task, interrupt, abandoned.set)
        assert sorted(ended) == [0, 1]
        assert crew.run(lambda number: -number) == [0, -1]
