"""Which bugs of a release a check looks for, and in which instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fencepost.model.language import ModelError
from fencepost.model.releases import Releases
from fencepost.properties.bugs import Bug
from fencepost.properties.configuration import Configuration
from fencepost.properties.protocols import run_by
from fencepost.properties.registry import Entry, Instance
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


def known_bugs_in(cluster: Configuration, releases: Releases) -> list[KnownBug]:
    """The bugs of some releases in the protocols that a cluster runs, with what is taken from its configuration."""
    return list(known_bugs_of(run_by(cluster), releases, cluster))
