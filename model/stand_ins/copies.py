"""How many copies the entries of a ledger have, as a cluster knows it: a stand-in for auto-recovery, which refines it.

Copies count at bookies that the metadata name, whether these are up or not. Auditor, tasks, locks and workers are behind the
moves.
"""

from __future__ import annotations

from collections.abc import Collection

from fencepost.model.language import ModelError, Outcome, Protocol

WEAK = {"dropped": "the metadata name a bookie without copies, or one bookie twice, instead of one that has them"}
"""What else may happen with certain bugs of auto-recovery, by name."""


class Copies:
    """The copies of the entry that has the fewest, at most so many; ``losses`` bounds how often a fault takes one.

    ``written`` says that entries may still be added; ``allows`` names weak moves.
    """

    def __init__(self, p: Protocol, most: int, losses: int, *, written: bool = False, allows: Collection[str] = ()) -> None:
        for name in allows:
            if name not in WEAK:
                raise ModelError(f"{p.name}: copies have no weak move {name!r}; they have {', '.join(WEAK)}")
        copies = self.copies = p.number("copies", 0, most, init=most)
        p.budget("losses", losses)

        @p.move(by="bookie", n=range(2), spends="losses")
        def lose(n: int) -> Outcome:
            """A disk is lost, or a copy: of the entry that has the fewest, or of others."""
            return copies >= n, {copies: copies - n}

        @p.move(by="worker", n=range(1, most + 1))
        def restore(n: int) -> Outcome:
            """Entries are copied, and the metadata name who has them; also after the last copy that they named was lost."""
            return copies < n, {copies: n}

        @p.move(by="writer", n=range(1, most + 1), only_if=written)
        def write(n: int) -> Outcome:
            """An entry is added at fewer bookies than those before: some are away."""
            return copies > n, {copies: n}

        @p.move(by="worker", n=range(most), only_if="dropped" in allows)
        def drop(n: int) -> Outcome:
            """A bug of auto-recovery takes copies."""
            return copies > n, {copies: n}

        self.lose, self.restore, self.write, self.drop = lose, restore, write, drop


def copies(most: int = 2, losses: int = 1, *, written: bool = False, allows: Collection[str] = ()) -> Protocol:
    """The copies of one ledger alone."""
    parameters = {"most": most, "losses": losses, "written": written, "allows": ",".join(sorted(allows))}
    p = Protocol("copies", doc=__doc__, parameters=parameters)
    Copies(p, most, losses, written=written, allows=allows)
    return p
