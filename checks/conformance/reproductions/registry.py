"""The reproductions by name, and the predictions of them that are held against released software."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.checks.conformance.reproductions.dedup_loses import DEDUP_LOSES
from fencepost.checks.conformance.reproductions.dedup_loses_study import DEDUP_LOSES_STUDY
from fencepost.checks.conformance.reproductions.deleted_by_former_owner import DELETED_BY_FORMER_OWNER
from fencepost.checks.conformance.reproductions.failed_audit import FAILED_AUDIT
from fencepost.checks.conformance.reproductions.failed_flush import FAILED_FLUSH
from fencepost.checks.conformance.reproductions.failed_flush_study import FAILED_FLUSH_STUDY
from fencepost.checks.conformance.reproductions.fence_forgotten import FENCE_FORGOTTEN
from fencepost.checks.conformance.reproductions.lost_disks_study import LOST_DISKS_STUDY
from fencepost.checks.conformance.reproductions.migrated_owner import MIGRATED_OWNER
from fencepost.checks.conformance.reproductions.missed_bounce import MISSED_BOUNCE
from fencepost.checks.conformance.reproductions.missed_migration import MISSED_MIGRATION
from fencepost.checks.conformance.reproductions.reproduction import Reproduction
from fencepost.checks.conformance.reproductions.slow_listing import SLOW_LISTING
from fencepost.checks.conformance.reproductions.slow_listing_study import SLOW_LISTING_STUDY
from fencepost.checks.conformance.reproductions.stored_twice import STORED_TWICE
from fencepost.checks.conformance.reproductions.study import Study
from fencepost.checks.conformance.reproductions.transfer_comes_back import TRANSFER_COMES_BACK
from fencepost.checks.conformance.reproductions.twice_in_ensemble import TWICE_IN_ENSEMBLE

_ALL = (
    FENCE_FORGOTTEN,
    DEDUP_LOSES,
    STORED_TWICE,
    DELETED_BY_FORMER_OWNER,
    FAILED_FLUSH,
    TWICE_IN_ENSEMBLE,
    FAILED_AUDIT,
    TRANSFER_COMES_BACK,
    MIGRATED_OWNER,
    MISSED_BOUNCE,
    SLOW_LISTING,
    MISSED_MIGRATION,
)

REPRODUCTIONS: Mapping[str, Reproduction] = {each.name: each for each in _ALL}


STUDIES: Mapping[str, Study] = {
    each.name: each for each in (DEDUP_LOSES_STUDY, SLOW_LISTING_STUDY, FAILED_FLUSH_STUDY, LOST_DISKS_STUDY)
}
