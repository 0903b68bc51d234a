"""What an adapter has to say so that a protocol can be held against real code.

To write one:

1. Write a harness in Java under ``java/NAME/`` whose ``main`` hands a target to ``Lines.serve`` (``java/shared/Lines.java``).
   The target gets one JSON object for each line and answers with one. Let nothing in it happen by itself: hold every request
   and every notification until a line lets it go, wait on conditions, never sleep. ``harness(folder, main, release)`` compiles
   it, and ``Session`` talks to it.
2. Write a subclass of ``Adapter`` here. ``begin`` starts a run on fresh objects, ``take`` carries out one step; both return a
   ``Seen``: what can be observed now and which requests the code now has outstanding. Raise ``Departure`` where the code
   cannot take the step or does something else.
3. Declare ``covered`` (the names of the actions that ``take`` knows), ``eager`` (steps that the code takes by itself as soon as
   it can; ``take`` never sees them), ``observables`` (what is compared, each with the variables that it shows),
   ``allowances`` (where the model allows more than the code does, and why that is safe: such steps are not tried) and
   ``deviations`` (differences that are known, each by name: a run that meets one ends there, and is no find).
4. Say in ``expected`` which requests the model has the code owe in a state. Both ways are checked: a request that is owed and
   not there, and one that is there and not expected.
5. Describe it as a ``Target`` (``targets.py``) and enter that in ``catalogue.py``; then there is ``fencepost conform NAME``.

An action or variable that an adapter does not name is reported as not covered or not observed, never counted as agreement.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from fencepost.checks.conformance.running.view import View
from fencepost.model.language import Action, Protocol

if TYPE_CHECKING:
    from fencepost.checks.conformance.java_side.session import Session, Told


class Departure(Exception):
    """The code cannot take the step, or did something else; the message says what."""


@dataclass(frozen=True)
class Seen:
    """What the code shows after a step: ``values`` as the harness told them, and the ``requests`` that it has outstanding."""

    values: Told
    requests: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Taken:
    """A step of the model that the code has taken or is to take: the action, and the states around it."""

    action: Action
    before: View
    after: View

    @property
    def arguments(self) -> Mapping[str, str]:
        """The action's parameters as traces show them."""
        return self.action.arguments


@dataclass(frozen=True)
class Owed:
    """The requests that the model has the code have outstanding, each a line of words such as ``writer add b0 e1``.

    ``must`` are there, ``may`` could be, and of each set in ``some`` at least one is there. Nothing else is.
    """

    must: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    some: tuple[frozenset[str], ...] = ()

    def faults(self, owed: frozenset[str]) -> list[Difference]:
        """What is missing and what is too much; empty if the requests are as they should be."""
        known = self.must | self.may | frozenset().union(*self.some)
        missing = [Difference(f"request {r}", "outstanding", "not there", "missing") for r in sorted(self.must - owed)]
        missing += [
            Difference(f"one of the requests {', '.join(sorted(group))}", "outstanding", "none is there", "missing")
            for group in self.some
            if group and not group & owed
        ]
        return missing + [Difference(f"request {r}", "not expected", "outstanding", "stray") for r in sorted(owed - known)]


@dataclass(frozen=True)
class Difference:
    """One thing in which the model and the code differ after a step. Prints as one line."""

    what: str
    model: object
    code: object
    kind: Literal["value", "missing", "stray"] = "value"

    def __str__(self) -> str:
        return f"{self.what}: model {shown(self.model)}, code {shown(self.code)}"


def shown(value: object) -> str:
    """A value of a view or of a harness as a person reads it, the same on every run."""
    if isinstance(value, (frozenset, set)):
        return "{" + ", ".join(sorted(map(shown, value))) + "}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{shown(k)}: {shown(value[k])}" for k in sorted(value, key=str)) + "}"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


@dataclass(frozen=True)
class Observable:
    """Something that both sides show: ``model`` reads it from a state, ``code`` from what the harness told.

    ``variables`` are the families of the protocol that it shows. Either may return None: then there is nothing to compare.
    """

    name: str
    variables: tuple[str, ...]
    model: Callable[[View], object]
    code: Callable[[Told], object]


@dataclass(frozen=True)
class Allowance:
    """Where the model allows more than the code does: ``applies`` tells of an enabled step, from the state and what the code
    shows, that the code does not take it. ``safe`` is why nothing is missed by the model allowing it."""

    name: str
    safe: str
    applies: Callable[[Action, View, Seen], bool]


@dataclass(frozen=True)
class Deviation:
    """A difference that is known. ``applies`` recognizes it from the run's last step, its differences (none if the code
    departs) and the words of the departure (empty if it differs)."""

    name: str
    meaning: str
    applies: Callable[[Taken, Sequence[Difference], str], bool]


class Adapter(ABC):
    """How the steps of one protocol are carried out on the real code, and what of its state can be seen there.

    Subclasses set what is declared here; ``not_covered`` says of actions that ``covered`` leaves out why, ``shown_by_requests``
    are families of variables that show in the requests that are owed, and ``brought_about`` those of what the harness itself
    does. An adapter is made once for a ``session`` and used for
    many runs.
    """

    protocol: ClassVar[str]
    session: Session
    covered: Collection[str] = ()
    eager: ClassVar[frozenset[str]] = frozenset()
    not_covered: ClassVar[Mapping[str, str]] = {}
    observables: ClassVar[Sequence[Observable]] = ()
    shown_by_requests: ClassVar[Collection[str]] = ()
    brought_about: ClassVar[Collection[str]] = ()
    allowances: Sequence[Allowance] = ()
    deviations: Sequence[Deviation] = ()

    @abstractmethod
    def begin(self, instance: Protocol) -> Seen:
        """Starts a run of that instance on fresh objects, in its initial state."""

    @abstractmethod
    def take(self, step: Taken) -> Seen:
        """Carries out one step. Raises Departure if the code cannot, and SessionError if the harness fails."""

    def takes_by_itself(self, action: Action, view: View) -> bool:
        """Whether the code takes an enabled step of ``eager`` in that state; it does unless a subclass knows better."""
        return True

    @abstractmethod
    def expected(self, view: View) -> Owed:
        """The requests that the code owes in a state in which no eager step is enabled."""

    @abstractmethod
    def close(self) -> None:
        """Ends the session."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
