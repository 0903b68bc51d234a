"""The life of one BookKeeper ledger: written, handed from bookie to bookie, fenced, recovered, closed.

Mirrors bookkeeper-server 4.17.3 and 4.18.0, as they would be without the bugs in BUGS (LedgerHandle, PendingAddOp,
LedgerRecoveryOp, ReadLastConfirmedOp, ReadOnlyLedgerHandle, MetadataUpdateLoop on the client; BookieImpl, LedgerDescriptorImpl,
ReadEntryProcessor at the bookie).

How the network is modelled. A request, once sent, may arrive at any later time, more than once, overtaken by later ones,
or never. (TCP would keep the adds of a writer to one bookie in order; what holds without that holds with it.) A client that
has crashed is one that takes no further step, and nothing ever obliges a client to take one: each run of recovery is a
recoverer of its own, so a recovery that fails and runs again is two recoverers. Where an answer would only be recorded by
its receiver, the bookie's handling and the receipt are one step, and the bookie's handling alone (the answer lost, or too
late to matter) is another. A read followed by a compare-and-set that succeeds saw what it replaced, and one that fails is
repeated after a new read, so such a loop is one step; only the writer's change of ensemble, which goes on while bookies
answer, is taken apart: asked, done by the store, heard of. A compare-and-set whose outcome stays unknown is one that is
done and never heard of. While a change is asked for the writer sends nothing new; it might as well have sent it before.

Bounds. ``entries`` is the number of adds that the application makes. Recovery of an instance stops after its last entry
without asking for one more, because no bookie can hold it. Three things are simpler than upstream. Recovery writes an entry
back before it reads the next one; upstream it awaits the write-backs only before it closes. An entry counts as stored once
it is journaled; upstream it can be read a moment before, and a crash then takes it back. And deletion is of closed ledgers.
"""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.model.bookkeeper.ledger.bookie import declare_bookies
from fencepost.model.bookkeeper.ledger.bugs import BUGS
from fencepost.model.bookkeeper.ledger.reader import declare_readers
from fencepost.model.bookkeeper.ledger.recovery import declare_recoveries
from fencepost.model.bookkeeper.ledger.state import LedgerState
from fencepost.model.bookkeeper.ledger.writer import declare_writer
from fencepost.model.language import ModelError, Protocol

STORAGES = ("db", "sorted", "interleaved")
BUDGETS = ("changes", "crashes", "losses", "unclean_shutdowns", "rots", "explicit_lacs", "deletions", "failed_saves")


def ledger(
    *,
    bookies: int = 3,
    ensemble: int = 3,
    write_quorum: int = 3,
    ack_quorum: int = 2,
    entries: int = 2,
    recoverers: int = 1,
    changes: int = 0,
    crashes: int = 0,
    losses: int = 0,
    unclean_shutdowns: int = 0,
    rots: int = 0,
    explicit_lacs: int = 0,
    deletions: int = 0,
    failed_saves: int = 0,
    readers: int = 1,
    storage: str = "db",
    data_integrity: bool = False,
    bugs: Iterable[str] = (),
) -> Protocol:
    """One ledger with its writer, its bookies, recoveries and readers; the page of the room has the constants.

    Raises ModelError for values that do not fit each other.
    """
    if not 1 <= ack_quorum <= write_quorum <= ensemble <= bookies:
        raise ModelError(
            f"ledger: 1 <= ack_quorum ({ack_quorum}) <= write_quorum ({write_quorum}) <= ensemble ({ensemble})"
            f" <= bookies ({bookies}) does not hold"
        )
    if entries < 1:
        raise ModelError("ledger: entries is at least 1")
    if storage not in STORAGES:
        raise ModelError(f"ledger: storage is {', '.join(STORAGES[:-1])} or {STORAGES[-1]}, not {storage!r}")
    if data_integrity and storage != "db":
        raise ModelError(f"ledger: data_integrity is of storage db; {storage} has no limbo")
    if failed_saves and storage != "db":
        raise ModelError(f"ledger: saves fail with storage db only, not {storage}: set failed_saves=0")
    if unclean_shutdowns and not data_integrity:
        raise ModelError("ledger: unclean_shutdowns need data_integrity=yes; what a kill costs without it, bookie says")
    parameters = {name: value for name, value in locals().items() if name != "bugs"}
    p = Protocol("ledger", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)
    s = LedgerState(p, parameters)
    for budget in BUDGETS:
        p.budget(budget, parameters[budget])
    declare_writer(p, s)
    answers = declare_bookies(p, s)
    declare_recoveries(p, s, answers)
    declare_readers(p, s)
    return p
