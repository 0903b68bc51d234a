"""``cluster.toml``: what a cluster is and what does not happen there: ``fencepost check --profile cluster.toml`` is then all.

    conf = ["values.yaml"]
    never = ["termination", "migration"]
    bookies = 5
    baseline = "accepted.json"

    [namespaces]
    orders = "orders.json"

    [racks]
    "/a" = ["bookie-0", "bookie-1"]
    "/b" = ["bookie-2"]

    [groups]
    orders = ["bookie-0", "bookie-2"]

    [[accepted]]
    bug = "fenced_context_kept"
    reason = "no topic is terminated while it is written to"
    until = 2027-06-30

Paths are relative to the profile. An option on the command line counts before what the profile says of the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from pathlib import Path
from typing import ClassVar

from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.inputs.input_files import MOST_BY_HAND, InputError, Place, read_text
from fencepost.checks.questions.answers.ways import never
from fencepost.model.counts import count_of
from fencepost.model.language.mistakes import guess
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError

OF_OTHERS = ("odds",)
"""Tables of the same file that other options read."""

UNKNOWN = "unexpected_keyword_argument"
"""How pydantic calls a key that there is not."""

KIND = "a profile of a cluster, such as cluster.toml"


@dataclass(frozen=True)
class Acceptance:
    """A known bug that is accepted, why, and until which day; forever without one."""

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    bug: str
    reason: str
    until: date | None = None


@dataclass(frozen=True)
class Profile:
    """What a profile can say: files of settings, releases, bookies and the racks and isolation groups that they are in, events
    that do not happen, a baseline, the policies of namespaces by name, and known bugs that are accepted."""

    __pydantic_config__: ClassVar[object] = {"extra": "forbid"}

    conf: list[str]
    never: list[str] = field(default_factory=list)
    pulsar: str | None = None
    bookkeeper: str | None = None
    bookies: int | None = None
    baseline: str | None = None
    namespaces: dict[str, str] = field(default_factory=dict)
    racks: dict[str, list[str]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    accepted: list[Acceptance] = field(default_factory=list)

    @property
    def facts(self) -> Iterator[str]:
        """What there is to know of the racks: what a rack that is lost takes with it."""
        most = max(self.racks, key=lambda rack: len(self.racks[rack]), default=None)
        if most is not None:
            bookies = count_of(len(self.racks[most]), "bookie")
            yield f"{count_of(len(self.racks), 'rack')}: if {most} is lost, {bookies} are lost at once"


def with_profile(asked: CheckRequest) -> CheckRequest:
    """The request with what its profile adds. InputError, with the remedy, for a profile that cannot be used."""
    path = asked.profile
    if path is None:
        return asked
    profile, folder = _read(path), path.parent
    borne, over = _accepted(profile, path)
    _require_files(profile, path)
    _require_events(profile, path)
    _require_bookies(profile, path)
    placed = sum(map(len, profile.racks.values()))
    named = [f"{name}={folder / file}" for name, file in profile.namespaces.items()]
    return replace(
        asked,
        conf=asked.conf or [folder / file for file in profile.conf],
        never=[*asked.never, *profile.never],
        pulsar=asked.pulsar or profile.pulsar,
        bookkeeper=asked.bookkeeper or profile.bookkeeper,
        bookies=asked.bookies or profile.bookies or placed or None,
        baseline=asked.baseline or (folder / profile.baseline if profile.baseline else None),
        namespace=[*asked.namespace, *named],
        accepted=borne,
        racks=asked.racks or profile.racks,
        groups=asked.groups or profile.groups,
        facts=(*asked.facts, *profile.facts, *over),
    )


def _accepted(profile: Profile, path: Path) -> tuple[dict[str, str], list[str]]:
    """The known bugs that are accepted today, with the reasons; a line for each whose day is over. InputError for a bug that
    there is not."""
    bugs = sorted({name for entry in PROTOCOLS.values() for name in entry.bugs})
    for one in profile.accepted:
        if one.bug not in bugs:
            place = _place(path, one.bug)
            meant = guess(one.bug, bugs)
            raise InputError(f"{place}: there is no known bug {one.bug!r}{meant}; list --bugs has the names", place)
    today = date.today()
    over = [one for one in profile.accepted if one.until is not None and one.until < today]
    lines = [f"# {one.bug} was accepted until {one.until}, and is no longer: {one.reason}" for one in over]
    return {one.bug: one.reason for one in profile.accepted if one not in over}, lines


def _require_events(profile: Profile, path: Path) -> None:
    """InputError for an event that there is not."""
    for name in profile.never:
        try:
            never([name])
        except RegistryError as error:
            place = _place(path, name)
            raise InputError(f"{place}: {error}", place) from None


def _require_files(profile: Profile, path: Path) -> None:
    """InputError for a profile that names no file of settings, or no number of bookies that there can be."""
    if not profile.conf:
        place = _place(path, "conf")
        raise InputError(
            f'{place}: conf names no file; name the settings of the cluster, such as conf = ["values.yaml"]', place
        )
    if profile.bookies is not None and profile.bookies < 1:
        place = _place(path, "bookies")
        raise InputError(f"{place}: bookies = {profile.bookies} is not a whole number from 1 on", place)


def _require_bookies(profile: Profile, path: Path) -> None:
    """InputError for a bookie of a group that is in no rack."""
    known = sorted(bookie for bookies in profile.racks.values() for bookie in bookies)
    for name, bookies in profile.groups.items():
        for bookie in (bookie for bookie in bookies if bookie not in known):
            place = _place(path, name)
            raise InputError(f"{place}: group {name}: no rack has a bookie {bookie!r}{guess(bookie, known)}", place)


def _read(path: Path) -> Profile:
    import tomllib  # a check without a profile is not to wait for these

    from pydantic import TypeAdapter, ValidationError

    text = read_text(path, KIND, MOST_BY_HAND)
    try:
        data: Mapping[str, object] = tomllib.loads(text)
        return TypeAdapter(Profile).validate_python({key: value for key, value in data.items() if key not in OF_OTHERS})
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        place = Place(path, int(found[1]) if found else 0)
        raise InputError(f"{place}: is not TOML: {error}", place) from None
    except ValidationError as error:
        # a key that is not known is why another one is missing
        first, *_ = sorted(error.errors(), key=lambda each: each["type"] != UNKNOWN)
        loc = first["loc"]
        where, last = ".".join(map(str, loc)), str(loc[-1] if isinstance(loc[-1], str) else loc[0])
        whole, kind = ("an accepted bug", Acceptance) if loc[0] == "accepted" and len(loc) > 1 else ("a profile", Profile)
        known = [each.name for each in fields(kind)]
        wrong = f"{where}: {first['msg'].lower()}"
        if first["type"] == UNKNOWN:
            wrong = f"there is no key {last!r}{guess(last, known)}"
        place = _place(path, last)
        raise InputError(f"{place}: {wrong}; {whole} has {', '.join(known)}", place) from None


def _place(path: Path, word: str) -> Place:
    """The first line of a profile that has a word."""
    lines = read_text(path, KIND).splitlines()
    return Place(path, next((n for n, line in enumerate(lines, 1) if re.search(rf"\b{re.escape(word)}\b", line)), 0))


def namespaces_of(asked: CheckRequest) -> dict[str, Path]:
    """The files of policies by the name of the namespace. InputError for what is not NAME=FILE."""
    pairs = [text.partition("=") for text in asked.namespace]
    for name, equals, file in pairs:
        if not (name and equals and file):
            raise InputError(f"--namespace {name}{equals}{file}: write NAME=FILE, such as orders=policies.json")
    return {name: Path(file) for name, _, file in pairs}
