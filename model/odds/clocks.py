"""The clock of each action: of which kind it is, and at what rate it runs, by the number that the action takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from fencepost.model.kernel.walks import law as cycle
from fencepost.model.language import Protocol
from fencepost.model.language.declarations import Action
from fencepost.model.odds.laws import Law
from fencepost.model.odds.numbers import MS_PER_YEAR, NEVER, Number, Numbers


class Kind(IntEnum):
    """What an action is to the odds: a step of the traffic, an arrival of it, a fault, or what an outage ends with."""

    STEP = cycle.STEP
    ARRIVAL = cycle.ARRIVAL
    FAULT = cycle.FAULT
    ENDING = cycle.ENDING


class UnclockedError(Exception):
    """Actions of which nobody has said what they take."""

    def __init__(self, protocol: str, actions: Iterable[Action]) -> None:
        self.actions = tuple(dict.fromkeys(action.name for action in actions))
        super().__init__(f"{protocol}: nobody has said what {', '.join(self.actions)} takes: write takes= in its declaration")


@dataclass(frozen=True)
class Clock:
    """How often an action happens where it is enabled, per ms; of an ENDING the share of outages that end with it.

    ``number`` is what it takes; ``blocked`` says that it waits for the end of an outage.
    """

    number: str
    kind: Kind
    rate: float
    blocked: bool = False
    law: Law = "exponential"


def clock_of(number: Number, numbers: Numbers) -> Clock:
    """The clock of the actions that take a number."""
    value = numbers[number.name]
    if number.ends:
        return Clock(number.name, Kind.ENDING, value)
    if number.unit == "/year":
        return Clock(number.name, Kind.FAULT, value / MS_PER_YEAR)
    if number.unit == "/s":
        return Clock(number.name, Kind.ARRIVAL, value / 1000.0)
    blocked = any(numbers.of(part).blocked_by for part in numbers.parts_of(number.name))
    return Clock(number.name, Kind.STEP, 1.0 / value, blocked, number.law)


def clocked(protocol: Protocol) -> list[Action]:
    """The actions that happen. Raises UnclockedError if of one it is not known what it takes."""
    unclocked = [action for action in protocol.actions if not action.takes]
    if unclocked:
        raise UnclockedError(protocol.name, unclocked)
    return [action for action in protocol.actions if action.takes != NEVER]


def shared(actions: Iterable[Action]) -> list[int]:
    """The number of each action's clock. Actions of one name that differ in plain numbers only are outcomes of one clock and
    share its rate; those that differ in a member of a universe race."""
    known: dict[object, int] = {}
    keys = ((a.name, *((of.name, member) for of, member in a.grounding if of is not None)) for a in actions)
    return [known.setdefault(key, len(known)) for key in keys]
