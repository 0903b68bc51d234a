"""The answers of ``fencepost policy``, and what was done in a simulated run, for people."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from fencepost.model.balance.load_manager import LoadManager, Round
from fencepost.model.balance.selection import Selection
from fencepost.model.balance.simulation.run import Action, Run
from fencepost.model.balance.strategies import names_of
from fencepost.model.balance.wording import percent

WIDTH = 120
UNBROKEN = "\u00a0"


def shortened(text: str, brokers: Collection[str]) -> str:
    """The text with the brokers of Kubernetes by their pods' names; what all their names end with is in one line."""
    text, without = by_pods(text, brokers)
    return f"{text}{without}\n" if without else text


def by_pods(text: str, brokers: Collection[str]) -> tuple[str, str]:
    """The text with the brokers of Kubernetes by their pods' names, and what these are without; empty if nothing is."""
    end = common_end(brokers)
    if not end:
        return text, ""
    for broker in sorted(brokers, key=len, reverse=True):
        text = text.replace(broker, broker.removesuffix(end))
    return text, f"names of brokers are without {end}"


def common_end(brokers: Collection[str]) -> str:
    """What the names of all brokers end with, from the first dot on, if it is the domain of a service of Kubernetes."""
    ends = {broker[broker.find(".") :] for broker in brokers if "." in broker}
    end = next(iter(ends), "")
    return end if len(ends) == 1 and ".svc" in end and all(broker.endswith(end) for broker in brokers) else ""


def rounds_text(rounds: Sequence[Round], files: Sequence[Path], manager: LoadManager) -> str:
    """One paragraph for each round: what is done, then why."""
    heading = names_of(manager)
    paragraphs = [_round_text(done, file) for done, file in zip(rounds, files, strict=True)]
    return "\n".join([f"{heading}\n", *paragraphs])


def _round_text(done: Round, file: Path) -> str:
    lines = [f"{file}"]
    for broker, bundles in done.unload.items():
        lines += [f"  unload from {broker}: {bundle} {_where(done, bundle)}".rstrip() for bundle in bundles]
    if not done.unload:
        lines.append("  unload nothing")
    for split in done.splits:
        cuts = "at an unknown place" if split.boundaries is None else "at " + ", ".join(f"0x{c:08x}" for c in split.boundaries)
        lines.append(f"  split {split.bundle} {cuts}")
    lines.append("  why")
    lines += _values("usage", done.usage) + _values("average", done.averages)
    return "\n".join([*lines, *(f"    {reason}" for reason in done.why)]) + "\n"


def _values(name: str, fractions: Mapping[str, float]) -> list[str]:
    """Fractions by broker, in as many lines as they need."""
    if not fractions:
        return []
    end = common_end(fractions)
    named = ((broker.removesuffix(end), percent(value)) for broker, value in fractions.items())
    values = ", ".join(f"{broker} {value}".replace(" ", UNBROKEN) for broker, value in named)
    lines = textwrap.wrap(f"{name}: {values}", WIDTH, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False)
    return [line.replace(UNBROKEN, " ") for line in lines]


def _where(done: Round, bundle: str) -> str:
    brokers = done.destinations.get(bundle)
    if brokers is None:
        return ""  # nobody asked where it may go
    if not brokers:
        return "(stays after all)"
    return f"to {brokers[0]}" if len(brokers) == 1 else f"to any of {', '.join(brokers)}"


def placement_text(bundle: str, selection: Selection) -> str:
    """What each filter leaves, and what is selected."""
    lines = [bundle]
    lines += [f"  {name}: {', '.join(brokers) or 'none'}" for name, brokers in selection.candidates.items()]
    lines += [f"  {reason}" for reason in selection.why]
    chosen = ", ".join(selection.any_of)
    lines.append(f"  selected: {'any of ' if len(selection.any_of) > 1 else ''}{chosen or 'none'}")
    return "\n".join(lines) + "\n"


def timeline(run: Run) -> list[str]:
    """A line for each action: hours and minutes from the beginning, what was done, and why."""
    return [f"{action.minute // 60:>3}:{action.minute % 60:02d}  {_line(action)}" for action in run.actions]


def _line(action: Action) -> str:
    if action.kind in ("crash", "stop", "start"):
        return f"{action.kind:<7} {action.source}"
    where = " -> ".join(broker for broker in (action.source, action.destination) if broker)
    cuts = " at " + ", ".join(f"0x{cut:08x}" for cut in action.boundaries) if action.boundaries else ""
    why = f" ({action.reason})" if action.reason else ""
    refused = f" REFUSED: {action.refused}" if action.refused else ""
    return f"{action.kind:<7} {action.bundle}{cuts} {where}{why}{refused}"
