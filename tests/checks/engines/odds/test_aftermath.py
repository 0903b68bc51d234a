"""The probability of a loss, given an event: against formulas of races."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fencepost.checks.engines.odds.aftermath import Event, loss_given
from fencepost.checks.engines.odds.transitions import InstanceError, transitions
from fencepost.checks.odds.solving import instance
from fencepost.checks.odds.ways import WAYS
from fencepost.model.odds.numbers import MS_PER_YEAR, published
from fencepost.properties.ledger.losses import adds_come_once, entry_is_cut_off
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.topic.losses import refused_messages_have_successors

pytestmark = pytest.mark.xdist_group("odds")
DEDUP = WAYS["removed_producer_publishes"]
THROTTLED = Event("creation_fails", before="roll_over", held=1, reading="throttled_reading", next="task")


def race(unfencing: float, forgetting: float, reading: float) -> float:
    """Of three exponential clocks with these means the probability that the forgetting is last."""
    u, f, r = 1 / unfencing, 1 / forgetting, 1 / reading
    return u / (u + f + r) * r / (f + r) + r / (u + f + r) * u / (u + f)


@pytest.mark.parametrize(("unfencing", "forgetting", "reading"), [(2.5, 5.7, 14.0), (8.0, 0.5, 20.0), (0.4, 30.0, 3.0)])
def test_a_throttled_connection_is_a_race_of_three(unfencing: float, forgetting: float, reading: float) -> None:
    """With hundreds of messages in the socket what is left of the model is that race, to a few in a thousand."""
    p = refused_messages_have_successors(
        instance(replace(DEDUP, parameters={**DEDUP.parameters, "messages": 3, "capacity": 4}))
    )
    numbers = published().instead(
        {"unfencing": unfencing, "forgetting": forgetting, "throttled_reading": reading, "task": 1e-4}
    )
    found = loss_given(transitions(p, published(), DEDUP.lost, 1), numbers.instead({"reconnect": 1e6}), 1, THROTTLED)
    assert found == pytest.approx(race(unfencing, forgetting, reading), rel=5e-3)


def test_the_second_disk_is_lost_before_the_repair() -> None:
    disks = WAYS["disks"]
    p = PROTOCOLS["ledger"].build({**disks.parameters, "entries": 1, "losses": 8})
    numbers = published().instead({"disk_losses": MS_PER_YEAR / 10_000.0, "repair": 3_000.0})
    event = Event("lose_disk", then=("lose_disk",), repaired="repair")
    assert loss_given(transitions(p, published(), disks.lost, 0), numbers, 1, event) == pytest.approx(3 / 13, rel=1e-3)


@pytest.mark.parametrize("timed", [False, True])
def test_a_checkpoint_passes_before_the_kill(timed: bool) -> None:
    """An exponential one in a third of the cases, one in stages in less than half of these."""
    size = dict.fromkeys(("bookies", "ensemble", "write_quorum", "ack_quorum", "failed_saves", "crashes", "entries"), 1)
    p = adds_come_once(PROTOCOLS["ledger"].build({**size, "readers": 0}, ("failed_save_forgotten",)))
    rates = {"checkpoint": 2_000.0, "bookie_kills": MS_PER_YEAR / 1_000.0, "rival_recoveries": MS_PER_YEAR / 1e9}
    numbers = published().instead(rates)
    numbers = numbers.by_law("timer", "checkpoint") if timed else numbers
    found = loss_given(
        transitions(p, numbers, entry_is_cut_off, 0), numbers, 1, Event("fail_to_save", then=("crash", "recover"))
    )
    assert found == pytest.approx((1 + 2 / 16) ** -16 if timed else 1 / 3, rel=1e-3)


def test_an_add_that_a_bookie_lost_does_not_come_again() -> None:
    size = dict.fromkeys(("bookies", "ensemble", "write_quorum", "ack_quorum", "failed_saves", "crashes", "entries"), 1)
    p = PROTOCOLS["ledger"].build({**size, "readers": 0}, ("failed_save_forgotten",))
    numbers = published().instead({"bookie_kills": MS_PER_YEAR / 1e6, "rival_recoveries": MS_PER_YEAR / 1e9})
    event = Event("fail_to_save", then=("crash", "recover"))
    restored = loss_given(transitions(p, numbers, entry_is_cut_off, 0), numbers, 1, event)
    assert restored < 0.01 < loss_given(transitions(adds_come_once(p), numbers, entry_is_cut_off, 0), numbers, 1, event)


def test_an_event_that_does_not_happen_there_is_refused() -> None:
    whole = transitions(instance(WAYS["disks"]), published(), WAYS["disks"].lost, 1)
    with pytest.raises(InstanceError, match="creation_fails does not happen where the traffic rests"):
        loss_given(whole, published(), 1, Event("creation_fails"))
