"""What induction proves of Kafka's controller: each family in an instance, any number of brokers, nothing with a bug."""

from __future__ import annotations

from typing import Any

import pytest

from fencepost import PROTOCOLS, RegistryError, check
from fencepost.checks.engines.any_size.obligations import is_provable
from fencepost.checks.engines.any_size.proof import GeneralProof, prove_for_any_size
from fencepost.model.kafka.controller.families import AWAITED, BROKER_EPOCHS, LOCK, MULTI, QUEUE, Family
from fencepost.properties.registry import Instance

pytestmark = pytest.mark.long

ENTRY = PROTOCOLS["kafka_controller"]
FAULTS = {"brokers": 3, "expiries": 2, "restarts": 2, "resignations": 2, "disconnects": 2, "writes": True}
FAMILIES = {"0.10": LOCK, "1.0": QUEUE, "2.0": AWAITED, "2.1": MULTI, "since 2.2": BROKER_EPOCHS}


def verdicts(family: Family, *bugs: str) -> dict[str, str]:
    """What induction makes of each invariant and rule of an instance."""
    (checked,) = check(ENTRY, set={**FAULTS, **family}, bugs=bugs, by="induction", workers=2)
    return {one.property.name: one.verdict for one in checked.verdicts if one.property.kind in ("always", "step")}


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_every_rule_and_invariant_of_a_family_is_proved(family: Family) -> None:
    outcomes = verdicts(family)
    unproved = {name for name, verdict in outcomes.items() if verdict != "proved"}
    # with incarnations the epochs that a restarted process has forgotten need a lemma that nobody has written
    assert unproved == ({"no_older_after_newer"} if family is BROKER_EPOCHS else set())
    assert {"epochs_are_of_one", "one_active_up_to_date", "epochs_rise", "writes_of_the_current"} <= outcomes.keys()


@pytest.mark.parametrize("bug", ["epoch_swallowed", "deletes_any", "bounce_missed"])
def test_a_bug_is_not_proved_away(bug: str) -> None:
    assert "inconclusive" in verdicts(LOCK, bug).values()


def of_any(parameters: dict[str, Any], *bugs: str) -> GeneralProof:
    return prove_for_any_size(ENTRY.of_any(("brokers",), parameters, bugs), workers=2, second_solver=False)


def is_whole(proof: GeneralProof) -> bool:
    """Whether every invariant and rule that is no control is proved."""
    asked = [prop.name for prop in proof.suite.properties if is_provable(prop)]
    return [prop.name for prop in proof.proved] == asked and (proof.unproved, proof.doubt, proof.impossible) == ((), "", ())


def test_any_number_of_brokers() -> None:
    proof = of_any({"expiries": 1, "resignations": 1})
    assert is_whole(proof)
    assert {"epochs_are_of_one", "one_active_up_to_date", "looks_are_complete"} <= {prop.name for prop in proof.proved}


@pytest.mark.deep
@pytest.mark.parametrize("instance", ENTRY.general.instances if ENTRY.general else (), ids=lambda one: one.name)
def test_any_number_of_brokers_with_all_faults(instance: Instance) -> None:
    assert is_whole(of_any(dict(instance.parameters)))


@pytest.mark.deep
def test_any_number_of_brokers_with_incarnations() -> None:
    assert is_whole(of_any({"expiries": 1, "resignations": 1, **BROKER_EPOCHS}))


def test_a_bug_breaks_the_proof_for_any_number() -> None:
    proof = of_any({"expiries": 1}, "epoch_swallowed")
    assert "terms_have_their_own_epochs" in {failure.statement for failure in proof.unproved}
    assert any(not failure.undecided for failure in proof.refuted)


def test_what_is_not_proved_for_any_number_is_refused() -> None:
    with pytest.raises(RegistryError, match="no proof with broker_epochs and restarts; leave restarts=0"):
        ENTRY.of_any(("brokers",), {"restarts": 1, **BROKER_EPOCHS}, ())
