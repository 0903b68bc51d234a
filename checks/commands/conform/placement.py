"""``fencepost conform placement``: the placement of ensembles held against BookKeeper's own policies, and what came of it."""

from __future__ import annotations

import json
from dataclasses import asdict

from fencepost.checks.commands.conform.request import PlacementRequest
from fencepost.checks.conformance.bookkeeper.placement import Result, compare, policies_of
from fencepost.checks.conformance.bookkeeper.target import bookkeeper
from fencepost.checks.conformance.java_side.jars import Release
from fencepost.checks.conformance.java_side.toolchain import toolchain
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.bookkeeper.isolation import counts_down
from fencepost.model.bookkeeper.placement import BUGS, RELEASES
from fencepost.model.counts import count_of
from fencepost.model.releases import Releases
from fencepost.properties.registry import RegistryError

FORMAT = 1
MIRRORS = "RackawareEnsemblePlacementPolicy, RegionAwareEnsemblePlacementPolicy, DefaultEnsemblePlacementPolicy"
OF_PULSAR = "IsolatedBookieEnsemblePlacementPolicy"


def run(asked: PlacementRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status. Raises RegistryError for an unknown bug."""
    for bug in asked.bug:
        if bug not in BUGS:
            raise RegistryError(f"placement has no bug {bug!r}; it has {', '.join(BUGS)}")
    release = asked.release if asked.pulsar is None else Releases.of(pulsar=asked.pulsar).client
    behaviour = dict(RELEASES.get(release, {}))
    if asked.pulsar is not None:
        behaviour["counts_down"] = counts_down(asked.pulsar)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"placement on {_system(asked)}")
    toolchain()
    reporter.telling("fetching jars, compiling the harness, starting Java")
    with interruptible() as interrupt, policies_of(_jars(asked)) as session:
        result = compare(
            session.ask,
            count=asked.cases,
            seed=asked.seed,
            behaviour=behaviour,
            of_groups=asked.pulsar is not None,
            bugs=tuple(asked.bug),
            progress=lambda progress: reporter.telling(f"{count_of(progress.cases, 'case')}, {progress.differing:,} differ"),
            should_stop=interrupt,
        )
    reporter.end()
    status = _status(result)
    report = in_format(
        asked.format,
        text=lambda: f"{text(result, asked)}# {result.seconds:.1f} s\n",
        json=lambda: _as_json(result, asked, status),
    )
    print(report, end="")
    return status


def _system(asked: PlacementRequest) -> str:
    return f"BookKeeper {asked.release}" if asked.pulsar is None else f"Pulsar {asked.pulsar}"


def _jars(asked: PlacementRequest) -> Release:
    if asked.pulsar is None:
        return bookkeeper(asked.release)
    from fencepost.checks.conformance.policy.code import pulsar_broker

    return pulsar_broker(asked.pulsar)


def _status(result: Result) -> ExitStatus:
    if result.differing:
        return ExitStatus.SAFETY
    return ExitStatus.INCONCLUSIVE if result.interrupted else ExitStatus.HOLDS


def text(result: Result, asked: PlacementRequest) -> str:
    """The report for a person: what was compared, and the first case that differs."""
    of = ", ".join(f"{name} {count:,}" for name, count in sorted(result.of_policies.items()))
    lines = [f"placement policies of {_system(asked)}, seed {asked.seed}: {count_of(result.cases, 'case')} ({of})"]
    if result.differing:
        lines += [f"  {result.differing:,} of {result.cases:,} differ, first", f"    {result.first}"]
    else:
        lines.append(f"  {result.draws:,} draws agree: {result.refused:,} refused, {result.replaced:,} members replaced")
    lines.append(f"  of {result.allowed:,} ensembles of racks that the model allows {result.drawn:,} were drawn")
    if result.interrupted:
        lines.append("interrupted: what was compared until then is shown")
    return "\n".join(lines) + "\n"


def _as_json(result: Result, asked: PlacementRequest, status: ExitStatus) -> str:
    content = {
        "format": FORMAT,
        "mirrors": MIRRORS if asked.pulsar is None else OF_PULSAR,
        "release": asked.release if asked.pulsar is None else asked.pulsar,
        "seed": asked.seed,
        "bugs": list(asked.bug),
        "exit_status": int(status),
        **asdict(result),
    }
    return json.dumps(content, indent=1) + "\n"
