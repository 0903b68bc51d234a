"""The table of which bugs and controls show with which metadata store, from searches that ``stores.json`` keeps.

Run as ``python tests/docs/stores_table.py`` it searches again and writes that file, which takes some minutes: each bug of
``RELEASE`` in the instance in which it is known to show, and of three instances for CI what is violated without any bug. A
deep test holds the file to the searches.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.model.releases import Releases
from fencepost.properties.configuration import with_store
from fencepost.properties.protocols import PROTOCOLS
from tests.properties.searching import controls, searched, unexpected

RELEASE = "4.2.4"
STORES = ("zk", "etcd", "oxia", "rocksdb")
KEPT = Path(__file__).with_name("stores.json")
WITH_BUGS = ("election", "ownership", "unload")
"""Whose bugs are shown; those of splits are of locks, as here, or have nothing to do with the store."""

INSTANCES = (("election", "all faults"), ("ownership", "cut off"), ("ownership", "crash"))
"""Whose controls are shown: what upstream's rules themselves lead to."""

Shown = dict[str, int]
"""What is violated, and in how many steps."""


def known_bugs_of() -> list[tuple[str, str]]:
    """The bugs of the release, each with its protocol; none of a migration, which begins at ZooKeeper."""
    releases = Releases.of(RELEASE)
    every = [(name, bug) for name in WITH_BUGS for bug in PROTOCOLS[name].bugs_of(releases)]
    return [(name, bug) for name, bug in every if not PROTOCOLS[name].shown_by[bug].get("migration")]


def shown_with(protocol: str, bug: str, store: str) -> Shown:
    """What a bug violates in the fewest steps with a store, besides the controls."""
    entry = PROTOCOLS[protocol]
    parameters = {**entry.behaviour(Releases.of(RELEASE)), **entry.shown_by[bug], **with_store(store)}
    violations = unexpected(searched(entry, parameters, [bug]))
    return {name: steps for name, steps in sorted(violations.items()) if steps == min(violations.values())}


def controls_with(protocol: str, instance: str, store: str) -> Shown:
    """The controls that an instance violates with a store."""
    entry = PROTOCOLS[protocol]
    parameters = next(one.parameters for one in entry.instances("ci") if one.name == instance)
    return controls(searched(entry, {**parameters, **with_store(store)}))


def load_rows() -> dict[str, Shown]:
    """What the file has, by protocol, bug or instance, and store."""
    by_key: dict[str, Shown] = json.loads(KEPT.read_text(encoding="utf-8"))
    return by_key


def table() -> str:
    """Both tables."""
    by_key = load_rows()
    head = "".join(f" {store} |" for store in STORES) + "\n" + "|---" * (len(STORES) + 1) + "|\n"
    rows = [(f"{name} `{one}`", [_cell(by_key[f"{name} {one} {store}"]) for store in STORES]) for name, one in known_bugs_of()]
    violated = [(f"{name}, {one}: `{control}`", cells) for name, one in INSTANCES for control, cells in _of(name, one)]
    return f"| known bug of {RELEASE} |{head}{_lines(rows)}\n| control |{head}{_lines(violated)}"


def _of(protocol: str, instance: str) -> Iterator[tuple[str, list[str]]]:
    """The controls of an instance, with the steps for each store."""
    by_store = [load_rows()[f"{protocol} {instance} {store}"] for store in STORES]
    for control in dict.fromkeys(name for shown in by_store for name in shown):
        yield control, [str(shown.get(control, "")) for shown in by_store]


def _cell(shown: Shown) -> str:
    return f"{next(iter(shown.values()))}: {', '.join(f'`{name}`' for name in shown)}" if shown else ""


def _lines(rows: list[tuple[str, list[str]]]) -> str:
    return "".join(f"| {first} | {' | '.join(cells)} |\n" for first, cells in rows)


def main() -> None:
    """Searches, and writes the file."""
    by_key = {f"{name} {bug} {store}": shown_with(name, bug, store) for name, bug in known_bugs_of() for store in STORES}
    by_key |= {f"{name} {one} {store}": controls_with(name, one, store) for name, one in INSTANCES for store in STORES}
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in by_key.items())
    KEPT.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
