"""Free runs of BookKeeper's client and bookies, recorded as logs: the model has no say in what happens.

Every request, every answer and every operation on the metadata takes a random time of a simulated clock; writers, recoveries,
failed requests and kills come at random times, too; only that nothing is added while the ensemble changes is the model's. What
happens is the code's own doing, and is written down in the words that ``fencepost conform log`` reads: what an outsider sees,
and not what clients hear.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fencepost.checks.conformance.bookkeeper import ledger_requests
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.logs.events import NOTHING
from fencepost.properties.registry import Value

UNOBSERVED = (
    ledger_requests.ACK,
    ledger_requests.CONFIRM,
    ledger_requests.RESEND,
    ledger_requests.READ_LAC,
    ledger_requests.FENCE_UNHEARD,
    ledger_requests.START_READING,
    ledger_requests.READ_FOUND,
    ledger_requests.READ_NO_SUCH_ENTRY,
    ledger_requests.READ_UNANSWERED,
    ledger_requests.RECOVERY_ADD,
    ledger_requests.LATE_RECOVERY_ADD,
    ledger_requests.RECOVERY_ADD_COMPLETE,
    ledger_requests.FIND_CLOSED,
    ledger_requests.ADOPT_END,
)
"""What clients do when they hear of something, and what a bookie does that one sees from its state: no line tells of it."""

LONGEST = 120
"""Events of a run, at most."""

FAILS = 0.08
"""How often a request fails instead of reaching its bookie, or its answer the client."""

Line = dict[str, Any]
_Item = tuple[Any, ...]


@dataclass(frozen=True)
class _Planned:
    """Something that is due: what is done in the harness, and what it may be in the model."""

    what: str
    steps: list[dict[str, Any]]
    patterns: list[str]


class FreeRuns:
    """Runs of instances with these parameters of the ledger protocol, one after the other in a session of the ledger's harness.

    A run is a pure function of the parameters and its seed, and of what the code does.
    """

    def __init__(self, session: Session, parameters: Mapping[str, Value]) -> None:
        self._session, self._parameters = session, dict(parameters)
        self._bookies = [f"b{b}" for b in range(int(parameters["bookies"]))]

    def run(self, seed: int) -> list[Line]:
        """The log of one run. Raises SessionError if the harness fails."""
        clock = _Clock(random.Random(seed))
        left = {name: int(self._parameters.get(name, 0)) for name in ("changes", "entries")}
        sizes = {name: self._parameters[name] for name in ("bookies", "entries", "ensemble", "write_quorum", "ack_quorum")}
        seen = self._ask([{"do": "begin", **sizes}])
        self._plan(clock)
        lines: list[Line] = [{"parameters": self._parameters, "unobserved": list(UNOBSERVED)}]
        while len(lines) <= LONGEST:
            self._notice(clock, seen)
            item = clock.next()
            if item is None:
                break
            planned = self._planned(item, seen, clock, left)
            if planned is None:
                continue
            seen = self._ask(planned.steps)
            lines.append({"what": planned.what, "steps": planned.patterns, "seen": self._shown(seen)})
        return lines

    def _ask(self, steps: list[dict[str, Any]]) -> Mapping[str, Any]:
        seen: Mapping[str, Any] = self._session.ask({"steps": steps, "observe": True})["seen"]
        return seen

    def _plan(self, clock: _Clock) -> None:
        """When the application acts and bookies are killed."""
        for number in range(int(self._parameters["entries"])):
            clock.due(("send",), 1.5 * number)
        for recoverer in range(int(self._parameters["recoverers"])):
            clock.due(("recover", f"r{recoverer}"), 2.0, spread=4.0)
        for _ in range(int(self._parameters.get("crashes", 0))):
            clock.due(("kill", clock.random.choice(self._bookies)), spread=8.0)
        if clock.random.random() < 0.3:
            clock.due(("close",), 2.0, spread=4.0)

    def _notice(self, clock: _Clock, seen: Mapping[str, Any]) -> None:
        """Gives everything that is outstanding and new its time."""
        counted: dict[_Item, int] = {}
        for owner, kind, bookie, entry, delivered, answered in seen["requests"]:
            if not answered:
                like: _Item = ("answer" if delivered else "deliver", owner, kind, bookie, entry)
                counted[like] = counted.get(like, 0) + 1
        for owner, kind, done in seen["operations"]:
            counted["tell" if done else "perform", owner, kind] = 1
        for like, count in counted.items():
            for _ in range(clock.waiting(like), count):
                clock.due(like)

    def _planned(self, item: _Item, seen: Mapping[str, Any], clock: _Clock, left: dict[str, int]) -> _Planned | None:
        """What is done when something is due; None if it is not possible any more."""
        what, *who = item
        match what:
            case "send" if any(owner == "writer" for owner, *_ in seen["operations"]):
                clock.due(item, 0.5)  # the model has no add while the ensemble changes
                return None
            case "send":
                left["entries"] -= 1
                entry = int(self._parameters["entries"]) - left["entries"] - 1
                steps = [{"do": "add", "of": "writer", "entry": entry}]
                return _Planned(f"add e{entry}", steps, [f"{ledger_requests.SEND}(e{entry})", NOTHING])
            case "recover":
                return _Planned(
                    f"open by {who[0]}", [{"do": "recover", "of": who[0]}], [f"{ledger_requests.RECOVER}({who[0]})", NOTHING]
                )
            case "close":
                clock.forget("send")
                steps = [{"do": "close", "of": "writer", "succeeds": True}]
                return _Planned("close", steps, [ledger_requests.CLOSE, ledger_requests.FIND_CLOSED, NOTHING])
            case "kill" if seen["bookies"][who[0]]["up"]:
                clock.due(("start", who[0]), 0.5)
                return _Planned(f"kill {who[0]}", [{"do": "kill", "at": who[0]}], [f"{ledger_requests.CRASH}({who[0]})"])
            case "start":
                return _Planned(f"start {who[0]}", [{"do": "start", "at": who[0]}], [f"{ledger_requests.RESTART}({who[0]})"])
            case "deliver" | "answer":
                return self._request(what, (who[0], who[1], who[2], who[3]), seen, clock, left)
            case "perform" | "tell":
                return self._operation(what, who[0], who[1])
        return None

    def _request(
        self, what: str, request: tuple[str, str, str, int], seen: Mapping[str, Any], clock: _Clock, left: dict[str, int]
    ) -> _Planned | None:
        owner, kind, bookie, entry = request
        step = {"of": owner, "what": kind, "at": bookie, "entry": entry}
        label = f"{owner} {kind} {bookie} e{entry}"
        up = seen["bookies"][bookie]["up"]
        adds = kind != "read"
        if what == "deliver" and (not up or clock.random.random() < FAILS):
            spare = self._spare(owner, seen)
            if adds and (spare is None or not left["changes"]):
                if not up:  # until the bookie is back, or forever
                    clock.due((what, *request), 1.0)
                    return None
            else:
                return self._failing(label, owner, bookie, spare if adds else None, step, left)
        if what == "deliver":
            # refused, or an action that is taken for unobserved
            patterns = [*([f"{ledger_requests.ADD}({bookie}, e{entry})"] if kind == "add" else []), NOTHING]
            return _Planned(f"at bookie: {label}", [{"do": "deliver", **step}], patterns)
        return _Planned(f"answered: {label}", [{"do": "answer", **step}], [NOTHING])

    @staticmethod
    def _failing(
        label: str, owner: str, bookie: str, spare: str | None, step: dict[str, Any], left: dict[str, int]
    ) -> _Planned:
        if spare is None:
            return _Planned(f"failed: {label}", [{"do": "fail", **step}], [NOTHING])
        left["changes"] -= 1
        name = f"{ledger_requests.REPLACE}({bookie}, {spare})"
        if owner != "writer":
            name = f"{ledger_requests.REPLACE_IN_RECOVERY}({owner}, {bookie}, {spare})"
        return _Planned(f"failed: {label}, for {spare}", [{"do": "fail", **step, "by": spare}], [name, NOTHING])

    def _spare(self, owner: str, seen: Mapping[str, Any]) -> str | None:
        """A bookie that the client can bring in."""
        current = seen["clients"][owner].get("current", self._bookies)
        return next((b for b in self._bookies if b not in current and seen["bookies"][b]["up"]), None)

    @staticmethod
    def _operation(what: str, owner: str, kind: str) -> _Planned:
        patterns = [NOTHING]
        if what == "perform" and kind == "write":
            own = (
                [ledger_requests.PUBLISH_CHANGE, ledger_requests.CLOSE]
                if owner == "writer"
                else [f"{ledger_requests.CLOSE_RECOVERED}({owner})"]
            )
            patterns = [*own, NOTHING]
        return _Planned(f"metadata: {what} {kind} of {owner}", [{"do": what, "of": owner}], patterns)

    def _shown(self, seen: Mapping[str, Any]) -> dict[str, Any]:
        """What an outsider sees, as values of variables."""
        metadata = seen["metadata"]
        shown: dict[str, Any] = {"status": metadata["status"], "version": metadata["version"]}
        if "last" in metadata:
            shown["last"] = metadata["last"]
        for bookie, state in seen["bookies"].items():
            shown[f"up[{bookie}]"] = state["up"]
            if state["up"]:
                shown[f"stored[{bookie}]"] = [f"e{entry}" for entry in state["stored"]]
                shown[f"fenced[{bookie}]"] = state["fenced"]
        shown["confirmed"] = [f"e{entry}" for entry in seen["clients"]["writer"]["confirmed"]]
        return shown


class _Clock:
    """What is due when, by a simulated clock."""

    def __init__(self, source: random.Random) -> None:
        self.random, self._now = source, 0.0
        self._queue: list[tuple[float, _Item]] = []

    def due(self, item: _Item, after: float = 0.0, *, spread: float = 1.0) -> None:
        """Something comes after so long, and a random time of this mean."""
        self._queue.append((self._now + after + self.random.expovariate(1 / spread), item))

    def waiting(self, item: _Item) -> int:
        """How many like this are due."""
        return sum(each == item for _, each in self._queue)

    def forget(self, what: str) -> None:
        """Nothing of this kind comes any more."""
        self._queue = [each for each in self._queue if each[1][0] != what]

    def next(self) -> _Item | None:
        """What is due next; None if nothing is."""
        if not self._queue:
            return None
        first = min(self._queue)
        self._queue.remove(first)
        self._now = first[0]
        return first[1]
