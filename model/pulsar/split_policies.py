"""The second copy of a namespace's boundaries: the policies have them, too, and are written after the layout.

NamespaceService.updateNamespaceBundles writes ``/admin/local-policies``, by version, and updateNamespaceBundlesForPolicies then
``/admin/policies``, by whatever version it finds: MetadataCacheImpl.readModifyUpdate reads again on BadVersion, so that this
write, unlike the first, survives a lost answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from fencepost.model.language import ABSENT, And, Choice, Family, Not, Outcome, Protocol, Subset, Updates
from fencepost.model.zookeeper.sessions_and_nodes import Sessions

if TYPE_CHECKING:
    from fencepost.model.pulsar.split import Stage

RECORDED: Literal["recorded"] = "recorded"
"""The stage of a split whose layout is written, and which is done with the policies."""

WRITES = "NamespaceService.updateNamespaceBundlesForPolicies, "
SPLITS = "NamespaceService.splitAndOwnBundleOnceAndRetry"


def declare_policies(
    p: Protocol,
    store: Sessions,
    *,
    with_policies: bool,
    fixed: bool,
    first: set[int],
    layout: Subset,
    proposed: Family[Subset],
    stage: Family[Choice[Stage]],
    over: Callable[[int], Updates],
) -> None:
    """Declares what becomes of the policies between the write of the layout and the hand-over of the parent.

    If ``with_policies``, what they say is a variable, which begins with the ``first`` bundles; if not, only that writing them
    fails can be told. All others are as in split.
    """
    broker = store.client
    cut_off = store.disconnects or store.expiries
    policies: Subset = p.subset("policies", p.universes["bundle"], init=first) if with_policies else ABSENT

    @p.rule
    def recorded(b: int) -> Updates:
        """The policies get the boundaries that the layout has as they are written."""
        return {policies: layout}

    recorded.instead("policies_not_updated", lambda b: {})
    recorded.instead("policies_overwritten", lambda b: {policies: proposed[b]})

    @p.step(
        by="b",
        mirrors=WRITES + "NamespaceResources.setPoliciesAsync, MetadataCacheImpl.readModifyUpdate",
        fair=True,
        b=broker,
        only_if=with_policies,
    )
    def write_policies(b: int) -> Outcome:
        """The policies are written, after the layout."""
        return And(store.reaches(b), stage[b] == "written"), {**recorded(b), stage[b]: RECORDED}

    fails = p.has("policies_unwritten")

    @p.step(by="b", fair=True, b=broker, only_if=with_policies and cut_off and not fails and not fixed)
    def leave_policies(b: int) -> Outcome:
        """The policies cannot be written, and the split goes on without them: not upstream, where it fails."""
        return And(store.lives[b], stage[b] == "written", Not(store.reaches(b))), {stage[b]: RECORDED}

    @p.step(by="b", mirrors=WRITES + SPLITS, b=broker, only_if=cut_off and fails)
    def fail_to_write_policies(b: int) -> Outcome:
        """The layout is written, and the policies, which have it too, cannot be: the split counts as failed."""
        return And(store.lives[b], stage[b] == "written", Not(store.reaches(b))), over(b)
