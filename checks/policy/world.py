"""The world of a simulation, as the command line describes it: a cluster, and what happens to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fencepost.checks.console.numbers import percent, whole
from fencepost.checks.console.requests import Option
from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.policy.usage import WrongUsage
from fencepost.model.language.mistakes import guess

if TYPE_CHECKING:
    from fencepost.model.balance.configuration import Configuration
    from fencepost.model.balance.simulation.cluster import Generated, Source
    from fencepost.model.balance.simulation.scenario import Scenario

GENERATED = {"brokers": 20, "bundles": 400, "namespaces": 10, "topics_per_bundle": 10}
"""What a generated cluster has if nothing else is said."""


THE_WORLD = "the world"


def _generated_count(what: str) -> Option:
    usual = GENERATED[what]
    helps = f"{what.replace('_', ' ')} of the generated cluster (default: {usual})"
    return Option(helps, "N", whole(1), group=THE_WORLD)


@dataclass(frozen=True, kw_only=True)
class WorldRequest:
    """What describes a world: what happens, and the cluster that it happens to, of a snapshot or generated."""

    scenario: Annotated[str, Option("what happens to the cluster", "NAME", group=THE_WORLD)] = "noisy-rates"
    snapshot: Annotated[
        Path | None,
        Option("begin with the cluster of a snapshot; without it one is generated", "FILE", group=THE_WORLD),
    ] = None
    rates: Annotated[
        Path | None, Option("a table of recorded rates: the topics and what they carry", "FILE", group=THE_WORLD)
    ] = None
    brokers: Annotated[int | None, _generated_count("brokers")] = None
    bundles: Annotated[int | None, _generated_count("bundles")] = None
    namespaces: Annotated[int | None, _generated_count("namespaces")] = None
    topics_per_bundle: Annotated[int | None, _generated_count("topics_per_bundle")] = None
    load: Annotated[
        float | None,
        Option("mean usage of the generated cluster's brokers (default: 50)", "PERCENT", percent, group=THE_WORLD),
    ] = None


def world(asked: WorldRequest, conf: Configuration) -> Scenario:
    """The world that is asked for. Raises WrongUsage, and InputError for a snapshot that shows no cluster."""
    from fencepost.model.balance.simulation.scenario import SCENARIOS, scenario

    if asked.scenario not in SCENARIOS:
        known = "\n".join(f"  {name:<16} {what}" for name, (_, what) in SCENARIOS.items())
        raise WrongUsage(f"there is no scenario {asked.scenario!r}{guess(asked.scenario, SCENARIOS)}; there is\n{known}")
    if asked.rates is not None:
        return _recorded(asked, asked.rates, conf)
    return scenario(asked.scenario, _pictured(asked, asked.snapshot, conf) if asked.snapshot else _generated(asked))


def _generated(asked: WorldRequest) -> Generated:
    from fencepost.model.balance.simulation.cluster import Generated

    count, bundles, namespaces, topics = (getattr(asked, name) or usual for name, usual in GENERATED.items())
    return Generated(count, bundles, min(namespaces, bundles), topics, 0.5 if asked.load is None else asked.load / 100)


def _recorded(asked: WorldRequest, rates: Path, conf: Configuration) -> Scenario:
    """The scenario on a cluster with the topics of a recording, whose rates go as they were recorded.

    A generated cluster has the namespaces of these topics, and brokers that are as full as asked in the busiest minute.
    """
    from fencepost.checks.policy.rates import read_rates
    from fencepost.model.balance.simulation.recording import WithRecording
    from fencepost.model.balance.simulation.scenario import scenario

    for name in ("namespaces", "topics_per_bundle"):
        if getattr(asked, name) is not None:
            raise WrongUsage(f"--{name.replace('_', '-')} is of a generated cluster; with --rates the topics say it")
    recording = read_rates(rates)
    if asked.snapshot:
        source: Source = WithRecording(_pictured(asked, asked.snapshot, conf), recording)
    else:
        cluster = _generated(asked)
        if cluster.bundles < len(recording.namespaces):
            raise WrongUsage(f"--bundles {cluster.bundles}: the recorded topics are of {len(recording.namespaces)} namespaces")
        full = recording.busiest / (cluster.load * cluster.count)
        capacity = replace(cluster.capacity, rate=full) if full else cluster.capacity
        names = recording.namespaces
        source = WithRecording(replace(cluster, namespaces=len(names), names=names, capacity=capacity), recording)
    _require_cluster(source, rates)
    made_of = scenario(asked.scenario, source)
    return replace(made_of, shapes=(recording.course, *made_of.shapes))


def _pictured(asked: WorldRequest, file: Path, conf: Configuration) -> Source:
    from fencepost.checks.policy.snapshot import note_ports, read_snapshot
    from fencepost.model.balance.simulation.snapshot_cluster import Pictured

    given = [name for name in (*GENERATED, "load") if getattr(asked, name) is not None]
    if given:
        raise WrongUsage(f"--{given[0].replace('_', '-')} is of a generated cluster; leave it out, or --snapshot")
    pictured = Pictured(read_snapshot(file))
    note_ports(file, pictured.snapshot, conf)
    _require_cluster(pictured, file)
    return pictured


def _require_cluster(source: Source, file: Path) -> None:
    """Raises InputError, naming the file, if no cluster can be made."""
    import numpy as np

    from fencepost.model.balance.simulation.snapshot_cluster import Unusable

    try:
        source.cluster(np.random.default_rng(0))
    except Unusable as error:
        raise InputError(f"{file}: {error}") from None
