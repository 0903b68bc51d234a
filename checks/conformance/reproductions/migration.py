"""A migration of the metadata between two ZooKeepers, as the requests of a bench carry it out."""

from __future__ import annotations

from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.reproductions.reproduction import NotSetUp
from fencepost.checks.conformance.reproductions.stage import SECONDS, Stage


def migrate(stage: Stage, bench: Session) -> None:
    """Takes each phase as the coordinator does. Raises SessionError."""
    bench.ask({"do": "phase", "phase": "PREPARATION"})
    if not stage.until(lambda: bench.ask({"do": "pending"})["participants"] == 0):
        raise NotSetUp(f"the participants of the migration are not prepared within {SECONDS:g} s")
    bench.ask({"do": "phase", "phase": "COPYING"})
    bench.ask({"do": "copy"})
    bench.ask({"do": "phase", "phase": "COMPLETED"})
