"""An adapter for brokers that each take steps of their own: a line to the harness names what is done, and by which broker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from fencepost.checks.conformance.java_side.session import Session, Told
from fencepost.checks.conformance.running.adapter import Adapter, Departure, Observable, Seen, Taken
from fencepost.model.language import Protocol

Line = Callable[[str], dict[str, object]]
"""Makes the line to the harness for a broker."""


def let(what: str, *, unheard: bool = False) -> Line:
    """Lets that request of the broker go; ``unheard``, the connection breaks before it is answered."""
    return lambda b: {"do": "let-unheard" if unheard else "let", "of": b, "what": what}


def do(what: str) -> Line:
    """Has the broker do that."""
    return lambda b: {"do": what, "of": b}


def read_of(name: str) -> Callable[[Told], dict[str, object]]:
    """Reads what the harness reports under that name, of each broker of which there is something to see."""
    return lambda seen: {b: shown[name] for b, shown in seen["brokers"].items() if name in shown}


def of_all(family: str) -> Observable:
    """A variable of each broker, whether or not it runs; nothing where the instance has none."""
    return Observable(
        family,
        (family,),
        lambda view: {b: view[f"{family}[{b}]"] for b in view.members("broker")} if f"{family}[b0]" in view else None,
        read_of(family),
    )


class BrokersAdapter(Adapter):
    """Drives a set of brokers that is new for each run. ``lines`` has the line for each action, whose first argument is the
    broker; another one is ``x``."""

    lines: ClassVar[Mapping[str, Line]]

    def __init__(self, session: Session) -> None:
        self.session = session
        self.covered = frozenset(self.lines)

    def begin(self, instance: Protocol) -> Seen:
        return self._seen({"do": "begin", **self.names(instance)})

    def names(self, instance: Protocol) -> dict[str, object]:
        """The brokers of a run, as the harness gets them."""
        universe = instance.universes["broker"]
        return {"brokers": [universe.label(member) for member in universe]}

    def take(self, step: Taken) -> Seen:
        line = self.lines[step.action.name](next(iter(step.arguments.values())))
        arrived = {"arrived": step.arguments["arrived"] == "1"} if "arrived" in step.arguments else {}
        to = {"to": step.arguments["x"]} if "x" in step.arguments else {}
        return self._seen(line | arrived | to)

    def close(self) -> None:
        self.session.close()

    def _seen(self, line: Mapping[str, object]) -> Seen:
        answer = self.session.ask(line)
        if "refused" in answer:
            raise Departure(answer["refused"])
        seen = answer["seen"]
        owed = frozenset(f"{b} {what}" for b, shown in seen["brokers"].items() for what in shown.get("requests", ()))
        return Seen(seen, owed)
