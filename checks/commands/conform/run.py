"""``fencepost conform``: a protocol held against the real code, and what came of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from fencepost.checks.commands.conform.formats import FORMATS
from fencepost.checks.commands.conform.report import Held
from fencepost.checks.commands.conform.request import ONLY_FOR, TargetRequest
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.session import SessionError
from fencepost.checks.conformance.java_side.toolchain import toolchain
from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.running.campaign import Result, campaign, single
from fencepost.checks.conformance.running.choosing import WINDOW
from fencepost.checks.conformance.running.pair import Pair
from fencepost.checks.conformance.targets import Asked, Target
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.console.unread import unread
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.counts import count_of
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.model.releases import followed, modelled
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError, Value, find
from fencepost.traces.files.itf import read, write

RUNS_EACH = 50
"""A JVM of its own pays for so many runs: it takes seconds to start."""


def run(asked: TargetRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    target = find(asked.target, TARGETS)
    for option, targets in ONLY_FOR.items():
        if getattr(asked, option) and target.name not in targets:
            raise RegistryError(f"--{option} is for {', '.join(targets)}; {target.name} does not take it")
    release = asked.release or target.releases[0]
    like = modelled(target.system, asked.like) or followed(target.system, release)
    if unknown := unread([PROTOCOLS[target.protocol]], target.released(like)):
        print(f"fencepost: {unknown}", file=sys.stderr)
    labels: list[str] | None = None
    if asked.trace:
        labels, instances, storage = _traced(target, asked.trace, asked)
    else:
        instances, storage = _instances(target, asked, like)
    code = Asked(release, storage, asked.processes, asked.sockets, OwnBuild(asked.jars, tuple(asked.classes)), like)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"{target.name} on {target.system} {code.release}")
    toolchain()
    reporter.telling("fetching jars, compiling the harness, starting Java")
    with interruptible() as interrupt, ExitStack() as ended:
        adapter, *besides = [ended.enter_context(target.start(code)) for _ in range(1 if labels else _workers(asked))]
        if labels is not None:
            result = single(Pair(Kernel(instances[0]), adapter), labels)
        else:
            result = campaign(
                instances,
                adapter,
                runs=asked.runs,
                steps=asked.steps,
                seed=asked.seed,
                besides=besides,
                weights=target.weights,
                without=_without(target, like, instances) if asked.bug else (),
                progress=lambda progress: reporter.telling(_progress(progress, asked.runs)),
                should_stop=interrupt,
            )
        reporter.end()
        if result.failed and not result.runs:
            raise SessionError(result.failed)
        if result.failed:
            print(f"fencepost: {result.failed}", file=sys.stderr)
        held = Held(target, code, adapter, result, tuple(instances), asked.seed)
    status = _status(result)
    files = _written(result, asked.trace_dir)
    print(FORMATS[asked.format](held, status, files), end="")
    return status


def _workers(asked: TargetRequest) -> int:
    """How many JVMs take runs at once."""
    workers: int = asked.workers or min((os.cpu_count() or 1) + 1, asked.runs // RUNS_EACH)
    return max(1, min(workers, WINDOW))


def storage_of(target: Target, storage: str | None) -> str:
    """The storage that is asked for, or the usual one; RegistryError if the target does not have it."""
    if storage is not None and storage not in target.storages:
        known = ", ".join(target.storages)
        raise RegistryError(f"{target.name} has no storage {storage!r}; " + (f"it has {known}" if known else "it has none"))
    return storage or next(iter(target.storages), "")


def _storage(target: Target, asked: TargetRequest, chosen: Sequence[Mapping[str, Value]]) -> str:
    """The storage that is asked for, the one that the parameters name where the protocol has it, or the usual one."""
    named = {target.storage_of(parameters) for parameters in chosen} - {""}
    wanted = storage_of(target, asked.storage or next(iter(named), None))
    if other := named - {wanted}:
        raise RegistryError(f"the run is of storage {min(other)}, not {wanted}: give --storage {min(other)}")
    return wanted


def _instances(target: Target, asked: TargetRequest, release: str) -> tuple[list[Protocol], str]:
    """The instances to hold, behaving as the release does, and their storage."""
    entry = PROTOCOLS[target.protocol]
    chosen: Sequence[Mapping[str, Value]]
    if asked.set:
        chosen = [entry.settings(asked.set)]
    else:
        chosen = [{**entry.shown_by[bug], **target.settings} for bug in asked.bug if bug in entry.shown_by]
    storage = _storage(target, asked, chosen)
    chosen = [target.on(parameters, storage) for parameters in chosen] or target.instances_on(storage)
    return [target.model(entry, release, parameters, _bugs(target, asked, release)) for parameters in chosen], storage


def _bugs(target: Target, asked: TargetRequest, release: str) -> Sequence[str] | None:
    """The bugs of the model that are asked for; None for those of the release. Raises RegistryError for one to leave out that
    the model does not have anyway."""
    if not asked.without:
        return asked.bug or None
    if asked.bug:
        raise RegistryError("--without leaves bugs of the release out, and --bug names all that the model has: give one")
    has = target.bugs_of(PROTOCOLS[target.protocol], release)
    if other := [name for name in asked.without if name not in has]:
        known = f"there are {', '.join(has)}" if has else "there is none"
        raise RegistryError(f"of {release} the model of {target.name} has no bug {other[0]!r} to leave out; {known}")
    return [name for name in has if name not in asked.without]


def _without(target: Target, release: str, instances: Sequence[Protocol]) -> list[Protocol]:
    """The same instances without the bugs that were asked for."""
    return [target.model(PROTOCOLS[target.protocol], release, protocol.parameters, ()) for protocol in instances]


def _traced(target: Target, file: Path, asked: TargetRequest) -> tuple[list[str], list[Protocol], str]:
    if asked.set or asked.bug or asked.without:
        raise RegistryError("--trace has its own parameters and bugs: leave --set, --bug and --without out")
    trace, protocol = read(file, PROTOCOLS)
    if trace.protocol != target.protocol:
        raise RegistryError(f"{file} is a run of {trace.protocol}, and {target.name} is held against {target.protocol}")
    return [step.action for step in trace.steps], [protocol], _storage(target, asked, [protocol.parameters])


def _progress(result: Result, runs: int) -> str:
    left = result.seconds * (runs - result.runs) / max(result.runs, 1)
    differing = f", {len(result.differing)} found" if result.differing else ""
    return f"{result.runs:,} of {count_of(runs, 'run')}, {count_of(result.steps, 'step')}{differing}, about {left:.0f} s left"


def _status(result: Result) -> ExitStatus:
    if result.unexplained:
        return ExitStatus.SAFETY
    if result.failed:
        return ExitStatus.SYSTEM
    if result.interrupted or result.not_covered:
        return ExitStatus.INCONCLUSIVE
    return ExitStatus.HOLDS if result.steps else ExitStatus.EVALUATION


def _written(result: Result, folder: Path | None) -> Sequence[Path]:
    """The files of the differences, those that are known included."""
    if folder is None:
        return ()
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, outcome in enumerate(result.outcomes(), start=1):
        protocol = PROTOCOLS[outcome.trace.protocol].build(outcome.trace.parameters, outcome.trace.bugs)
        files.append(folder / f"{outcome.trace.protocol}-{outcome.verdict}-{number}.itf.json")
        write(outcome.trace, protocol, files[-1])
    return files
