"""Functions of views, remembered by what they read."""

from __future__ import annotations

from typing import Any

from fencepost.checks.conformance.running.view import Remembered, View, Views
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.search import search
from fencepost.traces.trace import State
from tests.checks.conformance.running.toy import mailbox


def reachable() -> tuple[Views, list[State]]:
    protocol = mailbox()
    kernel = Kernel(protocol)
    return Views(protocol), [kernel.packing.unpack(row) for rows in search(kernel).states() for row in rows]


def test_a_remembered_function_is_called_once_for_what_it_reads() -> None:
    views, states = reachable()
    calls = 0

    def emptied(view: View) -> Any:
        nonlocal calls
        calls += 1
        return view["emptied[b0]"]

    remembered = Remembered(views, emptied)
    assert [remembered(state) for state in states] == [views.of(state)["emptied[b0]"] for state in states]
    assert calls == len({views.of(state)["emptied[b0]"] for state in states}) < len(states)


def test_what_is_read_may_depend_on_what_was_read() -> None:
    views, states = reachable()

    def of_red_boxes(view: View) -> Any:
        told = {box: view[f"held[{box}]"] for box in view.members("box") if view[f"red[{box}]"]}
        return told, view.get("put_in") if len(told) == 2 else view.get("of another protocol", "nothing")

    remembered = Remembered(views, of_red_boxes)
    for state in [*states, *reversed(states)]:
        assert remembered(state) == of_red_boxes(views.of(state))


def test_a_function_that_reads_nothing_is_called_once() -> None:
    views, states = reachable()
    boxes = Remembered(views, lambda view: [*view.members("box")])
    assert all(boxes(state) is boxes(states[0]) for state in states)
