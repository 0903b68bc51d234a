"""What a policy of ``policy compare`` supposes besides: the parts that name it, and how it is told."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

from fencepost.checks.policy.usage import WrongUsage
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.simulation.cluster import Cluster
from fencepost.model.balance.simulation.scenario import Scenario
from fencepost.model.balance.simulation.snapshot_cluster import Unusable
from fencepost.model.balance.simulation.what_if import Factor, WhatIf
from fencepost.model.balance.splitting import Topic, boundaries
from fencepost.model.pulsar.hash_range import Bundle, Refused
from fencepost.traces.comparison.comparison import Contender

ADD, REMOVE, BIGGER, LOAD, SPLIT = "add-brokers", "remove-broker", "bigger-brokers", "load", "split-first"
KEYS = {
    ADD: f"write {ADD}=2",
    REMOVE: f"write {REMOVE}=broker-3:8080",
    BIGGER: f"write {BIGGER}=1.5 for all, or {BIGGER}=2@broker-3:8080",
    LOAD: f"write {LOAD}=2 for all, or {LOAD}=2@NAME with a namespace, a bundle or the full name of a topic",
    SPLIT: f"write {SPLIT}=3 for the three largest, or {SPLIT}=public/default/0x00000000_0x40000000",
}
"""The parts that suppose something, by what stands before the ``=``, and how each is written."""


def supposed(part: str) -> WhatIf | None:
    """What a part such as ``add-brokers=2`` supposes; None if it is a part of another kind. Raises WrongUsage."""
    key, _, value = part.partition("=")
    if key not in KEYS:
        return None
    whole = int(value) if re.fullmatch(r"[0-9]{1,4}", value) else 0
    if key == ADD and whole:
        return WhatIf(added=whole)
    if key == REMOVE and value:
        return WhatIf(removed=(value,))
    if key == SPLIT and (whole or "/" in value):
        return WhatIf(largest=whole) if whole else WhatIf(splits=(value,))
    factor = _factor(value)
    if key == BIGGER and factor:
        return WhatIf(bigger=(factor,))
    if key == LOAD and factor:
        return WhatIf(loads=(factor,))
    raise WrongUsage(f"{part}: {KEYS[key]}")


def _factor(text: str) -> Factor | None:
    """``2@NAME``, or ``2``; None if it is no factor above 0."""
    number, at, name = text.partition("@")
    try:
        value = float(number)
    except ValueError:
        return None
    return (name, value) if value > 0 and math.isfinite(value) and bool(at) == bool(name) else None


def settings_of(what_if: WhatIf) -> dict[str, str]:
    """What is supposed, by the keys and in the form of the command line."""

    def texts(factors: Iterable[Factor]) -> list[str]:
        return [f"{factor:g}@{name}" if name else f"{factor:g}" for name, factor in factors]

    values = {
        ADD: [str(what_if.added)] if what_if.added else [],
        REMOVE: what_if.removed,
        BIGGER: texts(what_if.bigger),
        LOAD: texts(what_if.loads),
        SPLIT: [*what_if.splits, *([str(what_if.largest)] if what_if.largest else [])],
    }
    return {key: ", ".join(value) for key, value in values.items() if value}


def require_possible(contender: Contender, scenario: Scenario) -> None:
    """Raises WrongUsage if the cluster lacks what is supposed of it, or a named bundle cannot be split."""
    if not contender.what_if:
        return
    for broker in contender.what_if.removed:
        if contender.what_if.removed.count(broker) > 1:
            raise WrongUsage(f"{contender.name}: {REMOVE}={broker} is given twice")
    try:
        cluster = contender.what_if.of(scenario).source.cluster(np.random.default_rng(0))
    except Unusable as error:
        raise WrongUsage(f"{contender.name}: {error}") from None
    for name in contender.what_if.splits:
        why = _not_split(name, cluster, contender.manager.conf)
        if why:
            raise WrongUsage(f"{contender.name}: {SPLIT}={name}: {why}")


def _not_split(name: str, cluster: Cluster, conf: Configuration) -> str:
    """Why a bundle of a cluster is not split; empty if it is."""
    inside = np.flatnonzero(cluster.topics.bundle == cluster.bundles.index(name)).tolist()
    topics = [Topic(None, int(cluster.topics.hash[one]), *cluster.topics.rates[:, one].tolist()) for one in inside]
    try:
        cuts, why = boundaries(conf.defaultNamespaceBundleSplitAlgorithm, Bundle.parse(name), topics, conf)
    except Refused as refusal:
        return str(refusal)
    return why if cuts is None else ""
