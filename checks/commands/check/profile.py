"""``cluster.toml``: what a cluster is and what does not happen there: ``fencepost check --profile cluster.toml`` is then all.

    conf = ["values.yaml"]
    never = ["termination", "migration"]
    bookies = 5
    baseline = "accepted.json"

    [namespaces]
    orders = "orders.json"

Paths are relative to the profile. An option on the command line counts before what the profile says of the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.settings.files.input_files import InputError, Place, read_text

OF_OTHERS = ("odds",)
"""Tables of the same file that other options read."""

KIND = "a profile of a cluster, such as cluster.toml"


@dataclass(frozen=True)
class Profile:
    """What a profile can say: files of settings, releases, bookies, events that do not happen, a baseline, and the policies of
    namespaces by name."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    conf: list[str]
    never: list[str] = field(default_factory=list)
    pulsar: str | None = None
    bookkeeper: str | None = None
    bookies: int | None = None
    baseline: str | None = None
    namespaces: dict[str, str] = field(default_factory=dict)


def with_profile(asked: CheckRequest) -> CheckRequest:
    """The request with what its profile adds. InputError, with the remedy, for a profile that cannot be used."""
    path = asked.profile
    if path is None:
        return asked
    profile, folder = _read(path), path.parent
    named = [f"{name}={folder / file}" for name, file in profile.namespaces.items()]
    return replace(
        asked,
        conf=asked.conf or [folder / file for file in profile.conf],
        never=[*asked.never, *profile.never],
        pulsar=asked.pulsar or profile.pulsar,
        bookkeeper=asked.bookkeeper or profile.bookkeeper,
        bookies=asked.bookies or profile.bookies,
        baseline=asked.baseline or (folder / profile.baseline if profile.baseline else None),
        namespace=[*asked.namespace, *named],
    )


def _read(path: Path) -> Profile:
    import tomllib  # a check without a profile is not to wait for these

    from pydantic import TypeAdapter, ValidationError

    try:
        data: Mapping[str, Any] = tomllib.loads(read_text(path, KIND))
        return TypeAdapter(Profile).validate_python({key: value for key, value in data.items() if key not in OF_OTHERS})
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}", Place(path)) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        known = ", ".join(each.name for each in fields(Profile))
        raise InputError(f"{path}: {where}: {first['msg'].lower()}; a profile has {known}", Place(path)) from None


def namespaces_of(asked: CheckRequest) -> dict[str, Path]:
    """The files of policies by the name of the namespace. InputError for what is not NAME=FILE."""
    pairs = [text.partition("=") for text in asked.namespace]
    for name, equals, file in pairs:
        if not (name and equals and file):
            raise InputError(f"--namespace {name}{equals}{file}: write NAME=FILE, such as orders=policies.json")
    return {name: Path(file) for name, _, file in pairs}
