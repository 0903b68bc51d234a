"""``fencepost conform bugs``: the bugs of releases, each replayed on the real code of every release that there is.

The run is the shortest to what is observed and should not be; where that is the run of another bug, too, or takes what the
harness has not, the next one that violates another property. Where no such run shows the bug, it names one itself: because the
shortest ends in the midst of what the code does at once, or meets a known difference."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime

from fencepost.checks.commands.conform.request import BugsRequest
from fencepost.checks.conformance.java_side.harness import RELEASED
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.session import SessionError
from fencepost.checks.conformance.java_side.toolchain import ToolchainError, toolchain
from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.running.adapter import Adapter
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.running.view import Views
from fencepost.checks.conformance.scenario import restarts, unseen
from fencepost.checks.conformance.targets import Asked, Target
from fencepost.checks.console.printing import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.reports.bugs_on_code import Replayed, as_json, as_row, read_row, rows_of, text
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.model.language.mistakes import guess
from fencepost.model.releases import numbers
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, RegistryError, Value
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.files.writing import write_text
from fencepost.traces.lassos import loop_from
from fencepost.traces.replay import replay_on
from fencepost.traces.trace import Trace, trace_of

SECONDS = 120
"""How long the shortest run of a bug may be looked for."""
MOST_RUNS = 3
"""How many runs are tried, each to a violation of another property, until one shows the bug and no other."""


def run(asked: BugsRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    targets = [TARGETS[name] for name in asked.targets or TARGETS if name in TARGETS]
    if unknown := [name for name in asked.targets if name not in TARGETS]:
        raise RegistryError(f"there is no target {unknown[0]!r}{guess(unknown[0], TARGETS)}; there are {', '.join(TARGETS)}")
    wanted = _wanted(targets, asked)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin("bugs on real code")
    replays: list[Replayed] = []
    try:
        toolchain()
        with interruptible() as interrupt:
            for replayed in replayed_bugs(wanted, reporter.telling, asked.bug, OwnBuild(asked.jars, tuple(asked.classes))):
                replays.append(replayed)
                if asked.record:
                    record(TARGETS[replayed.target], replayed)
                if interrupt():
                    break
    except (ToolchainError, SessionError) as error:
        reporter.end()
        print(text(replays) if replays else "", end="")
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.SYSTEM
    finally:
        reporter.end()
    if interrupt():
        print(text(replays), end="")
        return ExitStatus.INCONCLUSIVE
    if asked.out:
        write_text(asked.out, as_json(replays))
    print(in_format(asked.format, text=lambda: text(replays), json=lambda: as_json(replays)), end="")
    if not replays:
        return ExitStatus.EVALUATION
    return ExitStatus.SAFETY if any(each.verdict == "not reproduced" for each in replays) else ExitStatus.HOLDS


def _wanted(targets: list[Target], asked: BugsRequest) -> list[Target]:
    """The targets that can have the bugs that are asked for, each with the releases that are.

    Raises RegistryError for a bug that none of them can have, or a release that is not modelled.
    """
    if asked.record and (asked.jars or asked.classes):
        raise RegistryError("--record keeps what releases do: leave --jars and --classes out")
    known = {name for target in targets for name in PROTOCOLS[target.protocol].bugs}
    if other := [name for name in asked.bug if name not in known]:
        raise RegistryError(f"no target has a bug {other[0]!r}{guess(other[0], known)}")
    having = [target for target in targets if not asked.bug or set(asked.bug) & set(PROTOCOLS[target.protocol].bugs)]
    if asked.release is None:
        return having
    of_it = [target for target in having if asked.release in numbers(target.system)]
    if not of_it:
        systems = dict.fromkeys(target.system for target in having)
        there = ", ".join(number for system in systems for number in numbers(system))
        raise RegistryError(f"{asked.release} is no modelled release of {' or '.join(systems)}; there are {there}")
    return [replace(target, releases=(asked.release,)) for target in of_it]


def record(target: Target, replayed: Replayed) -> None:
    """Writes a replay into the rows beside the bugs, in the place of an earlier one of that bug and release. Raises OSError."""
    file, bugs = rows_of(target.protocol), list(PROTOCOLS[target.protocol].bugs)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
    rows = {(row.bug, row.release): line for line in lines for row in [read_row(target.name, line)] if row.bug in bugs}
    rows[replayed.bug, replayed.release] = as_row(replayed, datetime.now(UTC).date().isoformat())
    order = sorted(rows, key=lambda row: (bugs.index(row[0]), numbers(target.system).index(row[1])))
    write_text(file, "".join(rows[row] for row in order))


def replayed_bugs(
    targets: list[Target],
    telling: Callable[[str], None] = lambda _: None,
    only: Sequence[str] = (),
    own: OwnBuild = RELEASED,
) -> Iterator[Replayed]:
    """Replays the shortest run of each bug, or ``only`` of these, on each release of its targets, with an ``own`` build in it.

    Raises ToolchainError and SessionError.
    """
    for target in targets:
        entry = PROTOCOLS[target.protocol]
        bugs = [name for name, bug in entry.bugs.items() if bug.present and _is_of(target, entry, name)]
        bugs = [name for name in bugs if not only or name in only]
        for release in target.releases:
            for storage in target.storages or ("",):
                with ExitStack() as ended:
                    adapter: Adapter | None = None
                    for name in (name for name in bugs if _storage(entry, name, target) == storage):
                        telling(f"{target.name} on {target.system} {release}: {name}")
                        adapter = adapter or ended.enter_context(target.start(Asked(release, storage, own=own)))
                        yield _replayed(entry, name, target, release, adapter)


def _is_of(target: Target, entry: Entry, name: str) -> bool:
    """Whether the instances of a target can have a bug."""
    return entry.can_have(name, {**entry.bugs[name].shown_by, **target.settings})


def _storage(entry: Entry, name: str, target: Target) -> str:
    """The storage with which a bug is shown."""
    return str(entry.bugs[name].shown_by.get("storage", next(iter(target.storages), "")))


def _replayed(entry: Entry, name: str, target: Target, release: str, adapter: Adapter) -> Replayed:
    parameters = _parameters(entry, name, target, release)
    protocol, others = entry.build(parameters, (name,)), _others(entry, name, target, release)
    bug = entry.bugs[name]
    present = release in bug.present

    def result(verdict: str, why: str = "", prop: str = "", steps: tuple[str, ...] = (), end: str = "") -> Replayed:
        return Replayed(target.name, name, release, verdict, why, prop, steps, end)

    if bug.out_of_reach is not None:
        return result(*bug.out_of_reach.outcome(release, present=present))
    suite = entry.suite(protocol)
    seen = [p for p in suite.properties if not p.strict and not unseen(protocol, p, adapter)]
    kernel = Kernel(entry.build(parameters, (name, *others)))

    def replayed(prop: Property, trace: Trace) -> Replayed:
        labels = [step.action for step in trace.steps]
        names = {label.partition("(")[0] for label in labels}
        if left := sorted(names - set(adapter.covered) - set(adapter.eager)):
            return result("not tried", undriven(adapter, left), prop.name, tuple(labels))
        outcome = Pair(kernel, adapter).follow([*labels, *restarts(kernel, labels)])
        steps = tuple(step.action for step in outcome.trace.steps)
        if outcome.verdict == "agrees":
            if other := _also(entry, name, release, outcome.trace, adapter, others):
                why = f"the run is that of {other}, too, and does not tell the two apart"
                return result("not tried", why, prop.name, steps)
            return result("reproduced", "", prop.name, steps, _end(protocol, prop, kernel.protocol, outcome.trace))
        if outcome.verdict == "not covered" or outcome.known:
            why = outcome.why or f"the run meets a known difference, {outcome.known}"
            return result("not tried", why, prop.name, steps)
        return result("not reproduced" if present else "gone", _parting(outcome), prop.name, steps)

    first: Replayed | None = None
    try:
        runs = iter([_followed(protocol, suite, seen, bug.run.split("; "))]) if bug.run else _violations(suite, seen)
    except LookupError:
        return result("not tried", f"as {release} behaves, its run violates nothing that is observed")
    for run in runs:
        row = replayed(*run)
        if row.verdict != "not tried":
            return row
        first = first or row
    return first or result("not tried", "in its instance it violates nothing that is observed")


def undriven(adapter: Adapter | type[Adapter], left: Sequence[str]) -> str:
    """Why a run is not tried that takes the steps ``left``, through which the adapter does not drive the code."""
    reasons = "; ".join(dict.fromkeys(adapter.not_covered[name] for name in left if name in adapter.not_covered))
    return f"the code is not driven through {', '.join(left)}" + (f": {reasons}" if reasons else "")


def _others(entry: Entry, name: str, target: Target, release: str) -> tuple[str, ...]:
    """The bugs that the model has besides, because the release has them and the run meets them on the way."""
    if not entry.bugs[name].with_others:
        return ()
    held = [other for other, bug in entry.bugs.items() if bug.held and other != name and release in bug.present]
    return tuple(other for other in held if entry.can_have(other, {**entry.bugs[name].shown_by, **target.settings}))


def _also(entry: Entry, name: str, release: str, trace: Trace, adapter: Adapter, besides: tuple[str, ...]) -> str:
    """Another bug of the release by which all that is observed on the run is the same; empty if there is none. With bugs
    that the model has ``besides``, these together."""
    labels = [step.action for step in trace.steps]
    seen = _observed(entry.build(trace.parameters, trace.bugs), labels, adapter)
    if besides:
        return "others of the release" if _observed(entry.build(trace.parameters, besides), labels, adapter) == seen else ""
    for other, bug in entry.bugs.items():
        if other == name or release not in bug.present or bug.out_of_reach or not entry.can_have(other, trace.parameters):
            continue
        if _observed(entry.build(trace.parameters, (other,)), labels, adapter) == seen:
            return other
    return ""


def _followed(protocol: Protocol, suite: Suite, among: list[Property], labels: Sequence[str]) -> tuple[Property, Trace]:
    """The run of these steps, and the first property that its last step violates, or that it violates as it stops there;
    LookupError if it violates none."""
    kernel = Kernel(protocol)
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    taken = [label.rstrip("?") for label in labels if not label.endswith("?") or label.rstrip("?") in numbers]
    states, actions = [kernel.initial()[0]], [numbers[label] for label in taken]
    for number in actions:
        states.append(kernel.apply(states[-1], number))
    for prop in (prop for prop in among if prop.kind in ("always", "step", "leads_to")):
        stops = loop_from(kernel, prop, states, actions, len(actions)) if prop.kind == "leads_to" else None
        trace = trace_of(kernel, states, actions, violated=prop.name, found_by="a script", loop=stops)
        if replay_on(trace, protocol, suite).replays:
            return prop, trace
    raise LookupError(f"nothing that is observed is violated by {'; '.join(labels)}")


def _observed(protocol: Protocol, labels: Sequence[str], adapter: Adapter) -> list[object] | None:
    """What is observed after each step of the run, with the requests that are owed then, except before a step that the code
    takes by itself. Of steps that the protocol does not have nothing changes. None if they are no run of it, or the code would
    take another step by itself."""
    kernel, views = Kernel(protocol), Views(protocol)
    eager = [number for number, action in enumerate(kernel.actions) if action.name in adapter.eager]
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    state = kernel.initial()[0]
    seen: list[object] = []
    for label, after in zip(labels, [*labels[1:], ""], strict=True):
        if label in numbers:
            if numbers[label] not in kernel.enabled(state):
                return None
            state = kernel.apply(state, numbers[label])
        if after.partition("(")[0] not in adapter.eager:
            view = views.of(kernel.packing.unpack(state))
            enabled = set(kernel.enabled(state)).intersection(eager)
            if any(adapter.takes_by_itself(kernel.actions[number], view) for number in enabled):
                return None
            seen.append([*(observable.model(view) for observable in adapter.observables), adapter.expected(view)])
    return seen


def _violations(suite: Suite, among: list[Property]) -> Iterator[tuple[Property, Trace]]:
    """Runs that violate a property, the shortest first: of states and of steps, and then of liveness; each of another one."""
    for kinds in (("always", "step"), ("leads_to",)):
        asked = [prop for prop in among if prop.kind in kinds]
        for _ in range(MOST_RUNS):
            verdicts = exhaust(Observed.of(suite, asked), Budget(seconds=SECONDS)).verdicts if asked else ()
            violations = [(v.property, v.trace) for v in verdicts if v.verdict == "violated" and v.trace is not None]
            if not violations:
                break
            yield from sorted(violations, key=lambda run: len(run[1].steps))
            asked = [prop for prop in asked if prop not in [violated for violated, _ in violations]]


def _parameters(entry: Entry, name: str, target: Target, release: str) -> dict[str, Value]:
    shown = target.on({**entry.bugs[name].shown_by, **target.settings}, _storage(entry, name, target))
    if release not in numbers(target.system):
        return dict(shown)
    return {**shown, **entry.behaviour(target.released(release))}


def _end(protocol: Protocol, prop: Property, ran: Protocol, trace: Trace) -> str:
    """The values in the end of what the property of ``protocol`` speaks of, in a run of ``ran``; the code shows the same."""
    meant = {variable.name for variable in protocol.variables_of(prop.formula)}
    rows = zip(ran.variables, trace.states[-1], strict=True)
    return ", ".join(f"{variable.name} {variable.domain.show(raw)}" for variable, raw in rows if variable.name in meant)


def _parting(outcome: Outcome) -> str:
    why = outcome.why or "; ".join(map(str, outcome.differences))
    return f"at step {len(outcome.trace.steps)}, {outcome.last}: {why}"
