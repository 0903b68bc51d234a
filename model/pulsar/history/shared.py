"""What the histories of Pulsar's mistakes have in common: the mistakes of several protocols, and which releases many have."""

from __future__ import annotations

from typing import Any

from fencepost.model.history import History

NONE = "not 2.10.1 to 5.0.0-M1"
"""No release that was read."""

DELETES: tuple[str, ...] = ("deleted_while_owned",)
"""The weak move by which a broker that takes itself for the owner loses its node, its session being there."""

STAYS: tuple[str, ...] = ("loss_unheard",)
"""With such a mistake a broker may never hear that its node is gone."""

LEFT: tuple[str, ...] = ("node_left",)
"""With such a mistake the node of a broker that gave the bundle up may stay, so that nobody serves the bundle."""


def never(evidence: str, **others: Any) -> History:
    """A mistake that no release of Pulsar had: it shows what a part of the code is there for."""
    return History("pulsar", releases=NONE, evidence=evidence, **others)


def past(upstream: tuple[str, ...], *, fixed: str, evidence: str, since: str = "", **others: Any) -> History:
    """A mistake that was fixed before the oldest modelled release."""
    return History("pulsar", upstream, since, fixed, NONE, evidence=evidence, **others)


def of_2_10_1(
    upstream: tuple[str, ...], *, since: str, fixed: str, costs: str, evidence: str, unfair: tuple[str, ...] = ()
) -> History:
    """A mistake that only the oldest modelled release has."""
    only = "2.10.1, not 3.0.7 to 5.0.0-M1"
    return History("pulsar", upstream, since, fixed, only, costs=costs, unfair=unfair, evidence=evidence)


EVENT_LOST = History(
    "pulsar",
    upstream=("#25237",),
    since="2.10.0 or before",
    fixed="4.2.4",
    releases="2.10.1 to 4.0.8, not 4.2.4, 5.0.0-M1",
    costs="a broker goes on to lead, and to serve bundles, with nothing in the store: another one leads and serves beside it;"
    " with the extensible load manager over the metadata store it is registered, knows of no owner, and bundles stay unserved",
    unfair=(*STAYS, *LEFT),
    evidence="ZKSessionWatcher.checkState sets its status after the listener, and so takes back what setSessionInvalid has set"
    " if the new watch is asked of a closed handle and fails in the same thread (2.10.1:171). 4.2.4 and 5.0.0-M1 hold events"
    " back until the new handle is set (newZkSetLatch of PulsarZooKeeperClient 4.2.4:131-160). Of expired sessions it was"
    " missed in 8 of 25 on 4.0.8, in 0 of 85 on 4.2.4 and in 0 of 30 on 5.0.0-M1",
)
"""Of a new session: the same mistake in elections and locks."""

CREATES_BLINDLY = never(
    "a put that expects -1 is a create (ZKMetadataStore.convertOp, 4.2.4:370), and LeaderElectionImpl puts so (2.10.1:163,"
    " 4.0.8:187, 4.2.4:216, 5.0.0-M1:218)"
)
"""Of any node, and of the leader's: the same mistake in the metadata store and in election."""

CACHE_KEPT_ON_DISCONNECT = of_2_10_1(
    ("#23018",),
    since="2.8.0",
    fixed="3.0.7, 3.2.5, 3.3.1, 4.0.0",
    costs="lookups name a former owner until the entry is read again, which takes up to ten minutes",
    evidence="AbstractMetadataStore.receivedSessionEvent: 2.10.1:292 keeps caches, 3.0.7:494, 4.0.8:525, 4.2.4:636 do not",
)
"""Of what clients know, and of the owner of a bundle: the same mistake in the metadata store and in ownership."""

STALE_UNLOAD = History(
    "pulsar",
    upstream=("#26197",),
    since="2021-09 (#12194)",
    releases="2.10.1 to 5.0.0-M1",
    costs="a broker that has just acquired a bundle again loses it: its topics close, and another broker may own it meanwhile",
    allows=None,
    evidence="OC's callback of a lost lock drops the future of the unload (2.10.1:104-107, 4.2.4:99-106, 5.0.0-M1:94-102), and"
    " removeOwnership takes whatever lock is in the map (4.2.4:225-233); the fix is merged upstream, and in none of these",
)
"""Of the expiry's unload: the same mistake in ownership and in unload."""

DELETION_SENT_AGAIN = History(
    "pulsar",
    since="2.10.0 or before",
    releases="2.10.1 to 5.0.0-M1",
    costs="two brokers own a bundle, after two lost connections for good; in an unload a topic is open at both; a leader that"
    " shuts down deletes the node of its successor, and there is another election",
    allows=DELETES,
    evidence="ZKMetadataStore.batchOperation sends each operation again, with its version (2.10.1:152-166, 3.0.7:188,"
    " 4.0.8:206-251, 4.2.4:205-256, 5.0.0-M1:206-251); LeaderElectionImpl.asyncClose deletes without a version (4.2.4:294);"
    " with etcd jetcd sends again (KVImpl.txn, Errors.isRetryable), twice at most, and Oxia's client does",
)
"""Of a release, or of a leader that closes: the same mistake in election, ownership, unload and split."""

LONE_RELEASE_FAILS = History(
    "pulsar",
    since="2.10.0 or before",
    releases="2.10.1 to 5.0.0-M1",
    costs="a bundle that was to be unloaded stays inactive at its broker until that is restarted: lookups there fail, a second"
    " unload fails, and if the node is still there nobody else may have it",
    unfair=LEFT,
    evidence="ZKMetadataStore.internalStoreDelete, of a deletion in a batch of which another operation failed, fails with"
    " ConnectionLoss (4.2.4:350-353, 416-435); RL.release stays Releasing then (2.10.1:88-101, 4.2.4:127-129)",
)
"""Of a release: the same mistake in ownership, unload and split."""

RECREATED_BEHIND_RELEASE = History(
    "pulsar",
    since="2021-04 (#10351)",
    releases="2.10.1 to 5.0.0-M1",
    costs="the node of a released bundle is there for as long as the session is: lookups name a broker that refuses them",
    evidence="RL.acquireWithNoRevalidation sets Valid whatever the state (2.10.1:161, 4.0.8:192, 4.2.4:188, 5.0.0-M1:186);"
    " revalidate looks at the state before its read only (4.2.4:263)",
)
"""Of a lock: the same mistake in ownership, unload and split."""

FOUND_LOCK_UNATTENDED = History(
    "pulsar",
    since="3.0.7 or before",
    releases="3.0.7 to 5.0.0-M1, not 2.10.1",
    costs="a bundle acquired by finding its own node is served on when that node is gone: two brokers own it for good",
    unfair=STAYS,
    evidence="RL.revalidate's own branch does not set the state (4.0.8:303-308, 4.2.4:299-304, 5.0.0-M1:297-302);"
    " silentRevalidateOnce returns unless Valid (4.2.4:227); 2.10.1 looks after it when the session is new (LM:128)",
)
"""Of a lock: the same mistake in ownership, unload and split."""
