"""``fencepost lemmas``: looks for lemmas of a property, prints and keeps them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from fencepost.checks.commands.lemmas.request import LemmasRequest
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.unread import chosen_aloud
from fencepost.checks.engines.lemmas.finding import Lemmas, Means, Telling, find
from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import ExitStatus, severest
from fencepost.checks.engines.search.exhaustive import GIB
from fencepost.checks.inputs.own_protocols import is_own, own_protocols
from fencepost.checks.questions.planning import Wanted, planned
from fencepost.model.counts import count_of
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, RegistryError, written
from fencepost.properties.registry import find as find_entry
from fencepost.traces.files.writing import write_text


def run(asked: LemmasRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status.

    Raises RegistryError, ModelError or ReleaseError for what there is not, InputError for a file of one's own that cannot be
    read, OSError if the lemmas cannot be written.
    """
    entry, instances = _instances(asked)
    reporter, everything = Reporter(quiet=asked.quiet), list[Lemmas]()
    ends = None if asked.budget is None else time.monotonic() + asked.budget
    with interruptible() as interrupt:

        def should_stop() -> bool:
            return interrupt() or (ends is not None and time.monotonic() > ends)

        for instance in instances:
            if everything and should_stop():
                break
            reporter.begin(f"{entry.name}, {asked.property}, {instance.name}")
            telling = Telling(reporter.searching, reporter.telling, reporter.proving, should_stop)
            means = Means(asked.literals, asked.seed, int(asked.memory * GIB), asked.workers)
            everything.append(find(entry, instance, asked.property, asked.bug, means, telling))
            reporter.end()
            print(in_format(asked.format, text=lambda: f"{as_text(everything[-1])}\n", json=str), end="", flush=True)
    print(in_format(asked.format, text=str, json=lambda: as_json(everything)), end="")
    if asked.out is not None:
        write_text(asked.out, as_python(everything))
    whole = len(everything) == len(instances)
    return severest({*map(_status, everything), *(() if whole else (ExitStatus.INCONCLUSIVE,))})


def _instances(asked: LemmasRequest) -> tuple[Entry, list[Instance]]:
    """The protocol, and the instances of it that are asked about."""
    releases = chosen_aloud(asked)
    if not (asked.set or asked.size or asked.bug):
        entry = _entry(asked.protocol)
        return entry, entry.as_of(releases, [Instance("as usual", {})])
    wanted = Wanted([asked.protocol], asked.set, asked.size, asked.bug, property=(), by=None, any=())
    plan = planned(wanted, None, releases)
    entries = {entry.name: entry for entry, _ in plan if isinstance(entry, Entry)}
    if len(entries) != 1:
        raise RegistryError(f"{asked.protocol} is not one protocol: name one to find lemmas for")
    return next(iter(entries.values())), [instance for _, instance in plan]


def _entry(name: str) -> Entry:
    if not is_own(name):
        return find_entry(name, PROTOCOLS)
    entries = own_protocols(Path(name), PROTOCOLS)
    if len(entries) != 1:
        names = ", ".join(entry.name for entry in entries)
        raise RegistryError(f"{name} has {len(entries)} protocols: {names}; lemmas are of one")
    return entries[0]


def _status(lemmas: Lemmas) -> ExitStatus:
    if lemmas.is_reached:
        return ExitStatus.SAFETY
    return ExitStatus.HOLDS if lemmas.is_proved else ExitStatus.INCONCLUSIVE


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


def _document(lemmas: Lemmas) -> dict[str, object]:
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
