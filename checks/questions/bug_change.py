"""Which known bugs a change of releases takes away, and which it brings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fencepost.checks.questions.hazards import hazards
from fencepost.checks.questions.instances import Settings, is_run
from fencepost.model.counts import count_of
from fencepost.model.history import History
from fencepost.model.releases import Releases
from fencepost.properties.protocols import PROTOCOLS

Bugs = dict[str, History]
"""Known bugs by protocol and name: ``ledger.captured_ensemble``."""


@dataclass(frozen=True)
class BugChange:
    """The known bugs of the releases ``before`` and ``now`` that a cluster with the same settings can have."""

    before: Releases
    now: Releases
    go: Bugs
    come: Bugs
    stay: Bugs

    @property
    def heading(self) -> str:
        """From which releases to which."""
        return f"Known bugs, from {self.before} to {self.now}"

    @property
    def sentences(self) -> list[str]:
        """What goes, what comes, and how many stay, a sentence each."""
        stay = f"{count_of(len(self.stay), 'known bug')} stay{'s' if len(self.stay) == 1 else ''}."
        return [_listed("go", "goes", self.go), _listed("come", "comes", self.come), stay]

    def as_json(self) -> dict[str, Any]:
        """The same for programs, with what each bug costs."""
        return {
            "before": str(self.before),
            "now": str(self.now),
            "go": {name: history.costs for name, history in self.go.items()},
            "come": {name: history.costs for name, history in self.come.items()},
            "stay": list(self.stay),
        }


def _listed(several: str, one: str, bugs: Iterable[str]) -> str:
    names = list(bugs)
    verb = one if len(names) == 1 else several
    return f"{count_of(len(names), 'known bug')} {verb}{': ' if names else ''}{', '.join(names)}."


def bug_change(settings: Settings, before: Releases, now: Releases) -> BugChange:
    """The known bugs that a cluster with these settings has in one release, and in the other."""
    then, today = bugs_of(settings, before), bugs_of(settings, now)
    return BugChange(
        before,
        now,
        {name: then[name] for name in then if name not in today},
        {name: today[name] for name in today if name not in then},
        {name: today[name] for name in today if name in then},
    )


def bugs_of(settings: Settings, releases: Releases) -> Bugs:
    """The known bugs of the releases in the protocols that a cluster with these settings runs."""
    entries = [entry for name, entry in PROTOCOLS.items() if is_run(name, settings.load_manager, releases.pulsar)]
    return {f"{hazard.entry.name}.{hazard.name}": hazard.history for hazard in hazards(entries, releases, settings, (), ())}
