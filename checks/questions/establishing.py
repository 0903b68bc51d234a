"""How much settings guarantee: the number of events up to which an engine finds nothing wrong, and the run that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.plan import Checked, Options, check
from fencepost.checks.engines.results.verdicts import Value, Verdict
from fencepost.checks.engines.search.distances import farthest
from fencepost.checks.engines.theorems import check_theory
from fencepost.checks.questions.ledger_guarantees import Guarantee, Sizes, ledger_guarantees
from fencepost.model.releases import Releases
from fencepost.properties.registry import Entry
from fencepost.properties.theorems import Theory


@dataclass(frozen=True)
class Failure:
    """What is not guaranteed: so many events, and the run that shows it. ``defects`` are all mistakes of the release by which
    there is such a run."""

    events: int
    checked: Checked
    verdict: Verdict
    defects: tuple[str, ...] = ()

    @property
    def defect(self) -> str:
        """The mistake of the release without which there is no such run, if it takes one."""
        return next(iter(self.checked.protocol.active), "")

    @property
    def run(self) -> list[str]:
        """The labels of its steps."""
        return [step.action for step in self.verdict.trace.steps]


@dataclass(frozen=True)
class Established:
    """What is guaranteed.

    Nothing is wrong with up to ``figure`` events; ``verdict`` says how that was established, ``held`` in which instances.
    ``failure`` is the run with one more; None if no more were asked about, or the search for it had no end. ``raised`` are
    sizes with which one event more would be guaranteed. ``reckoned`` is how the number of steps was found, or why
    nothing is known.
    """

    guarantee: Guarantee
    figure: int
    verdict: Value
    held: tuple[Checked, ...]
    failure: Failure | None
    raised: Sizes | None = None
    reckoned: str = ""

    @property
    def known(self) -> bool:
        """Whether anything was established."""
        return self.verdict != "inconclusive" or self.failure is not None

    @property
    def sentence(self) -> str:
        """The guarantee in words."""
        return self.guarantee.sentence(self.figure) if self.known else "nothing is claimed of this"

    @property
    def how(self) -> str:
        """How the figure was established, and how far that goes."""
        notes = [checked.findings.notes[-1 if self.verdict == "proved" else 0] for checked in self.held]
        return self.reckoned or max(notes, key=len, default="")


def establish(
    guarantee: Guarantee, options: Options, reporter: Reporter, should_stop: Callable[[], bool] = lambda: False
) -> Established:
    """Asks about one event more, and one more, until something is wrong. Raises what ``check`` raises."""
    if isinstance(guarantee.entry, Theory):
        return _proved(guarantee, guarantee.entry, options, reporter, should_stop)
    if guarantee.fewer:
        return _reckoned(guarantee, guarantee.entry, options, should_stop)
    figure = 0
    verdict: Value | None = None
    held: tuple[Checked, ...] = ()
    failure: Failure | None = None
    for events in range(1, guarantee.most + 1):
        found, failure = _asked(guarantee, events, options, reporter, should_stop)
        if failure:
            break
        weakest = _weakest(found)
        if weakest == "inconclusive":
            break
        figure, verdict, held = events, weakest, found
    if verdict is None and failure and failure.defect:
        return Established(guarantee, 0, "violated", (), failure)  # what there is without such events, other rows say
    if verdict is None:
        held, none = _asked(guarantee, 0, options, reporter, should_stop)
        verdict = "inconclusive" if none else _weakest(held)
    return Established(guarantee, figure, verdict, held, failure)


def _proved(
    guarantee: Guarantee, theory: Theory, options: Options, reporter: Reporter, should_stop: Callable[[], bool]
) -> Established:
    """Whether all theorems hold: the number is one if they do."""
    checked = check_theory(theory, (), replace(options, by=None), reporter, should_stop)
    holds = all(v.verdict == "proved" for v in checked.findings.verdicts)
    return Established(guarantee, int(holds), "proved" if holds else "inconclusive", (checked,), None)


def _reckoned(guarantee: Guarantee, entry: Entry, options: Options, should_stop: Callable[[], bool]) -> Established:
    """How many steps there are at most to what must come about."""
    suite = entry.suite(entry.build(guarantee.parameters))
    steps, how = farthest(suite, options.memory, options.workers or 1, should_stop)
    return Established(guarantee, steps or 0, "inconclusive" if steps is None else "exhausted", (), None, reckoned=how)


def raised(
    established: Established, sizes: Sizes, releases: Releases, options: Options, reporter: Reporter
) -> Sizes | None:
    """The sizes, with one more of as few as possible, that guarantee one event more; None if there are none among those that
    may, or none for which a small search is enough. Raises what ``check`` raises."""
    wanted = established.figure + 1
    for names in established.guarantee.raised_by:
        other = sizes.raised(names)
        (same,) = (g for g in ledger_guarantees(other, releases) if g.name == established.guarantee.name)
        found, failure = _asked(same, wanted, options, reporter, lambda: False)
        if not failure and _weakest(found) == "exhausted":
            return other
    return None


def _asked(
    guarantee: Guarantee, events: int, options: Options, reporter: Reporter, should_stop: Callable[[], bool]
) -> tuple[tuple[Checked, ...], Failure | None]:
    """What was established of the instances with so many events, and the shortest run of those on which something is wrong."""
    assert isinstance(guarantee.entry, Entry)
    found = tuple(
        check(guarantee.entry, instance, defects, options, reporter, should_stop)
        for instance, defects in guarantee.asked(events)
    )
    bad = [Failure(events, c, v) for c in found for v in c.findings.verdicts if v.refuted]
    if not bad:
        return found, None
    worst = min(bad, key=lambda failure: (bool(failure.defect), len(failure.run)))  # no mistake is to blame that is not needed
    return found, replace(worst, defects=tuple(dict.fromkeys(f.defect for f in bad)) if worst.defect else ())


def _weakest(found: tuple[Checked, ...]) -> Value:
    """How all that nothing is wrong with was established: what was searched to some depth only is bounded, unless that says
    nothing of it."""
    verdicts = [v for checked in found for v in checked.findings.verdicts]
    values: set[Value] = {v.verdict for v in verdicts}
    if any(v.verdict == "inconclusive" and (v.property.kind == "leads_to" or not v.reach.get("depth")) for v in verdicts):
        return "inconclusive"
    return "bounded" if "inconclusive" in values else "exhausted"
