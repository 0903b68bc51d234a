"""One way in which something happens to users, told as a story: what happens, what it takes, what to do, and each step."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from fencepost.checks.questions.remedies import key
from fencepost.checks.questions.whole import verdict_of
from fencepost.checks.reports.answers import about
from fencepost.checks.reports.front import Numbered, numbered, plain
from fencepost.checks.reports.guarantees import Opening
from fencepost.model.counts import count_of
from fencepost.model.releases import Releases
from fencepost.properties.registry import RegistryError

COLUMN = 12


def story(number: int, opening: Opening, releases: Releases, width: int) -> str:
    """The way of that number. RegistryError if there is none."""
    ways = numbered(opening)
    chosen = next((each for each in ways if each.number == number), None)
    if chosen is None:
        raise RegistryError(f"there is no way {number}: this cluster has {count_of(len(ways), 'way')}")
    return "\n".join(_lines(chosen, opening, releases, width)) + "\n"


def _lines(chosen: Numbered, opening: Opening, releases: Releases, width: int) -> Iterator[str]:
    way = chosen.way
    yield from textwrap.wrap(opening.heading, width, subsequent_indent="  ")
    yield ""
    yield from textwrap.wrap(f"Way {chosen.number}: {plain(way)}", width)
    yield ""
    yield from _told("You see", chosen.answer.matter.says, width)
    yield from _told("It takes", ", ".join(way.needs) or "nothing else", width)
    if way.open:
        yield from _told("Not known", f"what else must coincide: {way.open}", width)
    if way.bug is not None and way.bug.costs:
        yield from _told("It costs", way.bug.costs, width)
    remedies = [(n, each.remedy.says) for n, each in enumerate(opening.change_first.remedies, 1) if key(way) in each.closes]
    for number, says in remedies:
        yield from _told("What to do", f"{says} (number {number} of what to change first)", width)
    if not remedies:
        yield from _told("What to do", "no remedy was found by searching; see what is known of it below", width)
    whose, how = about(way, releases, chosen.answer.matter.name)
    yield from _told("Whose bug", whose, width)
    yield from _told("How known", how, width)
    yield ""
    checked = way.checked if way.whole is None else way.whole
    trace = (way.verdict if way.whole is None else verdict_of(way.whole)).run
    meaning = {action.label: action.doc.partition("\n")[0] for action in checked.protocol.actions}
    yield f"What happens, step by step ({checked.entry.name}):"
    for number, step in enumerate(trace.steps, 1):
        head = f"{number:>4}  {step.action}"
        yield head
        yield from textwrap.wrap(meaning[step.action], width, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _told(what: str, text: str, width: int) -> Iterator[str]:
    head = f"{what:<{COLUMN}}"
    lines = textwrap.wrap(text, width - COLUMN, break_on_hyphens=False, break_long_words=False)
    yield from (f"{head if not place else ' ' * COLUMN}{line}" for place, line in enumerate(lines))
