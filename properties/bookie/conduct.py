"""How a bookie must conduct itself, whatever comes of it: rules that a missing guard breaks first."""

from __future__ import annotations

from fencepost.properties.vocabulary import Suite


def bookie_conduct(suite: Suite) -> None:
    """Adds the rules of conduct of a bookie to a suite."""
