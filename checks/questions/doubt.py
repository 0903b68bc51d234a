"""A suspicion about a run that succeeded: of which instance, and whether it keeps the run from succeeding."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.properties.suspicions import Suspicion


@dataclass(frozen=True)
class Doubt:
    """A suspicion about a protocol: in one of the instances of a run, or (``instance`` is empty) in none of them otherwise.

    ``strict`` says that it keeps the run from succeeding, ``accepted`` the reason with which a baseline accepts it.
    """

    protocol: str
    instance: str
    suspicion: Suspicion
    strict: bool
    accepted: str | None = None

    @property
    def place(self) -> str:
        """Of what it is said."""
        return f"{self.protocol}, {self.instance}" if self.instance else self.protocol

    def __str__(self) -> str:
        return f"{self.place}: {self.suspicion}"
