"""Answers to what users ask first: each *yes* is a run that was found, each *no* what complete searches show.

An answer is composed of the guarantees of a cluster and of the known bugs of its releases; nothing is said that neither shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.establishing import Established, Failure, Means
from fencepost.checks.questions.hazard_search import Searches
from fencepost.checks.questions.hazards import Hazard
from fencepost.checks.questions.judging import gap_in_words
from fencepost.checks.questions.matters import LOST, Matter
from fencepost.checks.questions.preconditions import events_of, preconditions
from fencepost.checks.questions.whole import Whole, verdict_of
from fencepost.model.bookkeeper.history.bookie import CLOSED_TOO_EARLY
from fencepost.model.cluster.known_bugs import HISTORY, moves_of
from fencepost.model.counts import count_of
from fencepost.model.history import History
from fencepost.properties.registry import Entry


@dataclass(frozen=True)
class Way:
    """One way in which something happens: the run that shows it, and what must coincide.

    ``name`` is that of a known bug or, where none is needed, of the guarantee that ends there; ``what`` says what it is.
    ``needs`` are the events that must coincide, in words, and ``faults`` how many of them are faults. ``history`` is what is
    known of the bug, None of what no bug is to blame for. ``row`` is the guarantee that shows it, if one does, and ``violates``
    the property of the protocol that the run violates. ``whole`` is the check of a cluster that the bug enters by weak moves:
    its run is from the acknowledgement to the loss. ``avoided_by`` is the setting that avoids what is no bug.
    """

    name: str
    what: str
    needs: tuple[str, ...]
    faults: int
    checked: Checked
    verdict: Verdict
    history: History | None = None
    row: Established | None = None
    violates: str = ""
    whole: Checked | None = None
    avoided_by: str = ""

    @property
    def steps(self) -> list[str]:
        """The run that a user meets, by the labels of its steps."""
        verdict = self.verdict if self.whole is None else verdict_of(self.whole)
        return [step.action for step in verdict.trace.steps]


@dataclass(frozen=True)
class Answer:
    """The answer to a question of a user.

    ``ways`` are those in which it happens, what needs the fewest faults first; ``shown`` are the guarantees that hold, each
    with the events that were asked about, or with as many as it survives; ``gaps`` say what was cut short. ``searched`` is how
    many known bugs were searched for it alone, to the end. ``covered`` are known bugs by which a bundle has two owners, and it
    does not happen all the same: each with the protections that keep it from that.
    """

    matter: Matter
    ways: tuple[Way, ...]
    shown: tuple[Established, ...]
    gaps: tuple[str, ...]
    searched: int
    covered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def value(self) -> str:
        """``yes``, ``no`` or, where nothing was found and something was cut short, ``unknown``."""
        return "yes" if self.lasting else "for a while" if self.ways else "unknown" if self.gaps else "no"

    @property
    def lasting(self) -> tuple[Way, ...]:
        """The ways by which it does not only happen for a while."""
        passing = self.matter.passing
        return tuple(way for way in self.ways if way.row is None or way.row.guarantee.name not in passing)


def answer(
    matter: Matter, rows: Iterable[Established], hazards: Iterable[Hazard], searches: Searches, means: Means, whole: Whole
) -> Answer:
    """What the guarantees, and searches for the known bugs that they do not show, come to. Raises what ``check`` raises."""
    asked, hazards = [row for row in rows if row.guarantee.name in matter.rows], list(hazards)
    ways = [_in_a_cluster(way, matter, whole, means) for row in asked for way in _of_row(row, matter)]
    ways = list(_distinct([*ways, *_of_settings(matter, whole, means)]))
    gaps = [f"{row.guarantee.name}: {gap_in_words(row)}" for row in asked if not row.is_known]
    names, searched = {way.name for way in ways}, 0
    for name in dict.fromkeys(hazard.name for hazard in hazards if hazard.name not in names):
        way, cut_short, was_asked = by_bug(matter, [each for each in hazards if each.name == name], searches, means, whole)
        ways += [way] if way else []
        gaps += [f"{name}: {gap}" for gap in ([] if way else cut_short)]
        searched += was_asked and not (way or cut_short)
    names = {way.name for way in ways}
    gaps = [gap for gap in gaps if gap.partition(":")[0] not in names]
    covered = _covered(matter, hazards, whole, means)
    answer = Answer(matter, tuple(ways), tuple(row for row in asked if row.figure), tuple(gaps), searched, covered)
    return replace(answer, ways=tuple(sorted(ways, key=lambda way: (way in answer.lasting, way.faults, way.history is None))))


def by_bug(
    matter: Matter, bugs: Sequence[Hazard], searches: Searches, means: Means, whole: Whole
) -> tuple[Way | None, list[str], bool]:
    """The way in which it happens by a known bug alone, in one of the protocols that have it or in a cluster; what was cut
    short; and whether anything was asked. Raises what ``check`` raises."""
    gaps, was_asked = list[str](), False
    for bug in bugs:
        stated = {prop.name for prop in bug.stated}
        wanted = [name for name in matter.violated.get(bug.entry.name, ()) if name in stated]
        if wanted:
            was_asked = True
            way, gap = _searched(bug, wanted, searches, means)
            if way is not None:
                return _in_a_cluster(way, matter, whole, means), [], True
            gaps += [gap] if gap else []
    if not (matter.whole and moves_of([bugs[0].name])):
        return None, gaps, was_asked
    if means.is_over:
        return None, [*gaps, "out of time"], True
    return _by_moves(bugs[0], matter, whole, means), gaps, True


def _by_moves(bug: Hazard, matter: Matter, whole: Whole, means: Means) -> Way | None:
    """The way in which it happens in a cluster by the weak moves of a bug, though its part violates nothing that is asked."""
    moves = moves_of([bug.name])
    if matter.after and verdict_of(whole.reached(moves, matter.after, {}, means)).verdict == "violated":
        return None
    checked = _violated(moves, matter, whole, means)
    if checked is None:
        return None
    verdict = verdict_of(checked)
    events, faults = events_of(verdict.trace, checked.protocol)
    violates, what = verdict.property.name, bug.history.costs
    return Way(bug.name, what, tuple(events), faults, checked, verdict, bug.history, violates=violates, whole=checked)


def _violated(moves: Sequence[str], matter: Matter, whole: Whole, means: Means) -> Checked | None:
    """The check of a cluster with these weak moves whose run violates what matters; None if none does."""
    for name, parameters in matter.whole.items():
        if whole.asks(name, parameters):
            checked = whole.reached(moves, name, parameters, means)
            verdict = verdict_of(checked)
            if verdict.verdict == "violated" and verdict.trace is not None:
                return checked
    return None


def reaching(row: Established, matter: Matter, whole: Whole, means: Means) -> Way | None:
    """The way in which it happens by more events than a guarantee survives; None if it has no run. Raises what ``check``
    raises."""
    return next((_in_a_cluster(way, matter, whole, means) for way in _of_row(row, matter)), None)


def _distinct(ways: Iterable[Way]) -> Iterator[Way]:
    """Each bug once, and of what no bug is to blame for each set of events once."""
    seen = set[object]()
    for way in ways:
        key: object = way.name if way.history is not None else way.needs
        if key not in seen:
            seen.add(key)
            yield way


def _of_row(row: Established, matter: Matter) -> Iterator[Way]:
    """The ways that end a guarantee: by the bugs that show it or, without one, by more events than it survives."""
    for failure in row.failure.by_defect or (row.failure,) if row.failure else ():
        yield _of_failure(row, failure, matter)


def _of_failure(row: Established, failure: Failure, matter: Matter) -> Way:
    name, protocol, entry = failure.defect, failure.checked.protocol, failure.checked.entry
    needs = (row.guarantee.counted(failure.events),)
    history = entry.history.get(name) if isinstance(entry, Entry) else None
    if history is None:
        what, violates = row.guarantee.denied(failure.events), ""
    else:
        what, violates = protocol.defects[name], history.harm or matter.violated.get(entry.name, ("",))[0]
    return Way(
        name or row.guarantee.name, what, needs, failure.events, failure.checked, failure.verdict, history, row, violates
    )


def _of_settings(matter: Matter, whole: Whole, means: Means) -> Iterator[Way]:
    """What happens by the settings alone: a property that holds with others only is violated with these."""
    for name, setting in () if means.is_over else matter.controls.items():
        checked = whole.control(name, means)
        if checked is not None and verdict_of(checked).trace is not None:
            verdict = verdict_of(checked)
            needs, faults = events_of(verdict.trace, checked.protocol)
            yield Way(name, verdict.note, tuple(needs), faults, checked, verdict, violates=name, avoided_by=setting)


def _in_a_cluster(way: Way, matter: Matter, whole: Whole, means: Means) -> Way:
    """The way with its run in a whole cluster, and with all that must coincide there, if it enters that by weak moves."""
    through = matter.through.get(way.row.guarantee.name, "") if way.row is not None else ""
    if through == "copies":
        others = int(way.checked.protocol.parameters["ensemble"]) - 1
        lost = f"{count_of(others, 'other copy')} lost"
        return replace(way, needs=(*way.needs, lost), faults=way.faults + others)
    enters = CLOSED_TOO_EARLY if through == "a bookie that forgets" else moves_of([way.name])
    if not enters or means.is_over:
        return way
    checked = _violated(enters, matter, whole, means)
    if checked is None:
        return way
    events, faults = events_of(verdict_of(checked).trace, checked.protocol)
    before = () if through == "a recovery" else way.needs
    return replace(way, needs=(*before, *events), faults=faults + (way.faults if before else 0), whole=checked)


def _covered(matter: Matter, hazards: Iterable[Hazard], whole: Whole, means: Means) -> Mapping[str, tuple[str, ...]]:
    """The known bugs of ownership by which no message is lost, each with what keeps it from that. A bundle that nobody owns is
    another matter."""
    names = dict.fromkeys(each.name for each in hazards if each.entry.name in OWNING and each.name in HISTORY)
    covered = dict[str, tuple[str, ...]]()
    for name in names if LOST in matter.whole else ():
        moves = tuple(move for move in moves_of([name]) if move != "node_left")
        if moves and not means.is_over and verdict_of(whole.reached(moves, LOST, {}, means)).verdict == "exhausted":
            covered[name] = whole.covered_by(moves, LOST, means)
    return {name: by for name, by in covered.items() if by}


OWNING = ("ownership", "unload", "split", "service_unit")
"""The protocols of who owns a bundle."""


def _searched(hazard: Hazard, wanted: Sequence[str], searches: Searches, means: Means) -> tuple[Way | None, str]:
    """The way by a known bug alone that violates one of these properties, if there is one, and what was cut short."""
    if hazard.unfit or means.is_over:
        return None, hazard.unfit or "out of time"
    checked = searches.of(hazard, wanted, means.left, means.reporter, means.should_stop)
    (verdict,) = checked.findings.verdicts
    if verdict.verdict == "inconclusive":
        return None, verdict.note
    if verdict.verdict != "hazard" or verdict.trace is None:
        return None, ""
    needs, faults = preconditions(verdict.trace, checked.protocol)
    what, violates = checked.protocol.defects[hazard.name], verdict.violated.name
    return Way(hazard.name, what, tuple(needs), faults, checked, verdict, hazard.history, violates=violates), ""
