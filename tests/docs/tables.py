"""The tables that are made, not written.

Those of a protocol follow its page ``docs/reference/PROTOCOL.md`` on the site, and are not kept in it. A few pages keep a table
which their text is about, between ``<!-- begin: NAME -->`` and ``<!-- end: NAME -->``; ``refresh.py`` makes these again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from fencepost.checks.reports import bugs_on_code
from fencepost.checks.reports.bugs_on_code import replayed, seen
from fencepost.checks.reports.finished import COLUMNS, address, rows
from fencepost.checks.settings.switches import NOT_MODELLED, ORDERS
from fencepost.model.releases import mirrored_in
from fencepost.model.releases import numbers as numbers_of
from fencepost.properties.bugs import Bug
from fencepost.properties.pages import page_of
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value, written
from tests.docs import compared_table, rows_table, stores_table, switches_table
from tests.properties.pins import PINNED

NUMBERS = re.compile(r"^(?:(?:bookkeeper|pulsar)?(?:#|BOOKKEEPER-)\d+(?:, )?)+: ")
"""The numbers upstream with which the meaning of a bug begins."""

MARKED = re.compile(r"(?<=<!-- begin: )(?P<name>\w+) -->\n(?P<table>.*?)(?=<!-- end: (?P=name) -->)", re.DOTALL)


def marked(document: str) -> dict[str, str]:
    """The tables of a document that are made, by name, as they stand there."""
    return {m["name"]: m["table"] for m in MARKED.finditer(document)}


def with_tables(document: str, page: str) -> str:
    """The document with its tables brought up to date; KeyError for the name of a table that nobody makes."""
    return MARKED.sub(lambda m: f"{m['name']} -->\n{table(page, m['name'])}", document)


def table(page: str, name: str) -> str:
    """A table that a page keeps; KeyError for any other."""
    return {
        ("reproduced", "bugs"): lambda: bugs_on_code.table([row for name in PROTOCOLS for row in replayed(name)]),
        ("findings-control-plane", "bugs"): lambda: known_bugs_of(("election", "ownership", "unload", "split")),
        ("deviations", "rows"): rows_table.table,
        ("sessions-and-nodes", "stores"): stores_table.table,
        ("policy", "compared"): compared_table.table,
        ("not-modelled", "features"): lambda: switches_table.table(NOT_MODELLED),
        ("not-modelled", "orders"): lambda: switches_table.table(ORDERS),
    }[page, name]()


def of_protocol(name: str) -> str:
    """The tables that follow the page of a protocol, each with its heading."""
    tables = {
        "The page of its room": f"```text\n{page_of(PROTOCOLS[name].function).text}\n```\n",
        "Properties": _statements(name),
        "Actions and the code": _mirrors(name),
        "Bugs and what catches them": _bugs(name),
        "Bugs by release": _releases(name) if PROTOCOLS[name].project else "",
        "Instances of each size": _instances(name),
    }
    return "".join(f"\n## {heading}\n\n{table}" for heading, table in tables.items() if table)


def known_bugs_of(protocols: Iterable[str]) -> str:
    """Each bug that a modelled release has: where, what it violates first and in how many steps, where it was seen."""
    head = ("known bug", "of", "violates", "steps", "releases", "fixed", "seen", "upstream")
    lines = []
    for protocol in protocols:
        for name, bug in PROTOCOLS[protocol].bugs.items():
            if not bug.present:
                continue
            by, steps = PINNED[protocol].caught[name]
            releases = rows_table.releases_of(bug)
            shown = ", ".join(seen(protocol, name))
            violated = ", ".join(f"`{each}`" for each in sorted(by))
            cells = (protocol, violated, str(steps), releases, bug.ending, shown)
            lines.append(_line(f"`{name}`", *cells, upstream(bug)))
    return _line(*head) + "|---" * len(head) + "|\n" + "".join(lines)


def _instances(protocol: str) -> str:
    """Each instance; of those for CI how many states, transitions and steps from end to end."""
    lines = []
    for size, instances in PROTOCOLS[protocol].sizes.items():
        for instance in instances:
            figures = [f"{n:,}" for n in PINNED[protocol].counts[instance.name]] if size == "ci" else ["", "", ""]
            lines.append(_line(size, instance.name, _settings(instance.parameters), *figures))
    return "| size | instance | parameters | states | transitions | depth |\n|---|---|---|---|---|---|\n" + "".join(lines)


def _bugs(protocol: str) -> str:
    """Each bug, with its finding: its numbers upstream, what it is, what catches it first and in how many steps, and where."""
    entry, caught = PROTOCOLS[protocol], PINNED[protocol].caught
    head = "| bug | upstream | what it is | caught by | steps | instance |\n|---|---|---|---|---|---|\n"
    lines = []
    for bug, meaning in entry.build({}).bugs.items():
        names, steps = caught[bug]
        what = NUMBERS.sub("", meaning)
        by = ", ".join(f"`{name}`" for name in sorted(names))
        where = _settings(entry.shown_by[bug])
        known = entry.bugs[bug]
        numbers = upstream(known) if entry.project else ""
        named = f"[`{bug}`](../{known.finding})" if known.finding else f"`{bug}`"
        lines.append(_line(named, numbers, what, by, str(steps), where))
    return head + "".join(lines)


def _releases(protocol: str) -> str:
    """Which releases have each bug, since when it is there and where it is fixed, and its numbers upstream."""
    bugs = PROTOCOLS[protocol].bugs
    head = ("bug", *numbers_of(PROTOCOLS[protocol].project), *COLUMNS)
    lines = [_line(f"`{name}`", *cells, upstream(bugs[name])) for name, cells in rows(bugs)]
    return _line(*head) + "|---" * len(head) + "|\n" + "".join(lines)


def _statements(protocol: str) -> str:
    """Each property and lemma that an instance for CI has, with its kind and its sentence."""
    lines: dict[str, str] = {}
    for instance in PROTOCOLS[protocol].instances("ci"):
        outline = PROTOCOLS[protocol].outline(instance.parameters)
        for each in (*outline.properties, *outline.lemmas):
            meaning = " ".join(each.doc.split()).replace("|", "\\|")
            lines.setdefault(each.name, _line(f"`{each.name}`", each.kind, meaning))
    return "| property | kind | meaning |\n|---|---|---|\n" + "".join(lines.values())


def _mirrors(protocol: str) -> str:
    """From the actions to the methods of the real system that they mirror, and from these back."""
    mirrors = PROTOCOLS[protocol].outline({}).protocol.mirrors
    methods = sorted({real for names in mirrors.values() for real in names})
    back = {real: [action for action, names in mirrors.items() if real in names] for real in methods}
    there = "".join(_line(f"`{action}`", ", ".join(f"`{real}`" for real in names)) for action, names in mirrors.items())
    cells = {real: ", ".join(f"`{action}`" for action in actions) for real, actions in back.items()}
    lines = "".join(_line(_with_releases(protocol, real), actions) for real, actions in cells.items())
    return f"| action | mirrors |\n|---|---|\n{there}\n| in the code | action |\n|---|---|\n{lines}"


def upstream(bug: Bug) -> str:
    """Links to the issues of a bug."""
    return ", ".join(f"[{issue}]({address(bug, issue)})" for issue in bug.upstream)


def _with_releases(protocol: str, method: str) -> str:
    """A method, with the modelled releases that do not have it."""
    project = PROTOCOLS[protocol].project
    without = mirrored_in(method, project).lacks if project else ()
    return f"`{method}`" + (f" (not in {', '.join(without)})" if without else "")


def _settings(parameters: Mapping[str, Value]) -> str:
    return " ".join(f"{name}={written(value)}" for name, value in parameters.items()) or "the defaults"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"
