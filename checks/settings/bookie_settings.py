"""The settings of a cluster's bookies: how they keep what they acknowledge.

Mirrors ServerConfiguration of bookkeeper-server, which reads by PropertiesConfiguration of commons-configuration: a flag is
true, yes or on, or false, no or off. A file is recognised as a bookie's by its keys; standalone.conf has them, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.checks.settings.broker_conf import BrokerConf, ConfigurationError, Taken

SYNC, WRITE, STORAGE = "journalSyncData", "journalWriteData", "ledgerStorageClass"
INTEGRITY, SKIP = "dataIntegrityCheckingEnabled", "skipReplayJournalInvalidRecord"
JOURNALS, JOURNAL, LEDGERS = "journalDirectories", "journalDirectory", "ledgerDirectories"
KEYS = (
    *(SYNC, WRITE, STORAGE, INTEGRITY, SKIP, JOURNALS, JOURNAL, LEDGERS),
    *("bookiePort", "bookieId", "indexDirectories", "dbStorage_writeCacheMaxSizeMb"),
    *("autoRecoveryDaemonEnabled", "gcWaitTime", "journalMaxGroupWaitMSec", "zkLedgersRootPath"),
)
"""Keys by which a file of a bookie is recognised."""

STORAGES: Mapping[str, str] = {
    "org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage": "db",
    "org.apache.bookkeeper.bookie.SortedLedgerStorage": "sorted",
    "org.apache.bookkeeper.bookie.InterleavedLedgerStorage": "interleaved",
}
"""The ledger storages that are modelled, by their classes."""

SORTED = "org.apache.bookkeeper.bookie.SortedLedgerStorage"
TRUE, FALSE = ("true", "yes", "on", "t", "y"), ("false", "no", "off", "f", "n")


@dataclass(frozen=True)
class BookieSettings:
    """How the bookies keep what they acknowledge. ``is_given`` says whether a file of a bookie was read; without one these
    are the defaults of BookKeeper."""

    is_given: bool
    sync: Taken[bool]
    write: Taken[bool]
    storage: Taken[str]
    data_integrity: Taken[bool]
    skip_invalid: Taken[bool]
    journals: Taken[int]
    directories: Taken[int]

    @property
    def taken(self) -> tuple[Taken[bool] | Taken[str] | Taken[int], ...]:
        """All of them, in the order in which they are reported."""
        return (
            *(self.sync, self.write, self.storage, self.data_integrity, self.skip_invalid),
            *(self.journals, self.directories),
        )

    @property
    def unmodelled(self) -> str:
        """Which of the settings the model of a bookie does not have; empty if it has all."""
        if self.storage.value not in STORAGES:
            return f"{self.storage}: this storage is not modelled"
        if self.journals.value > 1:
            return f"{self.journals}: several journals are not modelled (bookkeeper#4844)"
        if self.skip_invalid.value:
            return f"{self.skip_invalid}: a journal that is replayed in part is not modelled"
        return ""

    @property
    def parameters(self) -> dict[str, bool | int | str]:
        """The settings as parameters of the bookie protocol. Two directories stand for several."""
        storage = STORAGES[self.storage.value]
        several = {"ledgers": 2, "directories": 2} if storage == "db" and self.directories.value > 1 else {}
        return {"storage": storage, "journal_sync_data": self.sync.value, "journal_write_data": self.write.value, **several}


def bookie_settings(conf: BrokerConf) -> BookieSettings:
    """The settings of the bookies in some files; ConfigurationError for a flag that BookKeeper refuses."""
    is_given = any(conf.has(key) for key in KEYS)
    journals = _directories(conf, JOURNALS)
    if conf.has(JOURNAL) and journals.place is None:
        journals = _directories(conf, JOURNAL)
    settings = BookieSettings(
        is_given,
        _flag(conf, SYNC, True),
        _flag(conf, WRITE, True),
        conf.name_of_class(STORAGE, SORTED),
        _flag(conf, INTEGRITY, False),
        _flag(conf, SKIP, False),
        journals,
        _directories(conf, LEDGERS),
    )
    if settings.data_integrity.value:
        conf.notes.append(
            f"{settings.data_integrity}: the row wiped is as without it: limbo is not kept by a bookie that has been idle "
            "(bookkeeper#4843)"
        )
    for key in KEYS:  # a file with any of them is one that is read
        conf.address(key)
    return settings


def _flag(conf: BrokerConf, key: str, default: bool) -> Taken[bool]:
    given = conf.text(key, default)
    if given is None:
        return Taken(key, default)
    text, place = given[0].strip(), given[1]
    if text.lower() not in (*TRUE, *FALSE):
        comment = "; a comment goes on a line of its own" if "#" in text else ""
        raise ConfigurationError(f"{place}: {key} = {text!r} is neither true nor false; write one of them{comment}", place)
    return Taken(key, text.lower() in TRUE, place)


def _directories(conf: BrokerConf, key: str) -> Taken[int]:
    """How many directories a key names, with commas between them."""
    given = conf.address(key)
    return Taken(key, 1) if given is None else Taken(key, len([d for d in given.value.split(",") if d.strip()]), given.place)
