"""Two traces side by side: what they share, where they part, what differs after."""

from __future__ import annotations

from dataclasses import replace

from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.properties.registry import Entry
from fencepost.traces.comparing import Side, compared
from fencepost.traces.trace import Trace, trace_of


def run(protocol: Protocol, labels: list[str], start: int = 0) -> Side:
    kernel = Kernel(protocol)
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    states = [kernel.initial()[start]]
    for label in labels:
        states.append(kernel.apply(states[-1], numbers[label]))
    return Side(trace_of(kernel, states, [numbers[label] for label in labels]), protocol)


def test_the_same(broken: Protocol, trace: Trace) -> None:
    side = Side(trace, broken)
    assert compared(side, side) == "the same throughout: 4 steps\n"


def test_steps_are_aligned_after_the_parting(broken: Protocol) -> None:
    first = run(broken, ["take(c0)", "cut", "take(c0)", "release(c0)"])
    second = run(broken, ["take(c0)", "release(c0)", "cut", "take(c0)", "take(c1)", "release(c0)"])
    assert (
        compared(first, second)
        == """\
the same for 1 step
step 2 is cut | release(c0)

+    2  release(c0)
  2  3  cut
  3  4  take(c0)
+    5  take(c1)
  4  6  release(c0)

at the end
  holders  {} | {c1}
  taken  1152921504606846978 | 1152921504606846979
  phase[c1]  idle | holding
  seen[c1, c0]  no | yes
"""
    )


def test_one_goes_on_where_the_other_ends(broken: Protocol) -> None:
    text = compared(run(broken, ["take(c0)", "cut"]), run(broken, ["take(c0)"]))
    assert text.splitlines()[:4] == ["the same for 1 step", "step 2 is cut | nothing more", "", "- 2     cut"]


def test_another_start(broken: Protocol) -> None:
    text = compared(run(broken, ["take(c0)"]), run(broken, ["take(c0)"], start=1))
    assert text.splitlines()[:3] == ["different from the start", "they start differently", "  colour  red | green"]


def test_another_effect_of_the_same_step(broken: Protocol) -> None:
    first, second = run(broken, ["take(c0)", "cut"]), run(broken, ["take(c0)", "cut"])
    last = second.trace.steps[-1]
    spoiled = replace(second.trace, steps=(*second.trace.steps[:-1], replace(last, state=(1, *last.state[1:]))))
    lines = compared(first, Side(spoiled, broken)).splitlines()
    assert lines[:3] == ["the same for 1 step", "step 2, cut, has another effect", "  holders  {} | {c0}"]
    assert lines[-2:] == ["at the end", "  holders  {} | {c0}"]


def test_other_instances_are_compared_in_what_they_have_in_common(broken: Protocol, protocols: dict[str, Entry]) -> None:
    larger = protocols["lock"].build({"clients": 3, "turns": 3})
    text = compared(run(broken, ["take(c0)"]), run(larger, ["take(c0)", "cut"]))
    assert text.splitlines()[:4] == [
        "clients       2 | 3",
        "bugs          takes_held | none",
        "the same for 1 step",
        "step 2 is nothing more | cut",
    ]
    assert "c2" not in text
