"""Known bugs of splits, and the steps that a correct split does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost.model.language import And, Choice, Condition, Family, Not, Number, Outcome, Protocol, minimum
from fencepost.model.pulsar.shared_bugs import SHARED
from fencepost.model.zookeeper.sessions_and_nodes import Sessions

if TYPE_CHECKING:
    from fencepost.model.pulsar.split import Stage

BUGS = {
    "writes_blindly": "pulsar#1117, #1428: the layout is written whatever its version, and a concurrent split is lost",
    "stale_parent": "the layout is read again for its version only: what is written follows from the one read first",
    "parent_never_released": "pulsar#13677, #13678: the parent's lock is kept after the split",
    "retries_on_stale_cache": "pulsar#16612: a split begins again at once, from the copy whose version was refused",
    "layout_not_watched": "pulsar#821, #822: a broker does not hear of changes of the layout, and looks up in the old one",
    "splits_missing_bundle": "a bundle is split although it is not in the layout any more",
    "splits_unloaded_bundle": "a bundle is split by a broker that does not have it",
    "boundaries_unchecked": "a bundle is cut at its edge, or outside",
    "maximum_ignored": "bundles are split although the namespace has as many as it may",
    "splits_not_counted": "pulsar#16552: the leader does not count the splits that it has already decided on",
    "endless_attempts": "a split begins again as often as it meets BadVersion",
    "policies_unwritten": "the policies are written after the layout; if that fails, the layout is cut and the parent is kept",
    "policies_not_updated": "pulsar#17797: the policies keep the boundaries from before the split",
    "policies_overwritten": "the policies get the boundaries of this split, even if a later one has been written since",
    "load_fails_unanswered": "a split whose layout cannot be loaded never ends",
    "deletion_sent_again": SHARED["deletion_sent_again"],
    "lone_release_fails": SHARED["lone_release_fails"],
    "recreated_behind_release": SHARED["recreated_behind_release"],
    "found_lock_unattended": SHARED["found_lock_unattended"],
}


def declare_steps(
    p: Protocol,
    store: Sessions,
    *,
    stage: Family[Choice[Stage]],
    attempt: Family[Number],
    attempts: int,
    hung: Family[Condition],
) -> None:
    """Declares the steps; the brokers' ``stage``, ``attempt`` and ``hung``, and ``attempts``, are as in split."""

    @p.step(
        by="b",
        mirrors="NamespaceBundleFactory.loadBundles, NamespaceService.splitAndOwnBundleOnceAndRetry",
        b=store.client,
        only_if=store.expiries and p.has("load_fails_unanswered"),
    )
    def fail_to_load(b: int) -> Outcome:
        """The copy of the layout was dropped, and another cannot be read for want of a session: nobody completes the split."""
        begins = And(store.is_zombie(b), stage[b] == "preparing", Not(hung[b]))
        return begins, {hung[b]: True, attempt[b]: minimum(attempt[b] + 1, attempts + 1)}
