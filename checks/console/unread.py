"""What nobody has read of a release: whether it has the known bugs. Every answer for such a release says so."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from fencepost.checks.console.options import NamedReleases, chosen_releases
from fencepost.model.releases import Releases
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry


def unread(entries: Iterable[Entry], releases: Releases | None) -> str:
    """Which release nobody has read that is named, and of how many known bugs of these protocols nobody has read if the
    releases have them; empty if all is read."""
    if releases is None:
        return ""
    if releases.instead:
        return "; ".join(releases.instead)
    counts = dict[str, list[str]]()
    for entry in entries:
        for release, count in entry.unread(releases).items():
            counts.setdefault(release, []).append(f"{entry.name} {count}")
    return "; ".join(f"unread: known bugs that {release} may have: {', '.join(each)}" for release, each in counts.items())


def chosen_aloud(asked: NamedReleases) -> Releases | None:
    """``chosen_releases``, with a line on standard error if there is something that nobody has read of them."""
    releases = chosen_releases(asked)
    if text := unread(PROTOCOLS.values(), releases):
        print(f"fencepost: {text}", file=sys.stderr)
    return releases
