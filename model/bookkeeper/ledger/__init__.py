"""The life of one BookKeeper ledger: written, handed from bookie to bookie, fenced, recovered, closed.

``protocol`` is where to begin: what an instance is, and how the network is modelled. Its steps stand by party: ``writer``,
``bookie``, ``recovery``, ``reader``; ``state`` has the variables, ``bugs`` the known bugs. Which releases have them is
in ``properties/ledger/bugs.toml``.
"""

from fencepost.model.bookkeeper.ledger.bugs import BUGS, COVERED
from fencepost.model.bookkeeper.ledger.protocol import ledger

__all__ = ["BUGS", "COVERED", "ledger"]
