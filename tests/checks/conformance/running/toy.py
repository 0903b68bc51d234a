"""A mailbox as a protocol, and code for it in Python: what the core does can be told without Java."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from fencepost.checks.conformance.running.adapter import Adapter, Allowance, Departure, Deviation, Observable, Owed, Seen, Taken
from fencepost.checks.conformance.running.pair import Pair
from fencepost.checks.conformance.running.view import View
from fencepost.model.kernel import Kernel
from fencepost.model.language import And, Not, Protocol

BUGS = {"counts_twice": "a box that is emptied counts that twice"}


def mailbox(letters: int = 3, boxes: int = 2, bugs: Iterable[str] = ()) -> Protocol:
    """Letters are put into boxes; a full box (of two) is emptied by itself; a box may be painted."""
    p = Protocol("mailbox", doc="A toy.", parameters={"letters": letters, "boxes": boxes}, bugs=BUGS, active=bugs)
    box = p.universe("box", boxes)
    put_in = p.number("put_in", 0, letters)
    held = p.number("held", 0, 2, per=box)
    emptied = p.number("emptied", 0, letters + 1, per=box)
    red = p.flag("red", per=box)

    @p.step(by="b", b=box)
    def put(b: int) -> Any:
        """A letter is put in."""
        return And(put_in < letters, held[b] < 2), {put_in: put_in + 1, held[b]: held[b] + 1}

    @p.step(by="b", b=box)
    def empty(b: int) -> Any:
        """A full box is emptied."""
        times = 2 if p.has("counts_twice") else 1
        return And(held[b] == 2, emptied[b] < letters), {held[b]: 0, emptied[b]: emptied[b] + times}

    @p.step(by="b", b=box)
    def paint(b: int) -> Any:
        """A box is painted red."""
        return Not(red[b]), {red[b]: True}

    @p.step(by="b", b=box)
    def burn(b: int) -> Any:
        """A red box burns with its letter; no code here knows how."""
        return And(red[b], held[b] == 1), {held[b]: 0}

    return p


def _of_boxes(view: View, family: str) -> dict[str, Any]:
    return {box: view[f"{family}[{box}]"] for box in view.members("box")}


class Boxes(Adapter):
    """The code: ``bug`` names what it does wrong."""

    protocol = "mailbox"
    covered: Collection[str] = ("put", "paint")
    eager = frozenset({"empty"})
    not_covered: ClassVar[Mapping[str, str]] = {"burn": "there is no fire"}
    observables = (
        Observable("emptied", ("emptied",), lambda view: _of_boxes(view, "emptied"), lambda seen: seen["emptied"]),
        Observable("red", ("red",), lambda view: _of_boxes(view, "red"), lambda seen: seen["red"]),
    )
    shown_by_requests = ("held",)

    def __init__(self, bug: str = "", deviations: Sequence[Deviation] = (), allowances: Sequence[Allowance] = ()) -> None:
        self.bug = bug
        self.deviations, self.allowances = deviations, allowances
        self.begun = 0
        self.closed = False

    def begin(self, instance: Protocol) -> Seen:
        names = [f"b{n}" for n in range(int(instance.parameters["boxes"]))]
        self.held, self.emptied, self.red = (dict.fromkeys(names, 0) for _ in range(3))
        self.begun += 1
        return self._seen()

    def take(self, step: Taken) -> Seen:
        box = step.arguments["b"]
        if step.action.name == "paint":
            if self.bug == "no paint on full shelves" and sum(self.held.values()) == 1:
                raise Departure(f"{box} cannot be painted")
            self.red[box] = 1
        else:
            self.held[box] += 1
            if self.held[box] == 2 and self.bug != "never empties":
                self.held[box] = 0
                self.emptied[box] += 2 if self.bug == "counts twice" else 1
        return self._seen()

    def _seen(self) -> Seen:
        requests = {f"letter in {box}" for box, count in self.held.items() if count}
        if self.bug == "loses a letter in a red box":
            requests -= {f"letter in {box}" for box in self.red if self.red[box]}
        if self.bug == "a stray letter":
            requests |= {"letter in b9"} if any(self.emptied.values()) else set()
        red = {box: bool(painted) for box, painted in self.red.items()}
        return Seen({"emptied": dict(self.emptied), "red": red}, frozenset(requests))

    def expected(self, view: View) -> Owed:
        return Owed(must=frozenset(f"letter in {box}" for box in view.members("box") if view[f"held[{box}]"]))

    def close(self) -> None:
        self.closed = True


def pair(adapter: Boxes) -> Pair:
    return Pair(Kernel(mailbox()), adapter)
