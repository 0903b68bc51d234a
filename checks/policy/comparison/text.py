"""The answer of a comparison, for people and for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.policy.comparison.contenders import changes
from fencepost.checks.policy.comparison.judgement import Judgement, same_in_every_run, sentence
from fencepost.checks.policy.comparison.paired import FEWEST, Difference
from fencepost.checks.policy.comparison.preference import first_moves, is_choice, preferred, recommendation
from fencepost.checks.policy.comparison.supposing import settings_of
from fencepost.checks.policy.comparison.worst import WORST, Shown
from fencepost.model.balance.strategies import strategy_name
from fencepost.model.counts import count_of
from fencepost.traces.comparison.compare import RUNS
from fencepost.traces.comparison.comparison import Contender

LONGEST = 28
"""Letters of a policy's name where it stands beside others."""
COLUMNS = ("measure", "policy", "mean", "difference", "interval", "verdict", "worst run")


def text(judgement: Judgement, shown: Sequence[Shown]) -> str:
    """The verdict, the table, what was changed, and where the evidence is."""
    lines = [sentence(judgement, contender) for contender in judgement.proposed]
    lines += ["", *table(judgement), "", *_remarks(judgement), "", *_preference(judgement, shown)]
    for contender in judgement.proposed:
        changed = changes(judgement.baseline, contender)
        lines.append(f"{contender.name} changes{'' if changed else ' nothing'}")
        lines += [f"  {key}: {before} -> {after}" for key, before, after in changed]
        lines += other_manager(judgement.baseline, contender)
    lines.append(f"runs: {judgement.folder / RUNS}")
    if shown:
        lines.append(f"worst and typical runs: {judgement.folder / WORST}")
    worse = {(d.policy, d.measure.name) for d in judgement.differences if d.verdict == "worse"}
    lines += [f"  {one.title}: {one.file.name}" for one in shown if worse & {(one.contender.name, m) for m in one.worst_in}]
    return "\n".join([*lines, f"{_in_words(judgement)} (exit {int(judgement.status)})"]) + "\n"


def _in_words(judgement: Judgement) -> str:
    """The verdict on all of it."""
    if judgement.status == ExitStatus.HOLDS:
        return "nothing gets worse than is tolerated"
    if judgement.status == ExitStatus.INCONCLUSIVE:
        return "interrupted: not decided" if judgement.outcome == "interrupted" else "more runs are needed to decide"
    breaking = [one.name for one in judgement.comparison.contenders if judgement.violating(one)]
    return f"runs of {', '.join(breaking)} break the protocols" if breaking else "something gets worse than is tolerated"


def _preference(judgement: Judgement, shown: Sequence[Shown]) -> list[str]:
    """In which order to prefer the policies, the one that is recommended, and how it begins; nothing with too few runs."""
    order = preferred(judgement)
    if not order:
        return []
    lines = ["which to prefer"]
    for place, one in enumerate(order, start=1):
        is_baseline = one.contender is judgement.baseline
        lines.append(f"  {place}. {one.contender.name}{' (what you have)' if is_baseline else f': {one.text}'}")
    lines += [f"  {name}: {NO_CHOICE}" for name in not_chosen(judgement)]
    lines += recommendation(judgement, order)
    run, moves = first_moves(judgement, shown, order)
    if moves:
        lines += [f"  first actions in run {run}, a typical run", *(f"  {move}" for move in moves)]
    return [*lines, ""]


def other_manager(baseline: Contender, proposed: Contender) -> list[str]:
    """What another load manager changes besides the load, in a line; none if it is the same."""
    if baseline.manager.conf.is_extensible == proposed.manager.conf.is_extensible:
        return []
    command = "fencepost check --conf NEW --against OLD, with both broker.conf"
    return [f"  another load manager owns bundles in another way: {command}, lists the known bugs that come and go"]


NO_CHOICE = "carries another load, which is nothing to choose; the table says what that does"


def not_chosen(judgement: Judgement) -> list[str]:
    """The policies that have no place in the order."""
    return [one.name for one in judgement.proposed if not is_choice(judgement, one)]


def heading(judgement: Judgement) -> str:
    """What was simulated."""
    comparison = judgement.comparison
    part = f"{judgement.runs:,} of " if judgement.runs < comparison.runs else ""
    count = f"{part}{count_of(comparison.runs, 'run')}"
    return f"{comparison.scenario.name}: {count} of {comparison.hours:g} h under each policy, seed {comparison.seed}"


def table(judgement: Judgement) -> list[str]:
    """A line for each measure and policy."""
    rows = [COLUMNS]
    for own in judgement.by_measure():
        if same_in_every_run(own):
            continue
        measure = own[0].measure
        rows.append((f"{measure.name} ({measure.unit})", judgement.baseline.name, number(own[0].baseline), "", "", "", ""))
        if judgement.now and measure.name in judgement.now.measures:
            rows.append(("", judgement.now.name, number(judgement.now.measures[measure.name]), "", "", "", ""))
        for d in own:
            worst = "" if d.worst is None else str(d.worst)
            rows.append(("", d.policy, number(d.proposed), signed(d.difference), interval(d), in_words(d), worst))
    if len(rows) == 1:
        return told_in_short(judgement)
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    aligned = ("<", "<", ">", ">", ">", "<", ">")
    lines = ["  ".join(f"{c:{a}{w}}" for c, a, w in zip(row, aligned, widths, strict=True)).rstrip() for row in rows]
    return [*lines, *told_in_short(judgement)]


def told_in_short(judgement: Judgement) -> list[str]:
    """What no run tells apart, in a line; none if there is nothing."""
    same = [own[0] for own in judgement.by_measure() if same_in_every_run(own)]
    measures = ", ".join(f"{d.measure.name} {number(d.baseline)}" for d in same)
    return [f"the same in every run under every policy: {measures}"] if same else []


def _remarks(judgement: Judgement) -> list[str]:
    """How the table is to be read."""
    lines = [f"{heading(judgement)}; all intervals hold together with {confidence(judgement)} confidence"]
    if judgement.outcome == "interrupted":
        lines.append("interrupted: the runs that are complete are kept, and the same command goes on with the others")
    if any(difference.verdict == "too few runs" for difference in judgement.differences):
        lines.append(f"a measure with fewer than {FEWEST} runs is left open")
    for contender in judgement.proposed:
        lines += not_excluded(judgement, contender)
    if judgement.now:
        lines.append(judgement.now.text)
    return lines


def not_excluded(judgement: Judgement, contender: Contender) -> list[str]:
    """What may yet be worse than tolerated under a policy, in a line; none if nothing may."""
    open_still = [difference.measure.name for difference in judgement.of(contender) if difference.may_be_worse]
    return [f"not excluded yet: {contender.name} worse than tolerated in {', '.join(open_still)}"] if open_still else []


def confidence(judgement: Judgement) -> str:
    """The confidence in percent, as it is shown."""
    return f"{100 * judgement.confidence:.4g} %"


def number(value: float) -> str:
    """A number as it is shown."""
    return f"{value:.4g}"


def signed(value: float) -> str:
    """A difference as it is shown."""
    return "0" if value == 0 else f"{value:+.3g}"


def short(name: str) -> str:
    """The name of a policy where there is little room."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}\u2026"


def in_words(difference: Difference) -> str:
    """The verdict as it is shown: of a difference that is there and is tolerated, how much is."""
    if not difference.is_tolerated:
        return difference.verdict
    return f"within tolerance {number(difference.tolerance)}" if math.isfinite(difference.tolerance) else "any is tolerated"


def interval(difference: Difference) -> str:
    """The interval as it is shown; nothing if there is none."""
    return "" if math.isnan(difference.low) else f"{signed(difference.low)} to {signed(difference.high)}"


def as_json(judgement: Judgement, shown: Sequence[Shown]) -> str:
    """The comparison for programs."""
    comparison = judgement.comparison
    files = {(one.contender.name, one.number): str(one.file) for one in shown}
    document = {
        "status": int(judgement.status),
        "outcome": judgement.outcome,
        "scenario": comparison.scenario.name,
        "runs": judgement.runs,
        "runs_asked": comparison.runs,
        "hours": comparison.hours,
        "seed": comparison.seed,
        "confidence": judgement.confidence,
        "baseline": judgement.baseline.name,
        "policies": [
            {
                "policy": contender.name,
                "shedder": strategy_name(contender.manager.shedder),
                "placement": strategy_name(contender.manager.placement),
                "violating_runs": judgement.violating(contender),
                "supposes": settings_of(contender.what_if),
                "changes": {
                    name: {"baseline": before, "proposed": after}
                    for name, before, after in changes(judgement.baseline, contender)
                },
            }
            for contender in comparison.contenders
        ],
        "now": judgement.now and {"measures": judgement.now.measures, **judgement.now.details},
        "recommendation": _recommendation(judgement, shown),
        "measures": [_measure(judgement, difference, files) for difference in judgement.differences],
        "file": str(judgement.folder / RUNS),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _recommendation(judgement: Judgement, shown: Sequence[Shown]) -> dict[str, object] | None:
    order = preferred(judgement)
    if not order:
        return None
    best, (run, moves) = order[0], first_moves(judgement, shown, order)
    return {
        "order": [one.contender.name for one in order],
        "recommended": None if best.violating else best.contender.name,
        "better": [d.measure.name for d in best.better],
        "worse": [d.measure.name for d in best.worse],
        "accepted": [d.measure.name for d in best.accepted],
        "brokers": {one.contender.name: one.brokers for one in order},
        "first_moves": {"run": run, "moves": [move.strip() for move in moves]} if moves else None,
    }


def _measure(judgement: Judgement, d: Difference, files: Mapping[tuple[str, int], str]) -> dict[str, object]:
    worst = None
    if d.worst is not None:
        seed = judgement.comparison.seed_of(d.worst)
        worst = {"run": d.worst, "seed": seed, "file": files.get((d.policy, d.worst))}
    return {
        "measure": d.measure.name,
        "unit": d.measure.unit,
        "better": d.measure.better,
        "policy": d.policy,
        "verdict": d.verdict,
        "pairs": d.pairs,
        "baseline": d.baseline,
        "proposed": d.proposed,
        "difference": d.difference,
        "interval": None if math.isnan(d.low) else [d.low, d.high],
        "lower": d.lower,
        "higher": d.higher,
        "may_be_worse": d.may_be_worse,
        "tolerance": d.tolerance if math.isfinite(d.tolerance) else None,
        "worst_run": worst,
    }
