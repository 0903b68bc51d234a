"""Which broker owns a bundle: lookups that make a broker try, locks that are looked after, releases.

Mirrors NamespaceService, OwnershipCache and the locks below them, of Pulsar as of 2026-04; the locks themselves are described
in model/pulsar/resource_lock.py and the sessions in model/pulsar/metadata_store.py.

A lookup of a bundle that nobody serves makes some broker try to acquire it. Which broker that is, and on what stale view of the
store it was chosen, is free: whatever the policy of placement, and whoever takes himself for the leader, his choice is among
those considered. A broker that does not own the bundle answers from its cache of the owner node, which it reads where it has
nothing; notifications of deletions and the return of a connection empty it. The bundle may be released at any time, as often
as ``releases`` says; ``disables`` bounds how often a broker says beforehand that it will (OwnershipCache.disableOwnership).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fencepost.model.language import And, If, ModelError, Not, Protocol
from fencepost.model.pulsar.metadata_store import EphemeralNode, Sessions, merged
from fencepost.model.pulsar.resource_lock import DEFECTS as LOCK_DEFECTS
from fencepost.model.pulsar.resource_lock import ResourceLocks

NOBODY = EphemeralNode.NOBODY

DEFECTS = LOCK_DEFECTS | {
    "cache_kept_on_disconnect": "pulsar#7517: the cached owner outlives a disconnection, and differs from the store for good",
    "answers_disabled": "a lookup names the owner that is giving the bundle up",
    "stale_unload": "pulsar#26197: the clean-up after a lost lock comes late, and releases a lock acquired meanwhile",
}


def ownership(
    *,
    brokers: int = 2,
    bundles: int = 1,
    disconnects: int = 0,
    expiries: int = 0,
    crashes: int = 0,
    releases: int = 0,
    disables: int = 0,
    mended: bool = False,
    defects: Iterable[str] = (),
) -> Protocol:
    """The ownership of ``bundles`` by ``brokers``.

    ``disconnects``, ``expiries``, ``crashes``, ``releases`` and ``disables`` bound how often a broker is cut off, loses its
    session while it lives, dies, releases a bundle, and disables it beforehand. ``mended`` is not upstream: deletions then
    name the creation of the node that they mean, a re-creation that meets a node looks whose it is, and a release that fails
    with its session counts as done.
    """
    if brokers < 1 or bundles < 1:
        raise ModelError("ownership: brokers and bundles are at least 1")
    parameters = {name: value for name, value in locals().items() if name != "defects"}
    p = Protocol("ownership", doc=__doc__, parameters=parameters, defects=DEFECTS, active=defects)

    broker = p.universe("broker", brokers)
    bundle = p.universe("bundle", bundles, "u")
    store = Sessions(p, broker, disconnects=disconnects, expiries=expiries, crashes=crashes)
    locks = ResourceLocks(p, store, bundle, mended=mended, writes=min(disables, 1))
    owners, stage, serves = locks.nodes, locks.stage, locks.serves
    cached = p.choice("cached", broker, per=(broker, bundle), none=NOBODY)
    cleanup = p.flag("cleanup", per=(broker, bundle)) if p.has("stale_unload") else None
    p.budget("releases", releases)
    p.budget("disables", disables)

    def uncached(b: int) -> dict[Any, Any]:
        return {cached[b, u]: NOBODY for u in bundle}

    def at_start(b: int) -> dict[Any, Any]:
        nothing_left = {cleanup[b, u]: False for u in bundle} if cleanup is not None else {}
        return merged(locks.forgotten(b), uncached(b), nothing_left)

    def refreshed(b: int) -> dict[Any, Any]:
        return {} if p.has("cache_kept_on_disconnect") else uncached(b)

    store.declare(
        at_start=at_start,
        on_lost=lambda b: {},
        on_reconnected=lambda b: merged(locks.retried(b), refreshed(b)),
        on_reestablished=lambda b: merged(locks.revalidated(b), refreshed(b)),
    )

    locks.declare(
        releases=releases + disables > 0,
        seems_free=lambda b, u: cached[b, u] == NOBODY,
        on_deletion=lambda b, u: {cached[b, u]: NOBODY},
    )

    @p.step(by="b", b=broker, u=bundle)
    def read_owner(b: int, u: int) -> Any:
        """A lookup reads the node of another broker, and answers that, unless the node says that it is being unloaded.

        A broker that serves the bundle itself answers so, without reading.
        """
        answers = True if p.has("answers_disabled") or not disables else Not(owners[u].marks["disabled"])
        present = And(Not(owners[u].absent), owners[u].holder != b, answers)
        return And(store.reaches(b), locks.acquires(b, u), present), {cached[b, u]: owners[u].holder}

    @p.step(by="b", spends="disables", b=broker, u=bundle)
    def disable(b: int, u: int) -> Any:
        """The broker writes that it is about to give the bundle up, if the version is the one that it knows.

        From then on it does not serve the bundle: lookups elsewhere do not name it any more.
        """
        known = And(owners[u].is_own(b), owners[u].version == locks.version[b, u], owners[u].version < 1)
        ready = And(store.reaches(b), stage[b, u] == "valid", serves[b, u] == "active")
        return And(ready, known), merged(locks.disabled(b, u), {serves[b, u]: "inactive"})

    @p.step(by="b", fair=True, b=broker, u=bundle, only_if=disables)
    def release_disabled(b: int, u: int) -> Any:
        """What was disabled is released."""
        return And(store.lives[b], locks.may_release(b, u), serves[b, u] == "inactive"), locks.releasing(b, u)

    @p.step(by="b", spends="releases", b=broker, u=bundle)
    def start_release(b: int, u: int) -> Any:
        """The broker gives the bundle up: it serves it no longer, and will delete its node.

        Only what was acquired is given up, and once: a second deletion could meet the node of the next owner.
        """
        return And(store.lives[b], locks.may_release(b, u), Not(locks.acquires(b, u))), merged(
            {serves[b, u]: "inactive"}, locks.releasing(b, u)
        )

    if cleanup is not None:

        @p.step(by="b", b=broker, u=bundle)
        def lose_in_background(b: int, u: int) -> Any:
            """The lock is found lost: the bundle leaves the cache, and what else is to be cleaned up is left for later."""
            of_another = And(Not(owners[u].absent), owners[u].holder != b)
            found = And(store.reaches(b), stage[b, u] == "checking", of_another, Not(locks.acquires(b, u)))
            return found, merged({cleanup[b, u]: True}, locks.lost(b, u))

        @p.step(by="b", b=broker, u=bundle)
        def clean_up(b: int, u: int) -> Any:
            """The clean-up releases whatever lock the broker has on the bundle by now, which it goes on to serve."""
            releases_it = And(stage[b, u] == "valid", owners[u].is_own(b))
            return And(store.reaches(b), cleanup[b, u]), merged(
                owners[u].vanished(releases_it),
                {cleanup[b, u]: False, stage[b, u]: If(releases_it, "none", stage[b, u])},
            )

    return p
