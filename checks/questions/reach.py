"""What a user meets by one known bug: the first matter to which it alone makes the answer *yes*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.checks.engines.results.outcomes import Open, Settled
from fencepost.checks.questions.answering import Way, by_bug
from fencepost.checks.questions.bug_search import Searches
from fencepost.checks.questions.establishing import Means
from fencepost.checks.questions.known_bugs import KnownBug
from fencepost.checks.questions.matters import MATTERS, Matter
from fencepost.checks.questions.preconditions import UNDER_WAY
from fencepost.checks.questions.whole import Whole


@dataclass(frozen=True)
class Reach:
    """The ``matter`` of users that a known bug touches with some settings, and the ``way`` in which it does: None of both if it
    touches none.

    ``gap`` says what was cut short before one was found, ``is_asked`` whether any matter is about its protocols.
    """

    matter: Matter | None = None
    way: Way | None = None
    gap: str = ""
    is_asked: bool = True

    @property
    def applies(self) -> str:
        """``yes`` if a user meets it with these settings, ``no`` if complete searches found nothing, ``unknown`` if one was cut
        short, or ``not asked``."""
        return "yes" if self.way else "unknown" if self.gap else "no" if self.is_asked else "not asked"

    @property
    def seldom(self) -> bool:
        """Whether users meet it only while something goes on that few clusters do."""
        return self.way is not None and not {*UNDER_WAY.values()}.isdisjoint(self.way.needs)

    @property
    def rank(self) -> tuple[int, int]:
        """The place among known bugs: what costs users most is the first, and of that what needs the fewest faults; then what
        is met seldom, what is not known or not asked, and what costs them nothing."""
        if self.matter is None or self.way is None:
            return (2 if self.gap or not self.is_asked else 3) * len(MATTERS), 0
        return self.seldom * len(MATTERS) + MATTERS.index(self.matter), self.way.faults


def reach_of(bugs: Sequence[KnownBug], searches: Searches, means: Means, whole: Whole) -> Reach:
    """What a user meets by a known bug, in the protocols that have it. Raises what ``check`` raises."""
    gaps, is_asked = list[str](), False
    for matter in MATTERS:
        result = by_bug(matter, bugs, searches, means, whole)
        if isinstance(result, Way):
            return Reach(matter, result)
        gaps += [result.why] if isinstance(result, Open) else []
        is_asked = is_asked or isinstance(result, Settled)
    return Reach(gap="; ".join(dict.fromkeys(gaps)), is_asked=is_asked or bool(gaps))
