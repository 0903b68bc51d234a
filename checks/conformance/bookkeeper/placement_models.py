"""What the model allows of the racks of a case: by the protocol ``placement``, or, where regions count, by its rules alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Protocol, TypedDict

from fencepost.model.bookkeeper.isolation import IsolationGroups
from fencepost.model.bookkeeper.placement import placement
from fencepost.model.bookkeeper.regions import RegionRules, region_ensembles, region_replacements
from fencepost.model.kernel import Kernel
from fencepost.properties.bugs import Value
from fencepost.traces.trace import State

DRAWN = ("draw", "draw_anywhere", "draw_blindly", "refuse")
PARAMETERS = ("ensemble", "write_quorum", "ack_quorum", "policy", "min_racks", "enforced")


class Request(TypedDict):
    """A case as the harness takes it."""

    racks: list[int]
    regions: list[int]
    before: list[int]
    after: list[int]
    ensemble: int
    write_quorum: int
    ack_quorum: int
    policy: str
    min_racks: int
    enforced: bool
    listed: bool
    min_regions: int
    in_replace: bool
    groups: dict[str, list[int]]
    primary: list[str]
    secondary: list[str]
    seed: int
    draws: int


class Model(Protocol):
    """What is allowed with some racks: the ensembles, whether a client may be refused, and who replaces a member."""

    may_refuse: bool

    @property
    def ensembles(self) -> Collection[tuple[int, ...]]:
        """The racks of the places, of each ensemble."""

    def replacements(self, racks: tuple[int, ...], request: Request) -> Mapping[int, Collection[int]]:
        """By member that is away afterwards: the racks from which it may be replaced; nobody, if there are none."""


def model_of(request: Request, behaviour: Mapping[str, Value], bugs: tuple[str, ...] = ()) -> Model:
    """The model of the racks, the quorums and the policy of a case, of a release that behaves so."""
    if request["policy"] == "regionaware":
        return RegionModel(request, behaviour)
    if request["policy"] == "isolated":
        return IsolatedModel(request, behaviour, bugs)
    return ProtocolModel(request, behaviour, bugs)


class RegionModel:
    """What RegionRules allow."""

    def __init__(self, request: Request, behaviour: Mapping[str, Value]) -> None:
        self._rules = RegionRules(
            regions=tuple(request["regions"]),
            sizes=tuple(request["racks"]),
            ensemble=request["ensemble"],
            write_quorum=request["write_quorum"],
            ack_quorum=request["ack_quorum"],
            min_racks=request["min_racks"],
            enforced=request["enforced"],
            listed=request["listed"],
            min_regions=request["min_regions"],
            in_replace=request["in_replace"],
            avoids=str(behaviour.get("avoids", "all")),
            counts_empty=behaviour.get("avoids") == "last",
        )
        self.ensembles, self.may_refuse = region_ensembles(self._rules, request["before"])

    def replacements(self, racks: tuple[int, ...], request: Request) -> dict[int, frozenset[int]]:
        """Of each member that is away."""
        gone = request["after"]
        return {i: region_replacements(self._rules, racks, i, gone) for i, rack in enumerate(racks) if rack in gone}


class ProtocolModel:
    """What the protocol allows, by a search of its draws."""

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


class IsolatedModel:
    """What a client with isolation groups is allowed: as with racks, where the racks that it may not use are away."""

    def __init__(self, request: Request, behaviour: Mapping[str, Value], bugs: tuple[str, ...]) -> None:
        counts_down, others = bool(behaviour["counts_down"]), {k: v for k, v in behaviour.items() if k != "counts_down"}
        self._groups = IsolationGroups(request["groups"], request["primary"], request["secondary"], counts_down)
        unused = set(range(len(request["racks"]))) - self._allowed(request, request["before"])
        inside: Request = {**request, "policy": "rackaware", "before": sorted(unused)}
        model = ProtocolModel(inside, others, bugs)
        self.ensembles, self.may_refuse = model.ensembles, model.may_refuse

    def _allowed(self, request: Request, away: list[int]) -> frozenset[int]:
        return self._groups.allowed(request["racks"], request["ensemble"], away)

    def replacements(self, racks: tuple[int, ...], request: Request) -> dict[int, set[int]]:
        """Of each member that is away, whether or not a member that has the entry is left."""
        gone, used = request["after"], Counter(racks)
        free = {r for r in self._allowed(request, gone) if used[r] < request["racks"][r]}
        replaced: dict[int, set[int]] = {}
        for i, rack in enumerate(racks):
            if rack in gone:
                apart = free - {other for place, other in enumerate(racks) if place != i}
                replaced[i] = apart or (set() if request["enforced"] else free)
        return replaced
