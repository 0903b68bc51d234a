"""The entry of ``placement`` in the registry, and its instances."""

from __future__ import annotations

from fencepost.model.bookkeeper.placement import RELEASES, placement
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.placement import suite
from fencepost.properties.registry import Entry, Instance

SIZES = {
    "ci": (
        Instance("two racks", {"racks": "3+1", "ensemble": 4}),
        Instance("enforced", {"racks": "2+1+1", "ensemble": 4, "enforced": True, "settled": True}),
        Instance("three copies", {"racks": "2+1+1", "ensemble": 3, "write_quorum": 3}),
        Instance("an outage", {"racks": "3+1+1", "ensemble": 4, "outages": 1}),
        Instance("an outage, enforced", {"racks": "2+2+1+1", "ensemble": 4, "outages": 2, "enforced": True}),
        Instance("one rack", {"racks": "3"}),
        Instance("the last rack left out", {"racks": "2+1+1", "ensemble": 4, "avoids": "last"}),
        Instance("groups", {"racks": "2+2+1+1", "groups": "ppso", "ensemble": 4, "outages": 1}),
        Instance(
            "groups before 5.0.1",
            {"racks": "2+2+1", "groups": "ps-", "ensemble": 4, "counts_down": True, "outages": 1},
        ),
        Instance("random", {"racks": "2+1", "policy": "random"}),
        Instance("two regions", {"racks": "1+1/2", "policy": "regionaware", "takes": "region"}),
        Instance("region by region", {"racks": "2/2", "policy": "regionaware", "takes": "region", "ensemble": 4}),
        Instance("an outage of a region", {"racks": "2/1/1", "policy": "regionaware", "takes": "region", "outages": 1}),
        Instance("recovery by regions", {"racks": "1+1/1+1", "policy": "regionaware", "recovery": "regionaware", "outages": 1}),
        Instance(
            "regions listed",
            {"racks": "1+1/1+1", "policy": "regionaware", "takes": "region", "listed": True, "outages": 1},
        ),
    ),
    "standard": (
        Instance("four racks", {"racks": "2+2+2+2", "ensemble": 4, "write_quorum": 3, "outages": 1}),
        Instance(
            "four racks, enforced", {"racks": "2+2+2+2", "ensemble": 4, "write_quorum": 3, "min_racks": 3, "enforced": True}
        ),
    ),
    "deep": (Instance("five racks", {"racks": "2+2+2+2+2", "ensemble": 5, "write_quorum": 3, "outages": 1}),),
}

ENTRY = Entry(
    name="placement",
    summary="on which racks and regions the copies of an entry are, and what the loss of one takes",
    function=placement,
    suite=suite.placement,
    sizes=SIZES,
    bugs=bugs_beside(__file__, placement),
    mutated=tuple(instance for instance in SIZES["ci"] if not {"avoids", "groups"} & instance.parameters.keys()),
    releases=RELEASES,
    of_client=True,
)
