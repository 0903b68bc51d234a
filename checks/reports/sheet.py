"""The text on a configuration, in the order of its page: the verdict, what falls short, what changed, then the rest."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from math import inf

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.guarantees.judging import UNASKED, compared
from fencepost.checks.reports.changes import heading, in_brief, rows, verdict
from fencepost.checks.reports.decisions import decisions, stops
from fencepost.checks.reports.finished import FinishedRun
from fencepost.checks.reports.front import SECOND
from fencepost.checks.reports.guarantees import Opening, details, legend, remedied, unseen
from fencepost.checks.reports.in_short import (
    failure_text,
    is_of_known_bug,
    known_bugs,
    protocol_line,
    suspicious_in_short,
    suspicious_lines,
)
from fencepost.checks.reports.report import text
from fencepost.checks.reports.ways import BESIDES, besides, listed
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.model.counts import count_of

LAST_LINES = 2
"""The heading of the ways, and the last line of a run."""
LEAST_WAYS = 12
"""The lines that the ways have at least, whatever else there is to say."""
COLUMN = 22
"""The width of the column with the names of guarantees."""


def sheet(run: FinishedRun, *, width: int, colour: bool = False) -> str:
    """Everything that a check of a configuration prints before its last line, block by block.

    Unless the run is ``whole``, what is guaranteed has no run, what did not change is named only, and a protocol and a known
    bug have a line or two each.
    """
    assert run.opening is not None, "it is of a configuration"
    opening, everything, whole = run.opening, run.everything, run.whole
    blocks = [
        _verdict(opening, everything, width),
        [part for checked in everything if (part := failure_text(checked, width=width, colour=colour))],
        _stopped(opening, width),
        _short(opening, width),
        _unknown(opening, width),
        _bugs(opening, width, whole=whole),
        _changed(opening, width),
        _policy(opening, width),
        *_rows(opening, width, whole=whole),
        _known_bugs(opening, everything, width, whole=whole, colour=colour),
        _protocols(everything, width, whole=whole, colour=colour),
        _headed("Suspicious: each says what such a success may rest on", suspicious_lines(run.suspicious)),
        _headed("Not seen, so decide it yourself", [x for each in unseen(opening) for x in _wrapped("  ", each, width)]),
        _headed("Notes on the files and on what was checked", [x for each in run.notes for x in _folded(each, width)]),
    ]
    return "\n".join("\n".join(block) + "\n" for block in blocks if block)


def second_screen(run: FinishedRun, *, width: int, colour: bool = False) -> str:
    """What follows the first screen unless all is asked for: what is violated or falls short, each way in a line, and the known
    bugs of which no way is one. It has ``SECOND`` lines with the last line of the run, unless what failed takes more."""
    assert run.opening is not None, "it is of a configuration"
    opening, everything = run.opening, run.everything
    others = besides(opening.answers, everything)
    rest = [f"{BESIDES}: {len(others)} (--all tells of each)"] if others else []
    failed = [part for checked in everything if (part := failure_text(checked, width=width, colour=colour))]
    before = [failed, _short(opening, width), _unknown(opening, width)]
    rest += [*suspicious_in_short(run.suspicious), *run.remarks]
    after = [line for each in rest for line in _folded(each, width, "")]
    taken = sum(text.count("\n") + 1 for block in (*before, after) for text in block)
    blocks = sum(bool(block) for block in (*before, after)) + 1
    ways = listed(opening, width, max(SECOND - taken - blocks - LAST_LINES, LEAST_WAYS))
    heading = "The ways (--way N shows one, --all shows all, --html makes a page)"
    return "\n".join("\n".join(block) + "\n" for block in (*before, _headed(heading, ways), after) if block)


def _headed(heading: str, lines: Sequence[str]) -> list[str]:
    """A block with its heading; nothing if there are no lines."""
    return [f"{heading}:", *lines] if lines else []


def _verdict(opening: Opening, everything: Sequence[Checked], width: int) -> list[str]:
    """What a person has to know: a sentence for each way in which the configuration falls short, and what it was held to."""
    now, before = opening.now.cluster, None if opening.before is None else opening.before.cluster
    bookies = count_of(now.bookies, "bookie") + (" (assumed; override with --bookies)" if now.assumed else "")
    against = f"; against {before.file}" if before else ""
    sentences = [*_sentences(opening, everything), f"  {now.releases}; {bookies}{against}"]
    return [line for sentence in sentences for line in _folded(sentence, width, "")]


def _sentences(opening: Opening, everything: Sequence[Checked]) -> Iterator[str]:
    now, before = opening.now.cluster, None if opening.before is None else opening.before.cluster
    yield from decisions(opening)
    verdicts = [verdict for checked in everything for verdict in checked.verdicts]
    refuted = [v for v in verdicts if v.verdict == "violated" and not v.expected]
    if refuted:
        yield f"Violated: {', '.join(dict.fromkeys(verdict.property.name for verdict in refuted))}."
    short, weaker, unknown = ({s.row.guarantee.name: s for s in opening.shortfalls if s.kind == kind} for kind in KINDS)
    if short:
        yield f"{now.file} guarantees less than you require: {', '.join(short)}."
    if before is not None and weaker:
        yield f"{_than(now, before, 'less')}: {', '.join(weaker)}."
    elif before is not None and not unknown:
        yield f"{_than(now, before, 'no less')}."
    if opening.bugs is not None:
        yield verdict(opening.bugs)
    bugs = len({v.property.name for v in verdicts if v.verdict == "known bug" and v.accepted is None})
    if bugs:
        yield f"{count_of(bugs, 'known bug')} of {now.releases} affect{'s' if bugs == 1 else ''} {now.file}."
    nothing = [row.guarantee.name for row in opening.now.rows if row.figure == 0]
    if nothing and before is None:
        yield f"{len(nothing)} of {count_of(len(opening.now.rows), 'guarantee')} of {now.file} are 0: {', '.join(nothing)}."
    if unknown:
        yield f"Not known of {now.file}: {', '.join(unknown)}."
    if not (short or before or bugs or nothing or unknown):
        yield f"Nothing falls short in {now.file}."


def _than(now: Cluster, before: Cluster, less: str) -> str:
    """What guarantees less than what: a file than another, or the same file on one release than on another."""
    if before.file.startswith(f"{now.file} on "):
        return f"It guarantees {less} than on {before.releases}"
    on = "" if now.releases == before.releases else f" on {now.releases}"
    return f"{now.file}{on} guarantees {less} than {before.file}"


KINDS = ("short", "weaker", "open")


def _stopped(opening: Opening, width: int) -> list[str]:
    """What starts no more; all else is said as if it did."""
    lines = [line for each in stops(opening) for line in _folded(each, width)]
    return _headed("What starts no more (what follows is compared as if it did)", lines)


def _short(opening: Opening, width: int) -> list[str]:
    """What falls short, each with the line to look at and the run that shows it."""
    lines, rows = [], _once(shortfall.row for shortfall in opening.shortfalls if shortfall.kind != "open")
    for row in rows:
        lines += _row(opening, row, width, whole=True)
        for shortfall in opening.of(row):
            lines += _folded(f"{shortfall.kind}: {shortfall.place}: {shortfall.headline}", width, " " * (COLUMN + 3))
    lines += _wrapped("  ", legend(rows), width)
    kinds = {shortfall.kind for row in rows for shortfall in opening.of(row)}
    less = [words for kind, words in (("short", "less than you require"), ("weaker", "less than before")) if kind in kinds]
    return _headed(f"Decide about these: each is {', or '.join(less)}", lines)


def _unknown(opening: Opening, width: int) -> list[str]:
    """What is not known, with the line to look at and the run that bounds it, if there is one; in one line what nobody asked
    for and there was no time for."""
    lines, unasked = [], dict[str, list[str]]()
    for shortfall in opening.shortfalls:
        name = shortfall.row.guarantee.name
        why = next((why for why in UNASKED if why in shortfall.headline), "")
        if shortfall.kind == "open" and why and "--require" not in shortfall.headline:
            unasked.setdefault(why, []).append(name)
        elif shortfall.kind == "open":
            lines += _folded(f"open: {shortfall.place}: {shortfall.headline}", width)
            lines += _row(opening, shortfall.row, width, whole=True) if shortfall.row.failure else ()
    for why, names in unasked.items():
        lines += _folded(f"{why} at {', '.join(names)}{UNASKED[why]}", width)
    return _headed("Not known, so nothing is claimed", lines)


def _changed(opening: Opening, width: int) -> list[str]:
    """What changed, and is no worse."""
    if opening.before is None:
        return []
    rows = [row for row in opening.now.rows if not opening.of(row) and opening.differs(row)]
    lines = [line for row in rows for line in _row(opening, row, width, whole=False)]
    return _headed("Changed, and not known to be worse", lines)


def _bugs(opening: Opening, width: int, *, whole: bool) -> list[str]:
    """Which known bugs a change of releases takes and brings: of all that there is to say if it is ``whole``."""
    if opening.bugs is None:
        return []
    lines = list[str]()
    for head, about in rows(opening.bugs) if whole else in_brief(opening.bugs):
        lines += [
            *_folded(head, width),
            *(line for sentence in about for line in _wrapped("      ", sentence, width)),
        ]
    return [*_wrapped("", f"{heading(opening.bugs)}:", width), *lines] if lines else []


def _policy(opening: Opening, width: int) -> list[str]:
    """What changes in the balancing of load, and the commands that show what that does."""
    if opening.policy is None:
        return []
    lines = [line for sentence in opening.policy.sentences for line in _wrapped("  ", sentence, width)]
    return _headed("Load balancing changes", [*lines, *(f"    {command}" for command in opening.policy.commands)])


def _rows(opening: Opening, width: int, *, whole: bool) -> Iterator[list[str]]:
    """The guarantees that no block before has: those of which one event is too many first."""
    rest = [row for row in opening.now.rows if not opening.of(row) and not opening.differs(row)]
    none, some = ([row for row in rest if (row.figure == 0) == is_none] for is_none in (True, False))
    if opening.before is not None and not whole:
        zeros = f"; {len(none)} {'is' if len(none) == 1 else 'are'} 0 before and now" if none else ""
        same = f"{count_of(len(rest), 'guarantee')}{zeros} (--all prints each)"
        lines = _wrapped("  ", same, width) if rest else []
        for row in rest:
            lines += _wrapped("  ", f"not asked of either: {row.guarantee.name}: {row.gap}", width) if row.gap else []
        yield [*_folded(f"The same as in {opening.before.cluster.file}:", width, ""), *lines] if lines else []
        return
    lines = [line for row in none for line in _row(opening, row, width, whole=True)] + _wrapped("  ", legend(none), width)
    yield _headed("Not guaranteed: one event is too many, as the run shows", lines)
    lines = [line for row in some for line in _row(opening, row, width, whole=whole)]
    lines += _wrapped("  ", legend(some), width) if whole else []
    yield _headed(f"Guaranteed{'' if whole else ' (--all prints how, and the run with one event more)'}", lines)


def _row(opening: Opening, row: Established, width: int, *, whole: bool) -> list[str]:
    """A guarantee: its number, its sentence, how it differs from the one before; all there is to say if it is ``whole``."""
    before = opening.before
    change = "" if before is None else f" ({_change(row, before.row(row.guarantee.name))})"
    head = f"  {row.guarantee.name:<{COLUMN - 2}}{'?' if row.figure is None else row.figure}  "
    lines = _wrapped(head, row.sentence + change, width)
    remedy = remedied(opening.now, row)
    for sentence in details(opening.now, row, opening.met.get(row.guarantee.name)) if whole else filter(None, [remedy]):
        lines += _wrapped(" " * (COLUMN + 3), sentence, width)
    return lines


def _known_bugs(opening: Opening, everything: Sequence[Checked], width: int, *, whole: bool, colour: bool) -> list[str]:
    of_bugs = [checked for checked in everything if is_of_known_bug(checked)]
    if whole:
        met = opening.met_bugs
        of_bugs.sort(key=lambda checked: met.get(checked.verdicts[0].property.name, (inf,))[0])
        return _headed(f"Known bugs of {opening.now.cluster.releases}", [text(c, width=width, colour=colour) for c in of_bugs])
    heading = f"Known bugs of {opening.now.cluster.releases}: first those that cost most (--all prints the run to each)"
    return _headed(heading, known_bugs(of_bugs, width, opening.met_bugs))


def _protocols(everything: Sequence[Checked], width: int, *, whole: bool, colour: bool) -> list[str]:
    others = [checked for checked in everything if not is_of_known_bug(checked)]
    if whole:
        return _headed("What was checked", [text(checked, width=width, colour=colour) for checked in others])
    names = dict.fromkeys(checked.entry.name for checked in others)
    lines = [protocol_line([checked for checked in others if checked.entry.name == name]) for name in names]
    return _headed("What was checked (--all prints each property)", [f"  {line}" for line in lines])


def _change(row: Established, old: Established) -> str:
    event = old.guarantee.counted(old.figure) if old.figure and old.guarantee.event else ""
    change, was = compared(row, old), "unknown" if old.figure is None else event or old.figure
    if change == "other":
        return f"was {was} of {old.guarantee.steps_of}, counted in other steps"
    return f"{change}: was {was}" if change in ("stronger", "weaker") else {"open": "not known"}.get(change, change)


def _once(rows: Iterable[Established]) -> list[Established]:
    """The rows in order, each once."""
    return list({id(row): row for row in rows}.values())


def _folded(line: str, width: int, indent: str = "  ") -> list[str]:
    """A line of its own, which goes on further in."""
    return _lines(indent, f"{indent}  ", line, width)


def _wrapped(head: str, words: str, width: int) -> list[str]:
    return _lines(head, " " * len(head), words, width)


def _lines(first: str, others: str, words: str, width: int) -> list[str]:
    return textwrap.wrap(
        words, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False, break_long_words=False
    )
