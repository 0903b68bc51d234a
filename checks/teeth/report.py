"""What came of mutants, as text for people and as JSON for programs."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from fencepost.checks.teeth.run import Fate, Mutant, Teeth
from fencepost.model.counts import count_of

FORMAT = 1

FATES: tuple[Fate, ...] = ("killed", "survived", "proved equivalent", "same graph", "not tried")


def text(teeth: Teeth, *, every: bool, width: int = 120) -> str:
    """The mutants of one protocol for a person: counts, the score and the survivors; with ``every`` a line for each mutant."""
    instances = ", ".join(teeth.instances)
    lines = _wrapped(f"teeth of {teeth.protocol}, in the instances: ", instances, width)
    if teeth.left_out:
        lines += _wrapped("  too large, and left out: ", ", ".join(teeth.left_out), width)
    counts = [f"{teeth.count(fate)} {fate}" for fate in FATES if teeth.count(fate)]
    sampled = "" if teeth.sampled_of is None else f", sampled of {teeth.sampled_of}"
    lines.append(f"  {len(teeth.mutants)} mutant{'s' * (len(teeth.mutants) != 1)}{sampled}: {', '.join(counts) or 'none'}")
    engines = Counter(mutant.kill.by for mutant in teeth.mutants if mutant.kill)
    if engines:
        lines.append("  noticed by: " + ", ".join(f"{engine} {count}" for engine, count in sorted(engines.items())))
    if teeth.idle and teeth.finished:
        lines += _wrapped("  no mutant breaks: ", ", ".join(teeth.idle), width)
    shown = teeth.mutants if every else [m for m in teeth.mutants if m.fate == "survived"]
    for mutant in shown:
        lines += _wrapped(f"  {mutant.fate:<18}", f"{mutant.name}  {mutant.mistake}: {_how(mutant)}", width)
    lines += [_score(teeth), f"# {teeth.seconds:.1f} s"]
    return "\n".join(lines) + "\n"


def _how(mutant: Mutant) -> str:
    """What noticed the mutant, or why nothing did."""
    if mutant.kill is not None:
        if not mutant.kill.properties:
            return f"a value leaves its domain ({mutant.kill.instance})"
        steps = "" if mutant.kill.steps is None else f" in {count_of(mutant.kill.steps, 'step')}"
        return f"{mutant.kill.properties[0]}{steps}, by {mutant.kill.by} ({mutant.kill.instance})"
    if mutant.fate == "survived":
        cut = "; not all of its states were searched" if mutant.cut_short else ""
        safe = "; induction proves it safe" if mutant.safe else ""
        return f"nothing notices it in {', '.join(mutant.instances)}{cut}{safe}"
    reasons = {
        "proved equivalent": "it makes no difference",
        "same graph": "no reachable state of these instances makes a difference",
    }
    return reasons.get(mutant.fate, "interrupted")


def _score(teeth: Teeth) -> str:
    killed, survived = teeth.count("killed"), teeth.count("survived")
    so_far = "" if teeth.finished else " so far"
    if teeth.score is None:
        return f"{teeth.protocol}: no score, because {_why_none(teeth)}"
    score = f"{100 * teeth.score:.1f} %"
    sampled = "" if teeth.sampled_of is None else " of the sample"
    of = count_of(killed + survived, "mutant")
    return f"{teeth.protocol}: score {score}{sampled}{so_far}, {killed} of {of} that make a difference"


def _why_none(teeth: Teeth) -> str:
    if not teeth.instances:
        return "every instance is too large: raise --states" if teeth.left_out else "there is no instance to search"
    return "no mutant makes a difference" if teeth.finished else "no mutant was tried"


def _wrapped(head: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * min(len(head), 20), break_on_hyphens=False)


def as_json(everything: Sequence[Teeth]) -> str:
    """The mutants of all protocols as JSON, as docs/reference describes it."""
    return json.dumps({"format": FORMAT, "protocols": [_protocol(teeth) for teeth in everything]}, indent=2) + "\n"


def _protocol(teeth: Teeth) -> dict[str, object]:
    return {
        "protocol": teeth.protocol,
        "instances": list(teeth.instances),
        "left_out": list(teeth.left_out),
        "sampled_of": teeth.sampled_of,
        "finished": teeth.finished,
        "score": None if teeth.score is None else round(teeth.score, 4),
        "counts": {fate: teeth.count(fate) for fate in FATES},
        "noticed": teeth.noticed,
        "mutants": list(_rows(teeth)),
    }


def _rows(teeth: Teeth) -> Iterator[dict[str, object]]:
    for mutant in teeth.mutants:
        row: dict[str, object] = {"name": mutant.name, **mutant.mistake._asdict(), "fate": mutant.fate}
        if mutant.kill is not None:
            kill = mutant.kill
            row |= {"by": kill.by, "instance": kill.instance, "properties": list(kill.properties), "steps": kill.steps}
        if mutant.fate == "survived":
            row |= {"instances": list(mutant.instances), "safe": mutant.safe, "cut_short": mutant.cut_short}
        yield row
