"""The tables of the reference that are made, not written, from what the tests of each protocol pin.

``docs/reproduced.md`` has one that is made of ``docs/reproduced.json``, which ``make conform`` writes.

A page ``docs/reference/PROTOCOL.md`` has them between ``<!-- begin: NAME -->`` and ``<!-- end: NAME -->``. The ledger's defects
have a table of their own (defects_table.py), which also says how soon each of them loses an entry. That is measured, and so are
the standard instances, which nobody pins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from fencepost.checks.reports import hazards_on_code
from fencepost.checks.reports.histories import COLUMNS, rows
from fencepost.checks.reports.seen import REPRODUCED, seen
from fencepost.model.releases import mirrored_in
from fencepost.model.releases import numbers as numbers_of
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value, written
from tests.docs import compared_table, defects_table, rows_table, stores_table
from tests.properties.pins import PINNED
from tests.properties.searching import counts, searched

NUMBERS = re.compile(r"^(?:(?:bookkeeper|pulsar)?(?:#|BOOKKEEPER-)\d+(?:, )?)+: ")
"""The numbers upstream with which the meaning of a defect begins."""

MARKED = re.compile(r"(?<=<!-- begin: )(?P<name>\w+) -->\n(?P<table>.*?)(?=<!-- end: (?P=name) -->)", re.DOTALL)


def marked(document: str) -> dict[str, str]:
    """The tables of a document that are made, by name, as they stand there."""
    return {m["name"]: m["table"] for m in MARKED.finditer(document)}


def with_tables(document: str, protocol: str) -> str:
    """The document with its tables brought up to date; KeyError for the name of a table that nobody makes."""
    return MARKED.sub(lambda m: f"{m['name']} -->\n{table(protocol, m['name'])}", document)


def table(protocol: str, name: str) -> str:
    """A table of a protocol's page: ``instances``, ``controls``, ``defects``, ``releases`` or ``mirrors``, or ``hazards`` of
    what was reproduced; KeyError for any other."""
    if (protocol, name) == (REPRODUCED.stem, "hazards"):
        return hazards_on_code.table(hazards_on_code.read_json(REPRODUCED.read_text(encoding="utf-8")))
    if (protocol, name) == ("ledger", "defects"):
        return defects_table.table()
    if (protocol, name) == ("findings-control-plane", "hazards"):
        return hazards(("election", "ownership", "unload", "split"))
    if (protocol, name) == ("deviations", "rows"):
        return rows_table.table()
    if (protocol, name) == ("sessions-and-nodes", "stores"):
        return stores_table.table()
    if (protocol, name) == ("policy", "compared"):
        return compared_table.table()
    tables = {
        "instances": _instances,
        "controls": _controls,
        "defects": _defects,
        "releases": _releases,
        "mirrors": _mirrors,
    }
    return tables[name](protocol)


def hazards(protocols: Iterable[str]) -> str:
    """Each defect that a modelled release has: where, what it violates first and in how many steps, where it was seen."""
    head = ("hazard", "of", "violates", "steps", "releases", "fixed", "seen", "upstream")
    lines = []
    for protocol in protocols:
        for name, history in PROTOCOLS[protocol].history.items():
            if not history.present:
                continue
            by, steps = PINNED[protocol].caught[name]
            releases = rows_table.releases_of(history)
            shown = ", ".join(seen(protocol, name))
            violated = ", ".join(f"`{each}`" for each in sorted(by))
            cells = (protocol, violated, str(steps), releases, history.ending, shown)
            lines.append(_line(f"`{name}`", *cells, defects_table.upstream(history)))
    return _line(*head) + "|---" * len(head) + "|\n" + "".join(lines)


def instance_row(protocol: str, size: str, instance: Instance) -> str:
    """The line of one instance: how many states, transitions and steps from end to end, unless it is for a larger machine."""
    figures = _counts(protocol, size, instance)
    settings = _settings(instance.parameters)
    return _line(size, instance.name, settings, *([f"{n:,}" for n in figures] or [instance.by and f"by {instance.by}", "", ""]))


def _counts(protocol: str, size: str, instance: Instance) -> tuple[int, ...]:
    if size == "ci":
        return tuple(PINNED[protocol].counts[instance.name])
    if instance.by or size == "deep":
        return ()
    entry = PROTOCOLS[protocol]
    firm = next(p.name for p in entry.suite(entry.build(instance.parameters)).properties if p.kind == "step" and not p.strict)
    return counts(searched(entry, instance.parameters, only=[firm]))


def _instances(protocol: str) -> str:
    head = "| size | instance | parameters | states | transitions | depth |\n|---|---|---|---|---|---|\n"
    sizes = PROTOCOLS[protocol].sizes
    return head + "".join(instance_row(protocol, size, instance) for size in sizes for instance in sizes[size])


def _controls(protocol: str) -> str:
    """The negative controls, and in how many steps each instance for CI violates them."""
    steps: Mapping[str, Mapping[str, int]] = PINNED[protocol].controls
    controls = dict.fromkeys(name for violated in steps.values() for name in violated)
    head = _line("control", *steps) + "|---" * (len(steps) + 1) + "|\n"
    return head + "".join(
        _line(f"`{control}`", *(str(violated.get(control, "")) for violated in steps.values())) for control in controls
    )


def _defects(protocol: str) -> str:
    """Each defect: its numbers upstream, what it is, what catches it first and in how many steps, and where."""
    entry, caught = PROTOCOLS[protocol], PINNED[protocol].caught
    head = "| defect | upstream | what it is | caught by | steps | instance |\n|---|---|---|---|---|---|\n"
    lines = []
    for defect, meaning in entry.build({}).defects.items():
        names, steps = caught[defect]
        what = NUMBERS.sub("", meaning)
        by = ", ".join(f"`{name}`" for name in sorted(names))
        where = _settings(entry.shown_by[defect])
        numbers = defects_table.upstream(entry.history[defect]) if entry.history else ""
        lines.append(_line(f"`{defect}`", numbers, what, by, str(steps), where))
    return head + "".join(lines)


def _releases(protocol: str) -> str:
    """Which releases have each defect, since when it is there and where it is fixed, and its numbers upstream."""
    history = PROTOCOLS[protocol].history
    head = ("defect", *numbers_of(PROTOCOLS[protocol].project), *COLUMNS)
    lines = [_line(f"`{name}`", *cells, defects_table.upstream(history[name])) for name, cells in rows(history)]
    return _line(*head) + "|---" * len(head) + "|\n" + "".join(lines)


def _mirrors(protocol: str) -> str:
    """From the actions to the methods of the real system that they mirror, and from these back."""
    mirrors = PROTOCOLS[protocol].outline({}).protocol.mirrors
    methods = sorted({real for names in mirrors.values() for real in names})
    back = {real: [action for action, names in mirrors.items() if real in names] for real in methods}
    there = "".join(_line(f"`{action}`", ", ".join(f"`{real}`" for real in names)) for action, names in mirrors.items())
    cells = {real: ", ".join(f"`{action}`" for action in actions) for real, actions in back.items()}
    lines = "".join(_line(_with_releases(protocol, real), actions) for real, actions in cells.items())
    return f"| action | mirrors |\n|---|---|\n{there}\n| in the code | action |\n|---|---|\n{lines}"


def _with_releases(protocol: str, method: str) -> str:
    """A method, with the modelled releases that do not have it."""
    project = PROTOCOLS[protocol].project
    without = mirrored_in(method, project).lacks if project else ()
    return f"`{method}`" + (f" (not in {', '.join(without)})" if without else "")


def _settings(parameters: Mapping[str, Value]) -> str:
    return " ".join(f"{name}={written(value)}" for name, value in parameters.items()) or "the defaults"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"
