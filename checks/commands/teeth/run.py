"""``fencepost teeth``: puts the mutants of protocols to the test and shows what noticed them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from fencepost.checks.commands.teeth.request import TeethRequest
from fencepost.checks.console.printing import colour, in_format, width
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.unread import chosen_aloud
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.engines.search.exhaustive import GIB, Budget, exhaust
from fencepost.checks.reports.report import text as report_text
from fencepost.checks.teeth.mutation import mutants
from fencepost.checks.teeth.report import as_json, text
from fencepost.checks.teeth.run import Mutant, Sample, Teeth, bite, searched
from fencepost.checks.teeth.switched_mutants import alone, claims
from fencepost.model.analysis.obligations import prove_domains
from fencepost.model.language import ModelError
from fencepost.model.language.mistakes import guess
from fencepost.model.releases import Releases
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, RegistryError, find


def run(asked: TeethRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    if asked.set and len(asked.protocols) != 1:
        print("fencepost: --set is of one protocol: name it", file=sys.stderr)
        return ExitStatus.USAGE
    entries = [find(name, PROTOCOLS) for name in asked.protocols] or list(PROTOCOLS.values())
    for option, values in (("--mutant", asked.mutant), ("--property", asked.property)):
        if values and len(entries) != 1:
            print(f"fencepost: {option} is of one protocol: name it", file=sys.stderr)
            return ExitStatus.USAGE
    everything: list[Teeth] = []
    reporter = Reporter(quiet=asked.quiet)
    memory = int(asked.memory * GIB)
    releases = chosen_aloud(asked)
    with interruptible() as interrupt:
        for entry in entries:
            if interrupt():
                break
            instances = _instances(entry, asked, releases)
            _require_properties(entry, instances, asked.property)
            teeth = bite(
                entry,
                instances,
                only=asked.mutant,
                properties=asked.property,
                sample=Sample(asked.sample, asked.seed) if asked.sample else None,
                states=asked.states,
                memory=memory,
                workers=asked.workers,
                reporter=reporter,
                should_stop=interrupt,
            )
            if asked.mutant and teeth.instances and not teeth.mutants:
                print(f"fencepost: {entry.name} has no mutant {asked.mutant[0]!r}; --all lists them", file=sys.stderr)
                return ExitStatus.USAGE
            everything.append(teeth)
            parts = in_format(asked.format, text=partial(_text, entry, instances, teeth, asked), json=lambda: iter(()))
            for part in parts:
                print(part, end="", flush=True)
        finished = len(everything) == len(entries) and all(teeth.finished for teeth in everything)
    print(in_format(asked.format, text=str, json=lambda: as_json(everything)), end="")
    return _status(everything, finished, asked.least)


def _instances(entry: Entry, asked: TeethRequest, releases: Releases | None) -> Sequence[Instance]:
    if asked.set:
        (usual,) = entry.as_of(releases, [Instance("as set", {})])
        return (replace(usual, parameters={**usual.parameters, **entry.settings(asked.set)}),)
    return entry.as_of(releases, searched(entry, asked.size))


def _require_properties(entry: Entry, instances: Sequence[Instance], properties: Sequence[str]) -> None:
    """Raises RegistryError for a property that no instance has."""
    suites = [entry.suite(entry.build(instance.parameters)) for instance in instances] if properties else []
    known = {prop.name for suite in suites for prop in claims(suite)}
    for name in properties:
        if name not in known:
            raise RegistryError(f"{entry.name} has no property {name!r}{guess(name, known)}")


def _text(entry: Entry, instances: Sequence[Instance], teeth: Teeth, asked: TeethRequest) -> Iterator[str]:
    """The mutants of a protocol, and for those that are named the run that gives each away."""
    yield text(teeth, every=asked.all or bool(asked.mutant), width=width()) + "\n"
    for mutant in teeth.mutants if asked.mutant else ():
        yield _given_away(entry, instances, mutant, int(asked.memory * GIB))


def _given_away(entry: Entry, instances: Sequence[Instance], mutant: Mutant, memory: int) -> str:
    """The mutant checked by itself: the run that gives it away, or the value that leaves its domain."""
    if mutant.kill is None:
        return ""
    instance = next(instance for instance in instances if instance.name == mutant.kill.instance)
    spoiled = mutants(entry, instance.parameters, entry.build(instance.parameters))[mutant.mistake]
    suite = alone(entry, instance, spoiled)
    head = f"{mutant.name}: {mutant.mistake}\n"
    try:
        prove_domains(suite.protocol)
    except ModelError as error:
        return f"{head}{error}\n\n"
    findings = exhaust(Observed.of(suite, claims(suite)), Budget(memory, workers=1, with_graph=2 * memory))
    noticed = replace(findings, verdicts=tuple(v for v in findings.verdicts if v.property.name in mutant.kill.properties[:1]))
    checked = Checked.of(entry, instance, suite.protocol, noticed)
    return f"{head}{report_text(checked, width=width(), colour=colour())}\n"


def _status(everything: Sequence[Teeth], finished: bool, least: float) -> ExitStatus:
    scores = [teeth.score for teeth in everything]
    if not finished:
        return ExitStatus.INCONCLUSIVE
    if any(score is not None and 100 * score < least for score in scores):
        return ExitStatus.ASSUMPTION
    return ExitStatus.EVALUATION if None in scores else ExitStatus.HOLDS
