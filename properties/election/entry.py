"""The entry of ``election`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.model.language import Parameters
from fencepost.model.pulsar.election import RELEASES, election
from fencepost.properties.any_size import General, sizes_from
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.election import suite
from fencepost.properties.election.in_cluster import IN_CLUSTER
from fencepost.properties.registry import Entry, Instance, Value

_CUT_OFF: Mapping[str, Value] = {"disconnects": 1, "expiries": 1}
_ALL_FAULTS: Mapping[str, Value] = {"disconnects": 1, "expiries": 1, "crashes": 1, "closes": 1}
_MANY: Mapping[str, Value] = {
    "brokers": 5, "disconnects": 3, "expiries": 3, "crashes": 3, "closes": 3, "lookups": True
}  # fmt: skip
_UP_TO_4_0_8: Mapping[str, Value] = {"leads": "confirmed"}
_LOOKUPS: Mapping[str, Value] = {"brokers": 3, "lookups": True}

SIZES = {
    "ci": (
        Instance("cut off", {"brokers": 3, **_CUT_OFF}),
        Instance("all faults", {"brokers": 2, **_ALL_FAULTS}),
        Instance("crash, up to 4.0.8", {"brokers": 2, "crashes": 1, **_UP_TO_4_0_8}),
        Instance("all faults, up to 4.0.8", {"brokers": 2, **_ALL_FAULTS, **_UP_TO_4_0_8}),
        Instance("shutdown on session loss", {"brokers": 2, "on_session_loss": "shutdown", **_ALL_FAULTS, "closes": 0}),
        Instance("closing", {"brokers": 3, "expiries": 1, "closes": 1}),
        Instance("lookups", {**_LOOKUPS, "crashes": 1}),
        Instance("fixed", {"brokers": 2, "fixed": True, **_ALL_FAULTS}),
    ),
    "standard": (
        Instance("three brokers", {"brokers": 3, **_CUT_OFF, "crashes": 1}),
        Instance("lookups, all faults", {"brokers": 2, "lookups": True, **_ALL_FAULTS}),
        Instance("lookups, fixed", {**_LOOKUPS, "disconnects": 1, "crashes": 1, "fixed": True}),
        Instance("closing, up to 4.0.8", {"brokers": 3, "expiries": 1, "closes": 1, **_UP_TO_4_0_8}),
        Instance("lookups, up to 4.0.8", {**_LOOKUPS, "crashes": 1, **_UP_TO_4_0_8}),
        Instance("five brokers", _MANY, by="induction"),
        Instance("five brokers, up to 4.0.8", {**_MANY, **_UP_TO_4_0_8}, by="induction"),
        Instance("five brokers, fixed", {**_MANY, "fixed": True}, by="induction"),
        Instance("five brokers, shutdown", {**_MANY, "on_session_loss": "shutdown"}, by="induction"),
    ),
    "deep": (
        Instance("three brokers, all faults", {"brokers": 3, **_ALL_FAULTS}),
        Instance("three brokers, fixed", {"brokers": 3, **_ALL_FAULTS, "fixed": True}),
    ),
}


def _no_proof(parameters: Parameters, names: Sequence[str]) -> str:
    """Why nothing is proved with these parameters and any number of brokers; empty if it is."""
    return "for any number of brokers there is no proof with lookups; leave lookups=no" if parameters.get("lookups") else ""


GENERAL = General(
    {"brokers": sizes_from("brokers", 2, 1, alike=True)},
    (
        Instance("cut off", _CUT_OFF, by="induction", any=("brokers",)),
        Instance("all faults, fixed", {**_ALL_FAULTS, "fixed": True}, by="induction", any=("brokers",)),
    ),
    _no_proof,
    "what happens in the end",
    steps=True,
)


ENTRY = Entry(
    name="election",
    summary="which Pulsar broker leads: one ephemeral node, sessions that expire, and lookups that ask the leader",
    function=election,
    suite=suite.election,
    sizes=SIZES,
    bugs=bugs_beside(__file__, election),
    releases=RELEASES,
    general=GENERAL,
    in_cluster=IN_CLUSTER,
)
