"""What a known bug of a part comes to in a whole cluster: the run in which it reaches a user, or what keeps it from that.

A cluster is made of stand-ins, which a bug of a part enters by weak moves (``model/cluster/known_bugs.py``). So bugs that have
the same moves share one search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.establishing import Means
from fencepost.checks.questions.instances import Settings
from fencepost.model.releases import Releases
from fencepost.properties.cluster.instances import entering
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Instance, Value

CLUSTER, TOPIC = PROTOCOLS["cluster"], PROTOCOLS["topic"]
SMALL = {"brokers": 1, "messages": 1, "ledgers": 2, "openings": 1, "connections": 2, "rolls": 0}
"""A topic whose producer connects twice."""

PROTECTIONS = {
    "confirm_late": "fences hold",
    "no_recovery": "a topic that is opened recovers its last ledger",
    "list_without_version": "the list of ledgers is written by version",
}
"""What keeps two owners from losing a message, by the mistake that takes it away."""


class Whole:
    """A cluster with the settings of topics that are configured; what was searched of it is not searched again."""

    def __init__(self, settings: Settings, releases: Releases) -> None:
        known = {parameter.name for parameter in CLUSTER.parameters}
        taken = {name: value for name, value in settings.topic.parameters.items() if name in known}
        self._taken = {**CLUSTER.behaviour(releases), **taken}
        self._done = dict[tuple[str, ...], Checked]()

    def asks(self, prop: str, parameters: Mapping[str, Value]) -> bool:
        """Whether topics have this property with these settings, and it holds without a bug."""
        stated = TOPIC.outline({**SMALL, **parameters, **self._taken}).properties
        return any(each.name == prop and not each.strict for each in stated)

    def reached(self, moves: Sequence[str], prop: str, parameters: Mapping[str, Value], means: Means) -> Checked:
        """The check of a cluster with the moves of a bug: violated, with the shortest run, if they make this property false.

        ``parameters`` are those of the instance that shows it, besides those that let the bug in. Raises what ``check`` raises.
        """
        return self._checked(moves, prop, (), parameters, means)

    def control(self, prop: str, means: Means) -> Checked | None:
        """The check of a topic for a property that is violated with these settings, and holds with others; None if it holds."""
        checked = self._done.get((prop,))
        if checked is None:
            approach = replace(means.left, by="exhaustive", properties=(prop,), doubting=False)
            instance = Instance("the settings", {**SMALL, **self._taken})
            if self.asks(prop, {}):
                return None
            checked = means.check(TOPIC, instance, (), approach, means.reporter, means.should_stop)
            self._done[prop,] = checked
        return checked

    def covered_by(self, moves: Sequence[str], prop: str, means: Means) -> tuple[str, ...]:
        """Of the protections those without each of which the moves do so, in words. Raises what ``check`` raises."""
        lost = {name: self._checked(moves, prop, (name,), {}, means) for name in PROTECTIONS}
        return tuple(PROTECTIONS[name] for name, checked in lost.items() if verdict_of(checked).verdict == "violated")

    def _checked(
        self, moves: Sequence[str], prop: str, more: Sequence[str], parameters: Mapping[str, Value], means: Means
    ) -> Checked:
        defects = tuple(dict.fromkeys([*moves, *more]))
        if (key := (prop, *defects)) not in self._done:
            approach = replace(means.left, by="exhaustive", properties=(prop,), doubting=False)
            instance = Instance("a weak move", {**entering(moves), **parameters, **self._taken})
            checked = means.check(CLUSTER, instance, defects, approach, means.reporter, means.should_stop)
            if verdict_of(checked).verdict == "inconclusive":
                return checked
            self._done[key] = checked
        return self._done[key]


def verdict_of(checked: Checked) -> Verdict:
    """The one verdict of such a check."""
    (verdict,) = checked.findings.verdicts
    return verdict
