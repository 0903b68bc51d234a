"""``fencepost list``: what there is to check."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Sequence

from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, RegistryError, find
from fencepost.properties.theorems import Theory
from fencepost.properties.theories import THEORIES

_TITLES = {
    "always": "must always hold",
    "step": "must hold of every step",
    "deadlock": "must not come to a standstill",
    "leads_to": "must come about in the end",
    "sometimes": "must be possible",
}


def listing(names: Sequence[str]) -> str:
    """The protocols and theories by name (all, if none is named) with their parts; RegistryError if one is unknown."""
    everything: dict[str, Entry | Theory] = {**PROTOCOLS, **THEORIES}
    chosen = [find(name, everything) for name in names] or list(everything.values())
    return "\n".join(_theory(entry) if isinstance(entry, Theory) else _protocol(entry) for entry in chosen)


def mirrored(method: str) -> str:
    """The actions that mirror a method of the real system, by its name or a part of it; RegistryError if none does."""
    found = []
    for entry in PROTOCOLS.values():
        for action, names in entry.outline({}).protocol.mirrors.items():
            found += [f"{entry.name}  {action}  {name}" for name in names if method.lower() in name.lower()]
    if not found:
        raise RegistryError(f"no action mirrors a method with {method!r} in its name; `fencepost list` shows what they mirror")
    return "\n".join(found) + "\n"


def _theory(theory: Theory) -> str:
    theorems = theory.theorems(frozenset())
    width = max(len(name) for name in (*theory.defects, *(t.name for t in theorems)))
    lines = [f"{theory.name}: {theory.summary}", "", "  theorems", f"    ({theory.reach})"]
    lines += [f"    {t.name:<{width}}  {t.doc.splitlines()[0]}" for t in theorems]
    lines += ["", "  defects"] + [f"    {name:<{width}}  {doc}" for name, doc in theory.defects.items()]
    return "\n".join(lines) + "\n"


def _protocol(entry: Entry) -> str:
    lines = [f"{entry.name}: {entry.summary}", "", "  parameters"]
    lines += [f"    {parameter}" for parameter in entry.parameters]
    meant = (inspect.getdoc(entry.function) or "").replace("``", "")
    lines += ["", *textwrap.indent(meant, "    ").splitlines(), "", "  sizes"]
    for size, instances in (*entry.sizes.items(), ("teeth", entry.mutated)):
        for instance in instances:
            by = f" (by {instance.by})" if instance.by else ""
            values = " ".join(f"{name}={value}" for name, value in instance.parameters.items())
            lines.append(f"    {size:<9} {instance.name}{by}: {values}")
    # every property that some instance of the smallest size has, each once: larger ones have no others
    seen: dict[str, tuple[str, str]] = {}
    for instance in next(iter(entry.sizes.values())):
        for p in entry.outline(instance.parameters).properties:
            strict = " [negative control in some instances]" if p.strict else ""
            if p.name not in seen or strict:
                seen[p.name] = (p.kind, p.doc.split("\n")[0] + strict)
    width = max(map(len, seen))
    for kind, title in _TITLES.items():
        lines += ["", f"  {title}"]
        lines += [f"    {name:<{width}}  {doc}" for name, (its, doc) in seen.items() if its == kind]
    protocol = entry.outline({}).protocol
    width = max(map(len, protocol.mirrors), default=0)
    lines += ["", "  actions, and what they mirror"]
    lines += [f"    {name:<{width}}  {', '.join(real)}".rstrip() for name, real in protocol.mirrors.items()]
    width = max(map(len, protocol.defects), default=0)
    lines += ["", "  defects"] + [f"    {name:<{width}}  {doc}" for name, doc in protocol.defects.items()]
    return "\n".join(lines) + "\n"
