"""Which bookies a cluster has, as commands list them, each with where it stands: how many they are, and in which racks.

``bookkeeper shell listbookies`` (ListBookiesCommand of 4.17.3: headings, then ``BookieID:%s, IP:%s, Port:%d, Hostname:%s``, on
lines that a log may begin); ``pulsar-admin bookies racks-placement`` (BookiesRackConfiguration: by group and bookie its rack)
and ``list-bookies``.
"""

from __future__ import annotations

import re
from collections import Counter

import yaml

from fencepost.checks.settings.cluster_settings import REPLICAS
from fencepost.checks.settings.files.properties_file import Setting
from fencepost.checks.settings.files.yaml_nodes import Part, child, line_of, scalar
from fencepost.model.counts import count_of

HEADING = re.compile(r"(ReadWrite|Readonly|All) Bookies :")
BOOKIE = re.compile(r"BookieID:([^,\s]+)")


def listed_bookies(text: str) -> Part:
    """The number of bookies that can be written to, or of all if only all are listed; the others are noted."""
    bookies, heading, lines = dict[str, dict[str, None]](), "", dict[str, int]()
    for number, line in enumerate(text.splitlines(), start=1):
        if found := HEADING.search(line):
            heading = found[1]
            lines[heading] = number
        for name in BOOKIE.findall(line):
            bookies.setdefault(heading, {})[name] = None
    counted = "ReadWrite" if "ReadWrite" in bookies else "All" if "All" in bookies else heading
    readonly = len(bookies.get("Readonly", {})) if counted == "ReadWrite" else 0
    notes = (f"{count_of(readonly, 'bookie')} can only be read, and {'is' if readonly == 1 else 'are'} not counted",)
    return Part(
        "listbookies", [Setting(REPLICAS, str(len(bookies[counted])), lines.get(counted, 1))], notes if readonly else ()
    )


def placed_bookies(node: yaml.Node) -> Part | None:
    """The bookies with their racks, or the list of them, in a document; None of another one."""
    listed = child(node, "bookies")
    if isinstance(listed, yaml.SequenceNode) and listed.value and all(scalar(one, "bookieId") for one in listed.value):
        return Part("list-bookies", [Setting(REPLICAS, str(len(listed.value)), line_of(listed))])
    groups = [value for _, value in node.value] if isinstance(node, yaml.MappingNode) else []
    racks = dict[str, str]()
    for group in groups:
        for name, info in group.value if isinstance(group, yaml.MappingNode) else ():
            if not scalar(info, "rack"):
                return None
            racks[str(name.value)] = scalar(info, "rack")
    if not racks or not all(isinstance(group, yaml.MappingNode) for group in groups):
        return None
    sizes = Counter(racks.values())
    largest, lost = max(sorted(sizes.items()), key=lambda pair: pair[1])
    note = f"{count_of(len(sizes), 'rack')}: if {largest} is lost, {lost} of {count_of(len(racks), 'bookie')} are lost at once"
    return Part("racks-placement", [Setting(REPLICAS, str(len(racks)), line_of(node))], (note,))
