"""The world of a simulation, as the command line describes it: a cluster, and what happens to it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from checks.policy.reading import InputError, WrongUsage

if TYPE_CHECKING:
    from model.balance.simulation.cluster import Source
    from model.balance.simulation.scenario import Scenario

GENERATED = {"brokers": 20, "bundles": 400, "namespaces": 10, "topics_per_bundle": 10}
"""What a generated cluster has if nothing else is said."""


def add_world(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that describe a world."""
    group = parser.add_argument_group("the world")
    add = group.add_argument
    add("--scenario", default="noisy-rates", metavar="NAME", help="what happens to the cluster (default: noisy-rates)")
    add("--snapshot", type=Path, metavar="FILE", help="begin with the cluster of a snapshot; without it one is generated")
    for name, usual in GENERATED.items():
        what = name.replace("_", " ")
        help = f"{what} of the generated cluster (default: {usual})"
        add(f"--{name.replace('_', '-')}", type=_count, metavar="N", help=help)
    add("--load", type=_load, metavar="PERCENT", help="mean usage of the generated cluster's brokers (default: 50)")


def world(asked: argparse.Namespace) -> Scenario:
    """The world that is asked for. Raises WrongUsage, and InputError for a snapshot from which no cluster can be made."""
    from model.balance.simulation.scenario import SCENARIOS, scenario

    if asked.scenario not in SCENARIOS:
        known = "\n".join(f"  {name:<16} {what}" for name, (_, what) in SCENARIOS.items())
        raise WrongUsage(f"there is no scenario {asked.scenario!r}; there is\n{known}")
    return scenario(asked.scenario, _pictured(asked) if asked.snapshot else _generated(asked))


def _generated(asked: argparse.Namespace) -> Source:
    from model.balance.simulation.cluster import Generated

    count, bundles, namespaces, topics = (getattr(asked, name) or usual for name, usual in GENERATED.items())
    return Generated(count, bundles, min(namespaces, bundles), topics, 0.5 if asked.load is None else asked.load / 100)


def _pictured(asked: argparse.Namespace) -> Source:
    import numpy as np

    from checks.policy.snapshot import read_snapshot
    from model.balance.simulation.snapshot_cluster import Pictured, Unusable

    given = [name for name in (*GENERATED, "load") if getattr(asked, name) is not None]
    if given:
        raise WrongUsage(f"--{given[0].replace('_', '-')} is of a generated cluster; leave it out, or --snapshot")
    pictured = Pictured(read_snapshot(asked.snapshot))
    try:
        pictured.cluster(np.random.default_rng(0))
    except Unusable as error:
        raise InputError(f"{asked.snapshot}: {error}") from None
    return pictured


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def _load(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage above 0")
    return value
