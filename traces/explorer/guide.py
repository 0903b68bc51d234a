"""What a page to play with begins with: what the model is about, what can go wrong, and three things to try."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.drawings.lanes import everyone

SEARCHED = ("always", "step", "deadlock")
"""The kinds of properties to whose violation the page searches a way."""


@dataclass(frozen=True)
class Guide:
    """What the model is ``about``, its properties, and the ``bug`` whose run the page has as its trace of that number; a
    number of None is no trace."""

    about: str
    suite: Suite
    bug: str = ""
    trace: int | None = None

    @property
    def content(self) -> dict[str, object]:
        """The guide as the page has it."""
        protocol = self.suite.protocol
        faults = {action.name: action.meaning for action in protocol.actions if action.fault}
        target = self._target
        return {
            "about": self.about,
            "actors": everyone(protocol),
            "faults": [[name, meaning] for name, meaning in faults.items()],
            "bugs": [[name, protocol.bugs[name]] for name in protocol.active],
            "bug": None if self.trace is None else {"name": self.bug, "doc": protocol.bugs[self.bug], "trace": self.trace},
            "property": None if target is None else {"name": target.name, "doc": target.doc.partition("\n")[0]},
        }

    @property
    def _target(self) -> Property | None:
        """A property to break: one whose violation is expected, if there is one."""
        searched = [prop for prop in self.suite.properties if prop.kind in SEARCHED]
        return next((prop for prop in searched if prop.strict), searched[0] if searched else None)
