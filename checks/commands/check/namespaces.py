"""Namespaces whose policies make another cluster of it: the first question is answered again for each group of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fencepost.checks.commands.check.profile import namespaces_of
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.questions.answering import Answer
from fencepost.checks.questions.asking import Group, answered
from fencepost.checks.questions.bug_search import Searches, known_bugs_in
from fencepost.checks.questions.guarantees.establishing import Established, Means
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.settings.cluster_settings import Cluster, Settings, read_settings
from fencepost.checks.settings.files.input_files import read_bytes
from fencepost.properties.topic.in_cluster import parameters_of


def groups(asked: CheckRequest, cluster: Cluster, means: Means) -> Iterator[Group]:
    """Each group of namespaces, in the order in which they are named. Raises what ``check`` raises."""
    named, read = namespaces_of(asked), dict[bytes, Settings]()
    several = dict[object, list[tuple[str, Settings]]]()
    for name, file in named.items():
        content = read_bytes(file, "the policies of a namespace")
        settings = read.get(content) or read.setdefault(content, _with(asked, file))  # most namespaces have the same
        several.setdefault(_judged(settings), []).append((name, settings))
    for same, members in several.items():
        names, settings = in_short([name for name, _ in members], named), members[0][1]
        is_same = same == _judged(cluster.settings)
        yield Group(names, settings, None if is_same else _lost(settings, cluster, means))


def in_short(names: Sequence[str], every: Iterable[str]) -> tuple[str, ...]:
    """The names, with TENANT/* in the place of several that are all there are of a tenant."""
    shown = dict[str, None]()
    for name in names:
        tenant = name.partition("/")[0]
        mine = [other for other in every if other.startswith(f"{tenant}/")]
        is_whole = len(mine) > 1 and set(mine) <= set(names)
        shown[f"{tenant}/*" if is_whole else name] = None
    return tuple(shown)


def _with(asked: CheckRequest, file: Path) -> Settings:
    return read_settings(*asked.conf, file)


def _judged(settings: Settings) -> object:
    """What an answer depends on, without the places of it."""
    sizes = (settings.ledger.ensemble.value, settings.ledger.write_quorum.value, settings.ledger.ack_quorum.value)
    ordered = tuple((each.feature.name, each.says) for each in settings.orders)
    return sizes, tuple(sorted(parameters_of(settings.configuration()).items(), key=str)), ordered


def _lost(settings: Settings, cluster: Cluster, means: Means) -> Answer:
    bookies = max(cluster.bookies, settings.ledger.ensemble.value)
    other = replace(cluster, settings=settings, bookies=bookies)
    bugs, rows = known_bugs_in(other.configuration, other.releases), dict[str, Established]()
    assert MATTERS[0].name == "lost"
    return next(answered(other, bugs, means, Searches(means.check), rows))
