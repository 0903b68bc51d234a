"""Lemmas that were found, and what they prove, for people, programs and ``properties/``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fencepost.checks.engines.lemmas.finding import Lemmas
from fencepost.checks.engines.results.findings import Findings
from fencepost.properties.registry import written


def as_text(found: Lemmas) -> str:
    """What was looked at, the lemmas, and what they prove."""
    lines = [f"{_subject(found)}: lemmas for {found.statement.name}", *(f"  {line}" for line in _looked_at(found))]
    if found.text:
        lines += ["", found.text.rstrip()]
    return "\n".join([*lines, "", *_came_to(found)])


def as_python(everything: Sequence[Lemmas]) -> str:
    """The lemmas as a file of Python, with what they prove in comments."""
    parts = []
    for found in everything:
        told = "\n".join(f"# {line}" for line in [_subject(found), *_came_to(found)])
        parts.append(f"{told}\n\n{found.text or '# no lemmas'}".rstrip() + "\n")
    return "\n\n".join(parts)


def as_json(everything: Sequence[Lemmas]) -> str:
    """The same as a JSON document, with an object for each instance."""
    document = {"format": 1, "instances": [_document(found) for found in everything]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _document(found: Lemmas) -> dict[str, Any]:
    return {
        "protocol": found.entry.name,
        "instance": found.instance.name,
        "parameters": dict(found.protocol.parameters),
        "defects": list(found.protocol.active),
        "property": found.statement.name,
        "proved": found.is_proved,
        "reached": found.is_reached,
        "unfinished": found.unfinished,
        "why": found.why,
        "states": found.states,
        "all_states": found.is_whole,
        "states_looked_at": found.looked_at,
        "clauses_tried": found.tried,
        "stages": [
            {
                "literals": stage.literals,
                "candidates": stage.candidates,
                "refuted_by_kernel": stage.lost_to_kernel,
                "refuted_by_z3": stage.lost_to_z3,
                "questions": stage.questions,
            }
            for stage in found.stages
        ],
        "lemmas": found.count,
        "obligations": found.proof.discharged if found.proof else 0,
        "any_size": {name: _is_general(findings) for name, findings in found.general},
        "python": found.text,
    }


def _subject(found: Lemmas) -> str:
    parameters = ", ".join(f"{name}={written(value)}" for name, value in found.instance.parameters.items())
    defects = "".join(f", {defect} switched on" for defect in found.protocol.active)
    return f"{found.entry.name}, {found.instance.name}{f' ({parameters})' if parameters else ''}{defects}"


def _looked_at(found: Lemmas) -> Iterator[str]:
    if not found.states:
        return
    every = "all that can be reached" if found.is_whole else "not all that can be reached"
    yield f"{found.states:,} states of the part that {found.statement.name} can see, {every}"
    if found.tried:
        looked_at = "them" if found.looked_at == found.states else f"{found.looked_at:,} of them"
        yield f"{found.tried:,} clauses tried on {looked_at}"
    for stage in found.stages:
        lost, few = stage.lost_to_kernel + stage.lost_to_z3, f"{stage.literals} literal{'s' if stage.literals > 1 else ''}"
        yield (
            f"up to {few}: {stage.candidates:,} clauses hold in these states, {lost:,} of them were seen to fail after a step "
            f"from others; {stage.questions:,} questions to Z3"
        )


def _came_to(found: Lemmas) -> Iterator[str]:
    """What the lemmas come to, in a line or two."""
    name, count = found.statement.name, f"{found.count} lemma{'' if found.count == 1 else 's'}"
    if found.is_reached:
        yield f"{name} has no proof: {found.why}; `fencepost check {found.entry.name} --property {name}` shows the shortest run"
    elif found.is_proved:
        assert found.proof is not None
        verb = "proves" if found.count == 1 else "prove"
        yield f"{count} {verb} {name}: {found.proof.discharged:,} obligations discharged afresh, {found.proof.frame:,} by frame"
    else:
        yield f"{name} is not proved: {found.unfinished or found.why}"
        if found.count:
            yield f"{count}, which {'is' if found.count == 1 else 'are'} inductive, so far as was found"
    for parameter, findings in found.general:
        yield f"any number of {parameter}: {_general(name, findings)}"


def _general(name: str, findings: Findings) -> str:
    if _is_general(findings):
        return f"{name} is proved from the same lemmas"
    why = findings.failures[0].splitlines()[0] if findings.failures else "nothing was decided"
    return f"not proved from these lemmas; {why}"


def _is_general(findings: Findings) -> bool:
    return bool(findings.verdicts) and all(v.verdict == "proved for any size" for v in findings.verdicts)
