"""The first screen of a check of a cluster: whether messages can be lost, what to change first, and what was not judged.

It has at most 24 lines of 80 columns where the terminal has no more. Everything on it is in the answers, which --all prints.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fencepost.checks.questions.answers.answering import Group
from fencepost.checks.questions.answers.remedies import Remedy, key
from fencepost.checks.questions.answers.remedies import in_words as closes_in_words
from fencepost.checks.questions.answers.ways import Answer, Sorted, Way
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.reports.answers import faults_in_words, headline, survived
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.checks.settings.switches import PAGE
from fencepost.model.counts import count_of
from fencepost.model.counts import listed as in_one_line
from fencepost.traces.wording.styles import BOLD, PLAIN, RED

SCREEN = 24
"""Lines of a screen."""
SECOND = 30
"""Lines of the second one, with the last line of the run."""
MOST_NAMES = 3
"""Namespaces of a group that are named."""
LONG = 55
"""Characters of a remedy with what it costs that a row has room for."""
MOST_CHANGES = 6
"""What to change first: the table below names the numbers, so that a row is left out only where there are very many."""
MOST_ROWS = 4
"""Rows of a table; the others are counted."""

KILLS = "broker_crashes"
"""The guarantee about kills of a broker."""

ALSO = {
    "backlog": "missed by a subscription",
    "service": "out of service for good",
    "order": "twice or out of order",
    "owners": "two owners for good",
    "elsewhere": "missing in the other cluster",
    "again": "delivered again",
}
"""What each of the other questions is about, in a few words."""


def heading(cluster: Cluster, how_known: str, *, bookies_supposed: bool = False) -> str:
    """Which cluster it is, with what was assumed of it marked so."""
    how = f" ({how_known})" if how_known else ""
    count = count_of(cluster.bookies, "bookie") + (" (assumed)" if cluster.assumed else "")
    sizes = f"{cluster.ensemble}/{cluster.write_quorum}/{cluster.ack_quorum}"
    assumed = "" if any(taken.place for taken in cluster.settings.ledger.taken) else " (Pulsar's default)"
    bookkeeper = f"BookKeeper {cluster.releases.bookkeeper}" + (" (assumed)" if bookies_supposed else "")
    return f"{cluster.file}: Pulsar {cluster.releases.pulsar}{how}, {bookkeeper}, {count}, {sizes}{assumed}"


LEAST = {"changes": 1, "rows": MOST_ROWS - 1, "also": 2, "namespaces": 1, "survives": 1, "happens": 1}
BLOCKS = (
    *(("also", 3), ("changes", 2), ("namespaces", 2), ("changes", 4), ("rows", MOST_ROWS)),
    *(("namespaces", 3), ("survives", 2), ("happens", 2), ("survives", 3)),
)
"""What may take more lines for each row than ``LEAST``, or more rows, the most important first."""


def front(opening: Opening, width: int, *, colour: bool = False, headed: bool = True) -> str:
    """The first screen: a row of a block takes several lines, or one where it would be more than a screen. ``headed`` has it
    begin with the heading, for which there is room anyway."""
    head, most = wrapped(opening.heading, width), LEAST
    lines = list(_lines(opening, width, most, colour=colour))
    for block, rows in BLOCKS:
        wider = most | {block: rows}
        more = list(_lines(opening, width, wider, colour=colour))
        if len(head) + len(more) <= SCREEN:
            lines, most = more, wider
    return "\n".join([*(head if headed else []), *lines]) + "\n"


def _lines(opening: Opening, width: int, most: Mapping[str, int], *, colour: bool) -> Iterator[str]:
    lost = opening.answers[0]
    ways = lost.sorted
    yield from [_emphasised(line, ways, colour) for line in wrapped(verdict(opening), width)]
    yield from wrapped(_kills(opening.now.rows), width) if _kills(opening.now.rows) else []
    yield from _changes(opening, width, most["changes"])
    yield from _happens(ways, opening, width, most)
    also = list(_also(opening))
    yield from listed("Also: ", also, "; ", width, most["also"]) if also else []
    yield from _namespaces(opening, width, most["namespaces"])
    survives = list(survived(_untold(opening.now.rows))) or ["nothing that was asked about"]
    yield from listed("Survives: ", survives, ", ", width, most["survives"])
    yield from wrapped(_never(opening.now.rows), width, most=3)
    judged = [f"{each.feature.name} ({each.place.file.name}:{each.place.line})" for each in opening.not_judged]
    yield from listed("NOT JUDGED: ", judged or [f"see {PAGE}"], ", ", width, 2)


def verdict(opening: Opening) -> str:
    """Whether a message can be lost, in one sentence."""
    lost = opening.answers[0]
    ways = lost.sorted
    number = len(lost.orders)
    ordered = f" {count_of(number, 'setting')} of yours order{'s' if number == 1 else ''} some of it." if number else ""
    if ways.count:
        fewest, first = fewest_of(ways.count)
        together = {_needs(way) for way in first}
        only = (
            f"only {', '.join(together.pop()) or 'time'}"
            if len(together) == 1
            else f"{'only ' if fewest else ''}{faults_in_words(fewest)}"
        )
        need = "which needs" if len(ways.count) == 1 else f"{len(first)} need{'s' if len(first) == 1 else ''}"
        some = f"{count_of(len(ways.count), 'way')}{',' if len(ways.count) == 1 else ';'} {need} {only}"
        return f"MESSAGES CAN BE LOST: {some}.{ordered}"
    if ways.only_if:
        return f"MESSAGES CAN BE LOST only if {', '.join(ways.acts)}: {count_of(len(ways.only_if), 'way')}.{ordered}"
    if lost.unordered == "unknown" or lost.gaps:
        cut = f": {count_of(len(lost.gaps), 'gap')}, the first is {lost.gaps[0]}" if lost.gaps else ""
        return f"NOT KNOWN whether messages can be lost{cut}.{ordered}"
    if ways.left_out:
        return f"NO WAY TO LOSE A MESSAGE, except {len(ways.left_out)} left out.{ordered}"
    return f"NO WAY TO LOSE A MESSAGE was found. {headline(lost)}"


def _emphasised(line: str, ways: Sorted, colour: bool) -> str:
    return f"{BOLD}{RED if ways.count else ''}{line}{PLAIN}" if colour else line


def _kills(rows: Sequence[Established]) -> str:
    """What a killed broker alone costs, which happens most."""
    row = next((row for row in rows if row.guarantee.name == KILLS), None)
    if row is None or row.figure is None:
        return ""
    if row.figure == 0:
        return "A killed broker (OOM) alone can lose a message."
    return f"A killed broker (OOM) alone loses nothing ({count_of(row.figure, 'kill')} searched)."


def _untold(rows: Sequence[Established]) -> list[Established]:
    """The guarantees except those about kills, of which a line of their own tells."""
    told = {row.guarantee.event for row in rows if row.guarantee.name == KILLS and _kills(rows)}
    return [row for row in rows if not row.guarantee.event or row.guarantee.event not in told]


def _never(rows: Sequence[Established]) -> str:
    """What can never come about with these settings, with what to do: the first in full, the others by name."""
    never = [row for row in rows if row.guarantee.never and row.limit == 0]
    if not never:
        return ""
    first, *others = never
    also = f" (so too {', '.join(row.guarantee.name for row in others)}: --all)" if others else ""
    return f"{first.sentence[0].upper()}{first.sentence[1:]}{also}"


def _changes(opening: Opening, width: int, most: int) -> Iterator[str]:
    if not opening.change_first:
        yield from wrapped(f"Change first: not known, {opening.cut_short} at what may help", width) if opening.cut_short else ()
        return
    rows = list[Row]()
    for number, each in enumerate(opening.change_first[:MOST_CHANGES], 1):
        cost = f" ({each.terms})" if each.terms else ""
        says = each.says if most == 1 and len(each.says + cost) > LONG else each.says + cost
        rows.append((f"{number:>3} ", says, closes_in_words(each)))
    yield from table("Change first", "closes", rows, width, most)
    if opening.after is not None:
        yield from wrapped(f"    {left_after(opening.change_first, opening.after)}", width, "    ")


def left_after(remedies: Sequence[Remedy], after: Answer) -> str:
    """What is left once every remedy that can be searched with is taken."""
    numbers = [str(n) for n, each in enumerate(remedies, 1) if each.kind not in ("runbook", "upgrade")]
    left, taken = after.sorted.count, in_one_line(numbers)
    if not left:
        end = "some of it is not known" if after.gaps else "no way is left"
        return f"after {taken}, {end}"
    fewest, first = fewest_of(left)
    if len(left) == 1:
        return f"after {taken}, 1 way is left, which needs {faults_in_words(fewest)}"
    need = f"which need at least {faults_in_words(fewest)}" if fewest else f"{len(first)} of which need no fault"
    return f"after {taken}, {len(left)} ways are left, {need}"


def _happens(ways: Sorted, opening: Opening, width: int, sizes: Mapping[str, int]) -> Iterator[str]:
    most, rows = sizes["happens"], sizes["rows"]
    groups = dict[tuple[str, ...], list[Way]]()
    for way in sorted(ways.count, key=lambda way: way.faults):
        groups.setdefault(_needs(way), []).append(way)
    if not (groups or ways.only_if or ways.never or ways.accepted):
        return
    lines = list[Row]()
    for needs, some in list(groups.items())[:rows]:
        lines.append(("  ", ", ".join(needs) or "nothing else", f"{len(some):>4}  {_closed_by(some, opening)}"))
    if rest := [way for _, some in list(groups.items())[rows:] for way in some]:
        lines.append(("  ", "other faults together", f"{len(rest):>4}  {_closed_by(rest, opening)}"))
    if ways.only_if:
        words = f"only if {' or '.join(ways.acts)}"
        lines.append(("  ", words, f"{len(ways.only_if):>4}  --never"))
    if ways.never:
        lines.append(("  ", "left out, since it does not happen here (--never)", f"{len(ways.never):>4}"))
    if ways.accepted:
        lines.append(("  ", "accepted, by the profile or the baseline", f"{len(ways.accepted):>4}"))
    yield from table("What has to happen", "ways  remedy", lines, width, most)


def _needs(way: Way) -> tuple[str, ...]:
    """What a way needs, as one puts it who does not count."""
    return tuple(re.sub("^(1|an?) ", "a ", need) for need in way.needs)


def _closed_by(ways: Sequence[Way], opening: Opening) -> str:
    """The numbers of the remedies that close some of these ways."""
    keys = {key(way) for way in ways}
    numbers = [str(n) for n, each in enumerate(opening.change_first, 1) if each.closes & keys]
    closed = {each for tried in opening.change_first for each in tried.closes} & keys
    if not closed:
        return "not known" if opening.cut_short else "none known"
    left = len(keys - closed)
    return f"{', '.join(numbers)} ({left} open)" if left else ", ".join(numbers)


def _also(opening: Opening) -> Iterator[str]:
    for answer in opening.answers[1:]:
        ways = [way for way in answer.sorted.count if way in answer.lasting]
        if ways:
            yield f"{ALSO[answer.matter.name]}: {count_of(len(ways), 'way')}"
        elif answer.orders:
            yield f"{ALSO[answer.matter.name]}, as you ordered"
        elif answer.gaps:
            yield f"{ALSO[answer.matter.name]}: not known"


def _namespaces(opening: Opening, width: int, most: int) -> Iterator[str]:
    """The namespaces whose answer is another one, and in one line those that are as the cluster."""
    others = [group for group in opening.namespaces if is_other(group)]
    for group in others[:MOST_ROWS]:
        yield from wrapped(of_namespaces(group, opening), width, most=most)
    if rest := others[MOST_ROWS:]:
        yield f"{count_of(len(rest), 'more group')} of namespaces with another answer (--all)"
    same = [name for group in opening.namespaces if not is_other(group) for name in group.names]
    if same:
        yield from wrapped(f"{_some(same)}: as the cluster", width, most=1)


def _some(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def is_other(group: Group) -> bool:
    """Whether there is something to say of the namespaces that is not said of the cluster."""
    return group.lost is not None or group.lacks_bookies


def of_namespaces(group: Group, opening: Opening) -> str:
    """What is other in some namespaces than in the cluster."""
    names, sizes = _some(group.names), group.settings.ledger
    words = f"{sizes.ensemble.value}/{sizes.write_quorum.value}/{sizes.ack_quorum.value}"
    words += ", deduplication" * group.settings.topic.deduplication.value
    if group.lost is None:
        needed = f"{sizes.ensemble} needs as many bookies, and there are {opening.now.cluster.bookies}"
        return f"{names} ({words}): nothing can be written there: {needed}"
    answers = (opening.answers[0], group.lost)
    here, ways = (answer.sorted.count for answer in answers)
    there, before = {key(way) for way in ways}, {key(way) for way in here}
    # such as a lost disk, where it takes two in the cluster
    turned = {each.name for each in ways if key(each) not in before} & {each.name for each in here if key(each) not in there}
    eased = [each for each in ways if each.name in turned]
    more = there - before - {key(each) for each in eased}
    less = before - there - {key(each) for each in here if each.name in turned}
    known = "; some of it is not known" if group.lost.gaps else ""
    needs = f" by {_by(way for way in ways if key(way) in more)}" if more else ""
    # what is not known may be one of those that seem to be gone, or be there in the cluster, too
    fewer = f"{len(less)} fewer" if less and not group.lost.gaps else ""
    other = f"{len(more)} more{needs}" if more and not answers[0].gaps else ""
    by_others = f"{len(eased)} by {_by(eased)} instead" if eased else ""
    change = ", ".join(filter(None, [by_others, fewer, other]))  # such as a lost disk alone, which happens most
    ordered = {each.feature.name for each in group.settings.orders} - set(_orders(opening))
    orders = f"; ordered: {', '.join(name.replace('_', ' ') for name in sorted(ordered))}" if ordered else ""
    of_group = replace(opening.now.cluster, settings=group.settings).not_modelled
    judged = {each.feature.name for each in of_group} - {each.feature.name for each in opening.not_judged}
    besides = f"; not judged: {', '.join(sorted(judged))}" if judged else ""
    missing = f"; {_elsewhere(group.elsewhere)}" if group.elsewhere is not None else ""
    change = change or ("so far" if known else "the same")
    return f"{names} ({words}): {count_of(len(ways), 'way')}, {change}{known}{missing}{besides}{orders}"


def _elsewhere(answer: Answer) -> str:
    """In how many ways a message of some namespaces can be missing in the other cluster."""
    ways = answer.sorted.count
    return f"{ALSO[answer.matter.name]}: {count_of(len(ways), 'way') if ways else 'not known' if answer.gaps else 'no way'}"


def _by(ways: Iterable[Way]) -> str:
    """What the ways with the fewest faults need: first of all what happens without a known bug, such as a lost disk."""
    _, first = fewest_of(sorted(ways, key=lambda way: way.bug is not None))
    return " or ".join(dict.fromkeys(", ".join(_needs(way)) or "nothing else" for way in first))


def _orders(opening: Opening) -> Iterator[str]:
    return (each.feature.name for answer in opening.answers for each in answer.orders)


def fewest_of(ways: Sequence[Way]) -> tuple[int, list[Way]]:
    """The fewest faults that a way needs, and the ways that need no more; what a way needs of which not all is known is no
    number."""
    known = [way for way in ways if not way.open] or ways
    fewest = min(way.faults for way in known)
    return fewest, [way for way in known if way.faults == fewest]


Row = tuple[str, str, str]
"""How a row of a table begins, its text, and what stands on the right."""


def table(title: str, right: str, rows: Sequence[Row], width: int, most: int) -> Iterator[str]:
    """A table with a heading, in which the text of a row takes so many lines at most."""
    column = width - max(len(each) for each in (right, *(on_the_right for _, _, on_the_right in rows)))
    yield f"{title:<{column}}{right}"
    for head, text, on_the_right in rows:
        room = column - len(head) - 1
        for number, line in enumerate(textwrap.wrap(text, room, break_on_hyphens=False, max_lines=most, placeholder=" ...")):
            yield f"{' ' * len(head) if number else head}{line:<{room}} {'' if number else on_the_right}".rstrip()


def listed(head: str, items: Sequence[str], between: str, width: int, most: int | None) -> list[str]:
    """A list in so many lines at most; of what has no room there it says how many there are."""
    for left in range(len(items)):
        shown = [*items[: len(items) - left], *[f"{left} more"] * (left > 0)]
        lines = wrapped(head + between.join(shown), width)
        if most is None or len(lines) <= most:
            break
    return lines


def wrapped(text: str, width: int, indent: str = "  ", most: int | None = None) -> list[str]:
    wrapper = textwrap.TextWrapper(width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
    wrapper.max_lines, wrapper.placeholder = most, " ..."
    return wrapper.wrap(text)
