"""The entry of ``kafka_controller`` in the registry, and its instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.model.kafka.controller import kafka_controller
from fencepost.model.kafka.controller.families import AWAITED, BROKER_EPOCHS, MULTI, QUEUE, RELEASES
from fencepost.model.language import Parameters
from fencepost.properties.any_size import General, sizes_from
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.kafka_controller import suite
from fencepost.properties.registry import Entry, Instance, Value

_BOUNCE: Mapping[str, Value] = {"expiries": 1, "restarts": 1}
_FAILURES: Mapping[str, Value] = {"expiries": 1, "resignations": 1, "writes": True}
_CUT_OFF: Mapping[str, Value] = {"disconnects": 1, "restarts": 1}
_UNHEARD: Mapping[str, Value] = {"disconnects": 1, "expiries": 1}
_ALL: Mapping[str, Value] = {"expiries": 1, "restarts": 1, "resignations": 1}
_ALL_AND_WRITES: Mapping[str, Value] = {**_ALL, "disconnects": 1, "writes": True}

SIZES = {
    "ci": (
        Instance("expiry and bounce", _BOUNCE),
        Instance("expiry and bounce, 1.0", {**_BOUNCE, **QUEUE}),
        Instance("expiry and bounce, 2.0", {**_BOUNCE, **AWAITED}),
        Instance("expiry and bounce, 2.1", {**_BOUNCE, **MULTI}),
        Instance("expiry and bounce, since 2.2", {**_BOUNCE, **BROKER_EPOCHS}),
        Instance("failures", _FAILURES),
        Instance("failures, 2.1", {**_FAILURES, **MULTI}),
        Instance("cut off", _CUT_OFF),
        Instance("cut off, since 2.2", {**_CUT_OFF, **BROKER_EPOCHS}),
        Instance("unheard", _UNHEARD),
        Instance("unheard, 2.1", {**_UNHEARD, **MULTI}),
        Instance("two expiries", {"brokers": 1, "expiries": 2}),
        Instance("changed listeners", {"restarts": 1, "updates": 1, **BROKER_EPOCHS}),
    ),
    "standard": (
        Instance("all faults", _ALL_AND_WRITES),
        Instance("all faults, 2.0", {**_ALL_AND_WRITES, **AWAITED}),
        Instance("all faults, since 2.2", {**_ALL_AND_WRITES, **BROKER_EPOCHS}),
        Instance("three brokers", {"brokers": 3, "expiries": 1}),
        Instance("three brokers, since 2.2", {"brokers": 3, "restarts": 1, **BROKER_EPOCHS}),
    ),
    "deep": (
        Instance("two of each", {"expiries": 2, "restarts": 1, "resignations": 1, "disconnects": 1}),
        Instance("three brokers, a bounce", {"brokers": 3, **_BOUNCE}),
    ),
}


MUTATED = (
    Instance("expiry", {"expiries": 1, "writes": True}),
    Instance("expiry and bounce, since 2.2", {**_BOUNCE, **BROKER_EPOCHS}),
    Instance("resignation", {"resignations": 1}),
    Instance("cut off", _CUT_OFF),
    Instance("cut off, since 2.2", {**_CUT_OFF, **BROKER_EPOCHS}),
    Instance("unheard, one broker", {"brokers": 1, **_UNHEARD}),
    Instance("unheard, 2.1", {**_UNHEARD, **MULTI}),
)


def _no_proof(parameters: Parameters, names: Sequence[str]) -> str:
    """Why nothing is proved with these parameters and any number of brokers; empty if it is."""
    if parameters.get("broker_epochs") and parameters.get("restarts"):
        return "for any number of brokers there is no proof with broker_epochs and restarts; leave restarts=0"
    if parameters.get("updates"):
        return "for any number of brokers there is no proof with updates; leave updates=0"
    return ""


GENERAL = General(
    {"brokers": sizes_from("brokers", 2, 1, alike=True)},
    (
        Instance("all faults", _ALL_AND_WRITES, by="induction", any=("brokers",)),
        Instance("all faults, 2.1", {**_ALL_AND_WRITES, **MULTI}, by="induction", any=("brokers",)),
    ),
    _no_proof,
    "what happens in the end",
    steps=True,
)


ENTRY = Entry(
    name="kafka_controller",
    summary="which Kafka broker is the controller on ZooKeeper, and whom the brokers obey: a node, epochs, and a zombie that"
    " still acts",
    function=kafka_controller,
    suite=suite.kafka_controller,
    sizes=SIZES,
    bugs=bugs_beside(__file__, kafka_controller),
    mutated=MUTATED,
    releases=RELEASES,
    general=GENERAL,
)
