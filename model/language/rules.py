"""Named rules of a protocol, and what a bug puts in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from fencepost.model.language.mistakes import ModelError

if TYPE_CHECKING:
    from fencepost.model.language.protocol import Protocol

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
