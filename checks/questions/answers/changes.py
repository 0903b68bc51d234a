"""Which known bugs a change brings and takes: other releases, or other settings, and what users meet by each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.results.findings import Open, Settled
from fencepost.checks.questions.answers.answering import by_bug
from fencepost.checks.questions.answers.ways import UNDER_WAY, Way
from fencepost.checks.questions.bugs.searching import KnownBug, Whole, known_bugs_in
from fencepost.checks.questions.matters import MATTERS, Matter
from fencepost.properties.configuration import Configuration


@dataclass(frozen=True)
class Reach:
    """The ``matter`` of users that a known bug touches with some settings, and the ``way`` in which it does: None of both if it
    touches none.

    ``gap`` says what was cut short before one was found, ``is_asked`` whether any matter is about its protocols.
    """

    matter: Matter | None = None
    way: Way | None = None
    gap: str = ""
    is_asked: bool = True

    @property
    def applies(self) -> str:
        """``yes`` if a user meets it with these settings, ``no`` if complete searches found nothing, ``unknown`` if one was cut
        short, or ``not asked``."""
        return "yes" if self.way else "unknown" if self.gap else "no" if self.is_asked else "not asked"

    @property
    def seldom(self) -> bool:
        """Whether users meet it only while something goes on that few clusters do."""
        return self.way is not None and not {*UNDER_WAY.values()}.isdisjoint(self.way.needs)

    @property
    def rank(self) -> tuple[int, int]:
        """The place among known bugs: what costs users most is the first, and of that what needs the fewest faults; then what
        is met seldom, what is not known or not asked, and what costs them nothing."""
        if self.matter is None or self.way is None:
            return (2 if self.gap or not self.is_asked else 3) * len(MATTERS), 0
        return self.seldom * len(MATTERS) + MATTERS.index(self.matter), self.way.faults


def reach_of(bugs: Sequence[KnownBug], means: Means, whole: Whole) -> Reach:
    """What a user meets by a known bug, in the protocols that have it. Raises what ``check`` raises."""
    gaps, is_asked = list[str](), False
    for matter in MATTERS:
        result = by_bug(matter, bugs, means, whole)
        if isinstance(result, Way):
            return Reach(matter, result)
        gaps += [result.why] if isinstance(result, Open) else []
        is_asked = is_asked or isinstance(result, Settled)
    return Reach(gap="; ".join(dict.fromkeys(gaps)), is_asked=is_asked or bool(gaps))


Bugs = Mapping[str, Sequence[KnownBug]]
"""Known bugs by name, each in the protocols that have it."""


@dataclass(frozen=True)
class BugChange:
    """The known bugs that a cluster could have ``before`` and can have ``now``: the names of releases, or of settings.

    ``reach`` says by name what a user meets by those that go and by those that come, which are first where they cost most.
    """

    before: str
    now: str
    go: Bugs
    come: Bugs
    stay: Bugs
    reach: Mapping[str, Reach] = field(default_factory=dict)

    @property
    def felt(self) -> list[str]:
        """Those that come and that users meet with these settings."""
        return [name for name in self.come if name in self.reach and self.reach[name].applies == "yes"]


def met_by(change: BugChange) -> object:
    """What users notice of a change: which bugs that they meet come, and which go, each with what it costs them."""
    met = {name: each.matter.name for name, each in change.reach.items() if each.way is not None and each.matter is not None}
    return [{name: met[name] for name in names if name in met} for names in (change.come, change.go)]


def bug_change(before: str, then: Bugs, now: str, today: Bugs) -> BugChange:
    """What changes from the known bugs of ``before`` to those of ``now``; what it costs is not asked."""
    return BugChange(
        before,
        now,
        {name: then[name] for name in then if name not in today},
        {name: today[name] for name in today if name not in then},
        {name: today[name] for name in today if name in then},
    )


def with_reach(change: BugChange, then: Whole, now: Whole, means: Means) -> BugChange:
    """The change with what a user meets: by what goes in the cluster ``then``, by what comes in that of ``now``. Raises what
    ``check`` raises."""
    reach = dict[str, Reach]()
    for name, bugs in change.come.items():
        reach[name] = reach_of(bugs, means, now)
        means.passed()
    for name, bugs in change.go.items():
        reach[name] = reach_of(bugs, means, then)
        means.passed()

    def ordered(bugs: Bugs) -> Bugs:
        return {name: bugs[name] for name in sorted(bugs, key=lambda name: reach[name].rank)}

    return BugChange(change.before, change.now, ordered(change.go), ordered(change.come), change.stay, reach)


def bugs_of(cluster: Configuration) -> Bugs:
    """The known bugs of its releases in the protocols that a cluster runs."""
    bugs = dict[str, list[KnownBug]]()
    for bug in known_bugs_in(cluster):
        bugs.setdefault(bug.name, []).append(bug)
    return bugs
