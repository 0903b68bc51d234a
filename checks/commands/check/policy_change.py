"""What a configuration changes in the balancing of load: the classes that run in each, and the settings that they read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from fencepost.checks.policy.comparison.contenders import written
from fencepost.checks.policy.settings import configuration_in, release_of
from fencepost.checks.reports.changes import Change, PolicyChange
from fencepost.checks.settings.broker_conf import BrokerConf
from fencepost.checks.settings.cluster_settings import Settings
from fencepost.checks.settings.load_manager import MANAGER, PLACEMENT, SHEDDER, SIMPLE, Running, mismatches
from fencepost.model.balance.configuration import RELEASES, Configuration, key_of
from fencepost.model.balance.simple_manager import SimpleShedding
from fencepost.model.balance.strategies import PLACEMENTS, SHEDDERS, in_words
from fencepost.model.releases import NEWEST_BALANCED

CLASSES = (MANAGER, SHEDDER, PLACEMENT)
UNKNOWN = "its own"
STRATEGY = "loadBalancerPlacementStrategy"


def policy_change(
    files: Sequence[Path], settings: Settings, former: Sequence[Path], before: Settings, release: str
) -> PolicyChange | None:
    """How the policy in some files differs from that in the ``former`` ones, in a release of Pulsar; None if it does not.

    Raises ConfigurationError for a setting of load balancing that no broker can take.
    """
    now, then = settings.load_manager.running(release), before.load_manager.running(release)
    changes = [*_of_classes(now, then, settings), *_of_settings(files, former, release)]
    if not changes:
        return None
    lines = [str(one) for each in (before, settings) for one in mismatches(each.load_manager, release)]
    lines += _in_words(then, now)
    if now.manager == then.manager:
        lines.append("The rows above hold for every policy. What this one does to your cluster over hours is told by")
    else:
        lines.append("Which protocol owns bundles depends on the manager, and with it the rows of bundles.")
        lines.append("What the policy does to your cluster over hours is told by")
    of_release = f" --pulsar {release}" if release in RELEASES else ""
    if not of_release:
        lines[-1] = f"The policies of Pulsar {release} are not modelled. What those of {NEWEST_BALANCED} do is told by"
    snapshot = "fencepost policy snapshot --admin URL --out now.json"
    compare = f"fencepost policy compare --conf {_listed(files)} --against {_listed(former)}{of_release}"
    return PolicyChange(tuple(changes), tuple(lines), (snapshot, f"{compare} --snapshot now.json --out compared"))


def _of_classes(now: Running, then: Running, settings: Settings) -> Iterator[Change]:
    """The classes that run now, and did not before."""
    taken = settings.load_manager
    for part, setting in (("manager", taken.manager), ("shedder", taken.shedder), ("placement", taken.placement)):
        before, after = getattr(then, part) or UNKNOWN, getattr(now, part) or UNKNOWN
        if before != after:
            yield Change(setting.key, before, after, setting.place)


def _of_settings(files: Sequence[Path], former: Sequence[Path], release: str) -> Iterator[Change]:
    """The other settings of load balancing whose values differ."""
    version = release_of(release if release in RELEASES else None)
    file = BrokerConf(*files)
    now, then = configuration_in(file, version), configuration_in(BrokerConf(*former), version)
    for name in (field.name for field in fields(Configuration)[1:] if field.name not in CLASSES):
        key, before, after = key_of(name, version), getattr(then, name), getattr(now, name)
        if before != after:
            yield Change(key, written(before), written(after), next(reversed(file.places_of(key)), None))


def _in_words(then: Running, now: Running) -> Iterator[str]:
    """What the shedders and the placement strategies do, where they differ."""
    for known, before, after in ((SHEDDERS, then.shedder, now.shedder), (PLACEMENTS, then.placement, now.placement)):
        for when, name in (("before", before), ("now", after)) if before != after else ():
            if name in known:
                yield f"{when}: {name}: {in_words(name, known)}"
    for when, manager in (("before", then.manager), ("now", now.manager)) if then.manager != now.manager else ():
        if manager == SIMPLE:
            yield f"{when}: {str(SimpleShedding.__doc__).partition('.')[0]}; brokers are ranked by {STRATEGY}"


def _listed(files: Sequence[Path]) -> str:
    return ",".join(map(str, files))
