"""What the histories of Pulsar's mistakes have in common: which releases those are of that many have."""

from __future__ import annotations

from fencepost.model.releases import PULSAR, History

ALL = tuple(PULSAR)
UP_TO_4_0_8 = ALL[:3]


def never(evidence: str) -> History:
    """A mistake that no release of Pulsar had: it shows what a part of the code is there for."""
    return History("pulsar", evidence=evidence)


def past(upstream: tuple[str, ...], *, fixed: str, evidence: str, since: str = "") -> History:
    """A mistake that was mended before the oldest modelled release."""
    return History("pulsar", upstream, since, fixed, evidence=evidence)


def of_2_10_1(upstream: tuple[str, ...], *, since: str, fixed: str, costs: str, evidence: str) -> History:
    """A mistake that only the oldest modelled release has."""
    return History("pulsar", upstream, since, fixed, ALL[:1], costs=costs, evidence=evidence)
