"""A bug of the real system: which releases have it, since when, what says so, what it costs, and what avoids it.

A protocol's bugs are the data of its room, ``bugs.toml`` (see ``bug_files``). The model has the line that says what a bug is,
and the line where it switches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from fencepost.model.language import Parameters
from fencepost.model.releases import EVERY, SYSTEMS, Reading, Releases, numbers, reading, release
from fencepost.properties.conditions import condition

Value = bool | int | str


@dataclass(frozen=True)
class Avoidance:
    """What avoids a bug.

    ``setting`` is what to set. ``overridden_by`` is what takes the place of that setting where somebody has set it, such as a
    policy of a namespace or a topic; empty if nothing does. ``remains`` has the questions (``lost``, ``order``: see
    ``checks/questions/matters.py``) for which the setting avoids nothing, and in words what it leaves possible.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    setting: str
    overridden_by: str = ""
    remains: Mapping[str, str] = field(default_factory=dict)

    def avoids(self, section: str) -> bool:
        """Whether the setting avoids what the question of that name asks about."""
        return section not in self.remains

    def where_it_avoids(self) -> str:
        """The setting, and what overrides it, where it avoids what is spoken of."""
        return f"{self.setting}, unless {self.overridden_by} says otherwise" if self.overridden_by else self.setting

    def __str__(self) -> str:
        """The same where nothing is asked about: with what the setting leaves possible."""
        left = " and ".join(self.remains.values())
        return f"{self.where_it_avoids()}{f' (it does not avoid {left})' if left else ''}"


@dataclass(frozen=True)
class OutOfReach:
    """Why a bug would only seem to be there, or to be gone, in the harness of its protocol's target.

    ``by`` is the command, target or test that shows on the real code of the releases ``on`` that it is there, or, of a release
    that is not said to have it, gone.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    why: str
    by: str = ""
    on: tuple[str, ...] = ()

    def outcome(self, release: str, *, present: bool) -> tuple[str, str]:
        """The verdict of a release, and its reason."""
        if release not in self.on:
            return "not tried", self.why
        return "seen elsewhere" if present else "gone elsewhere", f"{self.by}. Here {self.why}"


@dataclass(frozen=True)
class Bug:
    """What is known of a bug of the real system, or of a weakening.

    ``project`` is whose releases may have it; empty in a protocol whose system has no table of releases. ``weakening`` is
    whether upstream never had it: it shows why a part of the code is there, and no release that ranges reach over has it.
    ``client`` is whether it is in BookKeeper's client, which brokers run, and so comes and goes with their release.
    ``upstream`` are issues of the project. ``releases`` says which releases were read, and which of them have it (see
    ``reading``): a release that it does not name is unread. ``since`` and ``fixed`` are as they are known; ``fixed`` is
    empty where nothing has fixed it.

    ``only`` are the values of a parameter, such as the storage, with which a release has it (empty: all), and ``applies`` says
    of all parameters whether an instance can have it, where ``only`` does not do (see ``conditions``). ``regardless`` are the
    parameters that make no difference to it: whatever is configured, it is looked for with those that show it soonest.
    ``costs`` says what an operator loses, ``plain`` what happens, in a sentence for somebody who is woken by it, and ``harm``
    is the property that is violated then, if others are violated before.
    ``evidence`` has the class, the method and the release that were read, ``methods`` those that it is in, ``Class.method``, as
    ``fencepost releases diff`` compares them, ``finding`` its page below ``docs/``, and
    ``reproduced_by`` what ``fencepost reproduce`` shows it by. What must coincide is not said here: the run that shows it has
    the events.

    ``shown_by`` are the parameters of a small instance in which the protocol's properties catch it. ``allows`` are the weak
    moves that the stand-in of the protocol needs so that the protocol refines it with the bug, and ``unfair`` is what of the
    stand-in need not happen in the end with it. By both a bug of a part enters a whole cluster, unless ``in_cluster`` is false:
    it then does nothing that a reader can see there. ``refines`` is false if all the weak moves are not enough.

    On real code (``fencepost conform bugs``) ``run`` are the steps that show it where the shortest run does not, a step with a
    question mark being taken where the release has it. ``held`` is whether the model has it when it is held against a release
    that has it; ``with_others`` whether it is only shown together with the release's others; ``out_of_reach`` why the harness
    cannot show it.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    project: Literal["pulsar", "bookkeeper", "kafka", ""] = ""
    upstream: tuple[str, ...] = ()
    since: str = ""
    fixed: str = ""
    releases: str = ""
    weakening: bool = False
    client: bool = False
    only: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    applies: str = ""
    regardless: tuple[str, ...] = ()
    harm: str = ""
    costs: str = ""
    plain: str = ""
    avoided_by: Avoidance | None = None
    evidence: str = ""
    methods: tuple[str, ...] = ()
    finding: str = ""
    reproduced_by: str = ""
    allows: tuple[str, ...] = ()
    unfair: tuple[str, ...] = ()
    refines: bool = True
    in_cluster: bool = True
    shown_by: Mapping[str, Value] = field(default_factory=dict)
    run: str = ""
    held: bool = False
    with_others: bool = False
    out_of_reach: OutOfReach | None = None

    def __post_init__(self) -> None:
        _ = self._read  # what it cannot be is an error where it is written
        condition(self.applies)

    @property
    def _read(self) -> Reading:
        if not self.project:
            return Reading()
        ranges = f"not {EVERY[self.project]}" if self.weakening else ""
        return reading(self.project, ", ".join(filter(None, (ranges, self.releases))))

    @property
    def present(self) -> tuple[str, ...]:
        """The modelled releases that have it."""
        return self._read.has

    @property
    def unread(self) -> tuple[str, ...]:
        """The modelled releases of which nobody has read whether they have it."""
        known = self._read
        return tuple(number for number in self.modelled if number not in known.has + known.lacks)

    def is_in(self, releases: Releases) -> bool:
        """Whether one of these releases has it."""
        return bool(self.project) and self.number(releases) in self.present

    def is_unread(self, releases: Releases) -> bool:
        """Whether nobody has read if these releases have it."""
        return bool(self.project) and self.number(releases) in self.unread

    def release(self, releases: Releases) -> str:
        """The one of these releases that it is about, by the system's name and its number."""
        return f"{SYSTEMS[self.project]} {self.number(releases)}"

    def number(self, releases: Releases) -> str:
        """The number of that release: of a bug of BookKeeper's client that of the client."""
        return releases.of_project(self.project, client=self.client)

    def fits(self, parameters: Parameters) -> bool:
        """Whether an instance with these parameters, which are all that the protocol has, can have it."""
        if not condition(self.applies).holds(parameters):
            return False
        return all(parameters.get(name, values[0]) in values for name, values in self.only.items())

    @property
    def modelled(self) -> tuple[str, ...]:
        """The modelled releases of the project."""
        return numbers(self.project)

    @property
    def newest_read(self) -> str:
        """The newest modelled release of which somebody has read whether it has it; empty if there is none."""
        return next((number for number in reversed(self.modelled) if number not in self.unread), "")

    @property
    def fix(self) -> str:
        """Which release fixes it, in words: without one, how far somebody has looked."""
        if self.fixed:
            return f"fixed in {self.fixed}"
        newest = self.newest_read
        month = release(newest).read if newest else ""
        return f"not fixed up to {newest}{f' ({month})' if month else ''}"

    @property
    def ending(self) -> str:
        """When it was fixed: the releases, ``open``, or nothing where no release had it."""
        return self.fixed or ("open" if self.since or self.present else "")

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves by which it enters a cluster; none if it changes nothing that a topic sees."""
        return (*self.allows, *self.unfair) if self.in_cluster else ()
