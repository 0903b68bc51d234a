"""``fencepost trace java``: a trace as a Maven project that runs on the real code."""

from __future__ import annotations

from fencepost.checks.commands.conform.run import storage_of
from fencepost.checks.commands.trace.request import JavaRequest
from fencepost.checks.commands.trace.show import protocols_with
from fencepost.checks.conformance.java_side.classfiles import Classes
from fencepost.checks.conformance.java_side.jars import jars
from fencepost.checks.conformance.java_side.mirrors import classes_of
from fencepost.checks.conformance.java_side.toolchain import toolchain
from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.scenario import NotSeenError, scenario, write_project
from fencepost.checks.conformance.targets import Asked, Target
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.counts import count_of
from fencepost.model.releases import numbers
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError
from fencepost.traces.files.itf import read


def run(asked: JavaRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    trace, protocol = read(asked.file, protocols_with(asked.protocol))
    target = _target(trace.protocol)
    if asked.out.exists() and (not asked.out.is_dir() or any(asked.out.iterdir())):
        raise RegistryError(f"{asked.out} is there and not an empty folder; name a new one")
    release = asked.release or target.releases[0]
    storage = storage_of(target, asked.storage or target.storage_of(protocol.parameters) or None)
    tools = toolchain()
    suite = PROTOCOLS[trace.protocol].suite(protocol)
    violated = next((p for p in suite.properties if p.name == trace.violated), None)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"{target.name} on {target.system} {release}")
    reporter.telling("fetching jars, compiling the harness, starting Java")
    try:
        with target.start(Asked(release, storage)) as adapter:
            case = scenario(protocol, [step.action for step in trace.steps], adapter, violated)
    except NotSeenError as error:
        print(f"{asked.file}: {target.system} {release} does not take this run so that something is wrong: it {error}")
        return ExitStatus.SAFETY
    finally:
        reporter.end()
    if release in numbers(target.system):
        with Classes(jars(classes_of(target.system, release), tools)) as classes:
            files = write_project(case, asked.out, classes)
    else:
        files = write_project(case, asked.out)
    print(f"{asked.out}: a Maven project of {count_of(len(files), 'file')}; to run it: mvn -q test, in that folder")
    print(f"  {target.system} {release} took all {count_of(len(case.taken), 'step')}; {case.why}")
    return ExitStatus.HOLDS


def _target(protocol: str) -> Target:
    targets = [target for target in TARGETS.values() if target.protocol == protocol]
    if not targets:
        known = ", ".join(sorted({target.protocol for target in TARGETS.values()}))
        raise RegistryError(f"nothing carries out runs of {protocol} on real code; there are {known}")
    return targets[0]
