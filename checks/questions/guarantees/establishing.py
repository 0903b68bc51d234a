"""How much settings guarantee: the number of events up to which nothing is wrong, and the run that is wrong with one more.

Claims, that nothing is wrong with so many events, are built from complete verdicts, by one function and nowhere else. A search
that was cut short has seen nothing wrong and shows nothing: no claim can be made of it, and what it says is why the question is
open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.results.findings import Checked, Open, why_incomplete
from fencepost.checks.engines.results.verdicts import Value, Verdict
from fencepost.checks.engines.search.distances import FARTHEST, distances
from fencepost.checks.engines.search.exhaustive import Budget
from fencepost.checks.engines.theorems import check_theory
from fencepost.checks.questions.guarantees.ledgers import ledger_guarantees
from fencepost.checks.questions.matters import Guarantee
from fencepost.checks.settings.cluster_settings import Cluster
from fencepost.properties.registry import Entry
from fencepost.properties.theorems import Theory


def claimed(guarantee: Guarantee, number: int, checked: Sequence[Checked]) -> Established | Open:
    """What these instances establish: the claim that nothing is wrong with ``number`` events, or why there is none."""
    gap = _gap(checked)
    return Open(gap) if gap else Established(guarantee, number, tuple(checked))


def _gap(everything: Sequence[Checked]) -> str:
    if not everything:
        return "nothing was checked"
    return next((gap for checked in everything if (gap := _gap_of(checked))), "")


def _gap_of(checked: Checked) -> str:
    """What of one instance is not shown; empty if all is."""
    verdicts, left = checked.verdicts, checked.left
    is_theory = isinstance(checked.entry, Theory)
    situations = [verdict for verdict in verdicts if verdict.property.kind == "sometimes"]
    if len(verdicts) == len(situations) or left or (not situations and not is_theory):
        return "not all that is asked was checked"
    if is_theory and any(suspicion.kind == "from-nothing" for suspicion in checked.suspicions):
        return "what is given for a theorem contradicts itself"
    return next((why for verdict in verdicts if (why := _why_open(verdict))), "")


def _why_open(verdict: Verdict) -> str:
    """Why a verdict is not complete; empty if it is. A ``sometimes`` is if it was reached."""
    if verdict.property.kind == "sometimes" and verdict.verdict == "violated":
        return f"what is asked about does not occur: {verdict.property.doc.splitlines()[0]}"
    return why_incomplete(verdict)


@dataclass(frozen=True)
class Failure:
    """What is not guaranteed: so many events, and the run that shows it. ``bugs`` are all bugs of the release that are
    known to allow such a run, ``by_bug`` has the run of each; ``undecided`` are those whose search was cut short."""

    events: int
    checked: Checked
    verdict: Verdict
    bugs: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    by_bug: tuple[Failure, ...] = ()

    @property
    def bug(self) -> str:
        """The bug of the release without which there is no such run, if it takes one."""
        return next(iter(self.checked.protocol.active), "")

    @property
    def run(self) -> list[str]:
        """The labels of its steps."""
        return [step.action for step in self.verdict.run.steps]


@dataclass(frozen=True)
class Established:
    """The answer to a question.

    It claims that nothing is wrong with ``number`` events, or that so many steps are the most (None: not even one is shown),
    by the complete verdicts on the instances ``shown``. ``failure`` is the run with more, and ``gap`` why it is not known of
    all numbers between. ``raised`` are sizes with which one event more would be
    guaranteed, by name.

    ValueError for a claim unless every verdict is complete, and what is claimed occurs in every instance: ``claimed`` looks
    first.
    """

    guarantee: Guarantee
    number: int | None = None
    shown: tuple[Checked, ...] = ()
    failure: Failure | None = None
    gap: str = ""
    raised: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.number is not None and (gap := _gap(self.shown)):
            raise ValueError(f"no claim: {gap}")

    @property
    def figure(self) -> int | None:
        """The number that is guaranteed; 0 if one event is shown to be too many, None if nothing is known."""
        if self.number is not None:
            return self.number
        return 0 if self.limit == 0 else None

    @property
    def limit(self) -> int | None:
        """The most events that can be guaranteed, as a run with one more shows; None if there is no such run."""
        return None if self.failure is None else self.failure.events - 1

    @property
    def is_endless(self) -> bool:
        """Whether nothing is wrong with as many events as were asked about."""
        return not self.guarantee.fewer and self.number == self.guarantee.most

    @property
    def is_known(self) -> bool:
        """Whether the number is known, and not only a part of the answer."""
        return not self.gap

    @property
    def verdict(self) -> Value:
        """How it was established; inconclusive if any of it was cut short."""
        if self.gap:
            return "inconclusive"
        if self.number is None:
            return "violated"
        is_proved = all(v.verdict != "exhausted" for checked in self.shown for v in checked.verdicts)
        return "proved" if is_proved else "exhausted"

    @property
    def sentence(self) -> str:
        """The guarantee in words."""
        return "unknown" if self.figure is None else self.guarantee.sentence(self.figure)

    @property
    def how(self) -> str:
        """How it was established in words, of the largest of the instances."""
        notes = [c.notes[-1 if isinstance(c.entry, Theory) else 0] for c in self.shown]
        return max(notes, key=len, default="")


def establish(guarantee: Guarantee, means: Means) -> Established:
    """Asks about one event more, and one more, until something is wrong. Raises what ``check`` raises."""
    if guarantee.unasked:
        return Established(guarantee, gap=guarantee.unasked)
    if guarantee.fewer:
        return _of_steps(guarantee, means)
    established = Established(guarantee)
    for events in range(1, guarantee.most + 1):
        answer = _asked(guarantee, events, means)
        if isinstance(answer, Failure):
            return replace(established, failure=answer)
        if isinstance(answer, Open):
            return replace(established, failure=_beyond(guarantee, events + 1, means), gap=answer.why)
        established = answer
    return established


def _beyond(guarantee: Guarantee, least: int, means: Means) -> Failure | None:
    """The run with the fewest events from ``least`` on that is found where there are fewer runs; None if there is none."""
    for events in range(least, guarantee.most + 1):
        for instance, bugs in guarantee.asked(events):
            narrowed = guarantee.narrowed(bugs)
            if narrowed is not None and not means.is_over:
                failure = _shortest(events, [means.checked(narrowed, instance, bugs)])
                if failure is not None:
                    return replace(failure, bugs=bugs)
    return None


def raised(established: Established, cluster: Cluster, means: Means) -> Mapping[str, int]:
    """The sizes, with one more of as few as possible, that guarantee one event more; empty if there are none among those that
    may, or none for which a small search is enough. Raises what ``check`` raises."""
    if established.figure is None or established.gap:
        return {}
    for names in established.guarantee.raised_by:
        sizes = cluster.raised(names)
        (same,) = (g for g in ledger_guarantees(cluster.resized(sizes)) if g.name == established.guarantee.name)
        if isinstance(_asked(same, established.figure + 1, means.with_little()), Established):
            return sizes
    return {}


def _of_steps(guarantee: Guarantee, means: Means) -> Established:
    """How many steps there are at most to what must come about."""
    assert isinstance(guarantee.entry, Entry)
    if over := means.why_over:
        return Established(guarantee, gap=over)
    (instance, _), *_ = guarantee.asked(0)
    protocol, approach = guarantee.entry.build(instance.parameters), means.left
    budget = Budget(approach.memory, approach.seconds, approach.workers, approach.memory)
    findings = distances(guarantee.entry.suite(protocol), budget, means.watch.should_stop)
    most = max(int(verdict.reach.get(FARTHEST, 0)) for verdict in findings.verdicts)
    answer = claimed(guarantee, most, [Checked.of(guarantee.entry, instance, protocol, findings)])
    return Established(guarantee, gap=answer.why) if isinstance(answer, Open) else answer


def _asked(guarantee: Guarantee, events: int, means: Means) -> Established | Failure | Open:
    """The claim that so many events do no harm, or the shortest run on which they do, or why there is neither."""
    if over := means.why_over:
        return Open(over)
    entry = guarantee.entry
    if isinstance(entry, Theory):
        approach = replace(means.left, by=None)
        return claimed(guarantee, events, [check_theory(entry, (), approach, means.watch)])
    means = replace(means, approach=replace(means.approach, symmetry=guarantee.symmetric))
    answers, failures = dict[str, Checked](), dict[str, Failure]()
    for instance, bugs in guarantee.asked(events):
        if over := means.why_over:
            break
        narrowed = guarantee.narrowed(bugs)
        several = [] if narrowed is None else [means.checked(narrowed, instance, bugs)]
        # once a run is known, what is left to find is one that is shorter
        rest = means.for_a_shorter_run() if _shortest(events, several) else means
        several.append(rest.checked(entry, instance, bugs))
        bug = next(iter(bugs), "")
        answers[bug], failure = several[-1], _shortest(events, several)
        if failure is not None:
            failures[bug] = failure
    if not failures:
        whole = len(answers) == 1 + len(guarantee.bugs)
        return claimed(guarantee, events, list(answers.values())) if whole else Open(over)
    worst = min(failures.values(), key=lambda failure: (bool(failure.bug), len(failure.run)))
    if not worst.bug:
        return worst  # no bug is to blame that is not needed
    shown = {bug for bug, checked in answers.items() if isinstance(claimed(guarantee, events, [checked]), Established)}
    undecided = [bug for bug in guarantee.bugs if bug not in shown and bug not in failures]
    return replace(worst, bugs=tuple(failures), undecided=tuple(undecided), by_bug=tuple(failures.values()))


def _shortest(events: int, several: Sequence[Checked]) -> Failure | None:
    """The shortest of the runs on which something is wrong; None if there is none."""
    failures = [
        Failure(events, checked, verdict)
        for checked in several
        for verdict in checked.verdicts
        if verdict.refuted and verdict.trace is not None
    ]
    return min(failures, key=lambda failure: len(failure.run), default=None)
