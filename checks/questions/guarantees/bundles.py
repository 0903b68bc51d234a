"""Which questions with a number for an answer the settings of bundles and of sessions are asked, and in which instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fencepost.checks.questions.guarantees.guarantee import Guarantee
from fencepost.model.releases import Releases
from fencepost.properties.configuration import Configuration
from fencepost.properties.ownership import guarantees as of_locks
from fencepost.properties.ownership.entry import ENTRY as OWNERSHIP
from fencepost.properties.registry import Entry, Value
from fencepost.properties.service_unit import guarantees as of_records
from fencepost.properties.service_unit.entry import ENTRY as SERVICE_UNIT
from fencepost.properties.service_unit.in_cluster import parameters_of
from fencepost.properties.theories import THEORIES
from fencepost.properties.unload.entry import ENTRY as UNLOAD

LOST_SESSIONS = "{n} lost session{s} of a broker"
LOST = ("expiries",)
DEAD = ("crashes",)


def bundle_guarantees(cluster: Configuration, releases: Releases) -> Iterator[Guarantee]:
    """What is asked of bundles: owned by locks or, with the extensible load manager, by records of service units.

    A broker that shuts down when its session is lost is one that may crash: that it goes on is among what is considered.
    """
    why = SERVICE_UNIT.refusal(releases) if cluster.extensible else ""
    for row in _of_owners(cluster, releases):
        yield replace(row, unasked=why)
    yield Guarantee(
        "hash_range",
        "every hash is in one bundle, however bundles are split",
        "a hash can be in no bundle, or in two",
        THEORIES["hash_range"],
        {},
        (),
        1,
    )


def _of_owners(cluster: Configuration, releases: Releases) -> Iterator[Guarantee]:
    """What is asked of who owns a bundle, and serves it."""
    is_extensible = cluster.extensible
    suites = of_records if is_extensible else of_locks
    owning, unloading = (SERVICE_UNIT, SERVICE_UNIT) if is_extensible else (OWNERSHIP, UNLOAD)
    behaviour = {} if owning.refusal(releases) else owning.behaviour(releases)
    taken = {**behaviour, **(parameters_of(cluster) if is_extensible else {})}
    moves: dict[str, Value] = {"unloads": 0} if is_extensible else {}
    small: dict[str, Value] = {**taken, **moves, "brokers": 2, "crashes": int(cluster.on_session_loss == "shutdown")}
    steps_of = f"service units in the {taken['store']} store" if is_extensible else "locks"
    unloads: dict[str, Value] = {"brokers": 2, "unloads": 1, "timeouts": 1}
    unloads |= taken if is_extensible else {"failures": 1}
    moved: dict[str, Value] = {**taken, "brokers": 2, "unloads": 1}

    yield Guarantee(
        "owners",
        "a bundle has a single owner through {n} lost session{s}",
        "when a broker loses its session, another serves its bundles beside it until it has heard of that",
        replace(owning, suite=suites.one_server),
        small,
        LOST,
        1,
        event=LOST_SESSIONS,
    )
    yield Guarantee(
        "owners_in_the_end",
        "after {n} lost session{s} a bundle comes back to one broker",
        "after a lost session two brokers can serve a bundle for good",
        replace(owning, suite=suites.one_server_in_the_end),
        small,
        LOST,
        1,
        dict(_shown_by(LOST, owning, small, taken, releases)),
        event=LOST_SESSIONS,
    )
    yield Guarantee(
        "served",
        "after {n} lost session{s} every bundle is served again",
        "after a lost session a bundle can stay unserved",
        replace(owning, suite=suites.served),
        small,
        LOST,
        1,
        event=LOST_SESSIONS,
    )
    yield Guarantee(
        "moved",
        "a bundle is served again after {n} broker{s} died while it was moved",
        "a bundle can stay unserved when a broker dies while it is moved",
        replace(unloading, suite=suites.served),
        moved,
        DEAD,
        1,
        dict(_shown_by(DEAD, unloading, moved, taken, releases)),
        event="{n} death{s} of a broker during an unload",
    )
    yield Guarantee(
        "unserved",
        "after a lost session a bundle that nobody serves is at most {n} step{s} from being served",
        "after a lost session no bundle is unserved",
        replace(owning, suite=suites.served),
        {**small, "expiries": 1},
        (),
        0,
        fewer=True,
        steps_of=steps_of,
    )
    yield Guarantee(
        "unloaded",
        "a bundle that is unloaded is at most {n} step{s} from being served again",
        "a bundle that is unloaded is served all the time",
        replace(unloading, suite=suites.served),
        unloads,
        (),
        0,
        fewer=True,
        steps_of=steps_of,
    )


def _shown_by(
    faults: tuple[str, ...], entry: Entry, small: Mapping[str, Value], taken: Mapping[str, Value], releases: Releases
) -> Iterator[tuple[str, dict[str, Value]]]:
    """The bugs that such a fault shows, each with the instance that does, with what is configured in it."""
    for name in entry.bugs_of(releases):
        parameters = {**small, **entry.shown_by[name], **taken}
        if all(parameters.get(fault) for fault in faults) and entry.can_have(name, parameters):
            yield name, parameters
