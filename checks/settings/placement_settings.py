"""What the placement of ensembles takes of a configuration: the policy of the brokers' client, and that of auto-recovery."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.checks.settings.broker_conf import BrokerConf, ConfigurationError, Taken
from fencepost.checks.settings.broker_settings import LedgerSettings
from fencepost.model.bookkeeper.regions import RegionRules

RACKS, REGIONS = "bookkeeperClientRackawarePolicyEnabled", "bookkeeperClientRegionawarePolicyEnabled"
MIN_RACKS = "bookkeeperClientMinNumRacksPerWriteQuorum"
ENFORCED = "bookkeeperClientEnforceMinNumRacksPerWriteQuorum"
GROUPS = "bookkeeperClientIsolationGroups"


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
    recovery: Taken[str] | None
    listed_for_recovery: Taken[str] | None

    @property
    def unmodelled(self) -> str:
        """Which of the settings the model of the placement does not have; empty if it has all."""
        if self.groups:
            instead = ", and take the place of the policy by regions" if self.regions.value else ""
            return f"{self.groups}: isolation groups are not modelled{instead}"
        validated = self.validates.value or not self.regions.value
        return "" if validated else f"{self.validates}: an ensemble that nobody validates is not modelled"

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
        bookies.given(RECOVERY),
        bookies.given(REGIONS_TO_WRITE),
    )
    if settings.regions.value and settings.listed and not settings.groups:
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
            f"{conf.name}: {listed}: no ledger can be created: {why}; set {ledger.ack_quorum.key} to {write_quorum} or"
            f" {regions.key} to a smaller number than {regions.value}",
            listed.place,
        )
