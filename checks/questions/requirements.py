"""What is required of guarantees, by their names. Nothing is established here, so that a check of a protocol loads no more."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fencepost.model.language.mistakes import guess
from fencepost.properties.registry import RegistryError

TOGETHER: Mapping[str, tuple[str, ...]] = {"bookies_down": ("writing", "reading", "recovery")}
"""Names for several guarantees at once, each of which is required."""

DISKS = ("disks", "usual_disks", "disks_one_gone", "disks_after_change")
LEDGER = (*DISKS, *TOGETHER["bookies_down"], "recoveries", "restarts", "changes", "wiped")
STEPS = ("unserved", "unloaded")
"""The guarantees that are numbers of steps, of which few are wanted."""

BUNDLES = ("owners", "owners_in_the_end", "served", "moved", *STEPS, "hash_range")

TOPICS = ("lost_sessions", "failed_updates", "broker_crashes", "backlog")

BOOKIES = ("killed", "power", "disk_full", "replaced", "audits", "worker_sessions", "recover")
"""The guarantees of a bookie, which only a file of a bookie has."""

RACKS = ("racks", "usual_racks", "racks_after_outage", "racks_writing")
"""The guarantees of racks, which only a profile or a cluster that names them has."""

NAMES = (*LEDGER, *RACKS, *BOOKIES, *TOPICS, *BUNDLES)
"""The guarantees that can be required, in the order in which they are reported."""


@dataclass(frozen=True)
class Requirement:
    """The guarantees of these names must be of so many events at least, or steps at most; ``text`` is how it was written."""

    text: str
    names: tuple[str, ...]
    number: int

    def met_by(self, figure: int) -> bool:
        """Whether a guarantee of that many meets it."""
        return figure <= self.number if self.names[0] in STEPS else figure >= self.number


def requirement(text: str) -> Requirement:
    """The requirement that is written as ``NAME>=N``, or of steps as ``NAME<=N``; RegistryError, with the remedy, if it is
    none."""
    match = re.fullmatch(r"\s*(\w+)\s*([<>]=)\s*([0-9]{1,4})\s*", text)
    if not match:
        raise RegistryError(f"{text!r} is not of the form NAME>=N, such as disks>=1")
    name, sign, number = match[1], match[2], int(match[3])
    known = (*NAMES, *TOGETHER)
    if name not in known:
        meant = guess(name, known)
        raise RegistryError(f"there is no guarantee {name!r}{meant}; there are {', '.join(known)}")
    if (sign == "<=") != (name in STEPS):
        raise RegistryError(f"{text!r} points the wrong way; write {name}{'<=' if name in STEPS else '>='}{number}")
    return Requirement(f"{name}{sign}{number}", TOGETHER.get(name, (name,)), number)
