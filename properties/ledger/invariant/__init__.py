"""Why a ledger is safe: the lemmas whose conjunction is its inductive invariant, by the steps of the argument.

They hold for any number of entries, bookies, recoveries and changes of ensemble, as long as no disk is lost; with losses there
is no such proof here, and the search covers them. In short: an entry that recovery finds missing was denied by so many fenced
bookies of its write set that the others are no ack quorum; the copies of the ensembles that the writer, the store and the
recoveries hold agree wherever that argument needs it; and the version guards the only moments at which they change.
"""

from fencepost.properties.ledger.invariant.closed import closed_lemmas
from fencepost.properties.ledger.invariant.ensembles import ensembles_lemmas
from fencepost.properties.ledger.invariant.recovery import recovery_lemmas
from fencepost.properties.ledger.invariant.words import Words, settings_leak
from fencepost.properties.ledger.invariant.writer import writer_lemmas
from fencepost.properties.vocabulary import Suite

__all__ = ["ledger_lemmas", "settings_leak"]


def ledger_lemmas(suite: Suite) -> None:
    """Adds the lemmas of a ledger without losses and without bugs in mind to its suite."""
    words = Words(suite.protocol)
    for step in (writer_lemmas, ensembles_lemmas, recovery_lemmas, closed_lemmas):
        step(suite, words)
