"""What a state of the model says of a service unit, in the words of its harness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fencepost.checks.conformance.running.view import View
from fencepost.model.nobody import NOBODY

RELEASES = ("release", "release_attached")
"""What is due when a unit is released."""


class Record(NamedTuple):
    """A record as both sides show it."""

    state: str
    dst: str
    src: str
    version: int

    def __str__(self) -> str:
        return f"{self.state}(dst {self.dst}, src {self.src}, version {self.version})"


def record_of(view: View, u: str) -> Record:
    """What the node of a unit says."""
    return Record(*(view[f"record_{part}[{u}]"] for part in ("state", "dst", "src", "version")))


def view_of(view: View, b: str, u: str) -> Record:
    """A broker's copy of the record."""
    return Record(*(view[f"view_{part}[{b}, {u}]"] for part in ("state", "dst", "src", "version")))


def lives(view: View, b: str) -> bool:
    """Whether the process of a broker runs."""
    return bool(view[f"lives[{b}]"])


def runs(view: View, b: str) -> bool:
    """Whether a broker is not about to shut down; no other acts on records that are not forced."""
    return bool(view.get(f"stage[{b}]", "runs") == "runs")


def live(view: View) -> Iterator[tuple[str, str]]:
    """Each broker that runs, with each unit."""
    return ((b, u) for b in view.members("broker") if lives(view, b) for u in view.members("unit"))


def unread(view: View, b: str, u: str) -> bool:
    """Whether the broker is about to hear of a write."""
    return bool(view[f"unheard[{b}, {u}]"])


def closing(view: View, b: str, u: str) -> bool:
    """Whether the channel waits for topics to close, halfway or entirely."""
    return bool(view[f"closing[{b}, {u}]"] or view[f"topics[{b}, {u}]"] == "detaching")


def closed_with(view: View, b: str, u: str) -> Sequence[str]:
    """The units whose topics are closed with those of a unit: where one is split, that and its child."""
    return view.members("unit") if f"split_stage[{b}]" in view else [u]


def waits(view: View, b: str, u: str) -> bool:
    """Whether the closing that the next write waits for is not over."""
    halfway = view[f"to_publish[{b}, {u}]"] == "release_attached"
    together = closed_with(view, b, u)
    return any(view[f"topics[{b}, {v}]"] == "detaching" if halfway else view[f"closing[{b}, {v}]"] for v in together)


def topics(view: View, b: str, u: str) -> str:
    """The topics of a unit; those that were open and are being closed, but not halfway, are closing."""
    state: str = view[f"topics[{b}, {u}]"]
    return "closing" if state == "open" and view[f"closing[{b}, {u}]"] else state


def is_wanted(view: View, b: str, u: str) -> bool:
    """Whether the record for which a broker has a write ready is the last one, as far as it knows and is about to hear."""
    due, version = view[f"to_publish[{b}, {u}]"], view[f"to_publish_version[{b}, {u}]"]
    return not unread(view, b, u) and (due not in RELEASES or view_of(view, b, u).version == version)


def takes_over(view: View, b: str, u: str) -> bool:
    """Whether a broker is about to take over what it found assigned to it; that is gone with its session."""
    return bool(view[f"existing[{b}, {u}]"]) and view[f"link[{b}]"] != "lost"


def writes(view: View, b: str, u: str) -> frozenset[str]:
    """The writes of a unit that a broker has ready: what is due once topics are closed, and what it found at its start."""
    requests = set()
    due, version = view[f"to_publish[{b}, {u}]"], view[f"to_publish_version[{b}, {u}]"] + 1
    if due != "none" and not waits(view, b, u):
        to = view[f"to_publish_dst[{b}, {u}]"]
        released = f"put Free {NOBODY} {b} {version}" if to == NOBODY else f"put Assigning {to} {b} {version}"
        requests.add(released if due in RELEASES else "delete")
    if takes_over(view, b, u):
        copy = view_of(view, b, u)
        requests.add(f"put Owned {b} {copy.src} {copy.version + 1}")
    if view.get(f"split_stage[{b}]") == "deleting" and u == view.members("unit")[0]:
        requests.add(f"put Deleted {NOBODY} {b} {view[f'split_version[{b}]'] + 1}")
    if view_of(view, b, u).state == "Init":
        requests |= halves(view, b, u)
    return frozenset(requests)


def halves(view: View, b: str, u: str) -> frozenset[str]:
    """The write by which a broker that splits a unit owns the half; it looked whether there is a record when it began."""
    owning = view.get(f"split_stage[{b}]") == "owning" and u == view.members("unit")[1]
    return frozenset({f"put Owned {b} {NOBODY} 1"} if owning else ())
