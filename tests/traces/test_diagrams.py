"""Traces as sequence diagrams."""

from __future__ import annotations

from dataclasses import replace

from model.language import Protocol
from properties.protocols import PROTOCOLS
from traces.diagrams import as_mermaid
from traces.trace import Loop, Step, Trace

EXPECTED = """\
sequenceDiagram
    participant lane0 as c0
    participant lane1 as c1
    participant lane2 as net
    lane0->>lane0: 1 take(c0)
    lane2-xlane2: 2 cut
    lane0->>lane0: 3 take(c0)
    lane1->>lane1: 4 take(c1)
    Note over lane0,lane2: one_holder
"""


def test_the_whole_diagram(trace: Trace, broken: Protocol) -> None:
    assert as_mermaid(trace, broken) == EXPECTED


def test_only_who_takes_part_has_a_lane(trace: Trace, broken: Protocol) -> None:
    alone = replace(trace, steps=trace.steps[:1], violated=None)
    assert as_mermaid(alone, broken).splitlines()[1:] == ["    participant lane0 as c0", "    lane0->>lane0: 1 take(c0)"]


def test_what_repeats_is_in_a_frame(trace: Trace, broken: Protocol) -> None:
    lines = as_mermaid(replace(trace, loop=Loop(2)), broken).splitlines()
    assert [line.strip() for line in lines[6:10]] == [
        "loop for ever",
        "lane0->>lane0: 3 take(c0)",
        "lane1->>lane1: 4 take(c1)",
        "end",
    ]
    assert "loop for ever" not in as_mermaid(replace(trace, loop=Loop(4)), broken)


def test_an_arrow_goes_to_whom_the_action_names() -> None:
    protocol = PROTOCOLS["ledger"].build({})
    asked = next(action for action in protocol.actions if action.label == "read_lac(r0, b1)")
    state = tuple(variable.initial[0] for variable in protocol.variables)
    drawn = as_mermaid(Trace("ledger", state, (Step(asked.label, state),)), protocol).splitlines()
    assert drawn[1:] == ["    participant lane0 as b1", "    participant lane1 as r0", "    lane1->>lane0: 1 read_lac(r0, b1)"]
