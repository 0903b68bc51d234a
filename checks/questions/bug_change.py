"""Which known bugs a change of releases or of settings, such as a load manager, takes away, and which it brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fencepost.checks.questions.bug_search import Searches
from fencepost.checks.questions.establishing import Means
from fencepost.checks.questions.known_bugs import KnownBug, known_bugs_in
from fencepost.checks.questions.reach import Reach, reach_of
from fencepost.checks.questions.whole import Whole
from fencepost.checks.settings.cluster_settings import Settings
from fencepost.model.releases import Releases

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


def bug_change(before: str, then: Bugs, now: str, today: Bugs) -> BugChange:
    """What changes from the known bugs of ``before`` to those of ``now``; what it costs is not asked."""
    return BugChange(
        before,
        now,
        {name: then[name] for name in then if name not in today},
        {name: today[name] for name in today if name not in then},
        {name: today[name] for name in today if name in then},
    )


def with_reach(change: BugChange, then: Whole, now: Whole, searches: Searches, means: Means) -> BugChange:
    """The change with what a user meets: by what goes in the cluster ``then``, by what comes in that of ``now``. Raises what
    ``check`` raises."""
    reach = {name: reach_of(bugs, searches, means, now) for name, bugs in change.come.items()}
    reach |= {name: reach_of(bugs, Searches(means.check), means, then) for name, bugs in change.go.items()}

    def ordered(bugs: Bugs) -> Bugs:
        return {name: bugs[name] for name in sorted(bugs, key=lambda name: reach[name].rank)}

    return BugChange(change.before, change.now, ordered(change.go), ordered(change.come), change.stay, reach)


def bugs_of(settings: Settings, releases: Releases) -> Bugs:
    """The known bugs of the releases in the protocols that a cluster with these settings runs."""
    bugs = dict[str, list[KnownBug]]()
    for bug in known_bugs_in(settings.configuration(releases), releases):
        bugs.setdefault(bug.name, []).append(bug)
    return bugs
