"""Epochs order the terms of Kafka's controllers: proved by induction for each family, and not with a mistake that breaks it."""

from __future__ import annotations

import pytest

from fencepost import PROTOCOLS, check
from fencepost.model.kafka.controller.families import AWAITED, BROKER_EPOCHS, LOCK, MULTI, QUEUE, Family

pytestmark = pytest.mark.long

ENTRY = PROTOCOLS["kafka_controller"]
FAULTS = {"brokers": 3, "expiries": 2, "restarts": 2, "resignations": 2, "disconnects": 2}
FAMILIES = {"0.10": LOCK, "1.0": QUEUE, "2.0": AWAITED, "2.1": MULTI, "since 2.2": BROKER_EPOCHS}


def verdict(family: Family, *defects: str) -> str:
    """What induction makes of ``epochs_are_of_one``."""
    (checked,) = check(ENTRY, set={**FAULTS, **family}, defects=defects, properties=["epochs_are_of_one"], by="induction")
    (outcome,) = checked.findings.verdicts
    return outcome.verdict


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_no_two_terms_have_one_epoch(family: Family) -> None:
    assert verdict(family) == "proved"


def test_a_swallowed_epoch_is_not_proved_away() -> None:
    assert verdict(LOCK, "epoch_swallowed") == "inconclusive"
