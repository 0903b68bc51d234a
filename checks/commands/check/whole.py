"""Whether the command line asks about a configuration as a whole, or about a part of it; what is required of the whole.

This loads nothing: what answers these questions is loaded if they are asked.
"""

from __future__ import annotations

from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.questions.guarantees.requirements import Requirement, requirement
from fencepost.properties.registry import RegistryError


def wanted_alone(asked: CheckRequest) -> bool:
    """Whether the guarantees are all that is asked for."""
    return bool(asked.guarantees or asked.against or asked.against_pulsar)


def come_first(asked: CheckRequest) -> bool:
    """Whether the report opens with the guarantees: it does for a configuration as a whole, of which nothing is changed."""
    return bool(asked.conf) and not _parts(asked)


def refuse_parts(asked: CheckRequest) -> None:
    """Raises RegistryError if what is required cannot be, or if guarantees are asked for, and not of a configuration, or of a
    part of one."""
    required(asked)
    options = {"--guarantees": asked.guarantees, "--require": asked.require, "--against": asked.against}
    options |= {"--against-pulsar": asked.against_pulsar, "--bookies": asked.bookies}
    named = [option for option, value in options.items() if value]
    if named and not asked.conf:
        raise RegistryError("--guarantees needs a configuration: add --conf broker.conf")
    if named and (parts := _parts(asked)):
        raise RegistryError(f"{named[0]} judges a configuration as a whole: leave out {', '.join(parts)}")


def required(asked: CheckRequest) -> list[Requirement]:
    """What is required; RegistryError if that cannot be."""
    return [requirement(text) for text in asked.require]


def is_of_everything(asked: CheckRequest) -> bool:
    """Whether nothing on the command line asks for a part: of a configuration, or of all protocols."""
    return not _parts(asked)


def _parts(asked: CheckRequest) -> list[str]:
    """What on the command line asks for something else than a configuration as a whole."""
    options = {"--property": asked.property, "--set": asked.set, "--bug": asked.bug, "--by": asked.by}
    return [*asked.protocols, *(option for option, value in options.items() if value)]
