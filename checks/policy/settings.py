"""The settings of load balancing, from a ``broker.conf``, as Pulsar itself takes them from there.

Mirrors FieldParser of pulsar-common: numbers are trimmed and read by Integer.valueOf and Double.valueOf, ``true`` in any case,
with no blank after it, is true and everything else false, sets are separated by commas; a key that is absent or blank leaves
the default.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from fencepost.checks.inputs.input_files import Place
from fencepost.checks.policy.usage import WrongUsage
from fencepost.checks.settings.broker_conf import BrokerConf, ConfigurationError
from fencepost.checks.settings.broker_settings import algorithms_of
from fencepost.checks.settings.load_manager import (
    EXTENSIBLE,
    MANAGER,
    MODULAR,
    PLACEMENT,
    SHEDDER,
    SIMPLE,
    load_manager_settings,
    mismatches,
)
from fencepost.model.balance.configuration import (
    ABSENT,
    NAMES_BEFORE_4_0_8,
    RELEASES,
    SPELLINGS,
    Configuration,
    Version,
    defaults,
    key_of,
)
from fencepost.model.language.mistakes import guess
from fencepost.model.releases import NEWEST_BALANCED, is_since

INTEGERS = range(-(2**31), 2**31)
FRACTIONS = ("loadBalancerHistoryResourcePercentage", "maxUnloadPercentage", "loadBalancerBrokerLoadTargetStd")
"""Settings that are parts of one, whatever their names say."""
INTERVALS = (
    "loadBalancerHostUsageCheckIntervalMinutes",
    "loadBalancerResourceQuotaUpdateIntervalMinutes",
    "loadBalancerSheddingIntervalMinutes",
    "loadBalancerSplitIntervalMinutes",
)


@dataclass(frozen=True)
class Settings:
    """A configuration, and what the user should know of how it was read."""

    conf: Configuration
    notes: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    """Where the classes are named, by their keys."""


def release_of(named: str | None) -> Version:
    """The release of that name, or of one that it is also known by; the newest if none is named. Raises WrongUsage."""
    release = SPELLINGS.get(named or NEWEST_BALANCED, named or NEWEST_BALANCED)
    for modelled in RELEASES:
        if release == modelled:
            return modelled
    raise WrongUsage(f"--pulsar {named}: the policies are those of {', '.join(RELEASES)}; 2.10 and current are understood")


def read_settings(paths: Sequence[Path], pulsar: str | None) -> Settings:
    """The settings in some files, of which a later one counts before an earlier one; Pulsar's defaults if there is none.

    ``pulsar`` names the release, see ``release_of``; a key that it does not have leaves the default, and is noted. Raises
    InputError if a file cannot be read, ConfigurationError if a value is not of its setting's type, WrongUsage for a release
    that is not modelled.
    """
    version = release_of(pulsar)
    if not paths:
        return Settings(defaults(version))
    file = BrokerConf(*paths)
    conf = configuration_in(file, version)
    remedy = "give the broker.conf that the brokers start with, or leave it out for Pulsar's defaults"
    file.look_closer(remedy, besides=_names_elsewhere(version))
    notes = (
        *file.notes,
        *_spelled_otherwise(file, version),
        *_without_effect(file, version),
        *_on_fractions(file, conf),
        *_on_managers(file, conf),
    )
    places = {key: places[-1] for key in (MANAGER, SHEDDER, PLACEMENT) if (places := file.places_of(key))}
    return Settings(conf, notes, places)


def configuration_in(file: BrokerConf, version: Version) -> Configuration:
    """The settings of load balancing in a configuration, as a release takes them. Raises ConfigurationError."""
    conf, absent, given = defaults(version), ABSENT.get(version, frozenset()), dict[str, Any]()
    for one in fields(Configuration)[1:]:
        key, kind, usual = key_of(one.name, version), str(one.type), getattr(conf, one.name)
        if key in absent:
            file.text(key, "")  # it says nothing, but it is one of load balancing
            continue
        if kind == "bool":
            given[one.name] = file.flag(key, usual).value
        elif setting := file.text(key, usual):
            given[one.name] = _value(str(setting[1]), key, setting[0].strip(), kind, version)
    return replace(conf, **given)


def changed(conf: Configuration, texts: Sequence[str], option: str = "--set") -> Configuration:
    """The configuration with settings that an option has as ``key=value``, each by the name that its version has for it.

    Raises WrongUsage for a key that is not read, ConfigurationError for a value that is not of its setting's type.
    """
    kinds = {key_of(one.name, conf.pulsar_version): one for one in fields(Configuration)[1:]}
    absent = ABSENT.get(conf.pulsar_version, frozenset())
    values = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or key not in kinds:
            meant = (guess(key, kinds) if equals else "") or "; write KEY=VALUE with a key of load balancing"
            raise WrongUsage(f"{option} {text}: there is no such setting{meant}")
        if key in absent:
            raise WrongUsage(f"{option} {text}: Pulsar {conf.pulsar_version} has no such setting; leave it out")
        values[kinds[key].name] = _value(option, key, value, str(kinds[key].type), conf.pulsar_version)
    return replace(conf, **values)


def _value(place: str, key: str, text: str, kind: str, version: Version) -> Any:
    """The value of a setting; ``place`` is where it is written."""
    where = f"{place}: {key} = {text!r}"
    if kind == "bool":
        if text.lower() not in ("true", "false"):
            raise ConfigurationError(f"{where} is neither true nor false; write {_example(key)}")
        return text.lower() == "true"
    if kind == "str":
        if key == "defaultNamespaceBundleSplitAlgorithm" and text not in algorithms_of(version):
            raise ConfigurationError(f"{where} is not among {', '.join(algorithms_of(version))} of Pulsar {version}")
        return text
    if kind == "frozenset[str]":
        return frozenset(part.strip() for part in text.split(",") if part.strip())
    if kind == "int":
        if not re.fullmatch(r"[+-]?[0-9]+", text) or int(text) not in INTEGERS:
            raise ConfigurationError(f"{where} is not a whole number of 32 bits; write one, such as {_example(key)}")
        if key in INTERVALS and int(text) < 1:
            raise ConfigurationError(f"{where} is not an interval; write one of a minute or more, such as {_example(key)}")
        if int(text) < 0 and _is_bound(key):
            raise ConfigurationError(f"{where} is below 0; write what it can be, such as {_example(key)}")
        return int(text)
    try:
        number = float(text) if "_" not in text else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigurationError(f"{where} is not a number; write one, such as {_example(key)}")
    if number < 0 and _is_bound(key):
        raise ConfigurationError(f"{where} is below 0; write what it can be, such as {_example(key)}")
    return number


def _is_bound(key: str) -> bool:
    """Whether a setting is a threshold, a share or a weight: no load is below 0, and a broker with one does what nobody
    means. Of counts, -1 has a meaning."""
    return any(word in key for word in ("Threshold", "Percentage", "Weight", "TargetStd"))


def _example(key: str) -> str:
    names = {other: name for name, other in NAMES_BEFORE_4_0_8.items()}
    usual = getattr(defaults(), names.get(key, key))
    return f"{key}={str(usual).lower() if isinstance(usual, bool) else usual}"


def _names_elsewhere(version: Version) -> dict[str, str]:
    """What another version calls a setting, and what this one does."""
    names = NAMES_BEFORE_4_0_8.items()
    return {old: new for new, old in names} if is_since(version, "4.0.8") else dict(names)


def _spelled_otherwise(file: BrokerConf, version: Version) -> list[str]:
    """Notes on what is spelled as another version spells it."""
    return [
        f"{place}: {other} is not read by this version, which spells it {key}"
        for other, key in _names_elsewhere(version).items()
        for place in file.places_of(other)
    ]


def _without_effect(file: BrokerConf, version: Version) -> list[str]:
    """Notes on keys that the release does not have."""
    message = f"is not read by Pulsar {version}, which has no such setting"
    keys = [one.name for one in fields(Configuration) if one.name in ABSENT.get(version, ())]
    return [f"{place}: {key} {message}" for key in keys for place in file.places_of(key)]


def _on_fractions(file: BrokerConf, conf: Configuration) -> list[str]:
    """Notes on parts that are larger than the whole: percentages, most likely."""
    return [
        f"{place}: {key} is a fraction, and {value:g} of it are {value * 100:g} %; did you mean {value / 100:g}?"
        for key in FRACTIONS
        if (value := getattr(conf, key)) > 1
        for place in file.places_of(key)
    ]


def _on_managers(file: BrokerConf, conf: Configuration) -> list[str]:
    """Notes on the load manager whose rules are taken, where it is not the one that the files name, and on what it takes
    instead of what it cannot use."""
    taken = load_manager_settings(file)
    name = taken.manager.value.rpartition(".")[2]
    if name not in (MODULAR, EXTENSIBLE, SIMPLE):
        return [f"{taken.manager.place}: {name} is not modelled; the rules are those of {MODULAR}"]
    return [str(one) for one in mismatches(taken, conf.pulsar_version) if one.outcome != "stops"]
