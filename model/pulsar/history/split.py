"""When the splits of a namespace had each of their mistakes; read in the sources of the modelled releases of Pulsar.

``NS`` is NamespaceService of the broker, ``NBF`` NamespaceBundleFactory of pulsar-broker-common.
"""

from __future__ import annotations

from dataclasses import replace

from fencepost.model.history import History
from fencepost.model.pulsar.history.shared import (
    DELETION_SENT_AGAIN,
    FOUND_LOCK_UNATTENDED,
    LONE_RELEASE_FAILS,
    RECREATED_BEHIND_RELEASE,
    never,
    of_2_10_1,
    past,
)

SPLIT: dict[str, History] = {
    "writes_blindly": past(
        ("#1117", "#1428"), fixed="2018-03 (#1428)", evidence="LocalPoliciesResources.setLocalPoliciesWithVersion (4.2.4:71-80)"
    ),
    "stale_parent": never("NBF.splitBundles cuts the very bundles whose version is written (4.2.4:346-385)"),
    "parent_never_released": past(
        ("#13677", "#13678"),
        since="before 2.9.2",
        fixed="2.9.2, 2.10.0",
        evidence="NS removes the ownership of the parent after the split (2.10.1:919, 4.2.4:1095)",
    ),
    "retries_on_stale_cache": of_2_10_1(
        ("#16612",),
        since="2018-03 (#1428)",
        fixed="2.10.2, 2.11.0",
        costs="a split that meets a concurrent one spends all its attempts at once and fails",
        evidence="NS 2.10.1:896 begins again at once; 3.0.7 and later after 100 ms (4.2.4:1071-1074)",
    ),
    "layout_not_watched": past(
        ("#821", "#822"), fixed="2017-10 (#822)", evidence="NBF.handleMetadataStoreNotification 2.10.1:179, 4.2.4:187"
    ),
    "splits_missing_bundle": never("NBF.splitBundles answers null for a bundle that is not in the copy, and the split fails"),
    "splits_unloaded_bundle": never("validateNamespaceBundleOwnership acquires the bundle first (NamespacesBase 4.2.4:1511)"),
    "boundaries_unchecked": never("NBF.splitBundles looks at each boundary (2.10.1:315, 4.2.4:333-337)"),
    "maximum_ignored": never("BundleSplitterTask 2.10.1:94, 4.2.4:101-102 looks at the maximum"),
    "splits_not_counted": of_2_10_1(
        ("#16552",),
        since="before 2.10.1",
        fixed="2.9.4, 2.10.2, 2.11.0",
        costs="a namespace gets more bundles than loadBalancerNamespaceMaximumBundles allows",
        evidence="BundleSplitterTask 2.10.1:94; 3.0.7 and later add namespaceBundleCount (4.2.4:101)",
    ),
    "endless_attempts": never("NS has BUNDLE_SPLIT_RETRY_LIMIT = 7 (4.2.4:142)"),
    "policies_unwritten": History(
        "pulsar",
        since="3.0.0 (#17797)",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
        costs="a split that is reported as failed has cut the layout: its broker keeps the parent, whose topics it refuses, and"
        " the policies have other bundles than the layout",
        evidence="NS.splitAndOwnBundleOnceAndRetry composes updateNamespaceBundlesForPolicies after updateNamespaceBundles"
        " (4.0.8:999, 4.2.4:1035-1048, 5.0.0-M1:1000); 2.10.1 writes the layout only",
    ),
    "policies_not_updated": of_2_10_1(
        ("#17797",),
        since="2.10.1 or before",
        fixed="3.0.0",
        costs="the policies keep the boundaries of the namespace's creation, and a cluster that meets it later copies them",
        evidence="NS 2.10.1:861 writes the layout only; 3.0.7:981-982 and later write the policies after it",
    ),
    "policies_overwritten": History(
        "pulsar",
        since="3.0.0 (#17797)",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
        regardless=("unload_after_split",),
        costs="two splits of a namespace at once leave the policies without the later one, until the next split",
        evidence="NS.updateNamespaceBundlesForPolicies puts the boundaries of its own split into whatever policies it finds"
        " (4.0.8:1152, 4.2.4:1192, 5.0.0-M1:1160), by readModifyUpdate, which tries again on BadVersion",
    ),
    "load_fails_unanswered": History(
        "pulsar",
        since="2.10.1 or before",
        releases="2.10.1 to 5.0.0-M1",
        costs="the request to split is never answered; a leader that asked for it waits until its admin client gives up",
        evidence="NS.splitAndOwnBundleOnceAndRetry has no exceptionally on NBF.splitBundles (4.2.4:1009-1056), nor completes it"
        " if what follows the layout throws (1107 uses an ex that is null)",
    ),
    "deletion_sent_again": DELETION_SENT_AGAIN,
    "lone_release_fails": LONE_RELEASE_FAILS,
    "recreated_behind_release": replace(RECREATED_BEHIND_RELEASE, regardless=("unload_after_split",)),
    "found_lock_unattended": FOUND_LOCK_UNATTENDED,
}
