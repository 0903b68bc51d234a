"""The model's placement of ensembles and the placement policies of a release, asked of the same racks.

A policy draws at random. What it draws has to be among what the model allows, and what it refuses among what the model refuses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import TypedDict

from fencepost.checks.conformance.bookkeeper.target import MEMORY, bookkeeper
from fencepost.checks.conformance.java_side.harness import RELEASED, harness
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.session import Session
from fencepost.model.bookkeeper.placement import POLICIES, placement
from fencepost.model.kernel import Kernel
from fencepost.properties.bugs import Value
from fencepost.traces.trace import State

OPENED = ("--add-opens", "java.base/java.util=ALL-UNNAMED")
"""So that the draws of Collections.shuffle follow a seed."""
BATCH = 100
DRAWS = 12
"""How often a policy draws in one case."""
DRAWN = ("draw", "draw_anywhere", "draw_blindly", "refuse")


class Request(TypedDict):
    """A case as the harness takes it."""

    racks: list[int]
    before: list[int]
    after: list[int]
    ensemble: int
    write_quorum: int
    ack_quorum: int
    policy: str
    min_racks: int
    enforced: bool
    seed: int
    draws: int


class Draw(TypedDict, total=False):
    """What one draw came to: the racks of the ensemble, or None, and those of the bookies that replace members, -1 for none."""

    racks: list[int] | None
    replaced: list[int]


@dataclass
class Result:
    """What came of it: cases and draws, those cases that differ, the first in words, and how many of the ensembles that the
    model allows were drawn."""

    cases: int = 0
    draws: int = 0
    refused: int = 0
    replaced: int = 0
    differing: int = 0
    first: str = ""
    allowed: int = 0
    drawn: int = 0
    seconds: float = 0.0
    interrupted: bool = False


def policies_of(release: str, own: OwnBuild = RELEASED) -> Session:
    """A JVM with the placement policies of a release, or of a build of one's own. Raises ToolchainError or SessionError."""
    main = "org.apache.bookkeeper.client.PlacementBench"
    return Session(harness("placement", main, bookkeeper(release), options=(*MEMORY, *OPENED), own=own))


class Model:
    """What the model allows with some racks: the ensembles, whether a client may be refused, and who replaces a member."""

    def __init__(self, request: Request, behaviour: Mapping[str, Value], bugs: tuple[str, ...] = ()) -> None:
        parameters: dict[str, Value] = {name: request[name] for name in PARAMETERS}  # type: ignore[literal-required]
        parameters |= behaviour
        racks = "+".join(map(str, request["racks"]))
        self.protocol = placement(**parameters, racks=racks, outages=len(request["racks"]), losses=0, bugs=bugs)  # type: ignore[arg-type]
        self._kernel = Kernel(self.protocol)
        self._names = [action.label for action in self._kernel.actions]
        self._numbers = {label: number for number, label in enumerate(self._names)}
        self._places = [self._place(f"place[p{i}]") for i in range(request["ensemble"])]
        self._stage = self._place("stage")
        self.may_refuse = False
        self.ensembles: dict[tuple[int, ...], State] = {}
        self._replacements: dict[tuple[tuple[int, ...], tuple[int, ...]], dict[int, set[int]]] = {}
        self._explore(request)

    def _place(self, name: str) -> int:
        return [variable.name for variable in self.protocol.variables].index(name)

    def _enabled(self, state: State) -> set[int]:
        return set(self._kernel.enabled(self._kernel.packing.pack(state)))

    def _applied(self, state: State, number: int) -> State:
        return self._kernel.packing.unpack(self._kernel.apply(self._kernel.packing.pack(state), number))

    def _after(self, state: State, label: str) -> State | None:
        number = self._numbers[label]
        return self._applied(state, number) if number in self._enabled(state) else None

    def _explore(self, request: Request) -> None:
        (packed,) = self._kernel.initial()
        state = self._kernel.packing.unpack(packed)
        for rack in request["before"]:
            state = self._after(state, f"cut_off(r{rack})") or state
        seen, open_states = {state}, [state]
        while open_states:
            state = open_states.pop()
            stage = self.protocol.variables[self._stage].domain.show(state[self._stage])
            if stage == "refused":
                self.may_refuse = True
            elif stage == "placed":
                self.ensembles[tuple(state[place] for place in self._places)] = state
            else:
                drawn = [number for number in self._enabled(state) if self._names[number].split("(")[0] in DRAWN]
                for after in {self._applied(state, number) for number in drawn} - seen:
                    seen.add(after)
                    open_states.append(after)

    def replacements(self, racks: tuple[int, ...], request: Request) -> dict[int, set[int]]:
        """By member that is away afterwards: the racks from which it may be replaced; nobody, if the set is empty."""
        key = racks, tuple(request["after"])
        if key not in self._replacements:
            self._replacements[key] = self._replaced(racks, request)
        return self._replacements[key]

    def _replaced(self, racks: tuple[int, ...], request: Request) -> dict[int, set[int]]:
        state: State | None = self.ensembles[racks]
        for rack in request["before"]:
            state = state and self._after(state, f"come_back(r{rack})")
        for place in range(request["write_quorum"]):
            state = state and self._after(state, f"store(p{place})")
        state = state and self._after(state, "acknowledge")
        for rack in request["after"]:
            state = state and self._after(state, f"cut_off(r{rack})")
        assert state is not None
        enabled = {self._names[number] for number in self._enabled(state)}
        away = [place for place, rack in enumerate(racks) if rack in request["after"]]
        return {i: {r for r in range(len(request["racks"])) if f"replace(p{i}, r{r})" in enabled} for i in away}


PARAMETERS = ("ensemble", "write_quorum", "ack_quorum", "policy", "min_racks", "enforced")


def cases(count: int, seed: int) -> Iterator[Request]:
    """So many cases, each a function of the seed and its number."""
    for number in range(count):
        random = Random(f"{seed} {number}")
        racks = sorted(random.randint(1, 3) for _ in range(random.randint(1, 4)))
        before = [r for r in range(len(racks)) if random.random() < 0.15]
        ensemble = random.randint(1, min(5, sum(racks)))
        write_quorum = random.randint(1, ensemble)
        yield Request(
            racks=racks,
            before=before,
            after=[random.randrange(len(racks))],
            ensemble=ensemble,
            write_quorum=write_quorum,
            ack_quorum=write_quorum,
            policy=POLICIES[random.random() < 0.1],
            min_racks=random.randint(1, 3),
            enforced=random.random() < 0.5,
            seed=number,
            draws=DRAWS,
        )


def compare(
    ask: Callable[[Mapping[str, object]], Mapping[str, list[list[Draw]]]],
    *,
    count: int,
    seed: int,
    behaviour: Mapping[str, Value],
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
    for request in (*cases(count, seed), None):
        if request is not None:
            batch.append(request)
        if batch and (request is None or len(batch) == BATCH):
            if should_stop():
                result.interrupted = True
                break
            for asked, draws in zip(batch, ask({"cases": batch})["cases"], strict=True):
                known = repr({**asked, "seed": 0, "after": []})
                model = models.get(known) or models.setdefault(known, Model(asked, behaviour, bugs))
                _add(result, asked, draws, model)
            batch = []
            result.seconds = time.monotonic() - began
            progress(result)
    return result


def _add(result: Result, request: Request, draws: list[Draw], model: Model) -> None:
    result.cases += 1
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
