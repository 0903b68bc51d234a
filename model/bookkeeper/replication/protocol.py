"""Auto-recovery of one ledger: a bookie that is away is replaced, and its entries are copied.

Mirrors Auditor, ReplicationWorker, LedgerChecker, LedgerFragmentReplicator, BookKeeperAdmin, ZkLedgerUnderreplicationManager,
ScanAndCompareGarbageCollector and DataIntegrityCheckImpl of bookkeeper-server 4.17.3 and 4.18.0, as they would be without the
bugs in BUGS; which release has which of them, properties/replication/bugs.toml says.

The auditor publishes a ledger as a task, a node with a version. A worker takes the lock of the task, an ephemeral node, and
checks the ledger. It chooses a new bookie for each bad place, copies every entry, and then has the metadata name the new
bookies, by compare-and-set. It checks again, and deletes the task by the version that it has seen. The last fragment of an
open ledger is left alone for a grace period, after which the ledger is closed by a recovery. The command ``recover`` does the
same work with neither task nor lock. A collector deletes copies that no metadata name, under the lock.

Merged and bounded. The ledger has one fragment, whose ensemble is its write quorum: a list of places, so nothing keeps a
bookie from having two. Its entries are a part, stand_ins/written_ledger.py, which the protocol ``ledger`` refines. A copy
arrives at all new bookies of a worker in one step. A worker whose session is gone takes no further task before it shuts down.
An audit that an event has begun, and the check of all bookies, are one step each: they read who is up once."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost.model.bookkeeper.replication.bugs import BUGS
from fencepost.model.bookkeeper.replication.by_hand import DISABLE, declare_commands
from fencepost.model.bookkeeper.replication.checker import Checker
from fencepost.model.bookkeeper.replication.collector import declare_collector
from fencepost.model.bookkeeper.replication.integrity import declare_integrity_check
from fencepost.model.bookkeeper.replication.readers import declare_readers
from fencepost.model.bookkeeper.replication.state import State
from fencepost.model.bookkeeper.replication.surroundings import declare_surroundings
from fencepost.model.bookkeeper.replication.tasks import Tasks
from fencepost.model.bookkeeper.replication.workers import declare_workers
from fencepost.model.language import ModelError, Protocol


def replication(
    *,
    bookies: int = 3,
    ensemble: int = 2,
    ack_quorum: int = 1,
    entries: int = 1,
    workers: int = 1,
    commands: int = 0,
    disable: str = "no",
    opened: bool = False,
    collects: bool = False,
    integrity: bool = False,
    daily: bool = False,
    weekly: bool = True,
    emptied: bool = False,
    crashes: int = 1,
    losses: int = 0,
    expiries: int = 0,
    gaps: int = 0,
    rots: int = 0,
    decommissions: int = 0,
    failed_audits: int = 0,
    elections: int = 0,
    handle: bool = False,
    cuts: int = 0,
    bugs: Iterable[str] = (),
) -> Protocol:
    """The replication of a ledger by ``workers``; the page of the room has the constants."""
    if min(entries, ensemble, ack_quorum) < 1 or ensemble > bookies or ack_quorum > ensemble:
        raise ModelError("replication: entries is at least 1, and ack_quorum <= ensemble <= bookies")
    if disable not in DISABLE:
        raise ModelError(f"replication: disable is no, switch or wait, not {disable!r}")
    if cuts and (collects or integrity or emptied or decommissions or elections):
        raise ModelError(
            "replication: cuts go without these: set collects=no integrity=no emptied=no decommissions=0 elections=0, or cuts=0"
        )
    if workers + commands < 1:
        raise ModelError("replication: workers and commands are at least 1 together")
    parameters = {name: value for name, value in locals().items() if name != "bugs"}
    p = Protocol("replication", doc=__doc__, parameters=parameters, bugs=BUGS, active=bugs)
    p.universe("bookie", bookies)
    p.universe("entry", entries)
    p.universe("place", ensemble)
    names = [*(f"w{w}" for w in range(workers)), *(f"recover{c}" for c in range(commands))]
    p.universe("worker", workers + commands, names=names)
    budgets = {"crashes": crashes, "losses": losses, "expiries": expiries, "gaps": gaps, "rots": rots}
    operations = {"decommissions": decommissions, "failed_audits": failed_audits, "elections": elections, "cuts": cuts}
    for budget, limit in {**budgets, **operations}.items():
        p.budget(budget, limit)
    audits = cuts + crashes + losses + decommissions + 2 * elections
    s = State(
        p,
        workers=workers,
        commands=commands,
        opened=opened,
        collects=collects,
        integrity=integrity,
        emptied=emptied,
        disable=disable,
        rots=rots,
        marks=min(ensemble, crashes + losses + cuts) * (audits + (bookies if daily else 0)),
        elections=elections,
        handle=handle,
        cuts=cuts,
    )
    checker = Checker(s)
    tasks = Tasks(s, checker, expiries=expiries, daily=daily, weekly=weekly)
    declare_workers(s, checker, tasks)
    declare_commands(s)
    declare_collector(s)
    declare_integrity_check(s)
    declare_surroundings(s, ack_quorum=ack_quorum)
    declare_readers(s)
    return p
