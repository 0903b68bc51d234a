"""A user's own shedder and placement strategy: one function each, of which every answer is checked before it is used.

A function is handed the records of this package and must answer from them alone. One that needs a memory takes one more
argument, None in the first round, and gives the next round's back beside its answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.load_data import LoadData, LocalBrokerData
from fencepost.model.balance.shedding import Unloading
from fencepost.model.balance.user_code import Code, UserCodeError

Leaving = Mapping[str, Iterable[str] | Mapping[str, str]]
"""For each broker the bundles that leave it, in order; where a destination is meant, by bundle."""

SHED = "(load, conf) or (load, conf, memory)"
PLACE = "(bundle, candidates, load, conf) or (bundle, candidates, load, conf, memory)"


class PolicyFault(Exception):
    """A user's policy failed or answered what cannot be done; ``load`` and ``memory`` are what it was asked with."""

    def __init__(self, message: str, load: LoadData, memory: object) -> None:
        super().__init__(message)
        self.load, self.memory = load, memory


@dataclass(frozen=True)
class UserShedder:
    """A shedder that asks a function."""

    function: Code
    memory: object = None

    def find_bundles_for_unloading(self, data: LoadData, conf: Configuration) -> tuple[Unloading, UserShedder]:
        """What the function says should be unloaded. Raises PolicyFault."""
        ask = _Asked(self.function, self.memory, data)
        answer, memory = ask((_unchanging(data), conf))
        unload: dict[str, tuple[str, ...]] = {}
        meant: dict[str, str] = {}
        for broker, bundles in ask.mapping(answer).items():
            names = ask.names(bundles, f"the bundles of {broker!r}")
            owner = ask.owner(broker, names)
            if names:
                unload[owner] = names
            if isinstance(bundles, Mapping):
                meant |= bundles
                ask.require_elsewhere(owner, bundles)
        why = [f"{broker}: {', '.join(bundles)}" for broker, bundles in unload.items()]
        return Unloading(unload, tuple(why), destinations=meant), replace(self, memory=memory)

    def with_active_brokers(self, brokers: Collection[str]) -> UserShedder:
        """The same: what the function remembers is its own affair."""
        return self


@dataclass(frozen=True)
class UserPlacement:
    """A placement strategy that asks a function."""

    function: Code
    memory: object = None

    def select(
        self, candidates: Sequence[str], bundle: str, data: LoadData, conf: Configuration
    ) -> tuple[tuple[str, ...], UserPlacement]:
        """The candidates of which any may be selected; the function is not asked if there is none. Raises PolicyFault."""
        if not candidates:
            return (), self
        ask = _Asked(self.function, self.memory, data)
        answer, memory = ask((bundle, tuple(candidates), _unchanging(data), conf))
        chosen = (answer,) if isinstance(answer, str) else ask.names(answer, f"the brokers for {bundle}")
        ask.require_candidates(bundle, chosen, candidates)
        return chosen, replace(self, memory=memory)

    def with_active_brokers(self, brokers: Collection[str]) -> UserPlacement:
        """The same: what the function remembers is its own affair."""
        return self


def user_strategy(function: Code) -> UserShedder | UserPlacement:
    """The shedder or the placement strategy that a function is, by how many arguments it takes. Raises UserCodeError."""
    if function.takes(2) or function.takes(3):
        return UserShedder(function)
    if function.takes(4) or function.takes(5):
        return UserPlacement(function)
    raise UserCodeError(f"{function}: takes other arguments; a shedder takes {SHED}, a placement strategy {PLACE}")


def _unchanging(data: LoadData) -> LoadData:
    """The data as a function gets it: one that tries to change them fails there, not later."""
    return LoadData(
        MappingProxyType(data.brokers),
        MappingProxyType(data.bundles),
        MappingProxyType(data.recently_unloaded),
        MappingProxyType(data.recently_unloaded_brokers),
        data.now,
        MappingProxyType(data.loads),
        MappingProxyType(data.preallocated),
    )


@dataclass(frozen=True)
class _Asked:
    """One call of a function, and what must hold of its answer."""

    function: Code
    memory: object
    data: LoadData

    def __call__(self, arguments: tuple[object, ...]) -> tuple[object, object]:
        """The answer and the memory after it."""
        remembers = self.function.takes(len(arguments) + 1)
        try:
            answer = self.function.call(*arguments, *([self.memory] if remembers else []))
        except (Exception, SystemExit) as error:
            raise self.fault(self.function.message_of(error), where="") from error
        if not remembers:
            return answer, None
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise self.fault(f"returned {answer!r:.60}; with a memory it returns two things: the answer and the memory")
        return answer

    def fault(self, message: str, where: str | None = None) -> PolicyFault:
        head = f"{self.function}: " if where is None else where
        return PolicyFault(f"{head}{message}", self.data, self.memory)

    def mapping(self, answer: object) -> Mapping[object, object]:
        if not isinstance(answer, Mapping):
            raise self.fault(f"returned {answer!r:.60}; return the bundles that leave, by broker: {{broker: [bundle, ...]}}")
        return answer

    def names(self, given: object, what: str) -> tuple[str, ...]:
        names = () if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
        if not isinstance(given, Iterable) or isinstance(given, str) or not all(isinstance(name, str) for name in names):
            raise self.fault(f"{what} are {given!r:.60}; give a list of names")
        return names

    def owner(self, broker: object, bundles: tuple[str, ...]) -> str:
        if not isinstance(broker, str) or broker not in self.data.brokers:
            raise self.fault(f"sheds from {broker!r}, which is no live broker")
        report = self.data.brokers[broker] or LocalBrokerData()
        for bundle in bundles:
            if bundle in report.owned:
                continue
            owner = next((name for name, other in self.data.reports.items() if bundle in other.owned), None)
            known = f"is owned by {owner}" if owner else "nobody owns" if bundle in self.data.bundles else "nobody knows"
            raise self.fault(f"sheds {bundle} from {broker}, which {known}")
        if len(set(bundles)) < len(bundles):
            twice = next(bundle for bundle in bundles if bundles.count(bundle) > 1)
            raise self.fault(f"sheds {twice} from {broker} more than once")
        return broker

    def require_elsewhere(self, broker: str, destinations: Mapping[object, object]) -> None:
        for bundle, target in destinations.items():
            if target == broker:
                raise self.fault(f"sends {bundle} from {broker} to {broker}, where it is already")
            if not isinstance(target, str) or target not in self.data.brokers:
                raise self.fault(f"sends {bundle} from {broker} to {target!r}, which is no live broker")

    def require_candidates(self, bundle: str, chosen: tuple[str, ...], candidates: Sequence[str]) -> None:
        if not chosen:
            raise self.fault(f"chooses no broker for {bundle}; choose among {', '.join(candidates)}")
        for broker in chosen:
            if broker not in candidates:
                raise self.fault(f"places {bundle} at {broker!r}, which is not among {', '.join(candidates)}")
