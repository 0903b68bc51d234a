"""The policies of a comparison, as the command line names them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path

from fencepost.checks.policy.comparison.supposing import KEYS, settings_of, supposed
from fencepost.checks.policy.settings import changed, read_settings
from fencepost.checks.policy.strategies import manager_of, own_strategy
from fencepost.checks.policy.usage import WrongUsage
from fencepost.model.balance.configuration import Configuration
from fencepost.model.balance.simulation.what_if import NOTHING_ELSE, WhatIf
from fencepost.model.balance.strategies import PLACEMENTS, SHEDDERS, strategy_name
from fencepost.model.balance.user_policy import UserPlacement, UserShedder
from fencepost.model.language.mistakes import guess
from fencepost.traces.comparison.comparison import Contender

DEFAULTS = "defaults"
"""The name of what Pulsar does without a configuration."""
SETTINGS = tuple(field.name for field in fields(Configuration))


@dataclass(frozen=True)
class _Parts:
    """What a policy names."""

    files: tuple[Path, ...] = ()
    shedder: str | None = None
    placement: str | None = None
    settings: tuple[str, ...] = ()
    what_if: WhatIf = NOTHING_ELSE

    def over(self, usual: _Parts) -> _Parts:
        """With what it leaves to the baseline, unless it has files of its own; a shedder may bring its placement strategy.

        What the baseline supposes is supposed in any case.
        """
        what_if = usual.what_if.and_also(self.what_if)
        if self.files:
            return replace(self, what_if=what_if)
        placement = self.placement or (usual.placement if self.shedder is None else None)
        settings = (*usual.settings, *self.settings)
        return _Parts(usual.files, self.shedder or usual.shedder, placement, settings, what_if)


def contenders(baseline: str | None, proposed: Iterable[str], pulsar: str | None) -> tuple[tuple[Contender, ...], list[str]]:
    """The baseline and the proposed policies, and the notes on their configuration files.

    Each has parts with commas between them: configuration files, of which
    a later one counts before an earlier one, the name of a shedder or of a placement strategy, a function of
    one's own as FILE.py:FUNCTION, a setting as KEY=VALUE, or what is supposed besides. Without a broker.conf a proposed policy
    is the baseline in all that it does not name. NAME= before its parts gives it a name.

    Raises WrongUsage, ConfigurationError, InputError.
    """
    named = [_named(given) for given in (baseline or DEFAULTS, *proposed)]
    names = [name for name, _ in named]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise WrongUsage(f"{twice} is named more than once; compare different policies")
    first, *others = [_parts(policy) for _, policy in named]
    policies, notes = [], list[str]()
    for name, parts in zip(names, [first, *(other.over(first) for other in others)], strict=True):
        read = read_settings([file for file in parts.files if str(file) != DEFAULTS], pulsar)
        notes += [note for note in read.notes if note not in notes]
        conf = changed(read.conf, parts.settings, name)
        policies.append(Contender(name, manager_of(conf, read.places, parts.shedder, parts.placement), parts.what_if))
    return tuple(policies), notes


def _named(given: str) -> tuple[str, str]:
    """The name of a policy and its parts; a policy without a name goes by its parts."""
    name, equals, parts = given.partition("=")
    if guess(name, KEYS) and re.fullmatch(r"[0-9.]+(@.*)?", parts):
        return given, given  # a part that is misspelt rather than a name
    return (name, parts) if equals and name not in (*SETTINGS, *KEYS) and re.fullmatch(r"[\w .-]+", name) else (given, given)


def _parts(policy: str) -> _Parts:
    parts = _Parts()
    for part in (part.strip() for part in policy.split(",")):
        besides = supposed(part)
        if besides is not None:
            parts = replace(parts, what_if=parts.what_if.and_also(besides))
            continue
        own = own_strategy(part)
        sheds, places = isinstance(own, UserShedder) or part in SHEDDERS, isinstance(own, UserPlacement) or part in PLACEMENTS
        if part.partition("=")[0] in SETTINGS:
            parts = replace(parts, settings=(*parts.settings, part))
        elif sheds and parts.shedder is None:
            parts = replace(parts, shedder=part)
        elif places and not sheds and parts.placement is None:
            parts = replace(parts, placement=part)
        elif not sheds and not places:
            parts = replace(parts, files=(*parts.files, _file(part)))
        else:
            raise WrongUsage(f"{policy}: {part} is one too many; name one shedder, one placement strategy")
    return parts


def _file(part: str) -> Path:
    """The broker.conf that a part names. Raises WrongUsage for a word that is rather a strategy or a setting misspelt."""
    path = Path(part)
    meant = guess(part.partition("=")[0], [DEFAULTS, *SHEDDERS, *PLACEMENTS, *SETTINGS, *KEYS])
    is_word = re.fullmatch(r"\w*", part) or (meant and "=" in part)
    if is_word and not path.exists() and part != DEFAULTS:
        known = ", ".join(dict.fromkeys([*SHEDDERS, *PLACEMENTS]))
        raise WrongUsage(f"{part!r} is not a file, strategy or setting{meant or f'; strategies are {known}'}")
    return path


def changes(baseline: Contender, proposed: Contender) -> list[tuple[str, str, str]]:
    """What the proposed policy has changed: strategies, settings and what is supposed, each with the baseline's value and its
    own."""
    one, other = baseline.manager, proposed.manager
    pairs = [
        ("shedder", strategy_name(one.shedder), strategy_name(other.shedder)),
        ("placement", strategy_name(one.placement), strategy_name(other.placement)),
    ]
    pairs += [(key, written(getattr(one.conf, key)), written(getattr(other.conf, key))) for key in SETTINGS]
    before, after = settings_of(baseline.what_if), settings_of(proposed.what_if)
    pairs += [(key, before.get(key, "none"), after.get(key, "none")) for key in KEYS]
    return [(name, before, after) for name, before, after in pairs if before != after]


def written(value: object) -> str:
    """A value as a configuration has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(sorted(value)) if isinstance(value, frozenset) else str(value)
