"""Why a bookie keeps what it has answered for: the inductive invariant."""

from __future__ import annotations

from fencepost.properties.vocabulary import Suite


def bookie_invariant(suite: Suite) -> None:
    """Adds the lemmas to a suite."""
