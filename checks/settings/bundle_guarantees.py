"""Which questions with a number for an answer the settings of bundles and of sessions are asked, and in which instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fencepost.checks.settings.control_plane_settings import ControlPlaneSettings
from fencepost.checks.settings.guarantees import Guarantee
from fencepost.model.releases import Releases
from fencepost.properties.ownership import guarantees as suites
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from fencepost.properties.theories import THEORIES

OWNERSHIP, UNLOAD = PROTOCOLS["ownership"], PROTOCOLS["unload"]
LOST = ("expiries",)


def bundle_guarantees(settings: ControlPlaneSettings, releases: Releases) -> Iterator[Guarantee]:
    """What is asked of bundles that are owned by locks, as the modular load manager has it.

    A broker that shuts down when its session is lost is one that may crash: that it goes on is among what is considered.
    """
    shuts_down = int(settings.on_session_loss.value == "shutdown")
    small: dict[str, Value] = {**OWNERSHIP.behaviour(releases), "brokers": 2, "crashes": shuts_down}
    hazards = {
        name: {**small, **OWNERSHIP.shown_by[name], **OWNERSHIP.behaviour(releases)}
        for name in OWNERSHIP.hazards(releases)
        if OWNERSHIP.shown_by[name].get("expiries")
    }

    yield Guarantee(
        "owners",
        "one broker alone serves a bundle through {n} lost session{s}",
        "when a broker loses its session, another serves its bundles beside it until it has heard of that",
        replace(OWNERSHIP, suite=suites.one_server),
        small,
        LOST,
        1,
    )
    yield Guarantee(
        "owners_in_the_end",
        "after {n} lost session{s} a bundle comes back to one broker",
        "after a lost session two brokers can serve a bundle for good",
        replace(OWNERSHIP, suite=suites.one_server_in_the_end),
        small,
        LOST,
        1,
        hazards,
    )
    yield Guarantee(
        "served",
        "after {n} lost session{s} every bundle is served again",
        "after a lost session a bundle can stay unserved",
        replace(OWNERSHIP, suite=suites.served),
        small,
        LOST,
        1,
    )
    yield Guarantee(
        "unserved",
        "after a lost session a bundle that nobody serves is at most {n} step{s} from being served",
        "after a lost session no bundle is unserved",
        replace(OWNERSHIP, suite=suites.served),
        {**small, "expiries": 1},
        (),
        0,
        fewer=True,
    )
    yield Guarantee(
        "unloaded",
        "a bundle that is unloaded is at most {n} step{s} from being served again",
        "a bundle that is unloaded is served all the time",
        replace(UNLOAD, suite=suites.served),
        {"brokers": 2, "unloads": 1, "timeouts": 1, "failures": 1},
        (),
        0,
        fewer=True,
    )
    yield Guarantee(
        "hash_range",
        "every hash is in one bundle, however bundles are split",
        "a hash can be in no bundle, or in two",
        THEORIES["hash_range"],
        {},
        (),
        1,
    )
