"""Traces as sequence diagrams."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.model.language import Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.drawings.lanes import Arrow, as_mermaid, every_message, everyone, messages, stored
from fencepost.traces.drawings.sequence_svg import as_svg
from fencepost.traces.trace import Loop, Step, Trace
from tests.marking import first_at_once
from tests.traces.explorer.recorded import lost_entry, run

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
        "loop forever",
        "lane0->>lane3: 3 take(c0)",
        "lane1->>lane3: 4 take(c1)",
        "end",
    ]
    assert "loop forever" not in as_mermaid(replace(trace, loop=Loop(4)), broken)


def test_an_arrow_goes_to_whom_the_action_names() -> None:
    protocol = PROTOCOLS["ledger"].build({})
    asked = next(action for action in protocol.actions if action.label == "read_lac(r0, b1)")
    state = tuple(variable.initial[0] for variable in protocol.variables)
    drawn = as_mermaid(Trace("ledger", state, (Step(asked.label, state),)), protocol).splitlines()
    assert drawn[1:] == ["    participant lane0 as b1", "    participant lane1 as r0", "    lane1->>lane0: 1 read_lac(r0, b1)"]


@pytest.mark.parametrize(
    ("protocol", "families"),
    [
        ("ledger", {"status", "version", "last", "length"}),
        ("metadata_store", {"node_holder", "node_former", "node_version"}),
        ("election", {"leader_holder", "leader_former", "leader_version"}),
        ("ownership", {"owner_holder", "owner_former", "owner_version"}),
        ("split", {"layout", "layout_version", "owner_holder", "owner_former", "owner_version"}),
    ],
)
def test_the_store_holds_what_several_change_and_nobody_owns(protocol: str, families: set[str]) -> None:
    assert stored(PROTOCOLS[protocol].build({})) == families


def test_who_hears_has_the_arrow_from_who_sent() -> None:
    recording = lost_entry()
    protocol = recording.suite.protocol
    by_label = {message.action.label: message.arrows for message in messages(recording.trace, protocol)}
    assert (by_label["add(b0, e0)"], by_label["ack(b0, e0)"]) == ((Arrow("writer", "b0"),), (Arrow("b0", "writer"),))
    assert (by_label["read_lac(r0, b0)"], by_label["start_reading(r0)"]) == ((Arrow("r0", "b0"),), ())
    lines = [line.strip() for line in as_mermaid(recording.trace, protocol).splitlines()]
    assert "lane1->>lane0: 9 ack(b0, e0)" in lines


def test_what_is_sent_has_an_open_arrow_to_each_who_is_sent_it() -> None:
    recording = lost_entry()
    protocol = recording.suite.protocol
    sent = [message.arrows for message in messages(recording.trace, protocol) if message.action.name == "send"]
    assert sent == [tuple(Arrow("writer", bookie, under_way=True) for bookie in ("b0", "b1", "b2"))]
    lines = [line.strip() for line in as_mermaid(recording.trace, protocol).splitlines()]
    assert [line for line in lines if line.endswith("1 send(e0)")] == [f"lane0--)lane{lane}: 1 send(e0)" for lane in (1, 2, 3)]
    drawing = as_svg(recording.trace, protocol)
    assert drawing.count('class="arrow sent"') == 3


def test_what_is_sent_to_an_ensemble_taken_before_goes_there() -> None:
    """Only the members of what the thread took are sent the entry, whenever they were taken."""
    protocol = PROTOCOLS["ledger"].build({}, ["captured_ensemble"])
    taken, sent = messages(run(protocol, ["take_ensemble(e0)", "send(e0)"]), protocol)
    assert (taken.arrows, [arrow.receiver for arrow in sent.arrows]) == ((), ["b0", "b1", "b2"])


@pytest.mark.parametrize(
    ("protocol", "label"),
    [
        ("metadata_store", "read(c0, p0)"),
        ("election", "find_none(b0)"),
        ("election", "hear_of_deletion(b1)"),
        ("ownership", "read_owner(b0, u0)"),
        ("unload", "find_other(b1, u0)"),
        ("split", "hear_of_layout(b0)"),
        ("service_unit", "read(b1, u0, m0)"),
    ],
)
def test_what_the_store_answers_and_notifies_comes_from_it(protocol: str, label: str) -> None:
    message = {message.action.label: message for message in every_message(PROTOCOLS[protocol].build({}))}[label]
    assert message.arrows == (Arrow("store", message.actor),)


@pytest.mark.parametrize("protocol", first_at_once(PROTOCOLS, 4))
def test_every_arrow_is_between_two_who_have_lanes(protocol: str) -> None:
    built = PROTOCOLS[protocol].build({})
    known = set(everyone(built))
    for message in every_message(built):
        assert message.lanes | message.action.posts.keys() <= known
        assert all(arrow.sender != arrow.receiver for arrow in message.arrows)
