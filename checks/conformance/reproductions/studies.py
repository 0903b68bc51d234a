"""The predictions that are held against released software, by name."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.checks.conformance.reproductions.dedup_loses_study import DEDUP_LOSES_STUDY
from fencepost.checks.conformance.reproductions.failed_flush_study import FAILED_FLUSH_STUDY
from fencepost.checks.conformance.reproductions.lost_disks_study import LOST_DISKS_STUDY
from fencepost.checks.conformance.reproductions.slow_listing_study import SLOW_LISTING_STUDY
from fencepost.checks.conformance.reproductions.study import Study

STUDIES: Mapping[str, Study] = {
    each.name: each for each in (DEDUP_LOSES_STUDY, SLOW_LISTING_STUDY, FAILED_FLUSH_STUDY, LOST_DISKS_STUDY)
}
