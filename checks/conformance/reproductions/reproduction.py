"""What a reproduction is: what it shows, where it runs, and what was seen of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fencepost.checks.conformance.reproductions.stage import Stage


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
    the control if it is asked for; it raises ToolchainError and SessionError. ``bug`` is the known bug that it shows, as a
    protocol names it, if it is one.
    """

    name: str
    harm: str
    control: str
    system: str
    releases: tuple[str, ...]
    seconds: int
    page: str
    take: Callable[[Stage, str, bool], Observation]
    bug: str = ""


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
    """Takes the run, then the control, each on a stage of its own. Raises ToolchainError and SessionError."""
    with stages("run") as stage:
        run = reproduction.take(stage, release, False)
    with stages("control") as stage:
        stage.say(f"control: {reproduction.control}")
        control = reproduction.take(stage, release, True)
    return Comparison(run, control)
