"""What falls short: of what is required, and of what another configuration guarantees; and the status that this means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fencepost.checks.engines.ahead import INTERRUPTED, NO_TIME
from fencepost.checks.inputs.input_files import Place
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.matters import BOOKIES, BUNDLES, TOPICS, Requirement
from fencepost.checks.settings.broker_conf import Taken
from fencepost.checks.settings.cluster_settings import Cluster, Settings
from fencepost.model.releases import SYSTEMS
from fencepost.properties.bugs import Bug
from fencepost.properties.registry import Entry

Kind = Literal["weaker", "short", "open"]


@dataclass(frozen=True)
class Guaranteed:
    """What a cluster guarantees, row by row."""

    cluster: Cluster
    rows: tuple[Established, ...]

    def row(self, name: str) -> Established:
        """The row of that name."""
        return next(row for row in self.rows if row.guarantee.name == name)

    def remedy(self, row: Established) -> str:
        """What would guarantee one event more; empty if that is not known."""
        if row.raised:
            return ", ".join(self._setting(name, size) for name, size in row.raised.items())
        if row.failure is not None and not row.failure.bug and row.guarantee.exposed_by:
            return ", ".join(f"{flag.key}=true" for flag in row.guarantee.exposed_by)
        bug = history_of(row)
        if bug is None or row.failure is None or len(row.failure.bugs) > 1 or row.failure.undecided:
            return ""
        fixed = f"{SYSTEMS[bug.project]} {bug.fixed}" if bug.fixed else ""
        return " or ".join(remedy for remedy in (str(bug.avoided_by or ""), fixed) if remedy)

    def place(self, row: Established, changed: Iterable[str], before: Cluster | None = None) -> Place:
        """The line of the setting to look at: the one that exposes the row; the first of the ``changed`` sizes that a file has;
        of a row that is not about sizes, one that is not as ``before``."""
        if row.guarantee.unasked_by is not None:
            return row.guarantee.unasked_by.place or self.cluster.first
        exposing = [flag.place for flag in row.guarantee.exposed_by if flag.place]
        if exposing:
            return exposing[0]
        if not is_of_sizes(row):
            return place_of_other(row, history_of(row), self.cluster, before)
        taken = self.cluster.taken
        places = [taken[name].place for name in (*changed, *reversed(taken)) if name in taken]
        return next((place for place in places if place), self.cluster.first)

    def changed(self, before: Cluster) -> list[str]:
        """The sizes that are others than before."""
        return [name for name, size in self.cluster.sizes.items() if size != before.sizes[name]]

    def _setting(self, name: str, size: int) -> str:
        taken = self.cluster.taken
        return f"{taken[name].name}={size}" if name in taken else f"{size} {name}"


@dataclass(frozen=True)
class Shortfall:
    """A guarantee of a configuration that is weaker than before (``weaker``), less than required (``short``), or not known
    (``open``), with the file and the line to look at. ``decides`` says that the status depends on it: what is not known of one
    guarantee does not spoil what is known of the others, unless somebody requires it, or the run was cut short."""

    kind: Kind
    of: Guaranteed
    row: Established
    headline: str
    place: Place
    decides: bool = True


def judged(
    now: Guaranteed, before: Guaranteed | None, requirements: Sequence[Requirement], *, all_asked: bool = False
) -> tuple[Shortfall, ...]:
    """What falls short: of the requirements, of what was guaranteed before, and of an answer. Whether a row that is not known
    decides the status: if all are asked for, if it is required, or if time is what it lacked."""
    of_rows = [*(_less_than(now, before) if before else ())]
    shortfalls = [*_short_of(now, requirements), *(_weighed(each, all_asked=all_asked) for each in of_rows)]
    explained = {id(shortfall.row) for shortfall in shortfalls if shortfall.kind == "open"}
    left = [row for row in now.rows if not row.is_known and id(row) not in explained and not _unasked(row, before)]
    headlines = [f"{row.guarantee.name} is not known: {gap_in_words(row)}" for row in left]
    opened = [Shortfall("open", now, row, text, now.place(row, ())) for row, text in zip(left, headlines, strict=True)]
    return (*shortfalls, *(_weighed(each, all_asked=all_asked) for each in opened))


def _weighed(shortfall: Shortfall, *, all_asked: bool) -> Shortfall:
    """A row that is not known, with whether it decides the status; another shortfall as it is."""
    is_nothing_known = not any(row.is_known for row in shortfall.of.rows)
    cut_short = any(word in shortfall.headline for word in ("interrupted", *CUT_SHORT["--budget"]))
    decides = shortfall.kind != "open" or all_asked or is_nothing_known or cut_short
    return replace(shortfall, decides=decides)


def _unasked(row: Established, before: Guaranteed | None) -> bool:
    """Whether a question cannot be asked now, and could not before for the same reason: nothing changes in what is known."""
    return before is not None and compared(row, before.row(row.guarantee.name)) == "same"


def gap_in_words(row: Established) -> str:
    """What of an answer was cut short: the search with how many events, and how; and which option lets it go on."""
    remedy = next((f"; raise {option}" for option, ends in CUT_SHORT.items() if any(end in row.gap for end in ends)), "")
    alone = row.guarantee.fewer or row.guarantee.unasked
    return f"{row.gap}{remedy}" if alone else f"with {(row.figure or 0) + 1}: {row.gap}{remedy}"


CUT_SHORT = {"--memory": ("search not exhausted", "of memory is too little"), "--budget": ("out of time", NO_TIME)}
"""The options that bound a search, by what it says when it meets them."""
UNASKED = {NO_TIME: "; raise --budget", INTERRUPTED: ""}
"""Why a question was not asked, with what to do about it."""


def _short_of(now: Guaranteed, requirements: Sequence[Requirement]) -> Iterator[Shortfall]:
    for asked in requirements:
        for row in (now.row(name) for name in asked.names):
            name, figure = row.guarantee.name, row.figure
            if figure is not None and (asked.met_by(figure) or row.is_endless):
                continue
            if figure is not None and row.is_known:
                headline = f"{name} = {figure} falls short of --require {asked.text}"
                yield Shortfall("short", now, row, headline, now.place(row, row.raised))
            elif row.limit is not None and not asked.met_by(row.limit):
                headline = f"{name} is at most {row.limit}, and falls short of --require {asked.text}"
                yield Shortfall("short", now, row, headline, now.place(row, ()))
            else:
                headline = f"{name} is not shown to meet --require {asked.text}: {gap_in_words(row)}"
                yield Shortfall("open", now, row, headline, now.place(row, ()))


def _less_than(now: Guaranteed, before: Guaranteed) -> Iterator[Shortfall]:
    for row in now.rows:
        name, old = row.guarantee.name, before.row(row.guarantee.name)
        change = compared(row, old)
        if change == "weaker":
            headline = f"{name} is {row.figure}, and was {old.figure} ({before.cluster.file})"
            yield Shortfall("weaker", now, row, headline, now.place(row, now.changed(before.cluster), before.cluster))
        elif change == "open":
            of, open_row = (now, row) if not row.is_known else (before, old)
            headline = f"{name} cannot be compared: {of.cluster.file}: {gap_in_words(open_row)}"
            yield Shortfall("open", now, row, headline, now.place(row, now.changed(before.cluster), before.cluster))


def history_of(row: Established) -> Bug | None:
    """What is known of the bug that limits a guarantee, if it is one."""
    if row.failure is None or not row.failure.bug or not isinstance(row.failure.checked.entry, Entry):
        return None
    return row.failure.checked.entry.bugs[row.failure.bug]


Change = Literal["same", "stronger", "weaker", "open", "other"]


def compared(now: Established, before: Established) -> Change:
    """How a guarantee has changed: by its number, where both have one, and it counts the same (``other``: it does not).

    What is shown of either decides: a limit that is below what was guaranteed is weaker, even if more is not known of them.
    """
    if now.guarantee.unasked and now.guarantee.unasked == before.guarantee.unasked:
        return "same"
    if now.guarantee.steps_of != before.guarantee.steps_of:
        return "other"
    if now.guarantee.fewer:
        if now.figure is None or before.figure is None:
            return "open"
        return "same" if now.figure == before.figure else "stronger" if now.figure < before.figure else "weaker"
    if _is_below(now, before):
        return "weaker"
    if _is_below(before, now):
        return "stronger"
    return "same" if now.is_known and before.is_known else "open"


def _is_below(one: Established, other: Established) -> bool:
    """Whether it is shown that the one guarantees less than the other."""
    return one.limit is not None and other.figure is not None and one.limit < other.figure


def is_of_sizes(row: Established) -> bool:
    """Whether the sizes of ledgers decide a guarantee."""
    return row.guarantee.name not in (*TOPICS, *BUNDLES, *BOOKIES)


def place_of_other(row: Established, bug: Bug | None, now: Cluster, before: Cluster | None) -> Place:
    """The line to look at for a guarantee that is of no sizes: of the setting that is another than ``before``, or that avoids
    the ``bug`` by which it fails; the files as a whole where no line is to blame."""
    if before is not None:
        was = {key: value for key, value, _ in _settings_of(row, before.settings)}
        changed = (place for key, value, place in _settings_of(row, now.settings) if value != was.get(key))
        if found := next((place for place in changed if place is not None), None):
            return found
    return now.exposing(bug)


def _settings_of(row: Established, settings: Settings) -> Iterator[tuple[str, object, Place | None]]:
    """The settings that a guarantee is about: key, value and place."""
    if row.guarantee.name in BOOKIES:
        several = [vars(settings.bookies)]
    elif row.guarantee.name in TOPICS:
        several = [vars(settings.topic)]
    else:
        several = [vars(settings.control_plane), vars(settings.load_manager)]
    taken = (each for attributes in several for each in attributes.values())
    yield from ((each.key, each.value, each.place) for each in taken if isinstance(each, Taken))
