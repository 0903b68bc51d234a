"""From all brokers to the one that gets a bundle: the filters, one after the other, then the placement strategy.

Mirrors selectBrokerForAssignment and selectBroker of ModularLoadManagerImpl, and the filter pipeline of
ExtensibleLoadManagerImpl.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.filters import (
    FilterFailure,
    below_max_topics,
    fewest_bundles,
    latest_version,
    least_of_anti_affinity,
    within_max_topics,
)
from fencepost.model.balance.isolation import Policies, hosts, permitted
from fencepost.model.balance.load_data import LoadData, namespace_of
from fencepost.model.balance.placement import Placement
from fencepost.model.balance.usage import overloaded

AGAIN = "again from the isolation policies"


@dataclass(frozen=True)
class Selection:
    """What each filter left, in order, and the brokers of which any may be selected."""

    candidates: Mapping[str, tuple[str, ...]]
    any_of: tuple[str, ...]
    why: tuple[str, ...] = ()


def assign(
    bundle: str, data: LoadData, policies: Policies, conf: Configuration, placement: Placement
) -> tuple[Selection, Placement]:
    """Where a bundle goes that nobody owns: if it is preallocated to a live broker, there."""
    owner = data.preallocated.get(bundle)
    if owner is not None and owner in data.brokers:
        return Selection({}, (owner,), (f"{bundle} is preallocated to {owner}",)), placement
    return select(bundle, data, policies, conf, placement, persistent=bundle not in data.non_persistent)


def select(
    bundle: str, data: LoadData, policies: Policies, conf: Configuration, placement: Placement, *, persistent: bool = True
) -> tuple[Selection, Placement]:
    """Where a bundle would go that is unloaded, or that is looked up for a topic that is ``persistent`` or not.

    In the modular manager a live broker without a report is no candidate: upstream looks into the report and fails. If a
    filter fails or none is left, Pulsar starts again from the isolation policies. If what was selected is overloaded, it
    selects once more among those; where the first selection is drawn from several of which only some are overloaded, both
    outcomes are among the brokers given here. The extensible manager does neither of the two.
    """
    filtered, why = _filtered(bundle, data, policies, conf, persistent)
    named = hosts(data, conf)
    if len(named) < len(data.brokers):
        why += [f"{broker}: has no port in its name, and gets nothing" for broker in data.brokers if broker not in named]
    left = tuple(filtered.values())[-1]
    if conf.is_extensible:
        chosen, placement = placement.select(left, bundle, data, conf)
        return Selection(filtered, chosen, tuple(why)), placement
    first = filtered["isolation_policies"]
    if not left:
        why.append(f"no broker is left; {AGAIN}")
    chosen, placement = placement.select(left or first, bundle, data, conf)
    too_full = overloaded(data, conf)
    full = [broker for broker in chosen if broker in too_full]
    if full:
        why.append(f"{', '.join(full)} overloaded; once more from the isolation policies")
        again, placement = placement.select(first, bundle, data, conf)
        either = {*chosen}.difference(full).union(again)
        chosen = tuple(broker for broker in data.brokers if broker in either)
    return Selection(filtered, chosen, tuple(why)), placement


def candidates(bundle: str, data: LoadData, policies: Policies, conf: Configuration) -> tuple[str, ...]:
    """The brokers that all filters leave; none if one fails."""
    left, failures = _filtered(bundle, data, policies, conf, persistent=True)
    return () if failures else tuple(left.values())[-1]


def _filtered(
    bundle: str, data: LoadData, policies: Policies, conf: Configuration, persistent: bool
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    namespace, why = namespace_of(bundle), list[str]()
    left: dict[str, tuple[str, ...]] = {}
    if conf.is_extensible:
        left["max_topics"] = below_max_topics(tuple(data.brokers), data, conf)
        left["latest_version"] = _latest(left["max_topics"], left["max_topics"], data, conf, why)
        left["anti_affinity"] = least_of_anti_affinity(bundle, left["latest_version"], data, policies, conf)
        left["isolation_policies"] = permitted(namespace, data, policies, conf, left["anti_affinity"], persistent=persistent)
        return left, why
    allowed = permitted(namespace, data, policies, conf, persistent=persistent)
    all_report = len(data.reports) == len(data.brokers)
    left["isolation_policies"] = first = allowed if all_report else tuple(b for b in allowed if b in data.reports)
    left["max_topics"] = within_max_topics(first, data, conf)
    left["anti_affinity"] = least_of_anti_affinity(bundle, left["max_topics"], data, policies, conf)
    left["fewest_bundles"] = fewest_bundles(bundle, left["anti_affinity"], data, conf)
    left["latest_version"] = _latest(left["fewest_bundles"], first, data, conf, why)
    return left, why


def _latest(
    candidates: tuple[str, ...], otherwise: tuple[str, ...], data: LoadData, conf: Configuration, why: list[str]
) -> tuple[str, ...]:
    """The brokers of the latest version among the candidates, or others if it cannot be told which these are."""
    try:
        return latest_version(candidates, data, conf)
    except FilterFailure as failure:
        why.append(f"{failure}; {'versions do not count' if otherwise == candidates else AGAIN}")
        return otherwise
