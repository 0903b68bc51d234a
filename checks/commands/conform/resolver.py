"""``fencepost conform resolver``: the resolver of service units held against Pulsar's own class, and what came of it."""

from __future__ import annotations

import json
from dataclasses import asdict

from fencepost.checks.commands.conform.request import ResolverRequest
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.toolchain import toolchain
from fencepost.checks.conformance.service_unit.resolver import RELEASES, Result, compare, resolver_of
from fencepost.checks.conformance.targets import Asked
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.counts import count_of
from fencepost.properties.registry import RegistryError
from fencepost.properties.service_unit.resolver import BUGS

FORMAT = 1
MIRRORS = "ServiceUnitStateDataConflictResolver.shouldKeepLeft"


def run(asked: ResolverRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status. Raises RegistryError for an unknown release or bug."""
    like = asked.like or asked.release
    if like not in RELEASES:
        raise RegistryError(f"Pulsar {like} is none of the releases with the resolver: {', '.join(RELEASES)}")
    held = Asked(asked.release, own=OwnBuild(asked.jars, tuple(asked.classes)), like=like)
    for bug in asked.bug:
        if bug not in BUGS:
            raise RegistryError(f"the resolver has no bug {bug!r}; it has {', '.join(BUGS)}")
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"service units on Pulsar {held.release}")
    toolchain()
    reporter.telling("fetching jars, compiling the harness, starting Java")
    with interruptible() as interrupt, resolver_of(held.release, held.own) as session:
        result = compare(
            session.ask,
            cases=asked.cases,
            seed=asked.seed,
            bugs=asked.bug,
            progress=lambda progress: reporter.telling(f"{count_of(progress.pairs, 'pair')}, {progress.differing:,} differ"),
            should_stop=interrupt,
        )
    reporter.end()
    status = _status(result)
    report = in_format(
        asked.format,
        text=lambda: f"{text(result, held, asked.seed)}# {result.seconds:.1f} s\n",
        json=lambda: _as_json(result, held, asked, status),
    )
    print(report, end="")
    return status


def _status(result: Result) -> ExitStatus:
    if result.differing:
        return ExitStatus.SAFETY
    return ExitStatus.INCONCLUSIVE if result.interrupted else ExitStatus.HOLDS


def text(result: Result, held: Asked, seed: int) -> str:
    """The report for a person: a line for each store and kind of pairs, and the first pair that differs."""
    origin = held.origin("pulsar")
    lines = [f"{MIRRORS} of Pulsar {held.release}, seed {seed}: {count_of(result.pairs, 'pair')} of records"]
    lines += [f"  {origin}"] if origin else []
    for each in result.compared:
        if each.differing:
            lines.append(f"  {each.store}, {each.which}: {each.differing:,} of {each.pairs:,} differ, first")
            lines.append(f"    {each.first}")
        else:
            lines.append(f"  {each.store}, {each.which}: {each.pairs:,} agree")
    if result.interrupted:
        lines.append("interrupted: what was compared until then is shown")
    return "\n".join(lines) + "\n"


def _as_json(result: Result, held: Asked, asked: ResolverRequest, status: ExitStatus) -> str:
    content = {
        "format": FORMAT,
        "mirrors": MIRRORS,
        "release": held.release,
        "origin": held.origin("pulsar"),
        "seed": asked.seed,
        "bugs": asked.bug,
        "exit_status": int(status),
        "compared": [asdict(each) for each in result.compared],
        "interrupted": result.interrupted,
        "seconds": round(result.seconds, 3),
    }
    return json.dumps(content, indent=1) + "\n"
