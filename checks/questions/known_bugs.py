"""Which bugs of a release a check looks for, and in which instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fencepost.checks.questions.instances import BOOKIE, CONTROL_PLANE, SERVICE_UNIT, TOPIC, Settings
from fencepost.model.language import ModelError
from fencepost.model.releases import Releases
from fencepost.properties.bugs import Bug
from fencepost.properties.registry import Entry, Instance, Value
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
    entries: Iterable[Entry], releases: Releases, settings: Settings | None, changes: Sequence[str], properties: Sequence[str]
) -> Iterator[KnownBug]:
    """The bugs of some releases, in the order of the protocols: each in the smallest instance in which it is known to show,
    with what is taken from the settings and what ``changes`` set in its place.

    Left out are those that an instance like this cannot have (see ``Bug.only``), and those whose instance does not have all
    of the ``properties``. RegistryError for a parameter that a protocol does not have.
    """
    for entry in entries:
        for name in entry.bugs_of(releases):
            bug = entry.bugs[name]
            usual = {p.name: p.default for p in entry.parameters} | entry.behaviour(releases)
            parameters = entry.behaviour(releases) | dict(entry.shown_by[name])
            taken = _taken(entry, parameters, settings)
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


def _taken(entry: Entry, shown: Mapping[str, Value], settings: Settings | None) -> dict[str, Value]:
    """What a protocol takes from the settings; of a ledger with as many bookies beside the ensemble as there were."""
    if settings is None:
        return {}
    if entry.name == "ledger":
        usual = {p.name: p.default for p in entry.parameters} | dict(shown)
        spare = int(usual["bookies"]) - int(usual["ensemble"])
        stored = {name: value for name, value in settings.of_bookies.items() if name == "storage"}
        return {**settings.ledger.parameters, "bookies": settings.ledger.ensemble.value + spare, **stored}
    if entry.name == BOOKIE:
        return settings.of_bookies
    if entry.name == SERVICE_UNIT:
        return settings.load_manager.service_units
    if entry.name == TOPIC:
        return settings.topic.parameters
    return CONTROL_PLANE[entry.name](settings.control_plane) if entry.name in CONTROL_PLANE else {}
