"""The other cluster refuses a message again and again while later ones are stored: it is missing, without deduplication too.

The source hears a refusal only of the message that it waits for first. A refusal comes at once, and the receipt of a later
message that was sent before when that is stored, so the second refusal is not heard. What was sent again behind it is stored
again. The receipt of that confirms what was refused, since its position is below the highest that was confirmed.
"""

from __future__ import annotations

from fencepost.checks.conformance.reproductions.refused_copy import CONTROL, refused
from fencepost.checks.conformance.reproductions.reproduction import Observation, Reproduction
from fencepost.checks.conformance.reproductions.stage import Stage


def take(stage: Stage, release: str, control: bool) -> Observation:
    """One run; in the control nothing is behind the message while it is refused. Raises ToolchainError and SessionError."""
    return refused(stage, release, control, deduplication=False)


REFUSAL_UNHEARD = Reproduction(
    name="refusal-unheard",
    harm="a message in the other cluster, which has no deduplication and refuses it while later ones are under way",
    control=CONTROL,
    system="Pulsar",
    releases=("4.2.4", "5.0.1"),
    seconds=60,
    page="docs/findings/refused-copy.md",
    take=take,
)
