"""The ways in which something happens to users: numbered, each in one line, and one as a story, with each step of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.questions.answers.remedies import Remedy
from fencepost.checks.questions.answers.ways import Answer, Way, acts_in
from fencepost.checks.reports.answers import about, meanings, plain
from fencepost.checks.reports.front import wrapped
from fencepost.checks.reports.guarantees import Opening
from fencepost.model.counts import count_of
from fencepost.model.releases import Releases

COLUMN = 12
BESIDES = "Known bugs besides, which cause none of this"
AGAIN = "by a bug that has its line above"
"""What is said of ways by a bug that has its line already."""


@dataclass(frozen=True)
class Numbered:
    """A way with its number, by which --way shows it, and the answer that has it."""

    number: int
    answer: Answer
    way: Way


def numbered(answers: Sequence[Answer]) -> list[Numbered]:
    """Every way of the answers by its number: those that count, then what only an administrator brings about."""
    return [Numbered(number, answer, way) for answer in answers for number, way in answer.numbered]


def besides(answers: Sequence[Answer], everything: Sequence[Checked]) -> list[str]:
    """The known bugs that were found, are not accepted and cause none of the ways, each once."""
    told = {each.way.name for each in numbered(answers)}
    verdicts = (verdict for checked in everything for verdict in checked.verdicts)
    bugs = dict.fromkeys(v.property.name for v in verdicts if v.verdict == "known bug" and v.accepted is None)
    return [name for name in bugs if name not in told]


def listed(opening: Opening, width: int, room: int) -> list[str]:
    """Each way in one line, with its number, below what it comes to. A way by a bug that has a line already is left out. Where
    there is no ``room`` for all, those that cost little and those that need the most faults share a line with their numbers."""
    told, ways, again = dict[str, int](), list[Numbered](), dict[int, int]()
    for each in numbered(opening.answers):
        if each.way.bug is None or told.setdefault(each.way.name, each.number) == each.number:
            ways.append(each)
        else:
            again[each.number] = told[each.way.name]
    first = sorted(ways, key=lambda each: (each.answer.matter.minor, bool(acts_in(each.way)), each.way.faults, each.number))
    shown = len(first)
    while len(lines := _of_first(first, shown, again, width)) > room and shown > 1:
        shown -= 1
    return lines


def _of_first(ways: Sequence[Numbered], shown: int, again: Mapping[int, int], width: int) -> list[str]:
    """The first ways in a line each, and the others by their numbers; ``again`` has those by the bug of another way."""
    lines = list(_listed(ways[:shown], width))
    above = {each.number for each in ways[:shown]}
    left = sorted([*(each.number for each in ways[shown:]), *(number for number, first in again.items() if first not in above)])
    told = [number for number, first in again.items() if first in above]
    for numbers, what in ((left, "more faults, less harm, or an act of yours (--all)"), (told, AGAIN)):
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


def story(chosen: Numbered, heading: str, remedy: Remedy | None, releases: Releases, width: int, *, cut_short: str) -> str:
    """A way of a cluster with that heading, and the ``remedy`` that was found by searching; ``cut_short`` says why
    none was searched for."""
    return "\n".join(_lines(chosen, heading, _to_do(chosen.way, remedy, cut_short=cut_short), releases, width)) + "\n"


def _to_do(way: Way, remedy: Remedy | None, *, cut_short: str) -> str:
    """What to do against a way."""
    if remedy is not None:
        brings = f"it brings {count_of(len(remedy.brings), 'other way')}" if remedy.brings else ""
        terms = "; ".join(filter(None, [remedy.cost, brings]))
        return f"{remedy.says}{f' ({terms})' if terms else ''}"
    acts = acts_in(way)
    never = f"if that never happens here, --never {','.join(acts)} leaves it out; " if acts else ""
    none = f"{cut_short} for a remedy" if cut_short else "no remedy was found by searching"
    return f"{never}{none}; see what is known of it below"


def _lines(chosen: Numbered, heading: str, to_do: str, releases: Releases, width: int) -> Iterator[str]:
    way = chosen.way
    yield from textwrap.wrap(heading, width, subsequent_indent="  ")
    yield ""
    yield from textwrap.wrap(f"Way {chosen.number}: {plain(way)}", width)
    yield ""
    yield from _told("You see", chosen.answer.matter.says, width)
    yield from _told("It takes", ", ".join(way.needs) or "nothing else", width)
    if way.open:
        yield from _told("Not known", f"what else must coincide: {way.open}", width)
    if way.bug is not None and way.bug.costs:
        yield from _told("It costs", way.bug.costs, width)
    yield from _told("What to do", to_do, width)
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
