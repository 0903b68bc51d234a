"""The line of a configuration to look at for a guarantee: that of the setting that makes it what it is."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost.checks.questions.guarantees.establishing import Established
from fencepost.checks.questions.requirements import BOOKIES, BUNDLES, TOPICS
from fencepost.checks.settings.broker_conf import Taken
from fencepost.checks.settings.cluster_settings import Cluster, Settings
from fencepost.checks.settings.files.input_files import Place
from fencepost.properties.bugs import Bug


def is_of_sizes(row: Established) -> bool:
    """Whether the sizes of ledgers decide a guarantee."""
    return row.guarantee.name not in (*TOPICS, *BUNDLES, *BOOKIES)


def place_of_other(row: Established, bug: Bug | None, now: Cluster, before: Cluster | None) -> Place:
    """The line to look at for a guarantee that is of no sizes: of the setting that is another than ``before``, or that avoids
    the ``bug`` by which it fails; the files as a whole where no line is to blame."""
    if before is not None:
        was = {key: value for key, value, _ in _settings_of(row, before.settings)}
        changed = (place for key, value, place in _settings_of(row, now.settings) if value != was.get(key))
        if found := next((place for place in changed if place is not None), None):
            return found
    avoiding = bug.avoided_by.setting.partition("=")[0] if bug is not None and bug.avoided_by is not None else ""
    return now.settings.places.get(avoiding, now.first)


def _settings_of(row: Established, settings: Settings) -> Iterator[tuple[str, object, Place | None]]:
    """The settings that a guarantee is about: key, value and place."""
    if row.guarantee.name in BOOKIES:
        several = [vars(settings.bookies)]
    elif row.guarantee.name in TOPICS:
        several = [vars(settings.topic)]
    else:
        several = [vars(settings.control_plane), vars(settings.load_manager)]
    taken = (each for attributes in several for each in attributes.values())
    yield from ((each.key, each.value, each.place) for each in taken if isinstance(each, Taken))
