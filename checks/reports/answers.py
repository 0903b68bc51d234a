"""The first lines of a report: what users ask first, answered by yes or no, and each way in which it happens."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from fencepost.checks.questions.answers.ways import Answer, Way
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.reports.bugs_on_code import compared, seen_anywhere
from fencepost.checks.reports.finished import upstream
from fencepost.checks.settings.switches import SwitchedOn
from fencepost.model.counts import count_of
from fencepost.model.language import Protocol
from fencepost.model.releases import SYSTEMS, Releases
from fencepost.properties.bugs import Bug
from fencepost.properties.registry import Entry, written

COLUMN = 41
INDENT = 5
NUMBERS = re.compile(r"^(\w*#\d+, )*\w*#\d+: ")
"""The issues with which a bug's description begins; they are in another line of their own."""

SURVIVES_NOTHING = "nothing that was asked about"

FAULTS = ("no", "one", "two", "three", "four")


def as_text(answer: Answer, releases: Releases, width: int) -> str:
    """The answer for a person: a line with yes or no, and some for each way."""
    lines = _wrapped(f"{f'{answer.matter.asks} ':<{COLUMN}}", headline(answer), width)
    for number, way in answer.numbered:
        lines += _wrapped(f"{number:>3}  ", in_short(way), width)
        for line in about(way, releases, answer.matter.name):
            lines += _wrapped(" " * INDENT, line, width)
    for sentence in (*left_out(answer), *ordered(answer), *covered(answer)):
        lines += _wrapped("  ", sentence, width)
    return "\n".join(lines) + "\n"


def in_short(way: Way) -> str:
    """What a way is, and what must coincide."""
    needs = f"Needs {', '.join(way.needs)}" if way.needs else "Needs nothing else"
    more = f", and it is not known what else: {way.open}" if way.open else ""
    return f"{plain(way)} {needs}{more}."


def plain(way: Way) -> str:
    """What happens, as people say it."""
    said = (way.bug.plain if way.bug is not None else "") or in_the_model(way)
    return f"{said[0].upper()}{said[1:].removesuffix('.')}."


def meanings(protocol: Protocol) -> dict[str, str]:
    """What each action is, by its label: the first paragraph that is written on it, in one line."""
    return {action.label: " ".join(action.doc.partition("\n\n")[0].split()) for action in protocol.actions}


def in_the_model(way: Way) -> str:
    """What happens in the words of the model, of a bug where it is."""
    return NUMBERS.sub("", way.what)


def left_out(answer: Answer) -> Iterator[str]:
    """The ways that no report has, by name: of known bugs that are accepted, and of events that do not happen here."""
    for ways, why in ((answer.sorted.accepted, "accepted"), (answer.sorted.never, "does not happen here")):
        if ways:
            yield f"{why}: {count_of(len(ways), 'way')}: {', '.join(way.name for way in ways)}"


def covered(answer: Answer) -> Iterator[str]:
    """By which known bugs of ownership it does not happen, and why not."""
    bugs = dict[tuple[str, ...], list[str]]()
    for name, protections in answer.covered.items():
        bugs.setdefault(protections, []).append(name)
    for protections, names in bugs.items():
        yield (
            f"not by {', '.join(names)}, as long as {', '.join(protections[:-1])} and {protections[-1]}"
            if (len(protections) > 1)
            else f"not by {', '.join(names)}, as long as {protections[0]}"
        )


def survival(rows: Sequence[Established], width: int) -> str:
    """What a cluster survives, for a person: each of the events that were asked about, with how many."""
    events = ", ".join(survived(rows)) or SURVIVES_NOTHING
    return "\n".join(_wrapped(f"{'What it survives:':<{COLUMN}}", events, width)) + "\n"


def survived(rows: Sequence[Established]) -> Iterator[str]:
    """The events that a cluster survives, each with how many of them, in words: of several rows the fewest. What it survives
    none of is among the answers; of what one of the rows leaves open nothing is said."""
    least = dict[str, tuple[int, str]]()
    for row in rows:
        figure, event = row.figure or 0, row.guarantee.event
        if event:
            least[event] = min(least.get(event, (figure + 1, "")), (figure, row.guarantee.counted(figure)))
    return iter([words for figure, words in least.values() if figure])


def headline(answer: Answer) -> str:
    """Yes or no, in how many ways, and how far a *no* goes; first whether settings order it."""
    if not answer.orders:
        return _unordered(answer)
    apart = _unordered(answer)
    return f"Yes, as you ordered by {count_of(len(answer.orders), 'setting')}. Apart from that: {apart[0].lower()}{apart[1:]}"


def _unordered(answer: Answer) -> str:
    gaps = f" Not known: {'; '.join(answer.gaps)}." if answer.gaps else ""
    if answer.unordered == "unknown":
        return f"Unknown.{gaps}"
    if answer.unordered == "no":
        return f"No, as far as is modelled: {_searched(answer)}."
    ways, lasting = answer.sorted, answer.lasting
    passing = [way for way in ways.count if way not in lasting]
    counted = [way for way in ways.count if way in lasting]
    parts = []
    if passing:
        parts.append(f"For a while, with {' or '.join(dict.fromkeys(need for way in passing for need in way.needs))}.")
    if counted:
        parts.append(f"{'For good' if passing else 'Yes'}, in {_ways(counted)}.")
    elif passing and not lasting and not gaps:
        parts.append(f"Not for good: {_searched(answer)}.")
    if ways.only_if:
        number = f"{len(ways.only_if)} more" if parts else count_of(len(ways.only_if), "modelled way")
        parts.append(f"Only if {' or '.join(ways.acts)}: {number}.")
    if ways.left_out:
        number = count_of(len(ways.left_out), "way")
        parts.append(f"{number} left out." if parts else f"{'Unknown' if gaps else 'No'}, except in {number} left out.")
    return " ".join(parts) + gaps


def ordered(answer: Answer) -> Iterator[str]:
    """What settings order, each with the file and the line."""
    return (f"as you ordered: {each.says}; {each.settings}" for each in answer.orders)


def _ways(ways: Sequence[Way]) -> str:
    """How many there are, by the faults that they need."""
    several = count_of(len(ways), "modelled way")
    counts = Counter(way.faults for way in ways if not way.open)
    if list(counts.values()) == [len(ways)]:
        return f"{several}, {'which needs' if len(ways) == 1 else 'each needs'} {faults_in_words(*counts)}"
    parts = list[str]()
    for faults, count in sorted(counts.items()):
        words = faults_in_words(faults)
        parts.append(f"{count} need{'s' if count == 1 else ''} {words.split()[0] if parts else words}")
    if count := sum(bool(way.open) for way in ways):
        parts.append(f"of {count} it is not known how many they need")
    return f"{several}: {', '.join(parts)}"


def faults_in_words(faults: int) -> str:
    """How many they are: no fault, one fault, two faults."""
    return f"{FAULTS[faults] if faults < len(FAULTS) else faults} fault{'s' if faults > 1 else ''}"


def _searched(answer: Answer) -> str:
    """What was searched to the end, and found nothing."""
    events = [row.guarantee.counted(row.figure) if row.guarantee.event else row.sentence for row in answer.shown if row.figure]
    number = len(answer.searched.keys() - {*answer.by_design})
    parts = [
        f"not with {', '.join(dict.fromkeys(events))}" if events else "",
        f"not by {count_of(number, 'known bug')}, each tried alone" if number else "",
        "not by the settings alone" if len(answer.searched) > number else "",
    ]
    told = f"; {count_of(len(answer.told), 'known bug')} by which a message is lost: see there" if answer.told else ""
    return " and ".join(filter(None, parts)) + told


def about(way: Way, releases: Releases, section: str) -> Iterator[str]:
    """What there is to know of a way: whose bug it is and what in the code, what avoids it in this section of the answers,
    whether it was seen, and how to see its run."""
    run = f"run of {count_of(len(way.steps), 'step')}: {command(way)}"
    if way.bug is None:
        sentence = way.row.guarantee.sentence(way.row.limit) if way.row and way.row.limit else "the settings allow it"
        yield f"no bug: {sentence}{f'; avoided by {way.avoided_by}' if way.avoided_by else ''}"
        yield f"a run of the model, not tried on real code; {run}"
        return
    bug = way.bug
    issues = ", ".join(upstream(bug)) or "not reported"
    yield f"known bug {way.name} of {_present(bug)}: {in_the_model(way)}; {issues}; {bug.fix}{_avoided(bug, section)}"
    yield f"{', '.join(_sightings(way, bug, releases))}; {run}"


def _avoided(bug: Bug, section: str) -> str:
    """What avoids a bug in a section of the answers, or that the setting which avoids it elsewhere does not."""
    if bug.avoided_by is None:
        return ""
    avoids = bug.avoided_by.avoids(section)
    return f"; avoided by {bug.avoided_by.where_it_avoids()}" if avoids else f"; {bug.avoided_by.setting} does not avoid this"


def _present(bug: Bug) -> str:
    numbers = bug.present
    through = numbers[0] if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    return f"{SYSTEMS[bug.project]} {through}"


def _sightings(way: Way, bug: Bug, releases: Releases) -> Iterator[str]:
    """Where it was seen, on the classes of the release or of another or by a command that shows it, or that it was read
    only; and the newest release in which its methods were compared, which shows nothing of a bug that nobody saw."""
    number = bug.number(releases)
    seen_on = seen_anywhere(way.name)
    if not seen_on and not bug.reproduced_by:
        yield "read only, not seen on real code"
    if seen_on:
        release = number if number in seen_on else list(seen_on)[-1]
        yield f"seen on the classes of {SYSTEMS[bug.project]} {release}"
    row = compared(way.checked.entry.name).get(way.name)
    if row is not None:
        yield f"its methods compared up to {row.release}"
    if bug.reproduced_by:
        from fencepost.checks.conformance.reproductions.registry import REPRODUCTIONS  # few ways have one

        first, *others = REPRODUCTIONS[bug.reproduced_by].releases
        shown, option = (number, f" --release {number}") if number in others else (first, "")
        yield f"shown on {shown} by fencepost reproduce {bug.reproduced_by}{option}"


def command(way: Way) -> str:
    """The command that prints such a run, step by step."""
    entry, protocol = way.checked.entry, way.checked.protocol
    if way.whole is not None:
        names = [way.name] if way.bug is not None else way.whole.protocol.active
        bugs = " ".join(f"--bug {name}" for name in names)
        return f"fencepost check {way.whole.entry.name} {bugs} --property {way.whole.verdicts[0].property.name}"
    if not isinstance(entry, Entry) or (way.bug is None and way.row is not None):
        return f"see the guarantee {way.name}"
    if way.bug is None:
        values = " ".join(f"{name}={written(value)}" for name, value in way.checked.instance.parameters.items())
        return f"fencepost check {entry.name} --property {way.violates} --set {values}"
    shown = f"fencepost check {entry.name} --bug {way.name} --property {way.violates}"
    if way.row is not None:
        return shown
    usual = {parameter.name: parameter.default for parameter in entry.parameters} | dict(entry.shown_by[way.name])
    other = {name: value for name, value in protocol.parameters.items() if name in usual and usual[name] != value}
    changes = "".join(f" {name}={written(value)}" for name, value in other.items())
    return f"{shown} --set{changes}" if changes else shown


def as_json(answers: Sequence[Answer], releases: Releases) -> list[dict[str, object]]:
    """The answers for a program."""
    return [
        {
            "question": answer.matter.name,
            "text": answer.matter.asks,
            "answer": answer.value,
            "headline": headline(answer),
            "ways": [_way(way, releases, answer) for way in answer.ways],
            "ordered": [{"name": each.feature.name, "text": each.says, **switched(each)} for each in answer.orders],
            "shown": [row.guarantee.name for row in answer.shown],
            "searched": sorted(answer.searched),
            "told_elsewhere": sorted(answer.told),
            "open": list(answer.gaps),
            "covered": {name: list(protections) for name, protections in answer.covered.items()},
        }
        for answer in answers
    ]


def switched(found: SwitchedOn) -> dict[str, object]:
    """The settings that switch something on, for a program."""
    settings = [
        {
            "key": each.name,
            "value": each.value,
            "file": str(each.place.file) if each.place else None,
            "line": each.place.line if each.place else None,
        }
        for each in found.by
    ]
    return {"settings": settings}


def _way(way: Way, releases: Releases, answer: Answer) -> dict[str, object]:
    bug, section = way.bug, answer.matter.name
    avoidance = bug.avoided_by if bug else None
    avoided_by = way.avoided_by if avoidance is None else avoidance.where_it_avoids() if avoidance.avoids(section) else ""
    return {
        "name": way.name,
        "number": next((number for number, each in answer.numbered if each is way), None),
        "plain": plain(way),
        "text": way.what,
        "faults": way.faults,
        "needs": list(way.needs),
        "open": way.open or None,
        "known_bug": bug is not None,
        "project": bug.project if bug else None,
        "present": list(bug.present) if bug else [],
        "fixed": bug.fixed or None if bug else None,
        "avoided_by": avoided_by or None,
        "upstream": list(upstream(bug)) if bug else [],
        "seen": list(_sightings(way, bug, releases)) if bug else [],
        "run": way.steps,
        "command": command(way),
    }


def _wrapped(head: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False, break_long_words=False
    )
