"""The entry of ``ownership`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.model.language import Parameters
from fencepost.model.pulsar.ownership import RELEASES, ownership
from fencepost.properties.any_size import General, sizes_from
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.ownership import suite
from fencepost.properties.ownership.in_cluster import IN_CLUSTER
from fencepost.properties.registry import Entry, Instance, Value

_CUT_OFF: Mapping[str, Value] = {"disconnects": 1, "expiries": 1}
_MANY: Mapping[str, Value] = {
    "brokers": 5, "bundles": 8, "disconnects": 3, "expiries": 3, "crashes": 3, "releases": 3, "disables": 3
}  # fmt: skip

SIZES = {
    "ci": (
        Instance("cut off", {**_CUT_OFF, "releases": 1}),
        Instance("crash", {"brokers": 3, "crashes": 1, "releases": 1}),
        Instance("disabled", {"expiries": 1, "disables": 1, "releases": 1}),
        Instance("two bundles, fixed", {"bundles": 2, "expiries": 1, "releases": 1, "fixed": True}),
        Instance("all faults, fixed", {**_CUT_OFF, "crashes": 1, "releases": 1, "fixed": True}),
    ),
    "standard": (
        Instance("all faults", {**_CUT_OFF, "crashes": 1, "releases": 1, "disables": 1}),
        Instance("three brokers", {"brokers": 3, **_CUT_OFF, "releases": 1}),
        Instance("two bundles", {"bundles": 2, **_CUT_OFF, "releases": 1, "fixed": True}),
        Instance("migration", {"migration": True, "crashes": 1, "releases": 1}),
        Instance("five brokers, eight bundles", _MANY, by="induction"),
        Instance("five brokers, eight bundles, fixed", {**_MANY, "fixed": True}, by="induction"),
    ),
    "deep": (Instance("three brokers, all faults", {"brokers": 3, **_CUT_OFF, "crashes": 1, "releases": 1}),),
}


FAULTS = ("disconnects", "expiries", "crashes", "releases", "disables")
_ALL: Mapping[str, Value] = {**_CUT_OFF, "crashes": 1, "releases": 1, "fixed": True}


def _no_proof(parameters: Parameters, names: Sequence[str]) -> str:
    """Why nothing is proved with these parameters and any number of such things; empty if it is."""
    if not parameters.get("migration"):
        return ""
    return f"for any number of {' and '.join(names)} there is no proof with migration; leave migration=no"


GENERAL = General(
    {
        "brokers": sizes_from("brokers", 2, 1, alike=True),
        "bundles": sizes_from("bundles", 1, alike=True),
        **{fault: sizes_from(fault, 1) for fault in FAULTS},
    },
    (
        Instance("releases", {"disconnects": 1, "releases": 1}, by="induction", any=("brokers",)),
        Instance("all faults, fixed", _ALL, by="induction", any=("brokers",)),
        Instance("releases", {"disconnects": 1, "releases": 1}, by="induction", any=("brokers", "bundles")),
        Instance("all faults, fixed", _ALL, by="induction", any=("brokers", "bundles")),
        Instance("all faults, fixed", {"fixed": True}, by="induction", any=("brokers", "bundles", *FAULTS)),
    ),
    _no_proof,
    "what happens in the end",
    steps=True,
)


ENTRY = Entry(
    name="ownership",
    summary="which broker owns a bundle: locks that are acquired, looked after and released",
    function=ownership,
    suite=suite.ownership,
    sizes=SIZES,
    bugs=bugs_beside(__file__, ownership),
    releases=RELEASES,
    general=GENERAL,
    in_cluster=IN_CLUSTER,
)
