"""What the command line asks to be checked: which protocols and theories, and in which instances.

Also the results that no engine gives: what there was no time to check, and controls that fail because of what the user set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from fencepost.checks.engines.results.findings import Checked, Findings, chosen_of
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.inputs.own_protocols import is_own, own_protocols
from fencepost.checks.questions.bugs.searching import KnownBug, known_bugs_of, property_of
from fencepost.checks.settings.cluster_settings import Settings
from fencepost.model.language import ModelError, Protocol
from fencepost.model.language.circumstances import in_outline
from fencepost.model.language.mistakes import guess
from fencepost.model.pulsar.stores import STORES, stores_of
from fencepost.model.releases import NEWEST, Releases
from fencepost.properties.configuration import Part
from fencepost.properties.loading import Loaded
from fencepost.properties.protocols import PROTOCOLS, names_checked_in, run_by
from fencepost.properties.registry import Entry, Instance, RegistryError, Value, find, written
from fencepost.properties.theorems import Theory
from fencepost.properties.theories import THEORIES
from fencepost.properties.vocabulary import Property


@dataclass(frozen=True)
class Wanted:
    """Which protocols, or all; in which instances, by their size or by parameters that are ``set``, with which bugs and of
    ``any`` number of what; which properties, or all; by which engine, or by the strongest."""

    protocols: Sequence[str]
    set: Sequence[str]
    size: str | None
    bug: Sequence[str]
    property: Sequence[str]
    by: str | None
    any: Sequence[str]


Item = Entry | Theory
EVERYTHING: Mapping[str, Item] = Loaded(
    [*PROTOCOLS, *THEORIES], lambda name: PROTOCOLS[name] if name in PROTOCOLS else THEORIES[name]
)


def planned(asked: Wanted, settings: Settings | None, releases: Releases | None = None) -> list[tuple[Item, Instance]]:
    """The instances to check, in order, behaving as the releases do if there are any; of named properties only those that have
    all of them.

    RegistryError if a protocol, parameter, size, bug or property does not exist; InputError for a file of one's own that
    has no protocol.
    """
    return _having_properties(asked, _every(asked, settings, releases))


def planned_with_bugs(
    asked: Wanted, settings: Settings | None, releases: Releases | None = None
) -> tuple[list[tuple[Item, Instance]], list[KnownBug]]:
    """The same with the bugs to look for, which may be all that has the named properties."""
    every = _every(asked, settings, releases)
    bugs = planned_bugs(asked, settings, releases, every)
    is_elsewhere = bool(asked.property) and any(not bug.unfit for bug in bugs)
    return _having_properties(asked, every, is_elsewhere=is_elsewhere), bugs


def _every(asked: Wanted, settings: Settings | None, releases: Releases | None) -> list[tuple[Item, Instance]]:
    items = _items(asked, settings, releases)
    return [(item, instance) for item in items for instance in _instances(item, asked, settings, releases)]


def _having_properties(
    asked: Wanted, every: list[tuple[Item, Instance]], *, is_elsewhere: bool = False
) -> list[tuple[Item, Instance]]:
    """The instances that have the named properties. RegistryError if neither they nor what ``is_elsewhere`` has them."""
    if not asked.property:
        return every
    known = [_properties(*pair) for pair in every]
    having = [pair for pair, names in zip(every, known, strict=True) if set(asked.property) <= names]
    if having or is_elsewhere:
        return having
    if asked.protocols or len(every) == 1:
        return every  # the engine then names the properties that there are
    names = sorted(set[str]().union(*known))
    unknown = [name for name in asked.property if name not in names]
    if unknown and (elsewhere := _where(unknown[0])):
        where = " and ".join(elsewhere)
        raise RegistryError(
            f"{unknown[0]!r} is a property of {where}, which is not among what is checked here: name the protocol to check it"
        )
    raise RegistryError(
        f"there is no property {unknown[0]!r}{guess(unknown[0], names)}; `fencepost list` names all of them"
        if unknown
        else f"nothing has all of these properties: {', '.join(asked.property)}"
    )


def _where(prop: str) -> list[str]:
    """What has a property of that name in one of its instances."""
    return [
        item.name
        for item in EVERYTHING.values()
        if any(prop in _properties(item, instance) for instance in item.instances("ci"))
    ]


def planned_bugs(
    asked: Wanted, settings: Settings | None, releases: Releases | None, plan: Iterable[tuple[Item, Instance]]
) -> list[KnownBug]:
    """The bugs of the releases to look for: of what is checked anyway, and with settings, where nobody said what to check,
    of all protocols. Those that a protocol has of its parts are looked for if that is named. None without releases, and none
    beside a bug that was asked for by name."""
    if releases is None or asked.bug:
        return []
    cluster = None if settings is None else settings.configuration(releases)
    entries = list({item.name: item for item, _ in plan if isinstance(item, Entry)}.values())
    if cluster is not None and not (asked.protocols or asked.set):
        entries = run_by(cluster)
    elif asked.protocols:
        entries = [replace(entry, of_parts=False) for entry in entries]
    return list(known_bugs_of(entries, releases, cluster, asked.set, asked.property))


def configuration_notes(settings: Settings, names: set[str], releases: Releases | None = None) -> list[str]:
    """What the protocols of these names take from the configuration, in some releases (the newest, unless told), and what there
    is to say of it whatever is found."""
    cluster, notes = settings.configuration(releases), list[str]()
    known = {name: PROTOCOLS[name].in_cluster for name in PROTOCOLS if name in names}
    for part in get_args(Part):
        taking = [each for each in known.values() if part in each.parts]
        if taking or (part == "control_plane" and names - known.keys()):
            notes += settings.taken(part, cluster.release)
            notes += [note for each in taking if each.parts[0] == part for note in each.notes(cluster)]
    return notes + [f"note: {note}" for note in settings.notes]


def _items(asked: Wanted, settings: Settings | None, releases: Releases | None) -> list[Item]:
    names = asked.protocols
    if not names:
        checked = None if settings is None else {*names_checked_in(settings.configuration(releases)), *THEORIES}
        names = [name for name in EVERYTHING if checked is None or name in checked]
        names = [name for name in names if name not in PROTOCOLS or not PROTOCOLS[name].refusal(releases)]
        if asked.set or asked.by:  # which are of protocols
            names = [name for name in names if name in PROTOCOLS]
        if asked.any:
            names = [name for name in names if name in PROTOCOLS and PROTOCOLS[name].general]
    items = [item for name in names for item in _named(name)]
    if asked.set and not asked.protocols:  # nobody said whose parameters these are: those of the protocols that have them
        wanted = {text.partition("=")[0].strip() for text in asked.set}
        items = [i for i in items if isinstance(i, Entry) and wanted <= {p.name for p in i.parameters}] or items
    if not asked.bug:
        return items
    unknown = [d for d in asked.bug if not any(d in item.shown_by for item in items)]
    if unknown:
        meant = guess(unknown[0], [d for item in items for d in item.shown_by])
        names = " ".join(item.name for item in items if item.shown_by)
        raise RegistryError(f"there is no bug {unknown[0]!r}{meant}; to see those that there are: fencepost list {names}")
    items = [item for item in items if all(d in item.shown_by for d in asked.bug)]
    if not items:
        raise RegistryError(f"no protocol has all of these bugs: {', '.join(asked.bug)}")
    return items


def _named(name: str) -> Sequence[Item]:
    return own_protocols(Path(name), EVERYTHING) if is_own(name) else [find(name, EVERYTHING)]


def _instances(item: Item, asked: Wanted, settings: Settings | None, releases: Releases | None) -> Iterator[Instance]:
    """The instances of an item; of those of a size only what behaves as the releases do, and each once."""
    changed = item.settings(asked.set)
    instances, behaviour = _before_set(item, asked, settings, releases), dict[str, Value]()
    if isinstance(item, Entry) and releases is not None:
        behaviour = item.behaviour(releases)
        instances = instances if asked.bug else item.as_of(releases, instances)
    for instance in instances:
        parameters = {**behaviour, **instance.parameters}
        if asked.any:  # what was not set by who asks is of any size
            parameters = {name: value for name, value in parameters.items() if name not in asked.any}
        parameters |= changed
        if isinstance(item, Entry) and releases is not None:
            _require_store(item, parameters.get("metadata_store"), releases)
        yield replace(instance, parameters=parameters, any=tuple(asked.any))


def _require_store(entry: Entry, store: object, releases: Releases) -> None:
    known = stores_of(releases.pulsar or NEWEST)
    if store in STORES and store not in known:
        message = f"Pulsar {releases.pulsar} has no metadata store {store}; it has {', '.join(known)}"
        raise RegistryError(f"{entry.name}: {message}: name another release by --pulsar, or another store")


def _before_set(item: Item, asked: Wanted, settings: Settings | None, releases: Releases | None) -> Sequence[Instance]:
    if settings is not None and isinstance(item, Entry):
        configured = item.configured(settings.configuration(releases), asked.size or "")
        if configured is not None:
            return configured
    if asked.any and not (asked.size or asked.bug or asked.set) and isinstance(item, Entry) and item.general is not None:
        meant = [instance for instance in item.general.instances if set(instance.any) == set(asked.any)]
        return meant or (Instance("of any size", {}),)
    if asked.size is not None:
        return item.instances(asked.size)
    if asked.bug:
        shown = {name: value for bug in asked.bug for name, value in item.shown_by[bug].items()}
        return (Instance("bug", shown),)
    return (Instance("as set", {}),) if asked.set else item.instances("ci")


def _properties(item: Item, instance: Instance) -> set[str]:
    if isinstance(item, Theory):
        return {theorem.name for theorem in item.theorems(frozenset())}
    return {stated.name for stated in item.outline(instance.parameters).properties}


OUT_OF_TIME = "not checked: out of time"


def unsettled(item: Entry | Theory, instance: Instance, bugs: Sequence[str], properties: Sequence[str]) -> Checked:
    """The properties of an instance, or those of these names, without a search. PropertyError for one that it does not have."""
    if isinstance(item, Theory):
        theorems = item.theorems(frozenset(bugs))
        chosen = [theorem.property for theorem in theorems if theorem.name in properties or not properties]
        bearer = Protocol(item.name, doc=item.summary, bugs=item.bugs, active=bugs)
        return _inconclusive(item, instance, bearer, chosen)
    with in_outline():
        protocol = item.build(instance.parameters, bugs)
        return _inconclusive(item, instance, protocol, chosen_of(item.suite(protocol), properties))


def unsettled_bug(bug: KnownBug) -> Checked:
    """A known bug that was not looked for."""
    with in_outline():
        protocol = bug.entry.build(bug.instance.parameters, [bug.name])
    verdict = Verdict(property_of(bug, protocol), "inconclusive", "exhaustive", note=OUT_OF_TIME, bug=bug.bug)
    return Checked.of(bug.entry, bug.instance, protocol, Findings((verdict,)))


def is_unsettled(checked: Checked) -> bool:
    """Whether nothing of it was checked, for lack of time."""
    return all(verdict.note == OUT_OF_TIME for verdict in checked.verdicts)


def _inconclusive(item: Entry | Theory, instance: Instance, protocol: Protocol, properties: Sequence[Property]) -> Checked:
    engine = "theorem" if isinstance(item, Theory) else instance.by or "exhaustive"
    verdicts = tuple(Verdict(prop, "inconclusive", engine, note=OUT_OF_TIME) for prop in properties)
    return Checked.of(item, instance, protocol, Findings(verdicts))


def held_to_account(checked: Checked, changes: Mapping[str, Value]) -> Checked:
    """An instance whose controls are properties like any other where what the user set makes them controls.

    Budgets of faults are no settings: what a kill costs is for the control to show.
    """
    settings = {name: value for name, value in changes.items() if name not in checked.protocol.budgets}
    if not isinstance(checked.entry, Entry) or checked.instance.any or not settings:
        return checked
    verdicts = []
    for verdict in checked.verdicts:
        prop = verdict.property
        blamed = _blamed(checked.entry, checked.instance.parameters, settings, prop.name) if verdict.expected else []
        if blamed:
            note = f"not guaranteed with {' '.join(f'{name}={written(settings[name])}' for name in blamed)}: {prop.strict}"
            verdict = replace(verdict, property=replace(prop, strict=""), note=note)
        verdicts.append(verdict)
    return replace(checked, verdicts=tuple(verdicts))


def _blamed(entry: Entry, parameters: Mapping[str, Value], settings: Mapping[str, Value], prop: str) -> list[str]:
    """The settings by which a property is a control: each that suffices alone, or all; none if it is one without them."""
    rest = {name: value for name, value in parameters.items() if name not in settings}
    if _is_control(entry, rest, prop) is not False:
        return []
    alone = [name for name, value in settings.items() if _is_control(entry, {**rest, name: value}, prop)]
    return alone or list(settings)


def _is_control(entry: Entry, parameters: Mapping[str, Value], prop: str) -> bool | None:
    """Whether a property is a control in an instance; None if there is no such property, or no such instance."""
    try:
        suite = entry.outline(parameters)
    except ModelError:
        return None
    return next((bool(known.strict) for known in suite.properties if known.name == prop), None)
