"""When the unloading of a bundle had each of its mistakes; read in the sources of the modelled releases of Pulsar."""

from __future__ import annotations

from fencepost.model.history import History
from fencepost.model.pulsar.history.shared import (
    DELETION_SENT_AGAIN,
    FOUND_LOCK_UNATTENDED,
    LONE_RELEASE_FAILS,
    RECREATED_BEHIND_RELEASE,
    STALE_UNLOAD,
    never,
    past,
)

UNLOAD: dict[str, History] = {
    "unload_not_exclusive": never("OwnedBundle.handleUnloadRequest takes the bundle by compare-and-set (4.2.4:118)"),
    "released_before_close": never("OwnedBundle composes removeOwnership after unloadServiceUnit (4.2.4:136-154)"),
    "active_after_failed_close": past(
        ("#3574",), fixed="before 2.10.1", evidence="OwnedBundle ignores the failure (4.2.4:140-150); #3574 was not read"
    ),
    "active_after_failed_release": past(
        ("#7517", "#7773"), fixed="2.6.2, 2.7.0", evidence="OwnedBundle 4.2.4:151-159 never sets the bundle active again"
    ),
    "release_skipped_on_failure": past(
        ("#163", "#164", "#174"), fixed="2017-01 (#164)", evidence="OwnedBundle 4.2.4:140-153 releases after any close"
    ),
    "stale_unload": STALE_UNLOAD,
    "deletion_sent_again": DELETION_SENT_AGAIN,
    "lone_release_fails": LONE_RELEASE_FAILS,
    "recreated_behind_release": RECREATED_BEHIND_RELEASE,
    "found_lock_unattended": FOUND_LOCK_UNATTENDED,
    "close_waits_for_unload": past(
        ("#21332",),
        since="3.0.0, extensible load manager only",
        fixed="3.0.2, 3.1.2",
        evidence="with the modular manager OwnershipCache.getOwnerAsync answers at once for what it has (4.2.4:165-171)",
    ),
}
