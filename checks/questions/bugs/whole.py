"""What a known bug of a part comes to in a whole cluster: the run in which it reaches a user, or what keeps it from that.

A cluster is made of stand-ins, which a bug of a part enters by weak moves (``properties/cluster/bugs.py``). So bugs that have
the same moves share one search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Task
from fencepost.checks.engines.results.findings import Checked, Open, Outcome, Refuted, Settled, outcome
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.guarantees.establishing import NO_TIME
from fencepost.model.releases import Releases
from fencepost.properties.cluster.bugs import entering
from fencepost.properties.cluster.entry import ENTRY as CLUSTER
from fencepost.properties.configuration import Configuration
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.topic.entry import ENTRY as TOPIC
from fencepost.properties.topic.in_cluster import parameters_of

SMALL = {"brokers": 1, "messages": 1, "ledgers": 2, "openings": 1, "connections": 2, "rolls": 0}
"""A topic whose producer connects twice."""

PROTECTIONS = {
    "confirm_late": "fences hold",
    "no_recovery": "a topic that is opened recovers its last ledger",
    "list_without_version": "the list of ledgers is written by version",
}
"""What keeps two owners from losing a message, by the bug that takes it away."""


class Whole:
    """A cluster with the settings of topics that are configured, and ``copies`` of each entry; what was searched of it is not
    searched again."""

    def __init__(self, cluster: Configuration, releases: Releases) -> None:
        known = {parameter.name for parameter in CLUSTER.parameters}
        taken = {name: value for name, value in parameters_of(cluster).items() if name in known}
        self.copies = cluster.write_quorum
        self._taken = {**CLUSTER.behaviour(releases), **taken}
        self._done = dict[tuple[str, ...], Refuted | Settled]()

    def asks(self, prop: str, parameters: Mapping[str, Value]) -> bool:
        """Whether topics have this property with these settings, and it holds without a bug."""
        stated = TOPIC.outline({**SMALL, **parameters, **self._taken}).properties
        return any(each.name == prop and not each.strict for each in stated)

    def reached(self, moves: Sequence[str], prop: str, parameters: Mapping[str, Value], means: Means) -> Outcome:
        """What a search of a cluster with the moves of a bug comes to: refuted, by the shortest run, if they make this property
        false.

        ``parameters`` are those of the instance that shows it, besides those that let the bug in. Raises what ``check`` raises.
        """
        return self._searched(moves, prop, (), parameters, means)

    def control(self, prop: str, means: Means) -> Outcome | None:
        """What a search of a topic comes to for a property that is violated with these settings, and holds with others; None
        if it is no such property."""
        if self.asks(prop, {}):
            return None
        instance = Instance("the settings", {**SMALL, **self._taken})
        return self._kept((prop,), lambda: self._check(TOPIC, instance, (), prop, means), means)

    def covered_by(self, moves: Sequence[str], prop: str, means: Means) -> tuple[str, ...]:
        """Of the protections those without each of which the moves do so, in words; none if that is not known of each. Raises
        what ``check`` raises."""
        lost = {name: self._searched(moves, prop, (name,), {}, means) for name in PROTECTIONS}
        if any(isinstance(each, Open) for each in lost.values()):
            return ()
        return tuple(PROTECTIONS[name] for name, each in lost.items() if isinstance(each, Refuted))

    def _searched(
        self, moves: Sequence[str], prop: str, more: Sequence[str], parameters: Mapping[str, Value], means: Means
    ) -> Outcome:
        bugs = tuple(dict.fromkeys([*moves, *more]))
        instance = Instance("a weak move", {**entering(moves), **parameters, **self._taken})
        return self._kept((prop, *bugs), lambda: self._check(CLUSTER, instance, bugs, prop, means), means)

    def _check(self, entry: Entry, instance: Instance, bugs: Sequence[str], prop: str, means: Means) -> Checked:
        approach = replace(means.left, by="exhaustive", properties=(prop,), doubting=False)
        return means.check(Task(entry, instance, bugs, approach), means.watch)

    def _kept(self, key: tuple[str, ...], search: Callable[[], Checked], means: Means) -> Outcome:
        """What a search came to before or comes to now, if there is time; what is open is searched again."""
        if key in self._done:
            return self._done[key]
        found = Open(NO_TIME) if means.is_over else outcome(search())
        if not isinstance(found, Open):
            self._done[key] = found
        return found


def verdict_of(checked: Checked) -> Verdict:
    """The one verdict of such a check."""
    (verdict,) = checked.verdicts
    return verdict
