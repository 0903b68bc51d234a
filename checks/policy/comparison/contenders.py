"""The policies of a comparison, as the command line names them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from checks.policy.reading import WrongUsage
from checks.policy.settings import Settings, read_settings
from checks.policy.strategies import is_own, manager_of, own_strategy
from model.balance.configuration import Configuration, Version
from model.balance.load_manager import LoadManager
from model.balance.strategies import PLACEMENTS, SHEDDERS, strategy_name
from model.balance.user_policy import UserShedder
from traces.comparison.comparison import Contender

DEFAULTS = "defaults"
"""The name of what Pulsar does without a configuration."""


def contenders(baseline: str | None, proposed: Iterable[str], version: Version) -> tuple[tuple[Contender, ...], list[str]]:
    """The baseline and the proposed policies, and the notes on their configuration files.

    Each has parts with commas between them: a broker.conf, the name of a shedder or of a placement strategy, or a function of
    one's own as FILE.py:FUNCTION. Without a broker.conf a proposed policy has the baseline's. NAME= before it gives it a name.

    Raises WrongUsage, ConfigurationError, InputError.
    """
    first, settings = _contender(baseline or DEFAULTS, None, version)
    notes = [*settings.notes]
    made = [first]
    for name in proposed:
        contender, own = _contender(name, first.manager.conf, version)
        notes += own.notes
        made.append(contender)
    names = [contender.name for contender in made]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise WrongUsage(f"{twice} is named more than once; compare different policies")
    return tuple(made), notes


def _contender(given: str, usual: Configuration | None, version: Version) -> tuple[Contender, Settings]:
    named = re.fullmatch(r"([\w .-]+)=(.+)", given)
    name, policy = (named[1], named[2]) if named else (given, given)
    parts = [part.strip() for part in policy.split(",")]
    file: Path | None = None
    shedder: str | None = None
    placement: str | None = None
    for part in parts:
        sheds = isinstance(own_strategy(part), UserShedder) if is_own(part) else part in SHEDDERS
        if sheds and shedder is None:
            shedder = part
        elif (is_own(part) or part in PLACEMENTS) and not sheds and placement is None:
            placement = part
        elif not is_own(part) and part not in {*SHEDDERS, *PLACEMENTS} and file is None:
            file = Path(part)
        else:
            raise WrongUsage(f"{policy}: {part} is one too many; name one broker.conf, one shedder, one placement strategy")
    settings = Settings(usual) if file is None and usual else read_settings(None if parts == [DEFAULTS] else file, version)
    return Contender(name, manager_of(settings.conf, file, shedder, placement)), settings


def changes(baseline: LoadManager, proposed: LoadManager) -> list[tuple[str, str, str]]:
    """What the proposed policy has changed: strategies and settings, each with the baseline's value and its own."""
    pairs = [
        ("shedder", strategy_name(baseline.shedder), strategy_name(proposed.shedder)),
        ("placement", strategy_name(baseline.placement), strategy_name(proposed.placement)),
    ]
    keys = [field.name for field in fields(Configuration)]
    pairs += [(key, _written(getattr(baseline.conf, key)), _written(getattr(proposed.conf, key))) for key in keys]
    return [(name, before, after) for name, before, after in pairs if before != after]


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(sorted(value)) if isinstance(value, frozenset) else str(value)
