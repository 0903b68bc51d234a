"""The files of what a cluster said: those of a folder, or those of this moment, which a check reads as its configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fencepost.checks.cluster.running import CLUSTER, Said
from fencepost.checks.inputs.input_files import InputError, Place
from fencepost.model.counts import count_of
from fencepost.traces.files.writing import write_text

MOST = 3
"""Settings in which brokers differ that are listed; the others are counted."""

OF_EACH = ("advertisedAddress", "bindAddress", "Port", "Listener", "brokerServiceURL", "numHttpServerThreads", "workerId")
"""What is other at each broker of any cluster, by a part of its key."""


@dataclass(frozen=True)
class Files:
    """The files of a cluster in a ``folder``, by name: read from there, or as they would be in it."""

    folder: Path
    texts: Mapping[str, str]
    refused: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: Path, said: Said) -> Files:
        """What a cluster said just now, under the names of a folder."""
        return cls(folder, said.texts, said.refused)

    @classmethod
    def read(cls, folder: Path) -> Files:
        """Those that ``--save`` wrote. InputError if there are none."""
        names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.json"))]
        if CLUSTER not in names:
            remedy = "give a folder that --save wrote, or http://BROKER:PORT"
            raise InputError(f"{folder}: has no {CLUSTER}; {remedy}", Place(folder))
        return cls(folder, {name: (folder / name).read_text(encoding="utf-8") for name in names})

    def write(self, folder: Path) -> None:
        """Writes them; files of what the cluster no longer has are removed. Raises OSError."""
        for path in (path for kind in KINDS for path in sorted((folder / kind).rglob("*.json"))):
            if path.relative_to(folder).as_posix() not in self.texts:
                path.unlink()
        for name, text in self.texts.items():
            write_text(folder / name, text)

    @property
    def configuration(self) -> list[Path]:
        """The files that are the configuration: what the cluster says, a broker's and a bookie's, if they say it."""
        first = [next(iter(self.named(kind)), None) for kind in ("brokers", "bookies")]
        return [self.folder / name for name in (CLUSTER, *first) if name is not None]

    @property
    def namespaces(self) -> list[str]:
        """The policies of the namespaces, as NAME=FILE."""
        names = self.named("namespaces")
        return [f"{name.removeprefix('namespaces/').removesuffix('.json')}={self.folder / name}" for name in names]

    def named(self, kind: str) -> list[str]:
        """The names of the files of a kind, sorted."""
        return sorted(name for name in self.texts if name.startswith(f"{kind}/"))

    @property
    def racks(self) -> dict[str, list[str]]:
        """The bookies by rack; empty unless each has one."""
        whole: dict[str, Any] = json.loads(self.texts[CLUSTER])
        placed = {
            name: one["rack"] for group in (whole.get("racks") or {}).values() for name, one in group.items() if one.get("rack")
        }
        bookies = whole.get("bookies") or []
        if not bookies or any(name not in placed for name in bookies):
            return {}
        return {rack: [name for name in bookies if placed[name] == rack] for rack in sorted({placed[name] for name in bookies})}

    @property
    def groups(self) -> dict[str, list[str]]:
        """The bookies by isolation group, also those that are not there."""
        whole: dict[str, Any] = json.loads(self.texts[CLUSTER])
        return {name: sorted(group) for name, group in (whole.get("racks") or {}).items()}

    @property
    def facts(self) -> Iterator[str]:
        """What a person has to know of it: what was read, what was refused, which brokers differ and were not asked."""
        whole: dict[str, Any] = json.loads(self.texts[CLUSTER])
        counts = {"broker": len(self.named("brokers")), "namespace": len(self.named("namespaces"))}
        parts = [f"Pulsar {whole['version']}"]
        parts += [f"{SAID[each]} of {count_of(number, each)}" for each, number in counts.items()]
        if (bookies := whole.get("bookies")) is not None:
            racks = {one["rack"] for group in whole.get("racks", {}).values() for one in group.values() if one.get("rack")}
            placed = f" in {count_of(len(racks), 'rack')}" if racks else " without racks"
            parts.append(f"{count_of(len(bookies), 'bookie')}{placed}")
        yield f"read from {self.folder}: {', '.join(parts)}"
        yield from (f"refused: {reason}" for reason in self.refused)
        yield from self._differences()
        others = [name for name in whole.get("brokers", ()) if not self._was_asked(name)]
        if others and self.named("brokers"):
            yield f"not asked: {', '.join(others)}: each broker says only its own configuration; add --cluster http://{others[0]}"

    def _was_asked(self, broker: str) -> bool:
        """Whether a broker's own configuration is there: its file has its address, or says the port and the address."""
        if f"brokers/{broker.replace(':', '_')}.json" in self.texts:
            return True
        own = [json.loads(self.texts[name]) for name in self.named("brokers")]
        ports = [re.sub(r"\D", "", str(one.get("webServicePort"))) for one in own]
        return any(broker == f"{one.get('advertisedAddress')}:{port}" for one, port in zip(own, ports, strict=True))

    def _differences(self) -> Iterator[str]:
        """In which settings a broker differs from the first one."""
        first, *others = [(name, json.loads(self.texts[name])) for name in self.named("brokers")] or [("", {})]
        for name, own in others:
            keys = [key for key in sorted({*first[1], *own}) if own.get(key) != first[1].get(key)]
            keys = [key for key in keys if not any(part in key for part in OF_EACH)]
            if keys:
                shown = ", ".join(f"{key} is {own.get(key)} (there {first[1].get(key)})" for key in keys[:MOST])
                more = f", and {len(keys) - MOST} more" if len(keys) > MOST else ""
                yield f"brokers differ: {name} from {first[0]}: {shown}{more}"


KINDS = ("brokers", "bookies", "namespaces")
SAID = {"broker": "the configuration", "namespace": "the policies"}
