"""Known bugs: which of a release a check looks for, in which instances, and the search for one.

The bug is switched on where it is known to show, and the shortest run to what it does is searched. What a bug of a part comes
to is searched in a whole cluster also. That is made of stand-ins, which a bug of a part enters by weak moves
(``properties/cluster/bugs.py``), so bugs that have the same moves share one search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Task
from fencepost.checks.engines.results.findings import Checked, Findings, Open, Outcome, Refuted, Settled, outcome
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.model.language import Location, ModelError, Protocol
from fencepost.model.releases import Releases
from fencepost.properties.bugs import Bug
from fencepost.properties.configuration import Configuration
from fencepost.properties.protocols import PROTOCOLS, run_by
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.topic.in_cluster import SMALL
from fencepost.properties.vocabulary import Property


@dataclass(frozen=True)
class KnownBug:
    """A bug that a release has, and the instance in which it is looked for. ``unfit`` says why there is none with what is
    set: the instance is then the one that shows it, which is not searched."""

    entry: Entry
    name: str
    instance: Instance
    unfit: str = ""

    @property
    def bug(self) -> Bug:
        """What is known of it."""
        return self.entry.bugs[self.name]

    @cached_property
    def stated(self) -> Sequence[Property]:
        """The properties of the instance."""
        return self.entry.outline(self.instance.parameters).properties


def known_bugs_of(
    entries: Iterable[Entry],
    releases: Releases,
    cluster: Configuration | None,
    changes: Sequence[str] = (),
    properties: Sequence[str] = (),
) -> Iterator[KnownBug]:
    """The bugs of some releases, in the order of the protocols: each in the smallest instance in which it is known to show,
    with what is taken from the configuration and what ``changes`` set in its place.

    Left out are those that an instance like this cannot have (see ``Bug.only``), and those whose instance does not have all
    of the ``properties``. RegistryError for a parameter that a protocol does not have.
    """
    for entry in entries:
        for name in entry.bugs_of(releases):
            bug = entry.bugs[name]
            usual = {p.name: p.default for p in entry.parameters} | entry.behaviour(releases)
            parameters = entry.behaviour(releases) | dict(entry.shown_by[name])
            taken = {} if cluster is None else entry.taken(cluster, parameters)
            given = {key: taken[key] for key in taken if key not in bug.regardless} | entry.settings(changes)
            parameters |= given
            # What shows a bug of SortedLedgerStorage has that storage, and is for a cluster that has it, too.
            had = {parameter: (usual | given)[parameter] for parameter in bug.only}
            if not bug.fits(usual | parameters | had):
                continue
            instance = Instance(f"known bug of {bug.release(releases)}", parameters)
            try:
                stated = {prop.name for prop in entry.outline(parameters).properties}
            except ModelError as error:
                yield KnownBug(entry, name, replace(instance, parameters=entry.shown_by[name]), str(error))
                continue
            if set(properties) <= stated:
                yield KnownBug(entry, name, instance)


def known_bugs_in(cluster: Configuration) -> list[KnownBug]:
    """The bugs of its releases in the protocols that a cluster runs, with what is taken from its configuration."""
    return list(known_bugs_of(run_by(cluster), cluster.releases, cluster))


def search_of(bug: KnownBug, properties: Sequence[str], means: Means) -> Checked:
    """Searches all states up to the first that violates one of these properties (none named: any); one verdict on that.

    Raises what ``check`` raises.
    """
    parameters = {**bug.instance.parameters, **bug.entry.in_cluster.harmless}
    key = bug.entry.name, bug.name, tuple(properties), frozenset(parameters.items())
    if key in means.found:
        return means.found[key]
    thorough = replace(means.left, by="exhaustive", checkpoint=None, resume=False, strict=False, doubting=False)
    thorough = replace(thorough, properties=tuple(properties), symmetry_of_many=True, only_failures=False)
    checked = means.check(Task(bug.entry, bug.instance, [bug.name], thorough), means.watch)
    verdict = _verdict(bug, checked)
    findings = Findings((verdict,), checked.notes, seconds=checked.seconds)
    checked = Checked.of(bug.entry, bug.instance, checked.protocol, findings)
    if verdict.verdict != "inconclusive":
        means.found[key] = checked
    return checked


def look_for(bug: KnownBug, means: Means) -> Checked:
    """Searches all states, whatever engine the approach names, up to the first that does the ``harm`` of the bug.

    Where none does, or nobody knows which property that is, up to the first that violates any property. There is one verdict:
    ``known bug``, with the shortest run; ``exhausted`` if nothing is violated with these settings; or ``inconclusive``. Raises
    what ``check`` raises.
    """
    if bug.unfit:
        protocol = bug.entry.build(bug.instance.parameters, [bug.name])
        note = f"the instance that shows it does not fit what is set: {bug.unfit}"
        verdict = Verdict(property_of(bug, protocol), "inconclusive", "exhaustive", {}, note, bug=bug.bug)
        return Checked.of(bug.entry, bug.instance, protocol, Findings((verdict,)))
    spent, about_harm, harm, properties = 0.0, tuple[str, ...](), bug.bug.harm, means.approach.properties
    if harm and not properties and harm in {stated.name for stated in bug.stated}:
        checked = search_of(bug, (harm,), means)
        (verdict,) = checked.verdicts
        if verdict.verdict == "known bug":
            return checked
        why = "holds here" if verdict.verdict == "exhausted" else verdict.note
        spent, about_harm = checked.seconds, (f"what it costs, a violation of {harm}, was not found: {why}",)
    checked = search_of(bug, properties, means)
    return replace(checked, notes=checked.notes + about_harm, seconds=checked.seconds + spent)


def _verdict(bug: KnownBug, checked: Checked) -> Verdict:
    prop = property_of(bug, checked.protocol)
    # what settings make unreachable is no doing of the bug, and there is no run of it
    verdicts = [verdict for verdict in checked.verdicts if verdict.property.kind != "sometimes"]
    bad = [v for v in verdicts if v.verdict == "violated" and not v.expected]
    if bad:
        worst = min(bad, key=lambda v: (v.trace is None, int(v.reach.get("steps", 0))))
        reach, trace, shows = worst.reach, worst.trace, worst.property
        return Verdict(prop, "known bug", worst.by, reach, worst.note, trace, bug.bug, shows)
    asked = tuple(verdict for verdict in verdicts if not verdict.expected)
    found = outcome(replace(checked, verdicts=asked))
    if isinstance(found, Settled):
        note = "not in these settings: no property is violated"
        return Verdict(prop, "exhausted", "exhaustive", asked[0].reach, note, bug=bug.bug)
    why, reach = found.why if isinstance(found, Open) else "", asked[0].reach if asked else {}
    return Verdict(prop, "inconclusive", "exhaustive", reach, why, bug=bug.bug)


def property_of(bug: KnownBug, protocol: Protocol) -> Property:
    """What there is a verdict on; its place is where the protocol is declared, of which the bug may change any part."""
    return Property(
        bug.name,
        "known bug",
        None,  # type: ignore[arg-type]  # it has no formula
        protocol.bugs[bug.name],
        Location.of(bug.entry.function),
    )


PROTECTIONS = {
    "confirm_late": "fences hold",
    "no_recovery": "a topic that is opened recovers its last ledger",
    "list_without_version": "the list of ledgers is written by version",
}
"""What keeps two owners from losing a message, by the bug that takes it away."""


def search_for(prop: str, entry: Entry, instance: Instance, bugs: Sequence[str], means: Means) -> Checked:
    """Searches all states of an instance with some bugs for a violation of one property. Raises what ``check`` raises."""
    approach = replace(means.left, by="exhaustive", properties=(prop,), doubting=False)
    return means.check(Task(entry, instance, bugs, approach), means.watch)


class Whole:
    """A cluster with the settings of topics that are configured, and ``copies`` of each entry; what was searched of it is not
    searched again."""

    def __init__(self, cluster: Configuration) -> None:
        self._cluster, self._topic = PROTOCOLS["cluster"], PROTOCOLS["topic"]
        known = {parameter.name for parameter in self._cluster.parameters}
        taken = {name: value for name, value in self._topic.taken(cluster, {}).items() if name in known}
        self.copies = cluster.write_quorum
        self._taken = {**self._cluster.behaviour(cluster.releases), **taken}
        self._done = dict[tuple[str, ...], Refuted | Settled]()

    def asks(self, prop: str, parameters: Mapping[str, Value]) -> bool:
        """Whether topics have this property with these settings, and it holds without a bug."""
        stated = self._topic.outline({**SMALL, **parameters, **self._taken}).properties
        return any(each.name == prop and not each.strict for each in stated)

    def reached(self, moves: Sequence[str], prop: str, parameters: Mapping[str, Value], means: Means) -> Outcome:
        """What a search of a cluster with the moves of a bug comes to: refuted, by the shortest run, if they make this property
        false.

        ``parameters`` are those of the instance that shows it, besides those that let the bug in. Raises what ``check`` raises.
        """
        return self._searched(moves, prop, (), parameters, means)

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
        from fencepost.properties.cluster.bugs import entering  # loads the parts, which a check of one protocol does not need

        bugs = tuple(dict.fromkeys([*moves, *more]))
        instance = Instance("a weak move", {**entering(moves), **parameters, **self._taken})
        return self._kept((prop, *bugs), lambda: search_for(prop, self._cluster, instance, bugs, means), means)

    def _kept(self, key: tuple[str, ...], search: Callable[[], Checked], means: Means) -> Outcome:
        """What a search came to before or comes to now, if there is time; what is open is searched again."""
        if key in self._done:
            return self._done[key]
        over = means.why_over
        found = Open(over) if over else outcome(search())
        if not isinstance(found, Open):
            self._done[key] = found
        return found
