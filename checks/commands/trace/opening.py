"""The protocols that a trace file may be of: those that there are, and those of a file of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry


def protocols_with(own: Path | None) -> Mapping[str, Entry]:
    """All protocols by name, with those of a file of one's own, which is run. Raises InputError if it cannot be used."""
    if own is None:
        return PROTOCOLS
    from fencepost.checks.settings.own_protocols import own_protocols

    return {**PROTOCOLS, **{entry.name: entry for entry in own_protocols(own, PROTOCOLS)}}
