"""The model's placement of ensembles and the placement policies of a release, asked of the same racks and regions.

A policy draws at random. What it draws has to be among what the model allows, and what it refuses among what the model refuses.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TypedDict

from fencepost.checks.conformance.bookkeeper.placement_models import Model, Request, model_of
from fencepost.checks.conformance.bookkeeper.target import MEMORY
from fencepost.checks.conformance.java_side.harness import RELEASED, harness
from fencepost.checks.conformance.java_side.jars import Release
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.session import Session
from fencepost.properties.bugs import Value

OPENED = ("--add-opens", "java.base/java.util=ALL-UNNAMED")
"""So that the draws of Collections.shuffle follow a seed."""
BATCH = 100
DRAWS = 12
"""How often a policy draws in one case."""
OF_REGIONS = 0.4
"""The share of cases with regions."""


class Draw(TypedDict, total=False):
    """What one draw came to: the racks of the ensemble, or None, and those of the bookies that replace members, -1 for none."""

    racks: list[int] | None
    replaced: list[int]


@dataclass
class Result:
    """What came of it: cases, by policy also, and draws, those cases that differ, the first in words, and how many of the
    ensembles that the model allows were drawn."""

    cases: int = 0
    of_policies: Counter[str] = field(default_factory=Counter)
    draws: int = 0
    refused: int = 0
    replaced: int = 0
    differing: int = 0
    first: str = ""
    allowed: int = 0
    drawn: int = 0
    seconds: float = 0.0
    interrupted: bool = False


def policies_of(release: Release, own: OwnBuild = RELEASED) -> Session:
    """A JVM with the placement policies of a release of BookKeeper, or of Pulsar with what it ships, or of a build of one's
    own. Raises ToolchainError or SessionError."""
    main = "org.apache.bookkeeper.client.PlacementBench"
    return Session(harness("placement", main, release, options=(*MEMORY, *OPENED), own=own))


def cases(count: int, seed: int, *, of_groups: bool = False) -> Iterator[Request]:
    """So many cases, each a function of the seed and its number: of racks and regions, or of isolation groups."""
    for number in range(count):
        random = Random(f"{seed} {number}")
        if of_groups:
            yield _of_groups(random, number)
        else:
            yield (_of_regions if random.random() < OF_REGIONS else _of_racks)(random, number)


def _of_racks(random: Random, number: int) -> Request:
    """Racks of one region, in the order of their sizes: in another order they would be the same case."""
    racks = sorted(random.randint(1, 3) for _ in range(random.randint(1, 4)))
    ensemble = random.randint(1, min(5, sum(racks)))
    write_quorum = random.randint(1, ensemble)
    return Request(
        racks=racks,
        regions=[0] * len(racks),
        before=[r for r in range(len(racks)) if random.random() < 0.15],
        after=[random.randrange(len(racks))],
        ensemble=ensemble,
        write_quorum=write_quorum,
        ack_quorum=write_quorum,
        policy="random" if random.random() < 0.1 else "rackaware",
        min_racks=random.randint(1, 3),
        enforced=random.random() < 0.5,
        listed=False,
        min_regions=0,
        in_replace=False,
        groups={},
        primary=[],
        secondary=[],
        seed=number,
        draws=DRAWS,
    )


def _of_regions(random: Random, number: int) -> Request:
    """Two or three regions of one or two racks. A region may be away before the ensemble, and a region or a rack after it."""
    regions = [region for region in range(random.randint(2, 3)) for _ in range(random.randint(1, 2))]
    racks = [random.randint(1, 3) for _ in regions]
    ensemble = random.randint(1, min(5, sum(racks)))
    write_quorum = random.randint(1, ensemble)

    def lost(whole: float) -> list[int]:
        rack = random.randrange(len(racks))
        return [r for r in range(len(racks)) if r == rack or (regions[r] == regions[rack] and random.random() < whole)]

    return Request(
        racks=racks,
        regions=regions,
        before=lost(whole=1) if random.random() < 0.3 else [],
        after=lost(whole=random.randint(0, 1)),
        ensemble=ensemble,
        write_quorum=write_quorum,
        ack_quorum=random.randint((write_quorum + 1) // 2, write_quorum),
        policy="regionaware",
        min_racks=random.randint(1, 3),
        enforced=random.random() < 0.3,
        listed=random.random() < 0.5,
        min_regions=random.randint(1, min(3, 1 + regions[-1])),
        in_replace=random.random() < 0.7,
        groups={},
        primary=[],
        secondary=[],
        seed=number,
        draws=DRAWS,
    )


def _of_groups(random: Random, number: int) -> Request:
    """Racks of one region, each in none, one or two of three groups; a group may also have no rack, or no bookie."""
    request = _of_racks(random, number)
    names = ("a", "b", "c")
    groups: dict[str, list[int]] = {}
    for rack in range(len(request["racks"])):
        for name in random.sample(names, random.randint(0, 2)):
            groups.setdefault(name, []).append(rack)
    primary, secondary = (random.sample(names, random.randint(0, 2)) for _ in range(2))
    return {**request, "policy": "isolated", "groups": groups, "primary": primary, "secondary": secondary}


def compare(
    ask: Callable[[Mapping[str, object]], Mapping[str, list[list[Draw]]]],
    *,
    count: int,
    seed: int,
    behaviour: Mapping[str, Value],
    of_groups: bool = False,
    bugs: tuple[str, ...] = (),
    progress: Callable[[Result], None] = lambda result: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Result:
    """Compares so many cases with a model that behaves as the release does.

    Models of racks that were met before are not built again.
    """
    result, began = Result(), time.monotonic()
    models: dict[str, Model] = {}
    batch: list[Request] = []
    for request in (*cases(count, seed, of_groups=of_groups), None):
        if request is not None:
            batch.append(request)
        if batch and (request is None or len(batch) == BATCH):
            if should_stop():
                result.interrupted = True
                break
            for asked, draws in zip(batch, ask({"cases": batch})["cases"], strict=True):
                known = repr({**asked, "seed": 0, "after": []})
                model = models.get(known) or models.setdefault(known, model_of(asked, behaviour, bugs))
                _add(result, asked, draws, model)
            batch = []
            result.seconds = time.monotonic() - began
            progress(result)
    return result


def _add(result: Result, request: Request, draws: list[Draw], model: Model) -> None:
    result.cases += 1
    result.of_policies[request["policy"]] += 1
    result.draws += len(draws)
    seen = set[tuple[int, ...]]()
    difference = ""
    for draw in draws:
        racks = draw["racks"]
        if racks is None:
            result.refused += 1
            difference = difference or ("" if model.may_refuse else "the class refuses, the model does not")
            continue
        ensemble = tuple(racks)
        seen.add(ensemble)
        if ensemble not in model.ensembles:
            difference = difference or f"the class places on racks {racks}, the model does not"
            continue
        for place, allowed in model.replacements(ensemble, request).items():
            result.replaced += 1
            drawn = draw["replaced"][place]
            if not (drawn in allowed if allowed else drawn == -1 or not _is_readable(racks, request)):
                theirs = "nobody" if drawn == -1 else f"rack {drawn}"
                difference = (
                    difference or f"of {racks} place {place} is replaced from {theirs}, in the model from {allowed or 'none'}"
                )
    result.allowed += len(model.ensembles)
    result.drawn += len(seen & set(model.ensembles))
    if difference:
        result.differing += 1
        result.first = result.first or f"{difference}: {request}"


def _is_readable(racks: list[int], request: Request) -> bool:
    """Whether a member that has the entry is left: auto-recovery asks for a bookie only then, the policy is not asked why."""
    return any(rack not in request["after"] for rack in racks[: request["write_quorum"]])
