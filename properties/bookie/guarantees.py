"""What a bookie keeps of what it has acknowledged when its process is killed, its machine loses power, or a flush fails."""

from __future__ import annotations

from dataclasses import replace

from fencepost.model.bookkeeper.bookie_variables import BookieVariables
from fencepost.model.language import And, Protocol, Truth, any_of
from fencepost.model.language.circumstances import wanting
from fencepost.properties.bookie.suite import bookie
from fencepost.properties.vocabulary import Suite

ACKNOWLEDGED = ("acknowledged_adds_survive", "answered_fences_survive", "denied_adds_stay_out")
"""The properties of the protocol by which a bookie keeps its word; with some settings they are controls that fail."""


def keeps_its_word(p: Protocol) -> Suite:
    """That what a bookie has acknowledged is there when it runs again: with no settings is it expected to fail."""
    with wanting(ACKNOWLEDGED):
        whole = bookie(p)
    suite, s = Suite(p), BookieVariables.now(p)
    suite.properties = [replace(prop, strict="") for prop in whole.properties if prop.name in ACKNOWLEDGED]

    @suite.sometimes
    def a_bookie_serves_again() -> Truth:
        """The process has ended and a flush has failed as often as they may, an add is acknowledged, and the bookie serves."""
        pairs = [(of, e) for of in p.universes["ledger"] for e in p.universes["entry"]]
        ended = [getattr(s, event) == p.budgets[event] for event in ("kills", "power_losses", "failed_saves")]
        return And(s.stage == "up", *ended, any_of(s.added[of, e] == "acknowledged" for of, e in pairs))

    return suite
