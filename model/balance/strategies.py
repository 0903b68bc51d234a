"""The strategies by the names that a configuration gives them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace

from fencepost.model.balance.avg_shedder import AvgShedder
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.deviation_shedder import DeviationShedder
from fencepost.model.balance.load_manager import LoadManager
from fencepost.model.balance.overload_shedder import OverloadShedder
from fencepost.model.balance.placement import (
    AvgPlacement,
    LeastLongTermMessageRate,
    LeastResourceUsageWithWeight,
    Placement,
    RoundRobinBrokerSelector,
)
from fencepost.model.balance.shedding import Shedder
from fencepost.model.balance.simple_manager import SimpleLoadManager, SimplePlacement, SimpleShedding
from fencepost.model.balance.threshold_shedder import ThresholdShedder
from fencepost.model.balance.transfer_shedder import TransferShedder
from fencepost.model.balance.uniform_load_shedder import UniformLoadShedder
from fencepost.model.balance.user_policy import UserPlacement, UserShedder
from fencepost.model.language.mistakes import guess

EXTENSIBLE_LOAD_MANAGER = "org.apache.pulsar.broker.loadbalance.extensions.ExtensibleLoadManagerImpl"

SHEDDERS: dict[str, type[Shedder]] = {
    "OverloadShedder": OverloadShedder,
    "ThresholdShedder": ThresholdShedder,
    "UniformLoadShedder": UniformLoadShedder,
    "AvgShedder": AvgShedder,
    "DeviationShedder": DeviationShedder,
    "TransferShedder": TransferShedder,
}

PLACEMENTS: dict[str, type[Placement]] = {
    "LeastLongTermMessageRate": LeastLongTermMessageRate,
    "LeastResourceUsageWithWeight": LeastResourceUsageWithWeight,
    "RoundRobinBrokerSelector": RoundRobinBrokerSelector,
    "AvgShedder": AvgPlacement,
}


class UnknownStrategy(Exception):
    """A strategy that does not exist; the message lists those that do, ``key`` is the setting that would name it."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message)
        self.key = key


def load_manager(conf: Configuration, shedder: str | None = None, placement: str | None = None) -> LoadManager:
    """The load manager that a configuration describes, with other strategies where they are named.

    The extensible manager sheds by TransferShedder and places by LeastResourceUsageWithWeight unless something else is named;
    TransferShedder exists only there, so that it implies it. AvgShedder, where it is named, sheds and places. Raises
    UnknownStrategy.
    """
    if conf.is_simple:
        if shedder is not None or placement is not None:
            key = "loadBalancerLoadSheddingStrategy" if shedder is not None else "loadBalancerLoadPlacementStrategy"
            raise UnknownStrategy("SimpleLoadManagerImpl sheds and places by rules of its own, and reads no strategy", key)
        return SimpleLoadManager(conf)
    if shedder is None and placement is not None and _simple(placement) == "AvgShedder":
        shedder = placement
    if _simple(conf.loadBalancerLoadSheddingStrategy if shedder is None else shedder) == "TransferShedder":
        conf = replace(conf, loadManagerClassName=EXTENSIBLE_LOAD_MANAGER)
    chosen = _simple(_configured_shedder(conf) if shedder is None else shedder)
    if placement is None and shedder is not None and chosen == "AvgShedder":
        placement = chosen
    placed = _simple(_configured_placement(conf) if placement is None else placement)
    for name, known, key in (
        (chosen, SHEDDERS, "loadBalancerLoadSheddingStrategy"),
        (placed, PLACEMENTS, "loadBalancerLoadPlacementStrategy"),
    ):
        if name not in known:
            raise UnknownStrategy(f"{name!r}{guess(name, known)} is not among {', '.join(known)}", key)
    return LoadManager(conf, SHEDDERS[chosen](), PLACEMENTS[placed]())


def strategy_name(strategy: Shedder | Placement) -> str:
    """What a strategy is called: as the configuration names it, a user's own as FILE.py:FUNCTION."""
    if isinstance(strategy, UserShedder | UserPlacement):
        return str(strategy.function)
    if isinstance(strategy, SimpleShedding | SimplePlacement):
        return "SimpleLoadManagerImpl"
    return "AvgShedder" if isinstance(strategy, AvgPlacement) else type(strategy).__name__


def names_of(manager: LoadManager) -> str:
    """What sheds and what places, as a heading has it."""
    shedder, placement = strategy_name(manager.shedder), strategy_name(manager.placement)
    return f"{shedder if manager.conf.is_simple else f'{shedder} and {placement}'}, Pulsar {manager.conf.pulsar_version}"


def in_words(name: str, known: Mapping[str, type[Shedder]] | Mapping[str, type[Placement]]) -> str:
    """What a strategy does, in a sentence: that of a shedder begins its module, that of a placement strategy its class."""
    strategy = known[name]
    text = str(sys.modules[strategy.__module__].__doc__ if known is SHEDDERS else strategy.__doc__)
    return text.partition("\n")[0].removeprefix(f"{name}: ").partition(". ")[0].rstrip(".")


def _configured_shedder(conf: Configuration) -> str:
    return "TransferShedder" if conf.is_extensible else conf.loadBalancerLoadSheddingStrategy


def _configured_placement(conf: Configuration) -> str:
    return "LeastResourceUsageWithWeight" if conf.is_extensible else conf.loadBalancerLoadPlacementStrategy


def _simple(name: str) -> str:
    """The class without its package."""
    return name.rpartition(".")[2].strip()
