"""The history of a mistake in the releases of the real system: which have it, since when, what says so, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.model.releases import SYSTEMS, Project, Releases, numbers, reading


@dataclass(frozen=True)
class History:
    """What is known of a mistake in the releases of the real system. A mistake has one, whichever protocols have it.

    ``upstream`` are issues of the project; ``releases`` says which releases were read, and which of them have the mistake (see
    ``reading``): a release that it does not name is unread. ``since`` and ``fixed`` are as they are known, and are empty where
    no release ever had it, or has fixed it. ``only`` are the values of a parameter, such as the storage, with which a release
    has it (empty: all), and ``applies`` says of all parameters whether an instance can have it, where ``only`` does not do.
    ``regardless`` are the parameters that make no difference to it: whatever is configured, it is looked for with those that
    show it soonest. ``costs`` says what an operator loses, ``harm`` is the property that is violated then, if others are
    violated before, ``avoided_by`` the setting that avoids it, ``evidence`` the class, method and release that were read.

    ``allows`` are the weak moves that the stand-in of the protocol needs so that the protocol refines it with the mistake. It
    is empty if the stand-in needs none, and None if all of them are not enough. ``unfair`` is what of the stand-in need not
    happen in the end with it. By both a mistake of a part enters a whole cluster.
    """

    project: Project
    upstream: Sequence[str] = ()
    since: str = ""
    fixed: str = ""
    releases: str = ""
    only: Mapping[str, tuple[str, ...] | tuple[int, ...]] | None = None
    applies: Callable[[Mapping[str, Any]], bool] | None = None
    regardless: tuple[str, ...] = ()
    harm: str = ""
    costs: str = ""
    avoided_by: str = ""
    allows: tuple[str, ...] | None = ()
    unfair: tuple[str, ...] = ()
    evidence: str = ""

    def __post_init__(self) -> None:
        reading(self.project, self.releases)  # what it cannot be is an error where it is written

    @property
    def present(self) -> tuple[str, ...]:
        """The modelled releases that have the mistake."""
        return reading(self.project, self.releases).has

    @property
    def unread(self) -> tuple[str, ...]:
        """The modelled releases of which nobody has read whether they have it."""
        known = reading(self.project, self.releases)
        return tuple(number for number in self.modelled if number not in known.has + known.lacks)

    def is_hazard(self, releases: Releases) -> bool:
        """Whether these releases have the mistake."""
        return releases.of_project(self.project) in self.present

    def is_unread(self, releases: Releases) -> bool:
        """Whether nobody has read if these releases have it."""
        return releases.of_project(self.project) in self.unread

    def release(self, releases: Releases) -> str:
        """The one of these releases that it is about, by the system's name and its number."""
        return f"{SYSTEMS[self.project]} {releases.of_project(self.project)}"

    def fits(self, parameters: Mapping[str, Any]) -> bool:
        """Whether an instance with these parameters can have the mistake: they are those of ``only``, and it ``applies``."""
        if self.applies is not None and not self.applies(parameters):
            return False
        return all(parameters.get(name, values[0]) in values for name, values in (self.only or {}).items())

    @property
    def modelled(self) -> tuple[str, ...]:
        """The modelled releases of the project."""
        return numbers(self.project)

    @property
    def ending(self) -> str:
        """When it was fixed: the releases, ``open``, or nothing where no release had it."""
        return self.fixed or ("open" if self.since or self.present else "")
