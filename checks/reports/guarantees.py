"""What settings guarantee, in words: a row for each guarantee, and what falls short of what is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.answers.answering import Group
from fencepost.checks.questions.answers.changes import BugChange
from fencepost.checks.questions.answers.remedies import Remedy
from fencepost.checks.questions.answers.ways import Answer, Way
from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.guarantees.judging import Guaranteed, Kind, Shortfall, compared, gap_in_words, history_of
from fencepost.checks.reports.answers import as_json as answers_as_json
from fencepost.checks.reports.answers import command, switched
from fencepost.checks.reports.changes import PolicyChange
from fencepost.checks.reports.changes import as_json as bugs_as_json
from fencepost.checks.settings.cluster_settings import StartsNoMore, Stop
from fencepost.checks.settings.switches import PAGE, SwitchedOn

if TYPE_CHECKING:
    from fencepost.checks.odds.answering import Odds

BOOKIES = (
    "the bookies' own settings (journalSyncData, journalWriteData, skipReplayJournalInvalidRecord, the storage: "
    "DbLedgerStorage is assumed), and auto-recovery: add their bookkeeper.conf by --conf"
)
UPGRADE = "the change itself: brokers or bookies of both releases beside each other, and the way back"
POLICIES = "policies of {}, which override the quorums, deduplication and retention"


@dataclass(frozen=True)
class Opening:
    """What a report of a configuration opens with: what it guarantees, what another did before it, what falls short, what it
    changes in the balancing of load, which known bugs a change of releases takes and brings, and the answers to what users ask
    first, if they were asked for. ``met`` has by name, of guarantees that fall short, in which way users lose a message by
    that; ``not_judged`` are the features that the files switch on and no model has. ``heading`` says which cluster it is,
    ``change_first`` what to change, ``after`` is the answer with all of that which can be searched with, if it was asked;
    ``namespaces`` are those with settings of their own, ``changed_namespaces`` those in which other bugs come or go. ``odds``
    are those of the ways, if they were asked for. ``stopped`` says with what brokers start no more, ``cut_short`` why not
    all of what to change first was searched with."""

    now: Guaranteed
    before: Guaranteed | None = None
    shortfalls: tuple[Shortfall, ...] = ()
    policy: PolicyChange | None = None
    bugs: BugChange | None = None
    answers: tuple[Answer, ...] = ()
    met: Mapping[str, Way] = field(default_factory=dict)
    not_judged: tuple[SwitchedOn, ...] = ()
    heading: str = ""
    change_first: tuple[Remedy, ...] = ()
    after: Answer | None = None
    namespaces: tuple[Group, ...] = ()
    changed_namespaces: tuple[tuple[tuple[str, ...], BugChange], ...] = ()
    odds: Odds | None = None
    stopped: StartsNoMore | None = None
    cut_short: str = ""

    def of(self, row: Established) -> list[Shortfall]:
        """What falls short of one guarantee."""
        return [shortfall for shortfall in self.shortfalls if shortfall.row is row]

    def count(self, *kinds: Kind) -> int:
        """How many guarantees fall short in one of these ways."""
        return len({id(shortfall.row) for shortfall in self.shortfalls if shortfall.kind in kinds})

    @property
    def status(self) -> ExitStatus:
        """What a run that asked for guarantees alone reports to its caller."""
        kinds = {shortfall.kind for shortfall in self.shortfalls if shortfall.decides}
        if "short" in kinds:
            return ExitStatus.SHORT
        weaker = "weaker" in kinds or self.stopped is not None
        return ExitStatus.WEAKER if weaker else ExitStatus.INCONCLUSIVE if kinds else ExitStatus.HOLDS

    @property
    def met_bugs(self) -> dict[str, tuple[int, Sequence[str]]]:
        """The known bugs by which the answers are what they are, by name, each with its place among all ways and with what must
        coincide."""
        ways = [way for answer in self.answers for way in answer.ways]
        return {way.name: (place, way.needs) for place, way in reversed([*enumerate(ways)])}

    def differs(self, row: Established) -> bool:
        """Whether a guarantee is another than before."""
        return self.before is not None and compared(row, self.before.row(row.guarantee.name)) != "same"

    @property
    def ordered(self) -> list[Established]:
        """The guarantees: first what falls short, then what changed, then those of which one event is too many."""
        return sorted(self.now.rows, key=lambda row: (not self.of(row), not self.differs(row), row.figure != 0))


def unseen(opening: Opening) -> Iterator[str]:
    """What of a cluster no model has: what its files switch on, each with file and line; what no file shows that was read."""
    for each in opening.not_judged:
        yield f"NOT JUDGED: {each.feature.name}: {each.says} ({each.settings})"
    yield from () if opening.now.cluster.of_bookies else (BOOKIES,)
    settings = opening.now.cluster.settings
    named = opening.namespaces or any(each.written for each in (*settings.ledger.taken, *settings.topic.taken))
    yield POLICIES.format("topics, and of namespaces that are not named" if named else "namespaces and topics")
    if opening.before is not None and opening.before.cluster.releases != opening.now.cluster.releases:
        yield UPGRADE
    yield f"what no model has in any cluster: {PAGE}"


def as_json(opening: Opening) -> dict[str, object]:
    """The rows for a program."""
    now, before, shortfalls = opening.now, opening.before, opening.shortfalls
    return {
        "file": now.cluster.file,
        "bookies": now.cluster.bookies,
        "bookies_assumed": now.cluster.assumed,
        "answers": answers_as_json(opening.answers, now.cluster.releases),
        **_odds(opening.odds),
        "heading": opening.heading,
        "change_first": [_remedy(each) for each in opening.change_first],
        "after": None if opening.after is None else _in_brief(opening.after),
        "namespaces": [_group(each) for each in opening.namespaces],
        "never": sorted(opening.answers[0].never) if opening.answers else [],
        "rows": [_row(now, row, before) for row in now.rows],
        "not_seen": list(unseen(opening)),
        "not_judged": [{"name": each.feature.name, "text": each.says, **switched(each)} for each in opening.not_judged],
        "policy": opening.policy.as_json() if opening.policy else None,
        "known_bugs": bugs_as_json(opening.bugs) if opening.bugs else None,
        "starts_no_more": [_stop(stop) for stop in opening.stopped.stops] if opening.stopped else [],
        "shortfalls": [
            {
                "kind": s.kind,
                "guarantee": s.row.guarantee.name,
                "text": s.headline,
                "file": str(s.place.file),
                "line": s.place.line or None,
            }
            for s in shortfalls
        ],
    }


def _group(each: Group) -> dict[str, object]:
    """Namespaces with settings of their own, for a program."""
    sizes = each.settings.ledger
    return {
        "names": list(each.names),
        "quorums": [size.value for size in sizes.taken],
        "deduplication": each.settings.topic.deduplication.value,
        "lacks_bookies": each.lacks_bookies,
        "lost": None if each.lost is None else _in_brief(each.lost),
        "elsewhere": None if each.elsewhere is None else _in_brief(each.elsewhere),
    }


def _in_brief(answer: Answer) -> dict[str, object]:
    """An answer beside that of the cluster: which ways count."""
    return {"answer": answer.value, "ways": [way.name for way in answer.sorted.count], "open": list(answer.gaps)}


def _stop(stop: Stop) -> dict[str, object]:
    place = stop.place
    return {"text": stop.why, "file": str(place.file) if place else None, "line": (place.line or None) if place else None}


def _odds(odds: Odds | None) -> dict[str, object]:
    if odds is None:
        return {}
    from fencepost.checks.reports.odds import as_data  # loads the protocols, which most reports can do without

    return {"odds": as_data(odds)}


def _remedy(each: Remedy) -> dict[str, object]:
    """A remedy for a program, with the ways that it closes: the names of their bugs, or what they need."""
    closes = sorted(each.closes, key=str)
    return {
        "kind": each.kind,
        "text": each.says,
        "settings": dict(each.settings),
        "releases": {
            "pulsar": each.releases.pulsar,
            "bookkeeper": each.releases.bookkeeper,
            "bookkeeper_client": each.releases.client,
        },
        "cost": each.cost or None,
        "closes": [list(key) if isinstance(key, tuple) else key for key in closes],
        "parts": [_remedy(part) for part in each.parts],
        "brings": [way.name for way in each.brings],
        "open": each.open or None,
    }


def _row(now: Guaranteed, row: Established, before: Guaranteed | None) -> dict[str, object]:
    failure, old = row.failure, before and before.row(row.guarantee.name)
    return {
        "guarantee": row.guarantee.name,
        "figure": row.figure,
        "text": row.sentence,
        "verdict": row.verdict,
        "how": row.how,
        "open": row.gap or None,
        "fails": None
        if failure is None
        else {
            "events": failure.events,
            "property": failure.verdict.property.name,
            "bugs": list(failure.bugs),
            "undecided": list(failure.undecided),
            "run": failure.run,
        },
        "remedy": now.remedy(row) or None,
        "before": old.figure if old else None,
        "change": compared(row, old) if old else None,
    }


def details(now: Guaranteed, row: Established, met: Way | None = None, *, run: bool = True) -> Iterator[str]:
    """How a guarantee was established, the ``run`` beyond it, what users have ``met`` then, and what would raise it."""
    if row.how:
        yield row.how
    if row.failure is not None:
        failure = row.failure
        if run:
            yield f"fails at {failure.events}: {', '.join(failure.run)}{_for_ever(row)}"
            yield f"this stops being true: {failure.verdict.property.doc.partition(chr(10))[0]}"
        if met is not None and met.needs:
            yield f"users lose an acknowledged message if these coincide: {', '.join(met.needs)}; the run: {command(met)}"
        if failure.bug:
            bug = history_of(row)
            where = f"a bug in {bug.release(now.cluster.releases)}" if bug else "a bug"
            yield f"cause: {failure.bug}, {where}: {_explained(row, failure.bug)}"
            for name in failure.bugs:
                if name != failure.bug:
                    yield f"also possible through {name}: {_explained(row, name)}"
            if failure.undecided:
                yield f"unknown for {', '.join(failure.undecided)}: the search was cut short"
    if row.gap:
        yield f"not known {gap_in_words(row)}"
    if remedy := remedied(now, row):
        yield remedy


ACTORS = {"recoverer": "client that recovers the ledger"}
"""What an operator calls an actor whose name in the model says little."""


def legend(rows: Iterable[Established]) -> str:
    """What the names in the runs of these guarantees stand for, such as b0 for a bookie; empty if there are none."""
    kinds: dict[str, set[str]] = {}
    for row in rows:
        if row.failure is None:
            continue
        words = set(re.findall(r"\w+", " ".join(row.failure.run)))
        for universe in row.failure.checked.protocol.universes.values():
            if not universe.names and words & {universe.label(member) for member in universe}:
                kinds.setdefault(universe.prefix, set()).add(ACTORS.get(universe.name, universe.name.replace("_", " ")))
    names = ", ".join(f"{prefix}0 is a {' or '.join(sorted(kinds[prefix]))}" for prefix in sorted(kinds))
    return names and f"In the runs {re.sub(r' a (?=[aeio])', ' an ', names)}. The page of --html says what each step is."


def _explained(row: Established, bug: str) -> str:
    """What a bug of the protocol is that a row is about."""
    return row.failure.checked.protocol.bugs[bug] if row.failure else ""


def _for_ever(row: Established) -> str:
    """How a run goes on that never comes to what it should."""
    loop = row.failure.verdict.run.loop if row.failure else None
    if loop is None or row.failure is None:
        return ""
    return "; and then deadlocks" if loop.start == len(row.failure.run) else "; and repeats forever"


def remedied(now: Guaranteed, row: Established) -> str:
    """What would guarantee one event more, in words; empty if that is not known."""
    remedy = now.remedy(row)
    return remedy and f"{'raise it with' if row.raised else 'avoided by'} {remedy}"


def why(shortfall: Shortfall) -> str:
    """What there is to say of a guarantee that falls short, line by line."""
    return "\n".join([shortfall.row.sentence, *details(shortfall.of, shortfall.row)])
