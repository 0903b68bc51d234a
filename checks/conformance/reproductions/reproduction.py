"""What a reproduction is: what it shows, where it runs, and what was seen of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fencepost.checks.conformance.java_side.session import SessionError
from fencepost.checks.conformance.reproductions.stage import Stage


class NotSetUp(SessionError):
    """What a run needs was not brought about, so that nothing is said of it; the message says in a line what did not come."""


@dataclass(frozen=True)
class Observation:
    """Result of one run. ``harmed``: whether it ended as the finding says, something being lost or out of service; ``figures``
    are the numbers behind that, by name."""

    harmed: bool
    figures: Mapping[str, int | str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Reproduction:
    """A finding that can be shown on released software.

    ``harm`` is what a user loses, ``control`` what is different in the run that loses nothing, ``seconds`` how long both runs
    took on two busy cores, the jars being there, ``page`` where the finding is described. ``take`` takes one run of a release,
    the control if it is asked for; it raises ToolchainError, and SessionError, also as NotSetUp. A known bug that it shows
    names it (``Bug.reproduced_by``).
    """

    name: str
    harm: str
    control: str
    system: str
    releases: tuple[str, ...]
    seconds: int
    page: str
    take: Callable[[Stage, str, bool], Observation]


@dataclass(frozen=True)
class Comparison:
    """The run of a finding beside its control."""

    run: Observation
    control: Observation

    @property
    def as_found(self) -> bool:
        """Whether the run did harm and the control did none."""
        return self.run.harmed and not self.control.harmed


def compared(reproduction: Reproduction, release: str, stages: Callable[[str], Stage]) -> Comparison:
    """Takes the run, then the control, each on a stage of its own; once more what fails. Raises ToolchainError and
    SessionError."""
    return Comparison(_taken(reproduction, release, stages, False), _taken(reproduction, release, stages, True))


def _taken(reproduction: Reproduction, release: str, stages: Callable[[str], Stage], control: bool) -> Observation:
    name = "control" if control else "run"
    try:
        return _once(reproduction, release, stages(name), control)
    except SessionError as error:
        again = stages(f"{name}-again")
        again.say(f"{error}: once more")
    return _once(reproduction, release, again, control)


def _once(reproduction: Reproduction, release: str, stage: Stage, control: bool) -> Observation:
    with stage:
        if control:
            stage.say(f"control: {reproduction.control}")
        return reproduction.take(stage, release, control)
