"""The settings of a cluster's bookies: how they keep what they acknowledge, auto-recovery, and which bookies get an entry.

Mirrors ServerConfiguration of bookkeeper-server, which reads by PropertiesConfiguration of commons-configuration: a flag is
true, yes or on, or false, no or off. A file is recognised as a bookie's by its keys; standalone.conf has them as well. What
the files leave out is BookKeeper's default. In an image of Pulsar, and where no file of a bookie is given, it is what Pulsar's
own bookkeeper.conf has.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from fencepost.checks.settings.broker_conf import BOOKKEEPERS, LARGEST, PULSARS, BrokerConf, ConfigurationError, Taken
from fencepost.checks.settings.broker_settings import LedgerSettings
from fencepost.model.bookkeeper.regions import RegionRules
from fencepost.properties.configuration import Bookies

SYNC, WRITE, STORAGE = "journalSyncData", "journalWriteData", "ledgerStorageClass"
SORTS, SKIP = "sortedLedgerStorageEnabled", "skipReplayJournalInvalidRecord"
INTEGRITY, STAMPING = "dataIntegrityChecking", "dataIntegrityStampMissingCookies"
UNKNOWN = "dataIntegrityCheckingEnabled"
"""The name of the method of ServerConfiguration that reads INTEGRITY. There is no such key."""

JOURNALS, JOURNAL, LEDGERS = "journalDirectories", "journalDirectory", "ledgerDirectories"
KEYS = (
    *(SYNC, WRITE, STORAGE, SORTS, INTEGRITY, STAMPING, UNKNOWN, SKIP, JOURNALS, JOURNAL, LEDGERS),
    *("bookiePort", "bookieId", "indexDirectories", "dbStorage_writeCacheMaxSizeMb"),
    *("autoRecoveryDaemonEnabled", "auditorPeriodicBookieCheckInterval", "auditorPeriodicCheckInterval"),
    *("gcWaitTime", "journalMaxGroupWaitMSec", "zkLedgersRootPath"),
)
"""Keys by which a file of a bookie is recognised."""

DB = "org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage"
SORTED, INTERLEAVED = (f"org.apache.bookkeeper.bookie.{name}LedgerStorage" for name in ("Sorted", "Interleaved"))
STORAGES: Mapping[str, str] = {DB: "db", SORTED: "sorted", INTERLEAVED: "interleaved"}
"""The ledger storages that are modelled, by their classes."""

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
        if self.has_several_journals and (self.storage.value != DB or self.has_several_directories):
            return f"{self.journals}: several journals are modelled for DbLedgerStorage with one ledger directory"
        if self.skip_invalid.value:
            return f"{self.skip_invalid}: a journal that is replayed in part is not modelled"
        return ""

    @property
    def has_several_directories(self) -> bool:
        """Whether entries are in several directories, each with an index and a write cache of its own."""
        return STORAGES.get(self.storage.value) == "db" and self.directories.value > 1

    @property
    def has_several_journals(self) -> bool:
        """Whether ledgers are in several journals, each with a log mark of its own."""
        return self.journals.value > 1

    @property
    def plain(self) -> Bookies:
        """They as a protocol takes them."""
        return Bookies(
            storage=STORAGES.get(self.storage.value, ""),
            sync_journal=self.sync.value,
            write_journal=self.write.value,
            several_journals=self.has_several_journals,
            several_directories=self.has_several_directories,
            unmodelled=self.unmodelled,
        )


def bookie_settings(conf: BrokerConf) -> BookieSettings:
    """The settings of the bookies in some files; ConfigurationError for a flag that BookKeeper refuses."""
    written = conf.written(KEYS, "bookie")
    of_pulsar = not written or written[0].image == "pulsar"
    default = PULSARS if of_pulsar else BOOKKEEPERS
    journals = _directories(conf, JOURNALS, default)
    if conf.has(JOURNAL) and journals.place is None:
        journals = _directories(conf, JOURNAL, default)
    settings = BookieSettings(
        bool(written),
        _flag(conf, SYNC, True, default),
        _flag(conf, WRITE, True, default),
        _storage(conf, Taken(STORAGE, DB if of_pulsar else SORTED, None, default)),
        _flag(conf, INTEGRITY, False, default),
        _flag(conf, SKIP, False, default),
        journals,
        _directories(conf, LEDGERS, default),
    )
    if settings.data_integrity.value:
        conf.notes.append(
            f"{settings.data_integrity}: changes no row: the copies on a lost disk are lost with it, too, and a bookie whose "
            "cookie the operator has deleted starts without a check (DataIntegrityCookieValidation.checkCookies)"
        )
    if places := conf.places_of(UNKNOWN):
        conf.notes.append(f"{places[-1]}: {UNKNOWN} is no setting of BookKeeper, which reads {INTEGRITY}")
    for key in KEYS:  # a file with any of them is one that is read
        conf.address(key)
    return settings


def _storage(conf: BrokerConf, default: Taken[str]) -> Taken[str]:
    """The class of the ledger storage, as ServerConfiguration.getLedgerStorageClass finds it."""
    given = conf.name_of_class(STORAGE, default.value)
    storage = given if given.place else default
    sorts = _flag(conf, SORTS, True, default.default)
    if storage.value == SORTED and not sorts.value:
        return Taken(STORAGE, INTERLEAVED, sorts.place)
    return storage


def _flag(conf: BrokerConf, key: str, default: bool, whose: str) -> Taken[bool]:
    given = conf.text(key, default)
    if given is None:
        return Taken(key, default, None, whose)
    text, place = given[0].strip(), given[1]
    if text.lower() not in (*TRUE, *FALSE):
        comment = "; a comment goes on a line of its own" if "#" in text else ""
        raise ConfigurationError(f"{place}: {key} = {text!r} is neither true nor false; write one of them{comment}", place)
    return Taken(key, text.lower() in TRUE, place)


def _directories(conf: BrokerConf, key: str, whose: str) -> Taken[int]:
    """How many directories a key names, with commas between them."""
    given = conf.address(key)
    if given is None:
        return Taken(key, 1, None, whose)
    return Taken(key, len([d for d in given.value.split(",") if d.strip()]), given.place)


RUNS, AUDITS = "autoRecoveryDaemonEnabled", "auditorPeriodicBookieCheckInterval"
CHECKS = "auditorPeriodicCheckInterval"
A_DAY, A_WEEK = 86_400, 604_800


@dataclass(frozen=True)
class AutoRecoverySettings:
    """Whether bookies run auto-recovery, and after how many seconds the auditor looks again for bookies that are away, and
    checks every ledger."""

    runs: Taken[bool]
    audits: Taken[int]
    checks: Taken[int]

    @property
    def taken(self) -> tuple[Taken[bool] | Taken[int], ...]:
        """All, in the order in which they are reported."""
        return self.runs, self.audits, self.checks

    @property
    def unmodelled(self) -> str:
        """Why nothing is asked of auto-recovery; empty if it runs."""
        if self.runs.value:
            return ""
        return f"{self.runs}: these bookies run no auto-recovery; add the file of the daemon that does by --conf"


def auto_recovery_settings(conf: BrokerConf) -> AutoRecoverySettings:
    """The settings of auto-recovery in the files of bookies; ConfigurationError for a value that BookKeeper refuses."""
    remedy = "write a number of seconds, or 0 for no such audit"
    audits, checks = conf.number(AUDITS, A_DAY, remedy, least=0), conf.number(CHECKS, A_WEEK, remedy, least=-LARGEST)
    return AutoRecoverySettings(_flag(conf, RUNS, True, BOOKKEEPERS), audits, checks)


RACKS, REGIONS = "bookkeeperClientRackawarePolicyEnabled", "bookkeeperClientRegionawarePolicyEnabled"
MIN_RACKS = "bookkeeperClientMinNumRacksPerWriteQuorum"
ENFORCED = "bookkeeperClientEnforceMinNumRacksPerWriteQuorum"
GROUPS, SECONDARY = "bookkeeperClientIsolationGroups", "bookkeeperClientSecondaryIsolationGroups"
EVERYBODY = "*"
"""A primary group by which no bookie is left out (PULSAR_SYSTEM_TOPIC_ISOLATION_GROUP)."""

REGIONS_TO_WRITE, MIN_REGIONS = "reppRegionsToWrite", "reppMinimumRegionsForDurability"
VALIDATES = "reppEnableValidation"
RECOVERY = "ensemblePlacementPolicy"
BY_RACKS, BY_REGIONS = "RackawareEnsemblePlacementPolicy", "RegionAwareEnsemblePlacementPolicy"


@dataclass(frozen=True)
class PlacementSettings:
    """How the brokers' client places an ensemble (BookKeeperClientFactoryImpl.setDefaultEnsemblePlacementPolicy), and by which
    policy auto-recovery replaces a bookie (AbstractConfiguration.getEnsemblePlacementPolicy of the bookies; by racks unless
    they have one)."""

    rackaware: Taken[bool]
    min_racks: Taken[int]
    enforced: Taken[bool]
    regions: Taken[bool]
    listed: Taken[str] | None
    min_regions: Taken[int]
    validates: Taken[bool]
    groups: Taken[str] | None
    secondary: Taken[str] | None
    recovery: Taken[str] | None
    listed_for_recovery: Taken[str] | None

    @property
    def unmodelled(self) -> str:
        """Which of the settings the model of the placement does not have; empty if it has all."""
        if self.groups and not (self.rackaware.value or self.regions.value):
            return f"{self.rackaware}: with isolation groups, too, the client does not read the racks then"
        validated = self.validates.value or not self.by_regions
        return "" if validated else f"{self.validates}: an ensemble that nobody validates is not modelled"

    @property
    def by_regions(self) -> bool:
        """Whether the client places by regions: isolation groups take the place of that policy, and are one by racks."""
        return self.regions.value and self.groups is None

    def kind(self, groups: Collection[str]) -> str:
        """What a bookie of these groups is to the client: of a primary group (p), of a secondary one (s), of another one (o),
        or of none (-)."""
        primary = set(self.groups.value.split(",")) if self.groups else set()
        secondary = set(self.secondary.value.split(",")) if self.secondary else set()
        if EVERYBODY in primary or primary & set(groups):
            return "p"
        return "s" if secondary & set(groups) else "o" if groups else "-"

    @property
    def recovers_by_regions(self) -> bool:
        """Whether auto-recovery knows regions."""
        return self.recovery is not None and self.recovery.value.endswith(BY_REGIONS)

    @property
    def unmodelled_recovery(self) -> str:
        """Which of the settings of auto-recovery the model does not have; empty if it has all."""
        if self.recovery is None or self.recovery.value.endswith(BY_RACKS):
            return ""
        if not self.recovers_by_regions:
            return f"{self.recovery}: auto-recovery by this policy is not modelled"
        listed = self.listed_for_recovery
        return f"{listed}: auto-recovery by listed regions is not modelled" if listed else ""


def placement_settings(conf: BrokerConf, bookies: BrokerConf, ledger: LedgerSettings) -> PlacementSettings:
    """The settings of the placement policies of brokers and bookies; ConfigurationError for a number that is none, and for
    listed regions with which no ledger of these sizes can be created."""
    racks = conf.number(MIN_RACKS, 2, f"write a number of racks, such as {MIN_RACKS}=2")
    regions = conf.number(MIN_REGIONS, 2, f"write a number of regions, such as {MIN_REGIONS}=2", least=0)
    settings = PlacementSettings(
        conf.flag(RACKS, True),
        racks,
        conf.flag(ENFORCED, False),
        conf.flag(REGIONS, False),
        conf.given(REGIONS_TO_WRITE),
        regions,
        conf.flag(VALIDATES, True),
        conf.given(GROUPS),
        conf.given(SECONDARY),
        bookies.given(RECOVERY),
        bookies.given(REGIONS_TO_WRITE),
    )
    if settings.by_regions and settings.listed:
        _require_durability(conf, ledger, settings.listed, regions)
    return settings


def _require_durability(conf: BrokerConf, ledger: LedgerSettings, listed: Taken[str], regions: Taken[int]) -> None:
    """RegionAwareEnsemblePlacementPolicy.newEnsemble and initialize throw an IllegalArgumentException for such quorums."""
    ensemble, write_quorum, ack_quorum = (each.value for each in ledger.taken)
    named = tuple(range(len(listed.value.split(";"))))
    rules = RegionRules(named, (), ensemble, write_quorum, ack_quorum, listed=True, min_regions=regions.value)
    why = rules.refusal
    if why:
        raise ConfigurationError(
            f"{conf.name}: {listed}: no ledger can be created: {why}; set {ledger.ack_quorum.name} to {write_quorum} or"
            f" {regions.key} to a smaller number than {regions.value}",
            listed.place,
        )
