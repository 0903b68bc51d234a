"""The placement of ensembles on racks: pinned counts, bugs that are caught, and what the loss of a rack takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from fencepost.model.language import ModelError
from fencepost.properties.placement.suite import survives_racks, writes_go_on
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.properties.searching import searched, unexpected

PLACEMENT = PROTOCOLS["placement"]

COUNTS = {
    "two racks": (63, 88, 9),
    "enforced": (84, 109, 9),
    "three copies": (388, 555, 8),
    "an outage": (1215, 2616, 12),
    "an outage, enforced": (17439, 52170, 14),
    "one rack": (14, 16, 7),
    "groups": (1090, 1724, 13),
    "groups before 5.0.1": (493, 876, 12),
    "random": (45, 53, 7),
    "the last rack left out": (274, 377, 9),
    "two regions": (60, 71, 7),
    "region by region": (63, 88, 9),
    "an outage of a region": (469, 960, 10),
    "recovery by regions": (858, 1836, 10),
    "regions listed": (463, 856, 10),
}

CONTROLS: dict[str, dict[str, int]] = {name: {} for name in COUNTS}

CAUGHT = {
    "racks_not_checked": ({"draws_prefer_new_racks"}, 3),
    "replaced_within_a_rack": ({"members_are_replaced_on_racks", "write_quorums_have_their_racks"}, 7),
}

THREE: Mapping[str, Value] = {"ensemble": 3, "write_quorum": 3, "ack_quorum": 2}


@pytest.mark.parametrize(
    ("parameters", "is_safe"),
    [
        ({"racks": "2+2"}, True),
        ({"racks": "2+2", "policy": "random"}, False),
        ({"racks": "4"}, False),
        ({"racks": "2+2", **THREE}, False),
        ({"racks": "2+2", **THREE, "settled": True}, True),
        ({"racks": "2+2+2", **THREE}, True),
        ({"racks": "2+2+2", **THREE, "losses": 2}, False),
        ({"racks": "2+2", "settled": True, "outages": 1}, False),
        ({"racks": "2+2", "settled": True, "outages": 1, "enforced": True}, True),
        ({"racks": "2+1+1", "settled": True, "outages": 1}, True),
    ],
    ids=str,
)
def test_which_entries_survive_a_rack(parameters: Mapping[str, Value], is_safe: bool) -> None:
    """Racks as many as the write quorum, or every copy: with two racks an outage puts all copies on one, unless that is
    refused."""
    entry = replace(PLACEMENT, suite=survives_racks)
    violated = unexpected(searched(entry, parameters, [], ["acknowledged_entry_survives"]))
    assert (violated == {}) is is_safe


@pytest.mark.parametrize(("enforced", "goes_on"), [(False, True), (True, False)])
def test_where_racks_are_enforced_two_racks_do_not_stand_an_outage(enforced: bool, goes_on: bool) -> None:
    entry = replace(PLACEMENT, suite=writes_go_on)
    parameters = {"racks": "2+2", "enforced": enforced, "outages": 1, "losses": 0}
    assert (unexpected(searched(entry, parameters, [], ["there_is_an_ensemble"])) == {}) is goes_on


@pytest.mark.parametrize(
    "wrong", [{"racks": "2+0"}, {"racks": "two"}, {"ensemble": 5}, {"policy": "nearest"}, {"min_racks": 0}], ids=str
)
def test_what_cannot_be_is_refused(wrong: dict[str, Value]) -> None:
    with pytest.raises(ModelError, match=r"placement: .*"):
        PLACEMENT.build(wrong)
