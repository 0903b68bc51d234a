"""What the histories of Pulsar's mistakes have in common: which releases those are of that many have."""

from __future__ import annotations

from fencepost.model.releases import PULSAR, History

ALL = tuple(PULSAR)
UP_TO_4_0_8 = ALL[:3]


EVENT_LOST = History(
    "pulsar",
    upstream=("#25237",),
    since="2.10.0 or before",
    present=ALL,
    costs="a broker goes on to lead, and to serve bundles, with nothing in the store: another one leads and serves beside it",
    evidence="ZKSessionWatcher.checkState sets its status after the listener, and so takes back what setSessionInvalid has set"
    " if the new watch is asked of a closed handle and fails in the same thread (2.10.1:171, 4.2.4:189-193;"
    " ZKMetadataStore 4.2.4:161-178)",
)
"""Of a new session: the same mistake in elections and locks."""


def never(evidence: str) -> History:
    """A mistake that no release of Pulsar had: it shows what a part of the code is there for."""
    return History("pulsar", evidence=evidence)


def past(upstream: tuple[str, ...], *, fixed: str, evidence: str, since: str = "") -> History:
    """A mistake that was mended before the oldest modelled release."""
    return History("pulsar", upstream, since, fixed, evidence=evidence)


def of_2_10_1(upstream: tuple[str, ...], *, since: str, fixed: str, costs: str, evidence: str) -> History:
    """A mistake that only the oldest modelled release has."""
    return History("pulsar", upstream, since, fixed, ALL[:1], costs=costs, evidence=evidence)
