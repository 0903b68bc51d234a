"""What one run of an engine on one instance established, the properties that are asked about, and what a search comes to.

That is a run, the end of all runs, or nothing that says anything. A *no* is made of ends alone: ``Settled`` is the only type of
which an answer makes a *no*, and it refuses every search that was cut short: by memory, by time, by a depth, by sampling or by
whoever waits for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

from fencepost.checks.engines.results.verdicts import Value, Verdict
from fencepost.model.language import Protocol
from fencepost.model.language.mistakes import guess
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.suspicions import Suspicion
from fencepost.properties.theorems import Theory
from fencepost.properties.vocabulary import Property, Suite


@dataclass(frozen=True)
class Findings:
    """The verdicts of one engine on one instance.

    ``notes`` say how far it went and what cut it short, ``suspicions`` what makes success doubtful, ``failures`` (of
    induction) which obligations do not hold. ``unneeded`` are the lemmas that a proof does without (None: nothing was proved,
    or it is not known), ``left`` the properties that are no matter for this engine, so that they have no verdict. ``seconds``
    is how long it took; it is no part of the comparison.
    """

    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    failures: tuple[str, ...] = ()
    unneeded: tuple[Property, ...] | None = None
    left: tuple[Property, ...] = ()
    seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, kw_only=True)
class Checked(Findings):
    """What was established, and of which instance."""

    entry: Entry | Theory
    instance: Instance
    protocol: Protocol

    @classmethod
    def of(cls, entry: Entry | Theory, instance: Instance, protocol: Protocol, findings: Findings) -> Checked:
        """The findings of an engine on this instance."""
        return cls(entry=entry, instance=instance, protocol=protocol, **vars(findings))

    @property
    def findings(self) -> Findings:
        """The same without the instance, to which another process has one of its own."""
        return Findings(**{each.name: getattr(self, each.name) for each in fields(Findings)})


class PropertyError(Exception):
    """A property that the instance does not have; the message lists those that it has."""


def chosen_of(suite: Suite, names: Sequence[str]) -> list[Property]:
    """The properties of these names, all of them if there are none; PropertyError for one that the instance does not have."""
    known = {p.name: p for p in suite.properties}
    for name in names:
        if name not in known:
            meant = guess(name, known)
            raise PropertyError(f"{suite.protocol.name} has no property {name!r}{meant} here; it has {', '.join(known)}")
    return [known[name] for name in names] or list(suite.properties)


COMPLETE: tuple[Value, ...] = ("exhausted", "proved", "proved for any size")
"""The verdicts that say of every run, however long, that nothing is wrong with it."""


@dataclass(frozen=True)
class Open:
    """Why nothing is claimed: what was cut short, or does not occur."""

    why: str


@dataclass(frozen=True)
class Refuted:
    """A run on which something is wrong. ValueError for a verdict without one."""

    checked: Checked
    verdict: Verdict

    def __post_init__(self) -> None:
        if not (self.verdict.refuted and self.verdict.trace is not None):
            raise ValueError(f"{self.verdict.property.name} is {self.verdict.verdict}, without a run")


@dataclass(frozen=True)
class Settled:
    """Searches that went to their end, each over all runs of its instance, and found nothing wrong.

    ValueError unless there is one, and every verdict of each is complete.
    """

    searches: tuple[Checked, ...]

    def __post_init__(self) -> None:
        if not self.searches:
            raise ValueError("nothing was searched")
        for checked in self.searches:
            if why := _why_open(checked):
                raise ValueError(f"{checked.entry.name} is not settled: {why}")


Outcome = Refuted | Settled | Open


def outcome(checked: Checked) -> Outcome:
    """What one check comes to; of several violations the one with the shortest run."""
    bad = [verdict for verdict in checked.verdicts if verdict.refuted]
    with_run = [verdict for verdict in bad if verdict.trace is not None]
    if with_run:
        return Refuted(checked, min(with_run, key=lambda verdict: len(verdict.run.steps)))
    why = _why_open(checked)
    return Open(why) if why else Settled((checked,))


def first_refuted(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The first that is refuted. Without one: open if any is open, settled if all are; None if there are none.

    Nothing after a run that was found is taken from the outcomes, so that nothing more is searched.
    """
    settled, gaps = list[Checked](), list[str]()
    for each in outcomes:
        if isinstance(each, Refuted):
            return each
        if isinstance(each, Open):
            gaps.append(each.why)
        else:
            settled += each.searches
    if gaps:
        return Open("; ".join(dict.fromkeys(gaps)))
    return Settled(tuple(settled)) if settled else None


def why_incomplete(verdict: Verdict) -> str:
    """Why a verdict is not complete; empty if it is."""
    return "" if verdict.verdict in COMPLETE else verdict.note or f"{verdict.property.name} is {verdict.verdict}"


def _why_open(checked: Checked) -> str:
    """Why a check does not say of all runs that nothing is wrong; empty if it does."""
    verdicts = checked.verdicts
    if not verdicts or checked.left:
        return "not all that is asked was checked"
    return next((why for verdict in verdicts if (why := why_incomplete(verdict))), "")
