"""In which order the policies of a comparison are to be preferred, by a rule that is told beside it."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.checks.policy.comparison.judgement import Judgement
from fencepost.traces.comparison.comparison import Contender

RULE = (
    "Who does nothing that the protocols do not allow comes before who does; then who makes fewer measures worse, then who "
    "makes more of them better, then who has the smaller imbalance. What you have is one of them: whoever comes after it makes "
    "something worse, or nothing better. Whether a gain is worth its price the rule cannot know."
)


@dataclass(frozen=True)
class Standing:
    """A policy: in how many runs it violates the protocols, what it makes worse and better, its mean imbalance."""

    contender: Contender
    violating: int
    worse: tuple[str, ...]
    better: tuple[str, ...]
    imbalance: float

    @property
    def text(self) -> str:
        """Why it stands where it does."""
        parts = [f"violates the protocols in {self.violating} runs"] if self.violating else []
        parts += [f"{word} in {', '.join(names)}" for word, names in (("better", self.better), ("worse", self.worse)) if names]
        return "; ".join(parts) or "neither better nor worse in anything"


def preferred(judgement: Judgement) -> list[Standing]:
    """The policies, the baseline among them, the one to prefer first; none if there are too few runs to judge one of them."""
    if not judgement.differences or any(d.verdict == "too few runs" for d in judgement.differences):
        return []
    return sorted((_standing(judgement, one) for one in judgement.comparison.contenders), key=_key)


def _standing(judgement: Judgement, contender: Contender) -> Standing:
    own = judgement.of(contender)
    worse, better = (tuple(d.measure.name for d in own if d.verdict == verdict) for verdict in ("worse", "better"))
    imbalance = float(judgement.values(contender)["imbalance"].mean())
    return Standing(contender, len(judgement.violating(contender)), worse, better, imbalance)


def _key(standing: Standing) -> tuple[bool, int, int, float]:
    return standing.violating > 0, len(standing.worse), -len(standing.better), standing.imbalance
