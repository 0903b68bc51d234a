"""The reproductions by name, and the predictions of them that are held against released software; each is loaded by itself."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from fencepost.checks.conformance.reproductions.reproduction import Reproduction
from fencepost.checks.conformance.reproductions.study import Study
from fencepost.properties.loading import Loaded

_NAMES = (
    "fence-forgotten",
    "dedup-loses",
    "stored-twice",
    "deleted-by-former-owner",
    "failed-flush",
    "twice-in-ensemble",
    "failed-audit",
    "returned-copies",
    "transfer-comes-back",
    "migrated-owner",
    "missed-bounce",
    "missed-endpoints",
    "slow-listing",
    "missed-migration",
    "restarted-ids",
    "reused-name",
    "refused-copy",
    "refusal-unheard",
    "timed-out-load",
    "trimmed-ack",
)


def _reproduction(name: str) -> Reproduction:
    found = _in_its_module(name.replace("-", "_"))
    assert isinstance(found, Reproduction)
    return found


def _study(name: str) -> Study:
    found = _in_its_module(f"{name.replace('-', '_')}_study")
    assert isinstance(found, Study)
    return found


def _in_its_module(name: str) -> object:
    return getattr(import_module(f"{__package__}.{name}"), name.upper())


REPRODUCTIONS: Mapping[str, Reproduction] = Loaded(_NAMES, _reproduction)
STUDIES: Mapping[str, Study] = Loaded(("dedup-loses", "slow-listing", "failed-flush", "lost-disks"), _study)
