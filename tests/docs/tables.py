"""The tables that are made, not written.

Those of a protocol follow its page ``docs/reference/PROTOCOL.md`` on the site, and are not kept in it. A few pages keep a table
which their text is about, between ``<!-- begin: NAME -->`` and ``<!-- end: NAME -->``; ``refresh.py`` makes these again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fencepost.checks.commands.arguments import COMMANDS
from fencepost.checks.reports.bugs_on_code import Replayed, replayed
from fencepost.checks.reports.finished import COLUMNS, address, rows
from fencepost.checks.settings.switches import NOT_MODELLED, ORDERS
from fencepost.model.releases import SYSTEMS, mirrored_in
from fencepost.model.releases import numbers as numbers_of
from fencepost.properties.bugs import Bug
from fencepost.properties.pages import page_of
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value, written
from tests.docs import stores_table, switches_table
from tests.properties.pins import PINNED

NUMBERS = re.compile(r"^(?:(?:bookkeeper|pulsar)?(?:#|BOOKKEEPER-)\d+(?:, )?)+: ")
"""The numbers upstream with which the meaning of a bug begins."""

COMMAND = re.compile(r"^## fencepost (\w+)\n", re.MULTILINE)
"""The heading of a command in the reference of the command line."""

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
        ("sessions-and-nodes", "stores"): stores_table.table,
        ("not-modelled", "features"): lambda: switches_table.table(NOT_MODELLED),
        ("not-modelled", "orders"): lambda: switches_table.table(ORDERS),
    }[page, name]()


def with_options(document: str) -> str:
    """The reference of the command line with what ``--help`` prints of each command, below its heading."""
    shown = {name: entry.node.parser(f"fencepost {name}").format_help() for name, entry in COMMANDS.by_name.items()}
    return COMMAND.sub(lambda m: f"{m[0]}\n```text\n{shown[m[1]]}```\n", document)


def of_protocol(name: str) -> str:
    """The tables that follow the page of a protocol, each with its heading."""
    tables = {
        "The page of its room": f"```text\n{page_of(PROTOCOLS[name].function).text}\n```\n",
        "Properties": _statements(name),
        "Actions and the code": _mirrors(name),
        "Bugs and what catches them": _bugs(name),
        "Bugs by release": _releases(name) if PROTOCOLS[name].project else "",
        "Seen on real code": on_code(replayed(name)),
        "Instances of each size": _instances(name),
    }
    return "".join(f"\n## {heading}\n\n{table}" for heading, table in tables.items() if table)


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


def on_code(replays: Sequence[Replayed]) -> str:
    """Bugs and releases of one target, with the run and the end of each; nothing of none."""
    if not replays:
        return ""
    releases = list(dict.fromkeys(each.release for each in replays))
    by = {(each.bug, each.release): each for each in replays}
    lines = [_line("bug", *(f"{SYSTEMS[replays[0].system]} {release}" for release in releases), "seen")]
    lines.append("|---" * (len(releases) + 2) + "|\n")
    for bug in dict.fromkeys(each.bug for each in replays):
        cells = [_cell(by.get((bug, release))) for release in releases]
        lines.append(_line(f"`{bug}`", *cells, _seen([by[bug, r] for r in releases if (bug, r) in by])))
    return "".join(lines)


def _cell(each: Replayed | None) -> str:
    if each is None:
        return "not replayed"
    return f"**{each.verdict}**" if each.verdict in ("reproduced", "seen elsewhere") else each.verdict


def _seen(its: Sequence[Replayed]) -> str:
    """What was seen of a bug: its run and its end, and once each reason why not."""
    parts = []
    done = next((each for each in its if each.verdict == "reproduced"), None)
    if done:
        parts.append(f"`{done.property}` after {'; '.join(done.steps)}: {done.end}")
    for each in its:
        if each.why and each.why not in " ".join(parts):
            of_release = each.verdict in ("gone", "not reproduced")
            parts.append(f"{each.release}: {each.why}" if of_release else each.why)
    return ". ".join(parts).replace("|", "\\|")
