"""The strategies that a command line names: Pulsar's by their names, a user's own as FILE.py:FUNCTION or FILE.jar:CLASS."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fencepost.checks.conformance.policy.jar_strategy import JarError, JarStrategy
from fencepost.checks.inputs.input_files import InputError, Place, read_text
from fencepost.checks.policy.snapshot import as_snapshot
from fencepost.checks.policy.usage import WrongUsage
from fencepost.checks.settings.broker_conf import PULSARS, ConfigurationError, Taken
from fencepost.checks.settings.load_manager import (
    CLASSES,
    MANAGER,
    PLACEMENT,
    RANKING,
    SHEDDER,
    SIMPLE,
    LoadManagerSettings,
    mismatches,
)
from fencepost.model.balance.configuration import Configuration, defaults
from fencepost.model.balance.load_manager import LoadManager
from fencepost.model.balance.strategies import EXTENSIBLE_LOAD_MANAGER, UnknownStrategy, load_manager
from fencepost.model.balance.user_code import UserCodeError, UserFunction
from fencepost.model.balance.user_policy import PLACE, SHED, PolicyFault, UserPlacement, UserShedder, user_strategy
from fencepost.traces.files.writing import write_text


def manager_of(
    conf: Configuration, places: Mapping[str, Place], shedder: str | None = None, placement: str | None = None
) -> LoadManager:
    """The load manager of a configuration, with other strategies where they are named; ``places`` is where it names its own.

    Raises WrongUsage for a named strategy that does not exist, ConfigurationError for one in the file and for a manager that
    does not run with these strategies, InputError for a file of Python or a jar that cannot be used.
    """
    shed, place = own_strategy(shedder), own_strategy(placement)
    if isinstance(shed, UserPlacement):
        raise WrongUsage(f"--shedder {shedder}: is a placement strategy; a shedder takes {SHED}")
    if isinstance(place, UserShedder):
        raise WrongUsage(f"--placement {placement}: is a shedder; a placement strategy takes {PLACE}")
    named = (None if shed else shedder, None if place else placement)
    try:
        load_manager(Configuration(), *named)
    except UnknownStrategy as error:
        raise WrongUsage(f"{error}; your own is FILE.py:FUNCTION or FILE.jar:CLASS") from None
    if isinstance(shed, UserShedder) and isinstance(shed.function, JarStrategy):
        _try(shed.function, conf)
    try:
        running = _that_runs(conf, places, shedder, placement)
        replaced = running.loadBalancerLoadPlacementStrategy != conf.loadBalancerLoadPlacementStrategy
        manager = load_manager(running, named[0], None if replaced else named[1])
    except UnknownStrategy as error:
        where = places.get(error.key)
        raise ConfigurationError(f"{where or error.key}: {error}; choose one with --shedder or --placement", where) from None
    return replace(manager, shedder=shed or manager.shedder, placement=place or manager.placement)


def _that_runs(conf: Configuration, places: Mapping[str, Place], shedder: str | None, placement: str | None) -> Configuration:
    """The configuration with the strategies that the release makes of it. Raises ConfigurationError if another manager runs
    with these, or no broker starts.
    """
    if _simple(shedder) == "TransferShedder":
        return conf  # its manager comes with it
    if "AvgShedder" in (_simple(shedder), _simple(placement)):
        shedder, placement = shedder or placement, placement or shedder
    settings = LoadManagerSettings(
        Taken(MANAGER, conf.loadManagerClassName, places.get(MANAGER)),
        _taken(SHEDDER, shedder, conf, places),
        _taken(PLACEMENT, placement, conf, places),
        ranking=Taken(RANKING, conf.loadBalancerPlacementStrategy),
    )
    for one in mismatches(settings, conf.pulsar_version):
        if one.outcome == "stops" or (one.outcome == "simple" and (shedder or placement)):
            where = one.setting.place
            raise ConfigurationError(f"{where}: {one}" if where else str(one), where)
        if one.outcome == "simple":
            return replace(conf, loadManagerClassName=CLASSES[SIMPLE])
    running = settings.running(conf.pulsar_version)
    if running.shedder == "OverloadShedder":
        conf = replace(conf, loadBalancerLoadSheddingStrategy=CLASSES[running.shedder])
    if _simple(settings.placement.value) == "AvgShedder" != running.placement:
        conf = replace(conf, loadBalancerLoadPlacementStrategy=CLASSES[running.placement])
    return conf


def _taken(key: str, named: str | None, conf: Configuration, places: Mapping[str, Place]) -> Taken[str]:
    """A strategy as a configuration has it; of one that a command line names, and Pulsar has no such class, that it is own."""
    if named is not None:
        return Taken(key, CLASSES.get(_simple(named), f"own.{named}"), default="of the command line")
    configured, usual = getattr(conf, key), getattr(defaults(conf.pulsar_version), key)
    return Taken(key, configured, places.get(key), PULSARS if configured == usual else "of the command line")


def _simple(name: str | None) -> str:
    """The class without its package."""
    return (name or "").rpartition(".")[2].strip()


def _try(strategy: JarStrategy, conf: Configuration) -> None:
    """Makes an object of a strategy, and points out what it shares. Raises InputError, WrongUsage for another manager's."""
    try:
        opened = strategy.tried(conf.pulsar_version)
    except JarError as error:
        raise InputError(str(error)) from None
    if opened.is_extensible != conf.is_extensible:
        needed = EXTENSIBLE_LOAD_MANAGER if opened.is_extensible else Configuration().loadManagerClassName
        raise WrongUsage(f"--shedder {strategy}: is of another load manager; configure loadManagerClassName={needed}")
    for field in opened.shared:
        print(f"note: {strategy}: {field} is static; each run has a copy of its own, brokers would share it", file=sys.stderr)


def is_own(name: str) -> bool:
    """Whether a name is that of a function in a file of Python, or of a class in a jar."""
    return name.rpartition(":")[0].endswith((".py", ".jar"))


def own_strategy(name: str | None) -> UserShedder | UserPlacement | None:
    """The strategy that ``FILE.py:FUNCTION`` or ``FILE.jar:CLASS`` names; None for any other name. Raises InputError."""
    if name is None or not is_own(name):
        return None
    file, _, function = name.rpartition(":")
    if file.endswith(".jar"):
        return UserShedder(JarStrategy(file, function))
    try:
        return user_strategy(UserFunction(file, read_text(Path(file), "the Python file of your policy"), function))
    except UserCodeError as error:
        raise InputError(str(error)) from None


@contextmanager
def asking(file: Path) -> Iterator[None]:
    """A fault of a user's policy within it is told with the file that it was asked with."""
    try:
        yield
    except PolicyFault as fault:
        fault.add_note(f"asked with {file}{remembered(fault)}")
        raise


def keep_input(fault: PolicyFault, file: Path) -> None:
    """Writes what a user's policy was asked with when it failed, as a snapshot; OSError if it cannot be written."""
    write_text(file, json.dumps(as_snapshot(fault.load), indent=2) + "\n")
    fault.add_note(f"asked with {file}{remembered(fault)}")


def remembered(fault: PolicyFault) -> str:
    """What the policy remembered then, as an addition to a sentence."""
    return "" if fault.memory is None else f"; it remembered {fault.memory!r:.200}"


def fault_text(fault: PolicyFault) -> str:
    """A fault as a user reads it."""
    return "\n  ".join([str(fault), *getattr(fault, "__notes__", ())])
