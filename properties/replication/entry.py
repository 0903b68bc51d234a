"""The entry of ``replication`` in the registry, and its instances."""

from __future__ import annotations

from fencepost.model.bookkeeper.replication import replication
from fencepost.properties.bug_files import bugs_beside
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.replication import suite

SIZES = {
    "ci": (
        Instance("two away", {"entries": 2, "crashes": 2}),
        Instance("two away, two workers", {"workers": 2, "crashes": 2}),
        Instance("an open ledger", {"opened": True, "entries": 2, "crashes": 2}),
        Instance("a zombie", {"workers": 2, "expiries": 1, "crashes": 2}),
        Instance("the command", {"commands": 1, "crashes": 2}),
        Instance("the command, audited daily", {"commands": 1, "crashes": 2, "daily": True}),
        Instance("the command, after a wait", {"commands": 1, "crashes": 2, "disable": "wait"}),
        Instance("collectors", {"bookies": 4, "crashes": 2, "collects": True}),
        Instance("collectors and the command", {"commands": 1, "crashes": 2, "collects": True}),
        Instance("a lost disk", {"crashes": 1, "losses": 1, "collects": True}),
        Instance("a replaced disk", {"bookies": 4, "crashes": 1, "losses": 1, "integrity": True}),
        Instance("limbo", {"opened": True, "entries": 2, "losses": 1, "integrity": True}),
        Instance("a decommission", {"bookies": 4, "crashes": 2, "decommissions": 1}),
        Instance("an empty bookie under its old name", {"losses": 1, "emptied": True, "decommissions": 1}),
        Instance("audits that fail", {"crashes": 2, "failed_audits": 2}),
        Instance("another auditor", {"crashes": 2, "elections": 1, "failed_audits": 1}),
        Instance("an open handle", {"bookies": 4, "crashes": 2, "handle": True}),
        Instance("a bookie that is cut off", {"bookies": 4, "crashes": 1, "cuts": 1}),
        Instance("an open ledger, a member cut off", {"opened": True, "entries": 2, "crashes": 1, "cuts": 1}),
        Instance("a gap and a bad copy", {"crashes": 1, "gaps": 1, "rots": 1}),
    ),
    "standard": (
        Instance("zombies and the command", {"workers": 2, "commands": 1, "expiries": 1, "crashes": 2}),
        Instance("collectors and zombies", {"bookies": 4, "workers": 2, "expiries": 1, "collects": True}),
        Instance("three copies", {"bookies": 4, "ensemble": 3, "workers": 2, "crashes": 2, "entries": 2, "collects": True}),
    ),
    "deep": (
        Instance("all faults", {"workers": 2, "commands": 1, "expiries": 1, "crashes": 2, "losses": 1, "collects": True}),
    ),
}


ENTRY = Entry(
    name="replication",
    summary="auto-recovery of one ledger: a bookie that is away is replaced, by tasks, locks and copies",
    function=replication,
    suite=suite.replication,
    sizes=SIZES,
    bugs=bugs_beside(__file__, replication),
)
