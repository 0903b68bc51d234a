"""A question with a number for an answer, and the instances that it is asked of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from fencepost.checks.settings.broker_conf import Taken
from fencepost.model.language import Protocol
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.theorems import Theory


@dataclass(frozen=True)
class Guarantee:
    """A question: up to how many events of a kind do the properties of an entry's suite hold?

    ``says`` is the answer, with ``{n}`` for the events and ``{s}`` for the plural of the word before it, ``denies`` what is
    said where it is none. ``counts`` are the parameters that bound the events, ``most`` is how many are asked about.
    ``bugs`` are bugs of the release, switched on one at a time, each in the instance with these parameters in place of
    the others, besides the instance without. ``first`` builds the protocol with fewer runs, in which what is wrong shows
    soonest; ``symmetric`` has a search visit one state for all that differ only in which member is which. ``raised_by`` are
    sets of sizes of which one more may raise the number. Of a question that is ``fewer`` it is one of steps, and the fewer the
    better; ``steps_of`` names what takes them, and steps of two names are not compared. ``event`` names what is counted, with
    ``{n}`` and ``{s}``, if that are events. ``exposed_by`` are the settings without which nothing would be wrong,
    ``unasked`` says why the question cannot be asked of these settings, and
    ``unasked_by`` by which of them. With ``never`` what is denied can never come about with these settings, and the denial says
    what to do. A theory is asked whether its theorems hold.
    """

    name: str
    says: str
    denies: str
    entry: Entry | Theory
    parameters: Mapping[str, Value]
    counts: tuple[str, ...]
    most: int
    bugs: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    first: Callable[..., Protocol] | None = None
    symmetric: bool = False
    raised_by: tuple[tuple[str, ...], ...] = ()
    fewer: bool = False
    steps_of: str = ""
    event: str = ""
    exposed_by: tuple[Taken[bool], ...] = ()
    unasked: str = ""
    unasked_by: Taken[str] | None = None
    never: bool = False

    def asked(self, events: int) -> Iterator[tuple[Instance, tuple[str, ...]]]:
        """The instances in which so many events are possible, each with the bugs that are switched on."""
        name, budgets = f"{self.name}, {events}", dict.fromkeys(self.counts, events)
        yield Instance(name, {**self.parameters, **budgets}), ()
        for bug, parameters in self.bugs.items():
            yield Instance(name, {**parameters, **budgets}), (bug,)

    def narrowed(self, bugs: tuple[str, ...]) -> Entry | None:
        """The entry to ask first, of an instance with these bugs; None if there is none that could fail sooner."""
        if self.first is None or isinstance(self.entry, Theory) or (self.bugs and not bugs):
            return None
        return replace(self.entry, function=self.first)

    def counted(self, number: int) -> str:
        """So many of what is counted, in words."""
        return self.event.format(n=number, s="" if number == 1 else "s")

    def denied(self, number: int) -> str:
        """What so many events are to a cluster that does not survive them."""
        return self.denies if number == 1 else f"more than {self.counted(number - 1)}"

    def sentence(self, events: int) -> str:
        """What is guaranteed of that many events."""
        return self.says.format(n=events, s="" if events == 1 else "s") if events else self.denies
