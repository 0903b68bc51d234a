"""What a bookie comes to in the end: it answers what it has accepted, and it is back after every end of its process."""

from __future__ import annotations

from fencepost.model.bookkeeper.bookie_variables import BookieVariables
from fencepost.model.language import Not
from fencepost.properties.vocabulary import Leads, Suite


def bookie_liveness(suite: Suite) -> None:
    """Adds to a suite what must come about."""
    p = suite.protocol
    s, settings = BookieVariables.now(p), p.parameters
    pairs = [(of, e) for of in p.universes["ledger"] for e in p.universes["entry"]]

    if settings["journal_write_data"]:

        @suite.leads_to
        def adds_are_answered() -> Leads:
            """An add that the bookie has accepted is acknowledged in the end, or the process ends, and the request fails."""
            return [(s.added[of, e] == "accepted", s.added[of, e] != "accepted") for of, e in pairs]

        if settings["recovery"]:

            @suite.leads_to
            def recovery_adds_are_answered() -> Leads:
                """So it is with an add of a recovery."""
                return [(s.recovered[of, e] == "accepted", s.recovered[of, e] != "accepted") for of, e in pairs]

    if settings["kills"] or settings["power_losses"] or settings["stops"]:

        @suite.leads_to
        def bookies_come_back() -> Leads:
            """A bookie whose process has ended, or is about to, serves again in the end."""
            return s.stage != "up", s.stage == "up"

    if settings["explicit_lacs"]:

        @suite.leads_to
        def explicit_lacs_are_answered() -> Leads:
            """An explicit last add confirmed is answered in the end, or the process ends, and the request fails."""
            return [(s.lac_asked[of], Not(s.lac_asked[of])) for of in p.universes["ledger"]]

    @suite.leads_to
    def checkpoints_end() -> Leads:
        """A checkpoint that is saved is done in the end: the log mark moves, or the process ends."""
        return [(s.checkpoint[f] == "saved", s.checkpoint[f] != "saved") for f in p.universes["flusher"]]
