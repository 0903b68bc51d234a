"""Which known bugs a change brings and takes: other releases, or other settings, and what users meet by each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.results.findings import Open, Settled
from fencepost.checks.questions.answers.answering import by_bug
from fencepost.checks.questions.answers.ways import EVENTS, Way, acts_in, events_in
from fencepost.checks.questions.bugs.searching import KnownBug, Whole, known_bugs_in
from fencepost.checks.questions.matters import MATTERS, Matter
from fencepost.properties.configuration import Configuration


@dataclass(frozen=True)
class Met:
    """What users meet: the ``matter``, and the ``way`` in which it happens."""

    matter: Matter
    way: Way

    @property
    def acts(self) -> tuple[str, ...]:
        """The acts of an administrator without which it does not happen, in words."""
        return tuple(EVENTS[act].says for act in acts_in(self.way))


@dataclass(frozen=True)
class Reach:
    """What users meet by a known bug with some settings: of what happens without an administrator only what costs most,
    ``met``, and all that is worse and happens ``only_if`` one acts. ``left_out`` is what needs an event that does not happen
    here.

    ``gaps`` say by the name of a matter what was cut short before anything was met, ``is_asked`` whether any matter is about
    its protocols. Of one that is accepted nothing is searched.
    """

    met: Met | None = None
    only_if: tuple[Met, ...] = ()
    left_out: tuple[Met, ...] = ()
    gaps: Mapping[str, str] = field(default_factory=dict)
    is_asked: bool = True
    is_accepted: bool = False

    @property
    def first(self) -> Met | None:
        """What is met or, where nothing is without an administrator, what happens first if one acts."""
        return self.met or next(iter(self.only_if), None)

    @property
    def gap(self) -> str:
        """What was cut short, in words."""
        return "; ".join(dict.fromkeys(self.gaps.values()))

    @property
    def applies(self) -> str:
        """``yes`` if a user meets it with these settings, ``only if you act``, ``unknown`` if a search was cut short before one
        was met, ``accepted``, ``not here`` if it needs an event that does not happen here, ``no`` if complete searches found
        nothing, or ``not asked``."""
        if self.is_accepted:
            return "accepted"
        if self.first is not None:
            return "yes" if self.met is not None else "only if you act"
        if self.gaps:
            return "unknown"
        if self.left_out:
            return "not here"
        return "no" if self.is_asked else "not asked"

    @property
    def rank(self) -> tuple[int, int]:
        """The place among known bugs: what costs users most is the first, and of that what needs the fewest faults; then what
        needs an administrator, what is not known or not asked, and what costs them nothing."""
        if self.first is None:
            return (2 if self.gaps or not self.is_asked else 3) * len(MATTERS), 0
        return (self.met is None) * len(MATTERS) + MATTERS.index(self.first.matter), self.first.way.faults


def reach_of(bugs: Sequence[KnownBug], means: Means, whole: Whole, never: Collection[str] = ()) -> Reach:
    """What a user meets by a known bug, in the protocols that have it; ``never`` are the events that do not happen here. Raises
    what ``check`` raises."""
    only_if, left_out, gaps, is_asked = list[Met](), list[Met](), dict[str, str](), False
    reach = Reach()
    for matter in MATTERS:
        result = by_bug(matter, bugs, means, whole)
        is_asked = is_asked or isinstance(result, (Way, Open, Settled))
        if isinstance(result, Open):
            gaps[matter.name] = result.why
        elif isinstance(result, Way) and set(events_in(result)) & set(never):
            left_out.append(Met(matter, result))
        elif isinstance(result, Way) and acts_in(result):
            only_if.append(Met(matter, result))
        elif isinstance(result, Way):
            reach = Reach(Met(matter, result))
            break
    return replace(reach, only_if=tuple(only_if), left_out=tuple(left_out), gaps=gaps, is_asked=is_asked)


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
        """Those that come and that users meet with these settings, or may if an administrator acts."""
        return [name for name in self.come if name in self.reach and self.reach[name].first is not None]

    @property
    def unsettled(self) -> list[str]:
        """Those that come of which it is not known whether a message is lost by them."""
        return [name for name in self.come if name in self.reach and MATTERS[0].name in self.reach[name].gaps]


def met_by(change: BugChange) -> object:
    """What users notice of a change: which bugs that they meet come, and which go, each with what it costs them."""
    met = dict[str, object]()
    for name, each in change.reach.items():
        if each.first is not None:
            met[name] = each.met and each.met.matter.name, [one.matter.name for one in each.only_if]
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


def with_reach(
    change: BugChange, then: Whole, now: Whole, means: Means, never: Collection[str] = (), accepted: Collection[str] = ()
) -> BugChange:
    """The change with what a user meets: by what goes in the cluster ``then``, by what comes in that of ``now``, except what
    needs an event that ``never`` happens. What is ``accepted`` of what comes is not searched. Raises what ``check`` raises."""
    reach = dict[str, Reach]()
    for name, bugs in change.come.items():
        reach[name] = Reach(is_accepted=True) if name in accepted else reach_of(bugs, means, now, never)
        means.passed()
    for name, bugs in change.go.items():
        reach[name] = reach_of(bugs, means, then, never)
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
