"""Which known bugs a change of releases or of settings, such as a load manager, takes away, and which it brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.checks.questions.hazards import hazards
from fencepost.checks.questions.instances import Settings, is_run
from fencepost.model.counts import count_of
from fencepost.model.history import History
from fencepost.model.releases import SYSTEMS, Releases
from fencepost.properties.protocols import PROTOCOLS

Bugs = dict[str, History]
"""Known bugs by protocol and name: ``ledger.captured_ensemble``."""


@dataclass(frozen=True)
class BugChange:
    """The known bugs that a cluster could have ``before`` and can have ``now``: the names of releases, or of settings."""

    before: str
    now: str
    go: Bugs
    come: Bugs
    stay: Bugs

    @property
    def heading(self) -> str:
        """From what to what."""
        return f"Known bugs that change from {self.before} to {self.now}"

    @property
    def summary(self) -> str:
        """How many come, go and stay, in a sentence."""
        come, go, stay = (len(_by_name(bugs)) for bugs in (self.come, self.go, self.stay))
        return f"{count_of(come, 'known bug')} come{'s' if come == 1 else ''}, {go} go{'es' if go == 1 else ''}, {stay} stay."

    @property
    def sentences(self) -> list[str]:
        """What comes, each with what it costs and how to see it, and what goes."""
        come = [f"comes: {_in_a_line(name, bugs)}; run: {_command(name, bugs)}" for name, bugs in _by_name(self.come).items()]
        return [*come, *(f"goes: {_in_a_line(name, bugs)}" for name, bugs in _by_name(self.go).items())]

    def as_json(self) -> dict[str, Any]:
        """The same for programs, with what each bug costs."""
        return {
            "before": self.before,
            "now": self.now,
            "go": {name: history.costs for name, history in self.go.items()},
            "come": {name: history.costs for name, history in self.come.items()},
            "stay": list(self.stay),
        }


def _by_name(bugs: Bugs) -> dict[str, Bugs]:
    """The bugs, each once, with the protocols that have it."""
    groups: dict[str, Bugs] = {}
    for key, history in bugs.items():
        protocol, _, name = key.partition(".")
        groups.setdefault(name, {})[protocol] = history
    return groups


def _in_a_line(name: str, bugs: Bugs) -> str:
    history = next(iter(bugs.values()))
    avoided = f"; avoided by {history.avoided_by}" if history.avoided_by else ""
    fixed = f"; fixed in {SYSTEMS[history.project]} {history.fixed}" if history.fixed else ""
    return f"{name} ({', '.join(bugs)}): {history.costs}{avoided}{fixed}"


def _command(name: str, bugs: Bugs) -> str:
    return f"fencepost check {next(iter(bugs))} --defect {name}"


def bug_change(before: str, then: Bugs, now: str, today: Bugs) -> BugChange:
    """What changes from the known bugs of ``before`` to those of ``now``."""
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
