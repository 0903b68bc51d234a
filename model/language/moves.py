"""What a protocol offers by name besides its actions: moves of parts, and rules that bugs replace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import Signature
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from fencepost.model.language.actors import Values, which
from fencepost.model.language.declarations import Taken
from fencepost.model.language.domains import Universe
from fencepost.model.language.effects import Effect, Happens, effect, note
from fencepost.model.language.mistakes import Location, ModelError, doc_of, signature_of
from fencepost.model.terms.values import Number, Truth

if TYPE_CHECKING:
    from fencepost.model.language.actors import Manner
    from fencepost.model.language.protocol import Protocol


@dataclass
class Offer:
    """A move that a part offers: where it is declared, and whether a step takes it."""

    location: Location
    taken: bool = False


class Move:
    """A move as whoever takes it calls it: with a member or a term for each parameter, and it returns what happens.

    A move that the instance does not have, because its budget is empty or ``only_if`` is false, can never happen, nor can a
    step that takes it.
    """

    def __init__(
        self,
        protocol: Protocol,
        name: str,
        function: Callable[..., object],
        manner: Manner,
        mirrors: tuple[str, ...],
        missing: bool,
    ) -> None:
        self.name, self.mirrors = name, mirrors
        self.doc, self.location = doc_of(function), Location.of(function)
        self._protocol, self._function, self._manner, self._missing = protocol, function, manner, missing
        self._signature = signature_of(function)

    def __bool__(self) -> bool:
        raise TypeError(f"Python's and, or, not and if cannot see into a move: call {self.name}, after the guard, with a comma")

    def __call__(self, *given: object, **named: object) -> Effect:
        how = self._manner
        taken = Taken(self.name, self.doc, self.mirrors, how.conditions(), how.fair, how.fault, how.takes)
        note(taken)
        try:
            call = self._signature.bind(*given, **named)
        except TypeError as error:
            raise ModelError(f"{self.name}{self._signature.replace(return_annotation=Signature.empty)}: {error}") from error
        call.apply_defaults()
        arguments = dict(call.arguments)
        if self._missing or not self._admits(arguments):
            return Effect(False, {}, (taken,))
        such = [which(self.name, values, arguments) == arguments[k] for k, values in self._parameters() if callable(values)]
        outcome = effect((*such, self._function(**arguments), *self._spent()))
        return outcome.given_by(self._protocol.scope, taken)

    def _parameters(self) -> Iterable[tuple[str, Values]]:
        return self._manner.parameters.items()

    def _admits(self, arguments: Mapping[str, object]) -> bool:
        """Whether there is the move with these arguments, as far as they are known; ModelError for one out of range."""
        for name, values in self._parameters():
            value = arguments[name]
            size = values.size if isinstance(values, Universe) else None
            through = range(size) if type(size) is int else values
            if type(value) is int and isinstance(through, (range, list, tuple)) and value not in through:
                raise ModelError(f"{self.name} is called with {name}={value}, which is none of its values")
        return not all(type(value) is int for value in arguments.values()) or self._manner.admits(arguments)

    def _spent(self) -> list[Happens | Truth]:
        budget = self._manner.spends
        if budget is None:
            return []
        counter = self._protocol.variable(budget).term
        assert isinstance(counter, Number)
        return [counter < self._protocol.budgets[budget], {counter: counter + 1}]


def untaken(protocols: Iterable[Protocol]) -> list[str]:
    """The moves that parts offer in some of these protocols and that no step of any takes, each with where it is declared."""
    offers: dict[str, Offer] = {}
    taken: set[str] = set()
    for protocol in protocols:
        for name, offer in protocol.offers.items():
            offers.setdefault(name, offer)
            taken |= {name} if offer.taken else set()
    return [f"{offer.location}: nobody takes {name}" for name, offer in offers.items() if name not in taken]


P = ParamSpec("P")
R = TypeVar("R")


class Rule(Generic[P, R]):
    """A rule as the real system has it: a function that actions call for a formula, updates or a number.

    What a bug makes of it stands beside it, so that the actions read as the system is meant to be. It is a plain function
    otherwise, and what it returns is in the same terms as everything else.
    """

    def __init__(self, protocol: Protocol, function: Callable[P, R]) -> None:
        if not function.__doc__:
            raise ModelError(f"{protocol.name}: rule {function.__name__} has no docstring; say which rule it is")
        self.name, self.doc = function.__name__, function.__doc__
        self._protocol = protocol
        self._function = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)

    def instead(self, bug: str, function: Callable[P, Any]) -> None:
        """What takes the place of this rule where the bug is switched on; of several switched on, the last that says so.

        To be said before the actions that use the rule. Raises ModelError for a bug that the protocol does not list.
        """
        if self._protocol.has(bug):
            self._function = function
