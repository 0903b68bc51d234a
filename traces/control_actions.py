"""What a load balancer did in a simulated run, replayed through the protocols of ownership, unload and split.

Each control action is projected onto the bundle that it concerns, and the steps that it takes in a protocol are taken in a
small instance, from where earlier actions left the bundle: its owner is one broker of the instance, whoever else the action
names another. Between actions an instance is at rest: nobody owns the bundle, or one broker does and no request is under
way. What the protocol does not enable could not have been done; an action that ends otherwise than at rest is a mistake, too.

An action depends on no more of a bundle than who owns it and whether it was split. So a walk is made once for all actions that
are alike, and a run of thousands costs no more steps than a dozen. Not replayed: the interleaving of actions, which are taken
one after the other; cuts into more than two parts, which are taken as one into two; and the policy itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from fencepost.model.balance.simulation.run import Action, Run
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.model.pulsar.hash_range import FULL, Bundle
from fencepost.model.pulsar.ownership import ownership
from fencepost.model.pulsar.split import split
from fencepost.model.pulsar.unload import unload
from fencepost.traces.trace import State

BROKERS = range(3)
PARENT, TOO_SMALL = "u0_3", "u0_1"
CHILDREN = ("u0_1", "u1_3")
INSIDE, OUTSIDE = 1, 0
"""Of the bundle u0_3 of four hashes, where it is cut, and where no bundle can be."""

GONE = "(split)"
"""The owner of a bundle that was split: nobody can own it any more."""


@dataclass(frozen=True)
class Objection:
    """An action that the protocols, or the simulated cluster, do not allow, and why."""

    action: Action
    reason: str


@dataclass(frozen=True)
class Replayed:
    """How many actions were replayed, how many of them differed, which requests were refused, and the objections.

    A request that the cluster refuses, as the protocols do, changes nothing: it says something of the policy, which goes by
    old reports, and nothing against the protocols.
    """

    actions: int
    kinds: int
    refusals: tuple[Objection, ...]
    objections: tuple[Objection, ...]


def replayed(run: Run) -> Replayed:
    """Replays every control action of a run, in order.

    What the policy asked for and the cluster refused must not be enabled in a protocol; what was done must be enabled.
    Anything else means that simulation and protocols disagree, and is an objection.
    """
    owners, dead = dict(run.owners), set[str]()
    refusals, objections, kinds, count = list[Objection](), list[Objection](), set[_Kind](), 0
    for action in run.actions:
        if action.kind == "start":
            dead.discard(action.source)
            continue
        concerned = _concerned(action, owners)
        for bundle in concerned:
            count += 1
            kind = _kind(action, owners.get(bundle, ""), dead)
            kinds.add(kind)
            obstacle = _obstacle(kind)
            if action.refused and obstacle:
                refusals.append(Objection(action, f"{action.refused} ({obstacle})"))
            elif action.refused:
                objections.append(Objection(action, f"{action.refused}, although the protocols allow it"))
            elif obstacle:
                objections.append(Objection(action, f"was done, although {obstacle}"))
        if not action.refused:
            _follow(action, concerned, owners, dead)
    return Replayed(count, len(kinds), tuple(refusals), tuple(objections))


def _concerned(action: Action, owners: Mapping[str, str]) -> list[str]:
    """The bundles that an action is about: of a broker that goes those that it owns."""
    if action.kind in ("crash", "stop"):
        return [bundle for bundle, owner in owners.items() if owner == action.source]
    return [action.bundle]


def _follow(action: Action, bundles: Iterable[str], owners: dict[str, str], dead: set[str]) -> None:
    """Who owns what after an action that was done."""
    if action.kind in ("crash", "stop"):
        dead.add(action.source)
    if action.kind == "split":
        edges = (Bundle.parse(action.bundle).lower, *action.boundaries, Bundle.parse(action.bundle).upper)
        namespace = action.bundle.rpartition("/")[0]
        owners |= {f"{namespace}/{Bundle(*ends)}": action.source for ends in pairwise(edges)}
        owners[action.bundle] = GONE
    else:
        owners |= dict.fromkeys(bundles, action.destination)


@dataclass(frozen=True)
class _Kind:
    """What is alike of actions: the brokers by their roles (0 is the owner, if there is one), and what is known of them."""

    kind: str
    owned: bool = False
    gone: bool = False
    source: int = 0
    destination: int | None = None
    dead: frozenset[int] = frozenset()
    splittable: bool = True
    inside: bool = True


def _kind(action: Action, owner: str, dead: set[str]) -> _Kind:
    if action.kind == "split":
        lower, upper = Bundle.parse(action.bundle)
        first, last = action.boundaries[0], action.boundaries[-1]
        inside = bool(FULL.admits(lower, upper, first, last)) and list(action.boundaries) == sorted(set(action.boundaries))
        by_owner = owner == action.source
        return _Kind("split", by_owner, owner == GONE, splittable=bool(FULL.splittable(lower, upper)), inside=inside)
    if owner == GONE:
        return _Kind(action.kind, gone=True)
    named = (owner, action.source, action.destination)
    roles = {broker: place for place, broker in enumerate(dict.fromkeys(broker for broker in named if broker))}
    gone = frozenset(roles[broker] for broker in named if broker in dead)
    destination = roles.get(action.destination)
    return _Kind(action.kind, bool(owner), source=roles.get(action.source, 0), destination=destination, dead=gone)


@cache
def _obstacle(kind: _Kind) -> str:
    """What the protocols have against actions of this kind; empty if they allow them."""
    if kind.kind == "split" or kind.gone:
        return _obstacle_of_split(kind)
    return _ownership().obstacle(kind) or _unload().obstacle(kind)


class _Compiled:
    """A protocol that takes steps by their names."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol, self.kernel = protocol, Kernel(protocol)
        self._numbers = {action.label: number for number, action in enumerate(self.kernel.actions)}
        self.first: State = next(iter(protocol.initial_states()))

    def taken(self, state: State, steps: Iterable[str]) -> tuple[State, str]:
        """The state after these steps; or, of the first that is not enabled, the state before it, and that it is not."""
        packed, objection = self.kernel.packing.pack(state), ""
        for label in steps:
            number = self._numbers.get(label)
            if number is None or number not in self.kernel.enabled(packed):
                objection = f"in {self.protocol.name}, {label} cannot happen there"
                break
            packed = self.kernel.apply(packed, number)
        return self.kernel.packing.unpack(packed), objection


class _Owning:
    """A small instance of three brokers and one bundle, and its states at rest: nobody owns the bundle, or one broker does.

    ``taking`` and ``giving`` are the steps by which a broker gets the bundle and gives it up.
    """

    def __init__(self, protocol: Protocol, taking: Sequence[str], giving: Sequence[str]) -> None:
        self._compiled = _Compiled(protocol)
        self._taking, self._giving = taking, giving
        self.free = self._compiled.first
        self.owned = [self._rested(self._compiled.taken(self.free, self._by(b, taking))[0]) for b in BROKERS]

    @staticmethod
    def _by(broker: int, steps: Sequence[str]) -> list[str]:
        return [f"{step}(b{broker}, u0)" for step in steps]

    def obstacle(self, kind: _Kind) -> str:
        """Takes the steps of an action from rest; says which is not enabled, or that it does not end at rest."""
        state, end = (self.owned[0] if kind.owned else self.free), self.free
        steps = [step for broker in sorted(kind.dead) for step in self._death(broker)]
        if kind.kind == "crash":
            steps += self._death(kind.source)
        elif kind.kind != "assign":
            steps += self._by(kind.source, self._giving)
        state, objection = self._compiled.taken(state, steps)
        if kind.destination is not None and not objection:
            state, objection = self._compiled.taken(self._heard(state), self._by(kind.destination, self._taking))
            end = self.owned[kind.destination]
        if objection:
            return objection
        return "" if self._rested(state) == end else f"{self._compiled.protocol.name} does not come to rest as it should"

    @staticmethod
    def _death(broker: int) -> list[str]:
        return [f"crash(b{broker})", f"expire_dead(b{broker})"]

    def _heard(self, state: State) -> State:
        """The state when notifications have arrived."""
        for broker in BROKERS:
            state, _ = self._compiled.taken(state, self._by(broker, ["hear_of_deletion"]))
        return state

    def _rested(self, state: State) -> State:
        """The state when notifications have arrived, who died was replaced, and the budgets are as at first.

        For runs of any length are such runs one after the other.
        """
        state = self._heard(state)
        for broker in BROKERS:
            state, _ = self._compiled.taken(state, [f"restart(b{broker})"])
        protocol = self._compiled.protocol
        return tuple(
            first if variable.name in protocol.budgets else value
            for variable, value, first in zip(protocol.variables, state, self.free, strict=True)
        )


@cache
def _ownership() -> _Owning:
    return _Owning(ownership(brokers=3, releases=1, crashes=3), ("try_to_own", "create"), ("start_release", "release"))


@cache
def _unload() -> _Owning:
    giving = ("start_unload", "close_topic", "start_release", "release")
    return _Owning(unload(brokers=3, unloads=1, crashes=3), ("try_to_own", "create", "open_topic"), giving)


@cache
def _split() -> _Compiled:
    return _Compiled(split(brokers=1, hashes=4, maximum=2, releases=1))


def _obstacle_of_split(kind: _Kind) -> str:
    """What the protocol has against a split, or against what is done to a bundle that was split before."""
    bundle = PARENT if kind.splittable else TOO_SMALL
    owning = [f"try_to_own(b0, {PARENT})", f"create(b0, {PARENT})"]
    splitting = [
        f"start_split(b0, {bundle})",
        f"prepare(b0, {bundle}, {INSIDE if kind.inside else OUTSIDE})",
        *(f"create(b0, {child})" for child in CHILDREN),
        "write(b0)",
        f"hand_over(b0, {bundle})",
        f"release(b0, {bundle})",
    ]
    before = [*owning, *splitting] if kind.gone else owning if kind.owned else []
    asked = {"assign": owning[:1], "unload": [f"start_release(b0, {PARENT})"]}.get(kind.kind, splitting)
    return _split().taken(_split().first, [*before, *asked])[1]
