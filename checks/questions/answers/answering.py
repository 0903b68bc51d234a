"""Everything that a cluster's settings are asked, and the answers: the one place that asks.

An answer is composed of the guarantees of a cluster and of the known bugs of its releases; nothing is said that neither shows.
Each *yes* is a run that was found, each *no* what complete searches show. What a search comes to is an ``Outcome``. Only what
is ``Settled`` counts for a *no*, and only complete searches make that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.results.findings import Open, Outcome, Refuted, Settled, first_refuted, outcome
from fencepost.checks.questions.answers.ways import Answer, Way, events_of, preconditions
from fencepost.checks.questions.bugs.searching import KnownBug, Whole, search_for, search_of
from fencepost.checks.questions.guarantees.establishing import Established, Failure, establish, raised
from fencepost.checks.questions.guarantees.judging import Guaranteed, gap_in_words
from fencepost.checks.questions.guarantees.ledgers import bookie_guarantees, ledger_guarantees
from fencepost.checks.questions.guarantees.topics import bundle_guarantees, topic_guarantees
from fencepost.checks.questions.matters import LOST, MATTERS, Guarantee, Matter
from fencepost.checks.settings.cluster_settings import Cluster, Settings
from fencepost.checks.settings.switches import SwitchedOn
from fencepost.model.releases import Releases
from fencepost.properties.cluster.bugs import CLOSED_TOO_EARLY, FEWER_COPIES, PARTS, moves_of, of_parts
from fencepost.properties.configuration import ByDesign, Configuration
from fencepost.properties.protocols import touching
from fencepost.properties.registry import Entry, Instance


@dataclass(frozen=True)
class Told:
    """What is not searched: by this bug another answer is *yes* already."""


@dataclass(frozen=True)
class Design:
    """What the settings of a cluster bring about by design, in a protocol, and the instance that shows it."""

    entry: Entry
    instance: Instance
    is_so: ByDesign


def designs_in(matter: Matter, cluster: Configuration, releases: Releases) -> Iterator[Design]:
    """What the settings of a cluster bring about by design that touches a matter."""
    for entry in touching(matter.name, cluster):
        if matter.name in entry.in_cluster.by_design and not entry.refusal(releases):
            for each in entry.in_cluster.by_design[matter.name](cluster):
                yield Design(entry, Instance("the settings", {**entry.behaviour(releases), **each.parameters}), each)


def answer(
    matter: Matter,
    rows: Iterable[Established],
    bugs: Iterable[KnownBug],
    means: Means,
    whole: Whole,
    orders: Iterable[SwitchedOn] = (),
    unread: str = "",
    designs: Iterable[Design] = (),
) -> Answer:
    """What the guarantees, and searches for the known bugs that they do not show, come to; and the settings that order it, or
    bring it about by design.

    ``unread`` says what nobody has read of the releases: of it nothing is known. Raises what ``check`` raises."""
    asked, bugs = [row for row in rows if row.guarantee.name in matter.rows], list(bugs)
    ways = [_in_a_cluster(way, matter, whole, means) for row in asked for way in _of_row(row, matter)]
    gaps = [f"{row.guarantee.name}: {gap_in_words(row)}" for row in asked if not row.is_known]
    searched, told = dict[str, Settled](), list[str]()
    results: dict[str, Way | Settled | Open | Told | None] = {each.is_so.name: _of_design(each, means) for each in designs}
    by_design = tuple(results)
    ways = list(_distinct([*ways, *(each for each in results.values() if isinstance(each, Way))]))
    names = {way.name for way in ways}
    for name in dict.fromkeys(bug.name for bug in bugs if bug.name not in names):
        results[name] = by_bug(matter, [each for each in bugs if each.name == name], means, whole)
    for name, result in results.items():
        match result:
            case Way() if name not in by_design:
                ways.append(result)
            case Settled():
                searched[name] = result
            case Open(why):
                gaps.append(f"{name}: {why}")
            case Told():
                told.append(name)
    names = {way.name for way in ways}
    gaps = [gap for gap in gaps if gap.partition(":")[0] not in names] + ([unread] if unread else [])
    covered = _covered(matter, bugs, whole, means)
    shown = tuple(row for row in asked if row.figure)
    told_to = tuple(each for each in orders if each.feature.matter == matter.name)
    answer = Answer(matter, tuple(ways), shown, tuple(gaps), searched, tuple(told), covered, told_to, by_design)
    return replace(answer, ways=tuple(sorted(ways, key=lambda way: (way in answer.lasting, way.faults, way.bug is None))))


def by_bug(matter: Matter, bugs: Sequence[KnownBug], means: Means, whole: Whole) -> Way | Settled | Open | Told | None:
    """The way in which it happens by a known bug alone, in one of the protocols that have it or in a cluster, or what the
    searches for it come to; None if there is nothing to search. Raises what ``check`` raises."""
    found = first_refuted(_searches_of_parts(matter, bugs, means))
    if isinstance(found, Refuted):
        return _in_a_cluster(_of_bug(found), matter, whole, means)
    moves = moves_of([bugs[0].name])
    if not (matter.whole and moves):
        return found
    if matter.after:
        before = whole.reached(moves, matter.after, {}, means)
        if not isinstance(before, Settled):
            return before if isinstance(before, Open) else Told()
    together = first_refuted(each for each in (_violated(moves, matter, whole, means), found) if each is not None)
    if not isinstance(together, Refuted):
        return together
    return replace(_by_moves(bugs[0], together), open=found.why if isinstance(found, Open) else "")


def _searches_of_parts(matter: Matter, bugs: Sequence[KnownBug], means: Means) -> Iterator[Outcome]:
    """What the searches for a bug come to in the protocols that have it, for the properties of the matter that they promise."""
    for bug in bugs:
        stated = {prop.name for prop in bug.stated if not prop.strict}
        wanted = [name for name in bug.entry.in_cluster.harms.get(matter.name, ()) if name in stated]
        if wanted:
            smaller = replace(bug.instance, parameters={**bug.instance.parameters, **bug.entry.in_cluster.harmless})
            yield _searched(replace(bug, instance=smaller), wanted, means)


def _searched(bug: KnownBug, wanted: Sequence[str], means: Means) -> Outcome:
    """What a search for these properties comes to, with a known bug alone."""
    if why := bug.unfit or means.why_over:
        return Open(why)
    return outcome(search_of(bug, wanted, means))


def _of_bug(found: Refuted) -> Way:
    """The way that a run of a part shows, with a known bug alone."""
    verdict, protocol = found.verdict, found.checked.protocol
    needs, faults = preconditions(verdict.run, found.checked)
    name, violates = verdict.property.name, verdict.violated.name
    what = protocol.bugs[name]
    return Way(name, what, tuple(needs), faults, found.checked, verdict, verdict.bug, violates=violates)


def _by_moves(bug: KnownBug, found: Refuted) -> Way:
    """The way in which it happens in a cluster by the weak moves of a bug, though its part violates nothing that is asked."""
    events, faults = events_of(found.verdict.run, found.checked)
    violates, what, checked = found.verdict.property.name, bug.bug.costs, found.checked
    return Way(bug.name, what, tuple(events), faults, checked, found.verdict, bug.bug, violates=violates, whole=checked)


def _violated(moves: Sequence[str], matter: Matter, whole: Whole, means: Means) -> Outcome | None:
    """What searches of a cluster with these weak moves come to for what matters; None if nothing of it is promised there."""
    asked = ((name, parameters) for name, parameters in matter.whole.items() if whole.asks(name, parameters))
    return first_refuted(whole.reached(moves, name, parameters, means) for name, parameters in asked)


def reaching(row: Established, matter: Matter, whole: Whole, means: Means) -> Way | None:
    """The way in which it happens by more events than a guarantee survives; None if it has no run. Raises what ``check``
    raises."""
    return next((_in_a_cluster(way, matter, whole, means) for way in _of_row(row, matter)), None)


def with_ways(row: Established, ways: Iterable[Way]) -> Established:
    """The row, or what is left of it: a bug elsewhere in the cluster may need no more than events that the row survives."""
    survived, noun = row.number, row.guarantee.counted(1).removeprefix("1 ")
    if not survived or not row.guarantee.event:
        return row
    words = {f"a {noun}": 1} | {f"a {noun} ({number} times)": number for number in range(2, survived + 1)}
    enough = [way for way in ways if way.bug is not None and len(way.needs) == 1 and way.needs[0] in words]
    if not enough:
        return row
    fewest = min(enough, key=lambda way: words[way.needs[0]])
    events = words[fewest.needs[0]]
    failure = Failure(events, fewest.checked, fewest.verdict, (fewest.name,))
    if events == 1:
        return replace(row, number=None, shown=(), failure=failure)
    return replace(row, number=events - 1, failure=failure)


def _distinct(ways: Iterable[Way]) -> Iterator[Way]:
    """Each bug once, and of what no bug is to blame for each set of events once."""
    seen = set[object]()
    for way in ways:
        key: object = way.name if way.bug is not None else way.needs
        if key not in seen:
            seen.add(key)
            yield way


def _of_row(row: Established, matter: Matter) -> Iterator[Way]:
    """The ways that end a guarantee: by the bugs that show it or, without one, by more events than it survives."""
    for failure in row.failure.by_bug or (row.failure,) if row.failure else ():
        yield _of_failure(row, failure, matter)


def _of_failure(row: Established, failure: Failure, matter: Matter) -> Way:
    name, protocol, entry = failure.bug, failure.checked.protocol, failure.checked.entry
    needs = (row.guarantee.counted(failure.events),)
    bug = entry.bugs.get(name) if isinstance(entry, Entry) else None
    what, violates = row.guarantee.denied(failure.events), ""
    if isinstance(entry, Entry) and bug is not None:
        what, violates = protocol.bugs[name], bug.harm or entry.in_cluster.harms.get(matter.name, ("",))[0]
    return Way(name or row.guarantee.name, what, needs, failure.events, failure.checked, failure.verdict, bug, row, violates)


def _of_design(design: Design, means: Means) -> Way | Settled | Open:
    """The way in which something happens by design, or what the search for it comes to."""
    if over := means.why_over:
        return Open(over)
    each = design.is_so
    found = outcome(search_for(each.property, design.entry, design.instance, (), means))
    if not isinstance(found, Refuted):
        return found
    checked, verdict = found.checked, found.verdict
    events, faults = events_of(verdict.run, checked)
    needs, what = (*each.needs, *events), each.says or verdict.note
    return Way(each.name, what, needs, faults, checked, verdict, violates=each.property, avoided_by=each.avoided_by)


def _in_a_cluster(way: Way, matter: Matter, whole: Whole, means: Means) -> Way:
    """The way with its run in a whole cluster, and with all that must coincide there, if it enters that by weak moves."""
    through = matter.through.get(way.row.guarantee.name, "") if way.row is not None else ""
    enters = CLOSED_TOO_EARLY if through == "a bookie that forgets" else moves_of([way.name])
    if through == "copies" or enters == FEWER_COPIES:
        others = whole.copies - 1
        lost = ("the other copy lost" if others == 1 else f"the {others} other copies lost",) if others else ()
        return replace(way, needs=(*way.needs, *lost), faults=way.faults + others)
    found = _violated(enters, matter, whole, means) if enters else None
    if isinstance(found, Open):
        return replace(way, open=found.why)
    if not isinstance(found, Refuted):
        return way
    events, faults = events_of(found.verdict.run, found.checked)
    before = () if through == "a recovery" else way.needs
    return replace(way, needs=(*before, *events), faults=faults + (way.faults if before else 0), whole=found.checked)


def _covered(matter: Matter, bugs: Iterable[KnownBug], whole: Whole, means: Means) -> Mapping[str, tuple[str, ...]]:
    """The known bugs of ownership by which no message is lost, each with what keeps it from that. A bundle that nobody owns is
    another matter."""
    owning = [each for each in bugs if each.entry.in_cluster.owns_bundles]
    names = dict.fromkeys(each.name for each in owning if each.name in of_parts())
    covered = dict[str, tuple[str, ...]]()
    for name in names if LOST in matter.whole else ():
        moves = tuple(move for move in moves_of([name]) if move != "node_left")
        if moves and isinstance(whole.reached(moves, LOST, {}, means), Settled):
            covered[name] = whole.covered_by(moves, LOST, means)
    return {name: by for name, by in covered.items() if by}


@dataclass(frozen=True)
class Group:
    """Namespaces whose settings are the same: their names, these settings, whether a message can be lost with them, None where
    the cluster's own answer holds, and whether one can be missing in the other cluster, None where that is not asked.
    Nothing is asked where they need more bookies than there are (``lacks_bookies``)."""

    names: tuple[str, ...]
    settings: Settings
    lost: Answer | None
    elsewhere: Answer | None = None
    lacks_bookies: bool = False


def questions(cluster: Cluster) -> Iterator[Guarantee]:
    """What is asked of a cluster, in the order of the report."""
    settings, releases = cluster.settings, cluster.releases
    yield from ledger_guarantees(cluster)
    if cluster.of_bookies:
        yield from bookie_guarantees(settings.bookies, releases)
    if cluster.of_bookies or cluster.racks:  # the file of a broker says nothing of either
        from fencepost.checks.questions.guarantees.copies import rack_guarantees, replication_guarantees

        yield from replication_guarantees(cluster) if cluster.of_bookies else ()
        yield from rack_guarantees(cluster) if cluster.racks else ()
    yield from topic_guarantees(cluster.configuration)
    yield from bundle_guarantees(cluster.configuration)


def guaranteed(
    cluster: Cluster,
    means: Means,
    later: Guaranteed | None = None,
    established: Mapping[str, Established] | None = None,
) -> Guaranteed:
    """Every guarantee of a cluster. What there was no time for is not known. Raises what ``check`` raises.

    Of a cluster as it was before a ``later`` one only the numbers are wanted, and only where the question is another. What was
    ``established`` before, by name, is not asked again.
    """
    rows = []
    asked_before = [] if later is None else [row for row in later.rows if row.is_known]
    for question in questions(cluster):
        known = (row for row in asked_before if row.guarantee == question)
        answer = (established or {}).get(question.name) or next(known, None) or establish(question, means)
        rows.append(answer if later is not None else _with_remedy(answer, cluster, means))
        if question.name not in (established or {}):
            means.passed()
    return Guaranteed(cluster, tuple(rows))


def answer_to(question: Guarantee, cluster: Cluster, means: Means) -> Established:
    """The answer to one question, with the sizes that would raise it. Raises what ``check`` raises."""
    return _with_remedy(establish(question, means), cluster, means)


def _with_remedy(row: Established, cluster: Cluster, means: Means) -> Established:
    if row.failure is None or not row.guarantee.raised_by:
        return row
    return replace(row, raised=raised(row, cluster, means))


def establish_named(names: Collection[str], cluster: Cluster, means: Means, rows: dict[str, Established]) -> None:
    """Establishes the guarantees of these names that the cluster has, into ``rows``. Raises what ``check`` raises."""
    for question in questions(cluster):
        if question.name in names and question.name not in rows:
            rows[question.name] = establish(question, means)
            means.passed()


def answered(
    cluster: Cluster,
    bugs: Sequence[KnownBug],
    means: Means,
    rows: dict[str, Established],
    names: Collection[str] = (),
) -> Iterator[Answer]:
    """What users ask first, or what of it has these ``names``, one answer after the other; the guarantees that it takes go to
    ``rows``. Raises what ``check`` raises."""
    asked, whole = {question.name: question for question in questions(cluster)}, Whole(cluster.configuration)
    for matter in MATTERS:
        if names and matter.name not in names:
            continue
        if not matter.asked_of(cluster.configuration):
            means.passed()
            continue
        for name in matter.rows:
            if name in asked and name not in rows:
                rows[name] = establish(asked[name], means)
                means.passed()
        found = [rows[name] for name in matter.rows if name in rows]
        unread = _unread(matter, cluster)
        designs = designs_in(matter, cluster.configuration, cluster.releases)
        one = answer(matter, found, bugs, means, whole, cluster.settings.orders, unread, designs)
        means.passed()
        yield one


def _unread(matter: Matter, cluster: Cluster) -> str:
    """Which releases nobody has read for bugs by which it could happen in the cluster; empty if somebody has."""
    releases = cluster.releases
    known = [bug for entry in touching(matter.name, cluster.configuration) for bug in entry.bugs.values()]
    known += [bug for _, bugs in PARTS for bug in bugs.values() if bug.moves] if matter.whole else []
    of = {bug.release(releases) for bug in known if bug.is_unread(releases) and not bug.weakening}
    return f"nobody has read {' and '.join(sorted(of))} for known bugs" if of else ""
