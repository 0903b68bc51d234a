"""In which order the policies of a comparison are to be preferred, by a rule that is told beside it; the recommended one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.checks.policy.comparison.judgement import Judgement
from fencepost.checks.policy.comparison.paired import Difference
from fencepost.checks.policy.comparison.worst import Shown, typical_run
from fencepost.checks.policy.text import timeline
from fencepost.model.counts import count_of
from fencepost.traces.comparison.comparison import Contender

RULE = (
    "Ranked by: the rules of the protocols kept, fewest measures worse, most measures better, fewest brokers, smallest "
    "imbalance. What you have is one of the policies: each below it makes something worse, or nothing better. The rule cannot "
    "know whether a gain is worth its price."
)
FIRST_MOVES = 6
"""So many of its moves are shown."""


@dataclass(frozen=True)
class Standing:
    """A policy: in how many runs it violates the protocols, what it makes worse and better, what it makes worse within the
    tolerance, how many brokers it takes, its mean imbalance."""

    contender: Contender
    violating: int
    worse: tuple[Difference, ...]
    better: tuple[Difference, ...]
    accepted: tuple[Difference, ...]
    brokers: float
    imbalance: float

    @property
    def text(self) -> str:
        """Why it stands where it does."""
        parts = [f"violates the protocols in {count_of(self.violating, 'run')}"] if self.violating else []
        both = (("better", self.better), ("worse", self.worse))
        parts += [f"{word} in {', '.join(d.measure.name for d in differences)}" for word, differences in both if differences]
        return "; ".join(parts) or "neither better nor worse in anything"


def preferred(judgement: Judgement) -> list[Standing]:
    """The policies, the baseline among them, the one to prefer first; none if there are too few runs to judge one of them.

    Who supposes another load than the baseline is none of them: nobody chooses the load.
    """
    if not judgement.differences or any(d.verdict == "too few runs" for d in judgement.differences):
        return []
    return sorted((_standing(judgement, one) for one in judgement.comparison.contenders if is_choice(judgement, one)), key=_key)


def is_choice(judgement: Judgement, contender: Contender) -> bool:
    """Whether it differs from the baseline in what one can choose."""
    return contender.what_if.loads == judgement.baseline.what_if.loads


def recommendation(judgement: Judgement, order: Sequence[Standing]) -> list[str]:
    """Which policy is recommended, what is gained by it and what that costs; nothing without an order."""
    if not order:
        return []
    best = order[0]
    if best.contender is judgement.baseline:
        sentence = f"recommended: {best.contender.name}, which you have"
        return [f"{sentence}: whatever else is proposed makes something worse, or nothing better"] if len(order) > 1 else []
    if best.violating:
        return []
    now = next(one for one in order if one.contender is judgement.baseline)
    costs = [*map(_change, best.worse), *_brokers(best.brokers - now.brokers)]
    gained = ", ".join(map(_change, best.better)) or "nothing that is measured"
    price = [f"  gained: {gained}", f"  the price: {', '.join(costs) or 'none is shown'}"]
    accepted = [f"  accepted, within the tolerance: {', '.join(map(_change, best.accepted))}"] if best.accepted else []
    return [f"recommended: {best.contender.name}", *price, *accepted]


def _change(d: Difference) -> str:
    return f"{d.measure.name} {d.baseline:.4g} -> {d.proposed:.4g} {d.measure.unit}"


def _brokers(more: float) -> list[str]:
    """By how many brokers it takes more or fewer than what there is."""
    if abs(more) < 1e-9:
        return []
    return [f"{abs(more):.4g} {'broker' if abs(more) == 1 else 'brokers'} {'more' if more > 0 else 'fewer'}, or their worth"]


def first_moves(judgement: Judgement, shown: Sequence[Shown], order: Sequence[Standing]) -> tuple[int, list[str]]:
    """How the recommended policy begins: the number of a run that is typical of it, and what it first moves or splits there.

    Nothing if it is the baseline, or that run is not at hand.
    """
    if not order or order[0].contender is judgement.baseline:
        return 0, []
    best = order[0].contender
    number = typical_run(judgement, best)
    run = next((one.proposed for one in shown if one.contender is best and one.number == number), None)
    if run is None:
        return number, []
    pairs = zip(run.actions, timeline(run), strict=True)
    return number, [line for action, line in pairs if action.kind in ("unload", "split") and not action.refused][:FIRST_MOVES]


def _standing(judgement: Judgement, contender: Contender) -> Standing:
    own = judgement.of(contender)
    worse, better = (tuple(d for d in own if d.verdict == verdict) for verdict in ("worse", "better"))
    accepted = tuple(d for d in own if d.is_tolerated and d.measure.better == "less" and d.difference > 0)
    imbalance = float(judgement.values(contender)["imbalance"].mean())
    brokers = contender.what_if.brokers_worth(judgement.comparison.scenario.source.brokers)
    return Standing(contender, len(judgement.violating(contender)), worse, better, accepted, brokers, imbalance)


def _key(standing: Standing) -> tuple[bool, int, int, float, float]:
    return standing.violating > 0, len(standing.worse), -len(standing.better), standing.brokers, standing.imbalance
