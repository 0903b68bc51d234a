"""The ways in which something happens to users: numbered, each in one line, and one as a story, with each step of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fencepost.checks.questions.answers.remedies import key
from fencepost.checks.questions.answers.ways import Answer, Way, acts_in
from fencepost.checks.reports.answers import about, meanings, plain
from fencepost.checks.reports.front import wrapped
from fencepost.checks.reports.guarantees import Opening
from fencepost.model.counts import count_of
from fencepost.model.releases import Releases
from fencepost.properties.registry import RegistryError

COLUMN = 12
AGAIN = "by a bug that has its line above"
"""What is said of ways by a bug that has its line already."""


@dataclass(frozen=True)
class Numbered:
    """A way with its number, by which --way shows it, and the answer that has it."""

    number: int
    answer: Answer
    way: Way


def numbered(opening: Opening) -> list[Numbered]:
    """Every way of the answers by its number: those that count, then what only an administrator brings about."""
    return [Numbered(number, answer, way) for answer in opening.answers for number, way in answer.numbered]


def listed(opening: Opening, width: int, room: int) -> list[str]:
    """Each way in one line, with its number, below what it comes to. A way by a bug that has a line already is left out. Where
    there is no ``room`` for all, those that cost little and those that need the most faults share a line with their numbers."""
    told, ways, again = dict[str, int](), list[Numbered](), list[int]()
    for each in numbered(opening):
        if each.way.bug is None or told.setdefault(each.way.name, each.number) == each.number:
            ways.append(each)
        else:
            again.append(each.number)
    first = sorted(ways, key=lambda each: (each.answer.matter.minor, bool(acts_in(each.way)), each.way.faults, each.number))
    shown = len(first)
    while len(lines := _of_first(first, shown, again, width)) > room and shown > 1:
        shown -= 1
    return lines


def _of_first(ways: Sequence[Numbered], shown: int, again: Sequence[int], width: int) -> list[str]:
    """The first ways in a line each, and the others by their numbers; ``again`` are those whose bug has its line above."""
    lines = list(_listed(ways[:shown], width))
    left = sorted(each.number for each in ways[shown:])
    for numbers, what in ((left, "more faults, less harm, or an act of yours (--all)"), (again, AGAIN)):
        lines += wrapped(f"     {_ranges(numbers)}: {what}", width, " " * 5) if numbers else []
    return lines


def _listed(ways: Sequence[Numbered], width: int) -> Iterator[str]:
    head = ""
    for each in sorted(ways, key=lambda each: each.number):
        says = f"{each.answer.matter.says}{', only if you act' if acts_in(each.way) else ''}"
        if head != (head := f"{says[0].upper()}{says[1:]}:"):
            yield from wrapped(f"  {head}", width, "    ")
        yield f"{each.number:>3}  {textwrap.shorten(plain(each.way), width - 5, placeholder=' ...')}"


def _ranges(numbers: Sequence[int]) -> str:
    """3, 4, 6 to 8"""
    ranges = list[list[int]]()
    for number in numbers:
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1].append(number)
        else:
            ranges.append([number])
    return ", ".join(f"{each[0]} to {each[-1]}" if len(each) > 2 else ", ".join(map(str, each)) for each in ranges)


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
    remedies = [(n, each) for n, each in enumerate(opening.change_first, 1) if key(way) in each.closes]
    for number, each in remedies:
        says = each.step_for(key(way)).says
        yield from _told("What to do", f"{says} (number {number} of what to change first)", width)
    if not remedies:
        none = "there was no time to search for a remedy" if opening.cut_short else "no remedy was found by searching"
        yield from _told("What to do", f"{none}; see what is known of it below", width)
    whose, how = about(way, releases, chosen.answer.matter.name)
    yield from _told("Whose bug", whose, width)
    yield from _told("How known", how, width)
    yield ""
    checked = way.checked if way.whole is None else way.whole
    meaning = meanings(checked.protocol)
    yield f"What happens, step by step ({checked.entry.name}):"
    for number, step in enumerate(way.run.steps, 1):
        head = f"{number:>4}  {step.action}"
        yield head
        yield from textwrap.wrap(meaning[step.action], width, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _told(what: str, text: str, width: int) -> Iterator[str]:
    head = f"{what:<{COLUMN}}"
    lines = textwrap.wrap(text, width - COLUMN, break_on_hyphens=False, break_long_words=False)
    yield from (f"{head if not place else ' ' * COLUMN}{line}" for place, line in enumerate(lines))
