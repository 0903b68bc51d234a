"""Lemmas that were found, and what they prove, for people, programs and ``properties/``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fencepost.checks.engines.lemmas.finding import Lemmas
from fencepost.checks.engines.results.findings import Findings
from fencepost.model.counts import count_of
from fencepost.properties.registry import written


def as_text(lemmas: Lemmas) -> str:
    """What was looked at, the lemmas, and what they prove."""
    lines = [f"{_subject(lemmas)}: lemmas for {lemmas.statement.name}", *(f"  {line}" for line in _looked_at(lemmas))]
    if lemmas.text:
        lines += ["", lemmas.text.rstrip()]
    return "\n".join([*lines, "", *_came_to(lemmas)])


def as_python(everything: Sequence[Lemmas]) -> str:
    """The lemmas as a file of Python, with what they prove in comments."""
    parts = []
    for lemmas in everything:
        comment = "\n".join(f"# {line}" for line in [_subject(lemmas), *_came_to(lemmas)])
        parts.append(f"{comment}\n\n{lemmas.text or '# no lemmas'}".rstrip() + "\n")
    return "\n\n".join(parts)


def as_json(everything: Sequence[Lemmas]) -> str:
    """The same as a JSON document, with an object for each instance."""
    document = {"format": 1, "instances": [_document(lemmas) for lemmas in everything]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _document(lemmas: Lemmas) -> dict[str, Any]:
    return {
        "protocol": lemmas.entry.name,
        "instance": lemmas.instance.name,
        "parameters": dict(lemmas.protocol.parameters),
        "bugs": list(lemmas.protocol.active),
        "property": lemmas.statement.name,
        "proved": lemmas.is_proved,
        "reached": lemmas.is_reached,
        "unfinished": lemmas.unfinished,
        "why": lemmas.why,
        "states": lemmas.states,
        "all_states": lemmas.is_whole,
        "states_looked_at": lemmas.looked_at,
        "clauses_tried": lemmas.tried,
        "stages": [
            {
                "literals": stage.literals,
                "candidates": stage.candidates,
                "refuted_by_kernel": stage.lost_to_kernel,
                "refuted_by_z3": stage.lost_to_z3,
                "questions": stage.questions,
            }
            for stage in lemmas.stages
        ],
        "lemmas": lemmas.count,
        "obligations": lemmas.proof.discharged if lemmas.proof else 0,
        "any_size": {name: _is_general(findings) for name, findings in lemmas.general},
        "python": lemmas.text,
    }


def _subject(lemmas: Lemmas) -> str:
    parameters = ", ".join(f"{name}={written(value)}" for name, value in lemmas.instance.parameters.items())
    bugs = "".join(f", {bug} switched on" for bug in lemmas.protocol.active)
    return f"{lemmas.entry.name}, {lemmas.instance.name}{f' ({parameters})' if parameters else ''}{bugs}"


def _looked_at(lemmas: Lemmas) -> Iterator[str]:
    if not lemmas.states:
        return
    every = "all that can be reached" if lemmas.is_whole else "not all that can be reached"
    yield f"{count_of(lemmas.states, 'state')} of the part that {lemmas.statement.name} can see, {every}"
    if lemmas.tried:
        looked_at = "them" if lemmas.looked_at == lemmas.states else f"{lemmas.looked_at:,} of them"
        yield f"{count_of(lemmas.tried, 'clause')} tried on {looked_at}"
    for stage in lemmas.stages:
        lost, few = stage.lost_to_kernel + stage.lost_to_z3, count_of(stage.literals, "literal")
        yield (
            f"up to {few}: {count_of(stage.candidates, 'clause')} hold in these states, {lost:,} of them were seen to fail "
            f"after a step from others; {stage.questions:,} questions to Z3"
        )


def _came_to(lemmas: Lemmas) -> Iterator[str]:
    """What the lemmas come to, in a line or two."""
    name, count = lemmas.statement.name, count_of(lemmas.count, "lemma")
    if lemmas.is_reached:
        command = f"fencepost check {lemmas.entry.name} --property {name}"
        yield f"{name} has no proof: {lemmas.why}; `{command}` shows the shortest run"
    elif lemmas.is_proved:
        assert lemmas.proof is not None
        verb = "proves" if lemmas.count == 1 else "prove"
        proof = f"{count_of(lemmas.proof.discharged, 'obligation')} discharged afresh, {lemmas.proof.frame:,} by frame"
        yield f"{count} {verb} {name}: {proof}"
    else:
        yield f"{name} is not proved: {lemmas.unfinished or lemmas.why}"
        if lemmas.count:
            yield f"{count}, which {'is' if lemmas.count == 1 else 'are'} inductive, so far as was found"
    for parameter, findings in lemmas.general:
        yield f"any number of {parameter}: {_general(name, findings)}"


def _general(name: str, findings: Findings) -> str:
    if _is_general(findings):
        return f"{name} is proved from the same lemmas"
    why = findings.failures[0].splitlines()[0] if findings.failures else "nothing was decided"
    return f"not proved from these lemmas; {why}"


def _is_general(findings: Findings) -> bool:
    return bool(findings.verdicts) and all(v.verdict == "proved for any size" for v in findings.verdicts)
