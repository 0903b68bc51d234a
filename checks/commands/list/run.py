"""``fencepost list``: what there is to check, which releases are modelled, and what bugs they have."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from fencepost.checks.commands.list.request import ListRequest
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.inputs.own_protocols import is_own, own_protocols
from fencepost.checks.questions.answers.ways import EVENTS
from fencepost.checks.reports.finished import COLUMNS, rows, upstream
from fencepost.checks.settings.load_manager import MIRRORED as OF_SETTINGS
from fencepost.model.balance.beyond import beyond
from fencepost.model.balance.mirrored import MIRRORED
from fencepost.model.language.mistakes import guess
from fencepost.model.releases import BOOKKEEPER, KAFKA, NEWEST, PULSAR, SYSTEMS, USUAL_KAFKA, numbers, release
from fencepost.properties.pages import page_of
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, RegistryError, find
from fencepost.properties.theorems import Theory
from fencepost.properties.theories import THEORIES

LEMMA = "lemma"
_TITLES = {
    "always": "must always hold",
    "step": "must hold of every step",
    "deadlock": "must not come to a standstill",
    "leads_to": "must come about in the end",
    "sometimes": "must be possible",
    LEMMA: "lemmas of the inductive invariant",
}


def run(request: ListRequest) -> ExitStatus:
    """Prints what the request asks for."""
    if request.events:
        acts = {name: " (an act of an administrator)" if event.is_act else "" for name, event in EVENTS.items()}
        print("".join(f"{name:<20} {event.says}{acts[name]}\n" for name, event in EVENTS.items()), end="")
        return ExitStatus.HOLDS
    shown = bugs if request.bugs else listing
    print(mirrored(request.java) if request.java else shown(request.protocols), end="")
    return ExitStatus.HOLDS


def listing(names: Sequence[str]) -> str:
    """The protocols and theories by name with their parts; if none is named, all, and before them the releases that are
    modelled. RegistryError if one is unknown."""
    parts = [_theory(entry) if isinstance(entry, Theory) else _protocol(entry) for entry in _chosen(names)]
    return "\n".join(parts if names else [_releases(), *parts])


def bugs(names: Sequence[str]) -> str:
    """The bugs of the protocols and theories by name (all, if none is named), and which releases have them.

    RegistryError if one is unknown.
    """
    return "\n".join(_bugs(entry) for entry in _chosen(names))


def _chosen(names: Sequence[str]) -> list[Entry | Theory]:
    everything: dict[str, Entry | Theory] = {**PROTOCOLS, **THEORIES}
    return [each for name in names for each in _named(name, everything)] or list(everything.values())


def _named(name: str, everything: Mapping[str, Entry | Theory]) -> Sequence[Entry | Theory]:
    return own_protocols(Path(name), everything) if is_own(name) else [find(name, everything)]


def _releases() -> str:
    ships = [f"{release} (which ships BookKeeper {bookkeeper})" for release, bookkeeper in PULSAR.items()]
    pairs = [", ".join(ships[place : place + 2]) for place in range(0, len(ships), 2)]
    unread = "".join(f"\n  unread: whether {', '.join(numbers)} has known bugs{of}" for of, numbers in _unread().items())
    return f"""releases that are modelled

  Pulsar      {f",{chr(10)}              ".join(pairs)}
  BookKeeper  {", ".join(BOOKKEEPER)}
  Kafka       {", ".join(KAFKA)}
  unless one is named: Pulsar {NEWEST}, and of BookKeeper what it ships; Kafka {USUAL_KAFKA}{unread}
"""


def _unread() -> dict[str, list[str]]:
    """The releases of which nobody has read whether they have known bugs: of all protocols (no words), or of those named."""
    releases: dict[str, list[str]] = {}
    for number in (*PULSAR, *BOOKKEEPER, *KAFKA):
        project = release(number).project
        every = [name for name, entry in PROTOCOLS.items() if entry.project == project]
        names = [name for name in every if any(number in bug.unread for bug in PROTOCOLS[name].bugs.values())]
        if names:
            releases.setdefault("" if names == every else f" of {', '.join(names)}", []).append(number)
    return releases


def _bugs(entry: Entry | Theory) -> str:
    if isinstance(entry, Theory) or not entry.project:
        known = entry.bugs if isinstance(entry, Theory) else entry.outline({}).protocol.bugs
        return "\n".join([f"{entry.name}: its bugs are not traced through releases", "", *_lined(known)]) + "\n"
    bugs = entry.bugs
    table = [
        ["bug", *numbers(entry.project), *COLUMNS],
        *([name, *cells, ", ".join(upstream(bugs[name]))] for name, cells in rows(bugs)),
    ]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    head = f"{entry.name}: its bugs, and which releases of {SYSTEMS[entry.project]} have them"
    return "\n".join([head, "", *_indented(lines)]) + "\n"


def mirrored(method: str) -> str:
    """The actions, and functions of load balancing, that mirror a method of the real system, by its name or a part of it;
    and of load balancing the methods that nothing mirrors, each with the reason.

    RegistryError if there is none of that name.
    """
    found = [
        *((f"{entry.name}  {action}", names) for entry in PROTOCOLS.values() for action, names in entry.mirrors().items()),
        *((f"policy  {place}", names) for place, names in MIRRORED.items()),
        ("settings  load_manager.mismatches", OF_SETTINGS),
    ]
    lines = [f"{place}  {name}" for place, names in found for name in names if method.lower() in name.lower()]
    lines += [f"not modelled  {name}  {reason}" for name, reason in beyond(method)]
    if not lines:
        meant = guess(method, [name for _, names in found for name in names])
        where = "`fencepost list PROTOCOL` shows what the actions of one mirror"
        raise RegistryError(f"no action mirrors a method with {method!r} in its name{meant}; {where}")
    return "\n".join(lines) + "\n"


def _theory(theory: Theory) -> str:
    theorems = theory.theorems(frozenset())
    width = max(len(name) for name in (*theory.bugs, *(t.name for t in theorems)))
    lines = [f"{theory.name}: {theory.summary}", "", "  theorems", f"    ({theory.reach})"]
    lines += [f"    {t.name:<{width}}  {t.doc.splitlines()[0]}" for t in theorems]
    lines += ["", "  bugs", *_indented(_lined(theory.bugs))]
    return "\n".join(lines) + "\n"


def _protocol(entry: Entry) -> str:
    page = page_of(entry.function)
    lines = [f"{entry.name}: {entry.summary}", ""]
    lines += textwrap.indent(page.text.replace("``", ""), "  ").splitlines()
    lines += ["", "  parameters", *(f"    {parameter}" for parameter in entry.parameters)]
    if not page.constants:
        lines += ["", *textwrap.indent((inspect.getdoc(entry.function) or "").replace("``", ""), "    ").splitlines()]
    lines += ["", "  sizes"]
    for size, instances in (*entry.sizes.items(), ("teeth", entry.mutated)):
        for instance in instances:
            by = f" (by {instance.by})" if instance.by else ""
            values = " ".join(f"{name}={value}" for name, value in instance.parameters.items())
            lines.append(f"    {size:<9} {instance.name}{by}: {values}")
    # every property that some instance has, each once
    seen: dict[str, tuple[str, str]] = {}
    for instance in (instance for instances in entry.sizes.values() for instance in instances):
        outline = entry.outline(instance.parameters)
        for p in outline.properties:
            strict = f" [a negative control in some instances: {p.strict}]" if p.strict else ""
            if p.name not in seen or strict:
                seen[p.name] = (p.kind, p.doc.split("\n")[0] + strict)
        for lemma in outline.lemmas:
            seen.setdefault(lemma.name, (LEMMA, lemma.doc.split("\n")[0]))
    width = max(map(len, seen))
    for kind, title in _TITLES.items():
        told = [f"    {name:<{width}}  {doc}" for name, (its, doc) in seen.items() if its == kind]
        lines += ["", f"  {title}", *told] if told else []
    protocol = entry.outline({}).protocol
    mirrors = entry.mirrors()
    width = max(map(len, mirrors), default=0)
    lines += ["", "  actions, and what they mirror"]
    lines += [f"    {name:<{width}}  {', '.join(real)}".rstrip() for name, real in mirrors.items()]
    lines += ["", "  bugs", *_indented(_lined(protocol.bugs))]
    return "\n".join(lines) + "\n"


def _lined(meanings: Mapping[str, str]) -> list[str]:
    """Names with what is told of each, one below the other."""
    width = max(map(len, meanings), default=0)
    return [f"  {name:<{width}}  {doc}" for name, doc in meanings.items()]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]
