"""Traces as sequence diagrams."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.language import Protocol
from properties.protocols import PROTOCOLS
from traces.diagrams import as_mermaid
from traces.lanes import stored
from traces.trace import Loop, Step, Trace

EXPECTED = """\
sequenceDiagram
    participant lane0 as c0
    participant lane1 as c1
    participant lane2 as net
    participant lane3 as store
    lane0->>lane3: 1 take(c0)
    lane2-xlane3: 2 cut
    lane0->>lane3: 3 take(c0)
    lane1->>lane3: 4 take(c1)
    Note over lane0,lane3: one_holder
"""


def test_the_whole_diagram(trace: Trace, broken: Protocol) -> None:
    assert as_mermaid(trace, broken) == EXPECTED


def test_only_who_takes_part_has_a_lane(trace: Trace, broken: Protocol) -> None:
    alone = replace(trace, steps=trace.steps[:1], violated=None)
    assert [line.strip() for line in as_mermaid(alone, broken).splitlines()[1:]] == [
        "participant lane0 as c0",
        "participant lane1 as store",
        "lane0->>lane1: 1 take(c0)",
    ]


def test_what_repeats_is_in_a_frame(trace: Trace, broken: Protocol) -> None:
    lines = as_mermaid(replace(trace, loop=Loop(2)), broken).splitlines()
    assert [line.strip() for line in lines[7:11]] == [
        "loop for ever",
        "lane0->>lane3: 3 take(c0)",
        "lane1->>lane3: 4 take(c1)",
        "end",
    ]
    assert "loop for ever" not in as_mermaid(replace(trace, loop=Loop(4)), broken)


def test_an_arrow_goes_to_whom_the_action_names() -> None:
    protocol = PROTOCOLS["ledger"].build({})
    asked = next(action for action in protocol.actions if action.label == "read_lac(r0, b1)")
    state = tuple(variable.initial[0] for variable in protocol.variables)
    drawn = as_mermaid(Trace("ledger", state, (Step(asked.label, state),)), protocol).splitlines()
    assert drawn[1:] == ["    participant lane0 as b1", "    participant lane1 as r0", "    lane1->>lane0: 1 read_lac(r0, b1)"]


@pytest.mark.parametrize(
    ("protocol", "families"),
    [
        ("ledger", {"status", "version", "last"}),
        ("election", {"leader_holder", "leader_former"}),
        ("ownership", {"owner_holder", "owner_former", "owner_version"}),
        ("split", {"layout", "layout_version", "owner_holder", "owner_former", "owner_version"}),
    ],
)
def test_the_store_holds_what_several_change_and_nobody_owns(protocol: str, families: set[str]) -> None:
    assert stored(PROTOCOLS[protocol].build({})) == families
