"""Runs for the explorer to show, taken by the labels of their actions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fencepost.model.kernel import Kernel
from fencepost.model.language import And, Not, Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.vocabulary import Suite
from fencepost.traces.explorer.content import Recording
from fencepost.traces.explorer.page import page
from fencepost.traces.trace import Loop, Trace, trace_of

LONG = 5000
"""Steps of the walk that shows that a page has in it only what is in view."""

UNFENCED = [
    *("send(e0)", "add(b0, e0)", "recover(r0)", "read_lac(r0, b0)", "read_lac(r0, b2)", "start_reading(r0)"),
    *("read_no_such_entry(r0, b1)", "add(b1, e0)", "ack(b0, e0)", "ack(b1, e0)", "confirm(e0)", "read_no_such_entry(r0, b2)"),
    "close_recovered(r0)",
]
"""How an entry is lost where the reads of a recovery do not fence."""


def run(
    protocol: Protocol, labels: Sequence[str], violated: str | None = None, loop: Loop | None = None, found_by: str = ""
) -> Trace:
    """The trace of these actions from the first initial state."""
    kernel = Kernel(protocol)
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    states = [kernel.initial()[0]]
    for label in labels:
        assert numbers[label] in kernel.enabled(states[-1]), label
        states.append(kernel.apply(states[-1], numbers[label]))
    return trace_of(kernel, states, [numbers[label] for label in labels], violated=violated, loop=loop, found_by=found_by)


def lost_entry() -> Recording:
    """The ledger's shortest truncation with that bug."""
    entry = PROTOCOLS["ledger"]
    bug = "recovery_reads_do_not_fence"
    protocol = entry.build(entry.shown_by[bug], [bug])
    return Recording("lost", run(protocol, UNFENCED, "no_truncation", found_by="exhaustive"), entry.suite(protocol))


def lamp(*, bugs: Iterable[str] = ()) -> Suite:
    """A lamp that a guest switches on and the host off, and a fuse that may blow, for the shapes of runs."""
    p = Protocol("lamp", active=bugs)
    lit, blown = p.flag("lit"), p.flag("blown")
    count = p.number("count", 0, 9999)

    @p.step(by="guest")
    def switch_on() -> Any:
        """The guest switches the lamp on."""
        return And(Not(lit), Not(blown), count < 9999), {lit: True, count: count + 1}

    @p.step(by="host")
    def switch_off() -> Any:
        """The host switches it off."""
        return lit, {lit: False}

    @p.step(by="host")
    def forget() -> Any:
        """The host forgets how often it was on. </script><!--"""
        return And(Not(lit), Not(blown)), {count: 0}

    @p.step(by="guest")
    def look() -> Any:
        """The guest looks at it, which changes nothing."""
        return Not(blown), {}

    @p.fault(by="fuse")
    def blow() -> Any:
        """The fuse blows, for good."""
        return Not(blown), {blown: True, lit: False}

    properties, s, n = Suite(p), p.state, p.next

    @properties.always
    def seldom() -> Any:
        """The lamp is on at most once, and not with a blown fuse."""
        return And(s.count <= 1, Not(And(s.lit, s.blown)))

    @properties.step
    def never_forgotten() -> Any:
        """The count never goes back."""
        return n.count >= s.count

    @properties.sometimes
    def dark() -> Any:
        """The fuse is blown."""
        return s.blown

    @properties.leads_to
    def goes_off() -> Any:
        """A lamp that is on goes off."""
        return s.lit, Not(s.lit)

    @properties.leads_to
    def goes_on() -> Any:
        """A lamp that is off goes on."""
        return Not(s.lit), s.lit

    @properties.ends
    def over() -> Any:
        """A run ends only before the lamp was on, or when that is forgotten."""
        return s.count == 0

    return properties


@dataclass(frozen=True)
class Fuse:
    """A run of a lamp alone that explains a step of another one."""

    title: str
    trace: Trace
    protocol: Protocol


def explained() -> Recording:
    """A run whose second step is explained by a run of two steps."""
    suite = lamp()
    below = Fuse("the fuse blows; it comes to it so:", run(suite.protocol, ["switch_on", "blow"]), suite.protocol)
    return Recording("explained", run(suite.protocol, ["look", "blow"]), suite, {2: below})


def written(folder: Path, name: str, recordings: Sequence[Recording]) -> Path:
    """The page of these traces, in a file of that name."""
    path = folder / f"{name}.html"
    path.write_text(page(recordings), encoding="utf-8")
    return path
