"""The protocols that Fencepost knows by name: every room of this floor that has an entry.

A room that has a module ``entry`` with an ``ENTRY`` is found. Nothing else has to be said of it anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from fencepost.properties.configuration import Configuration, InCluster
from fencepost.properties.loading import Loaded
from fencepost.properties.registry import Entry, RegistryError

ORDER = (
    "ledger",
    "bookie",
    "metadata_store",
    "election",
    "ownership",
    "unload",
    "split",
    "service_unit",
    "service_unit_migration",
    "topic",
    "subscription",
    "cluster",
)
"""How the protocols are listed; those that it does not name come after these, by their names."""


def entries(floor: Path) -> Mapping[str, Entry]:
    """The entries of the rooms of a floor, by name, in the order in which they are listed; each is loaded when it is looked up.

    RegistryError then for a room whose entry is missing or has another name.
    """
    rooms = sorted(path.parent.name for path in floor.glob("*/entry.py"))
    return Loaded(sorted(rooms, key=lambda room: (*ORDER, room).index(room)), _entry)


def _entry(room: str) -> Entry:
    entry = getattr(import_module(f"{__package__}.{room}.entry"), "ENTRY", None)
    if not isinstance(entry, Entry) or entry.name != room:
        raise RegistryError(f'properties/{room}/entry.py: give it ENTRY = Entry(name="{room}", ...)')
    return entry


def _in_cluster(room: str) -> InCluster:
    in_cluster: InCluster = import_module(f"{__package__}.{room}.in_cluster").IN_CLUSTER
    return in_cluster


PROTOCOLS: Mapping[str, Entry] = entries(Path(__file__).parent)
"""The protocols by name, in the order in which they are listed."""

_OPERATED: Mapping[str, InCluster] = Loaded(
    [room for room in PROTOCOLS if (Path(__file__).parent / room / "in_cluster.py").exists()], _in_cluster
)


def names_run_by(cluster: Configuration) -> list[str]:
    """The names of the protocols that a cluster runs, in the order in which they are listed. No protocol is loaded."""
    return [name for name, each in _OPERATED.items() if each.is_run(cluster)]


def names_checked_in(cluster: Configuration) -> list[str]:
    """Of these names those that a check of the configuration checks where it names no protocol."""
    return [name for name in names_run_by(cluster) if _OPERATED[name].is_checked]


def touching(matter: str, cluster: Configuration) -> list[Entry]:
    """The protocols that a cluster runs, some of whose properties answer a question of users. No other is loaded."""
    return [PROTOCOLS[name] for name in names_run_by(cluster) if matter in _OPERATED[name].harms]


def run_by(cluster: Configuration) -> list[Entry]:
    """The protocols that a cluster runs, those left out that say nothing of its release."""
    return [entry for entry in map(PROTOCOLS.__getitem__, names_run_by(cluster)) if cluster.release not in entry.outside]
