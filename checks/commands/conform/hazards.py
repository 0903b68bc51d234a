"""``fencepost conform hazards``: the hazards of releases, each replayed on the real code of every release that there is.

The run is the shortest to what is observed and should not be; where that is the run of another hazard, too, or takes what the
harness has not, the next one that violates another property."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from fencepost.checks.commands.conform.hazard_rows import Rows
from fencepost.checks.commands.conform.out_of_reach import OUT_OF_REACH
from fencepost.checks.commands.conform.request import HazardsRequest
from fencepost.checks.conformance.java_side.session import SessionError
from fencepost.checks.conformance.java_side.toolchain import ToolchainError, toolchain
from fencepost.checks.conformance.registry import TARGETS
from fencepost.checks.conformance.running.adapter import Adapter
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.running.view import Views
from fencepost.checks.conformance.scenario import restarts, unseen
from fencepost.checks.conformance.targets import Asked, Target
from fencepost.checks.console.formats import in_format
from fencepost.checks.console.progress import Reporter, interruptible
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.reports.hazards_on_code import Replayed, as_json, read_json, text
from fencepost.model.history import History
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
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
"""How long the shortest run of a hazard may be looked for."""
MOST_RUNS = 3
"""How many runs are tried, each to a violation of another property, until one shows the hazard and no other."""

_WITH_THE_OTHERS = ("bookie", "kafka-controller", ("election", "deletion_sent_again"))
"""Targets, or hazards of a target, that are not replayed alone: a run meets the release's others on the way, so the model has
them, too."""

_FENCED_AND_KNOWN = "send(e0); add(b0, e0); recover(r0); fence_unheard(r0, b0); "
_UNSET_TO_THE_END = (
    "send(e0); send(e1); send(e2); send(e3); replace(b1, b2); publish_change; recover(r0); add(b0, e0); read_lac(r0, b0); "
    "read_lac(r0, b2); start_reading(r0); read_found(r0, b0); recovery_add(r0, b0); recovery_add_complete(r0); ack(b0, e0); "
    "add(b1, e1); ack(b1, e1); unset(e0); read_no_such_entry(r0, b2); confirm(e0); confirm(e1); close_recovered(r0); "
    "unset(e2); unset(e3); resend"
)
_JOURNALED = "write_journal; sync_journal; "
_CHECKPOINTED = "take_checkpoint; save(sync); save_mark(sync); "
_STOPPED = "stop; save(sync); end"
_BOOTED = "replay; save(sync); serve; "
_KNOWN = "add(l0, e0); " + _JOURNALED
_FENCED_IN_JOURNAL = "fence(l0); " + _JOURNALED + "answer_fencing_read(l0); "
_READ_OVERTAKEN = "try_to_own(b0, u0); create(b0, u0); expire(b0); learn_of_expiry(b0); reestablish(b0); {unload}"
_RELEASED_ALONE = (
    "try_to_own(b0, u0); create(b0, u0); {unload}start_release(b0, u0); lone_release_unheard(b0, u0, 1); reconnect(b0); "
    "hear_of_deletion(b0, u0); hear_of_deletion(b1, u0); try_to_own(b1, u0); create(b1, u0)"
)
_RECREATED = _READ_OVERTAKEN + "start_release(b0, u0); release(b0, u0); recreate_behind_release(b0, u0)"
_TELLING = {
    ("election", "elected_follows"): "find_none(b0); propose(b0); confirm(b0)?; disconnect(b0, 0); reconnect(b0); find_own(b0)",
    ("election", "closed_elects_again"): "find_none(b0); propose(b0); find_other(b1); start_closing(b1); disconnect(b1, 0); "
    "reconnect(b1)",
    ("ownership", "lone_release_fails"): _RELEASED_ALONE.format(unload=""),
    ("ownership", "recreates_of_others"): "try_to_own(b0, u0); try_to_own(b1, u0); create(b1, u0); crash(b1); start_migration; "
    "hear_of_preparation(b0); create(b0, u0); prepare(b0); expire_dead(b1); complete",
    ("unload", "lone_release_fails"): _RELEASED_ALONE.format(unload="start_unload(b0, u0); "),
    ("ownership", "recreated_behind_release"): _RECREATED.format(unload=""),
    ("unload", "recreated_behind_release"): _RECREATED.format(unload="start_unload(b0, u0); "),
    ("bookie", "idle_checkpoint_skips_index"): _KNOWN + _CHECKPOINTED + _FENCED_IN_JOURNAL + _CHECKPOINTED + "kill; replay",
    ("bookie", "idle_flush_skips_headers"): f"{_KNOWN}kill; {_BOOTED}{_FENCED_IN_JOURNAL}{_STOPPED}; replay",
    ("bookie", "headers_without_pages_not_saved"): f"{_KNOWN}{_STOPPED}; {_BOOTED}{_FENCED_IN_JOURNAL}add(l1, e0); "
    f"{_JOURNALED}{_CHECKPOINTED}kill; replay",
    ("ledger", "confirms_while_unsetting"): _UNSET_TO_THE_END,
    ("ledger", "idle_checkpoint_skips_index"): _FENCED_AND_KNOWN + "idle_checkpoint(b0); crash(b0)",
    (
        "ledger",
        "failed_save_forgotten",
    ): "send(e0); add(b1, e0); crash(b1); restart(b1); add(b0, e0); ack(b0, e0); ack(b1, e0); "
    "confirm(e0); fail_to_save(b0); pass_over(b0); crash(b0)",
    ("ledger", "deleted_fence_in_memory"): _FENCED_AND_KNOWN + "close; delete; collect(b0); crash(b0)",
    ("unload", "stale_unload"): "try_to_own(b0, u0); create(b0, u0); open_topic(b0, u0); start_unload(b0, u0); expire(b0); "
    "try_to_own(b1, u0); create(b1, u0); learn_of_expiry(b0); reestablish(b0); find_other(b0, u0); crash(b1); "
    "expire_dead(b1); try_to_own(b0, u0); create(b0, u0); close_topic(b0, u0); start_release(b0, u0)",
    ("service-unit", "transfer_back_unfinished"): "assign(b1, u0, b0); crash(b1); read(b0, u0); read(b0, u0); lead(b0); "
    "transfer(b0, u0, b0, b1); expire_dead(b1); open_topics(b0, u0); read(b0, u0); detach_topics(b0, u0); release(b0, u0); "
    "read(b0, u0); schedule_clean_up(b0, b1); clean_up(b0, b1, u0, b0); read(b0, u0)",
    ("service-unit", "newer_lookup_dropped"): "assign(b0, u0, b1); read(b1, u0); read(b1, u0); read(b0, u0); "
    "transfer(b1, u0, b1, b0); read(b0, u0); wait_for_owner(b0, u0); drop_newer_lookup(b0, u0); read(b1, u0); release(b1, u0); "
    "read(b0, u0); read(b0, u0); read(b1, u0); lead(b0)",
    ("service-unit", "split_forgotten"): "assign(b0, u0, b0); read(b0, u0); read(b0, u0); split(b0, b0); read(b0, u0); "
    "own_child(b0); open_topics(b0, u0); read(b0, u1); change_layout(b0); delete_parent(b0); read(b0, u0); assign(b1, u0, b1); "
    "read(b1, u0); read(b1, u0); open_topics(b1, u0); learn_layout(b1)",
    ("service-unit", "split_kept"): "assign(b0, u0, b0); read(b0, u0); read(b0, u0); split(b0, b0); read(b0, u0); "
    "own_child(b0); read(b0, u1); meet_conflict(b0); lead(b1); read(b1, u0); override_overdue(b1, u0, b1); read(b1, u0); "
    "open_topics(b1, u0); open_topics(b0, u0); read(b0, u0)",
    ("replication", "checker_reads_ends_only"): "crash(b0); audit(b0); take(0); restart(b0); lose_entry(b0, e1); find_whole(0)",
    ("replication", "checker_ignores_digest"): "crash(b0); audit(b0); take(0); restart(b0); rot(b0, e0); find_whole(0)",
    ("topic", "terminate_without_mutex"): "open(b0); find_empty(b0); create_ledger(b0, l0); list_first(b0, l0); connect(b0); "
    "publish(b0, m0); add(b0, l0, s0); confirm(b0, l0, s0); roll_over(b0, l0); create_ledger(b0, l1); terminate(b0, l0); "
    "list_end_too_late(b0, l1)",
}
"""The run that shows a hazard where the shortest does not: because that is the run of another hazard, too, unless the bookie
knows the ledger that it fences, because it ends in the midst of what the code does at once, because the model does not wait for
what the code waits for, because the run has a write pending that another hazard of the release leaves unanswered, or because it
meets a known difference. A step with a question mark is taken where the release has it."""


def run(asked: HazardsRequest) -> ExitStatus:
    """Does what the command line asks for; returns the exit status."""
    targets = [TARGETS[name] for name in asked.targets or TARGETS if name in TARGETS]
    if unknown := [name for name in asked.targets if name not in TARGETS]:
        raise RegistryError(f"there is no target {unknown[0]!r}; there are {', '.join(TARGETS)}")
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin("hazards on real code")
    replays: list[Replayed] = []
    rows = Rows(Path(f"{asked.out}.rows") if asked.out else None)
    if rows:
        reporter.telling(f"going on after {len(rows)} rows of {asked.out}.rows")
    try:
        toolchain()
        with interruptible() as interrupt:
            for replayed in replayed_hazards(targets, reporter.telling, rows):
                replays.append(replayed)
                if interrupt():
                    break
    except (ToolchainError, SessionError) as error:
        print(f"fencepost: {error}", file=sys.stderr)
        return ExitStatus.SYSTEM
    finally:
        reporter.end()
    if interrupt():
        print(text(replays), end="")
        return ExitStatus.INCONCLUSIVE
    if asked.out:
        write_text(asked.out, as_json(in_file(replays, asked.out)))
        rows.remove()
    print(in_format(asked.format, text=lambda: text(replays), json=lambda: as_json(replays)), end="")
    if not replays:
        return ExitStatus.EVALUATION
    return ExitStatus.SAFETY if any(each.verdict == "not reproduced" for each in replays) else ExitStatus.HOLDS


def in_file(replays: Sequence[Replayed], file: Path) -> list[Replayed]:
    """What is written to a file: the replays, and of the other targets what the file has, in the order of the targets."""
    replayed = {each.target for each in replays}
    others = read_json(file.read_text(encoding="utf-8")) if file.exists() else []
    rows = [*replays, *(each for each in others if each.target not in replayed)]
    return sorted(rows, key=lambda each: list(TARGETS).index(each.target))


def replayed_hazards(
    targets: list[Target], telling: Callable[[str], None] = lambda _: None, rows: Rows | None = None
) -> Iterator[Replayed]:
    """Replays the shortest run of each hazard on each release of its targets. Those that ``rows`` has are taken from there, and
    the others are added to it. Raises ToolchainError, SessionError, and OSError of the rows."""
    rows = Rows(None) if rows is None else rows
    for target in targets:
        entry = PROTOCOLS[target.protocol]
        hazards = {
            name: history
            for name, history in entry.history.items()
            if history.present and name in entry.shown_by and _is_of(target, entry, name)
        }
        for release in target.releases:
            for storage in target.storages or ("",):
                with ExitStack() as ended:
                    adapter: Adapter | None = None
                    for name, history in hazards.items():
                        if _storage(entry, name, target) != storage:
                            continue
                        row = rows.get(target.name, release, name)
                        if row is None:
                            telling(f"{target.name} on {target.system} {release}: {name}")
                            adapter = adapter or ended.enter_context(target.start(Asked(release, storage)))
                            row = _replayed(entry, name, history, target, release, adapter)
                            rows.add(row)
                        yield row


def _is_of(target: Target, entry: Entry, name: str) -> bool:
    """Whether the instances of a target can have a hazard."""
    shown = entry.build({**entry.shown_by[name], **target.settings})
    return entry.history[name].fits(shown.parameters)


def _storage(entry: Entry, name: str, target: Target) -> str:
    """The storage with which a hazard is shown."""
    return str(entry.shown_by[name].get("storage", next(iter(target.storages), "")))


def _replayed(entry: Entry, name: str, history: History, target: Target, release: str, adapter: Adapter) -> Replayed:
    parameters = _parameters(entry, name, target, release)
    protocol, others = entry.build(parameters, (name,)), _others(entry, name, target, release)
    present = release in history.present

    def result(verdict: str, why: str = "", prop: str = "", steps: tuple[str, ...] = (), end: str = "") -> Replayed:
        return Replayed(target.name, name, target.system, release, present, verdict, why, prop, steps, end)

    if out_of_reach := OUT_OF_REACH.get((target.name, name)):
        return result(*out_of_reach.outcome(release, present=present))
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
            if other := _also(entry, name, target, release, outcome.trace, adapter, others):
                why = f"the run is that of {other}, too, and does not tell the two apart"
                return result("not tried", why, prop.name, steps)
            return result("reproduced", "", prop.name, steps, _end(protocol, prop, kernel.protocol, outcome.trace))
        if outcome.verdict == "not covered" or outcome.known:
            why = outcome.why or f"the run meets a known difference, {outcome.known}"
            return result("not tried", why, prop.name, steps)
        return result("not reproduced" if present else "gone", _parting(outcome), prop.name, steps)

    telling = _TELLING.get((target.name, name))
    first: Replayed | None = None
    for run in [_followed(protocol, suite, seen, telling.split("; "))] if telling else _violations(suite, seen):
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
    """The hazards that the model has besides, because the release has them."""
    shown = {**entry.shown_by[name], **target.settings}
    return tuple(
        other
        for other in target.hazards
        if {target.name, (target.name, name)} & {*_WITH_THE_OTHERS}
        and other != name
        and release in entry.history[other].present
        and entry.history[other].fits(entry.build(shown).parameters)
    )


def _also(
    entry: Entry, name: str, target: Target, release: str, trace: Trace, adapter: Adapter, besides: tuple[str, ...]
) -> str:
    """Another hazard of the release by which all that is observed on the run is the same; empty if there is none. With hazards
    that the model has ``besides``, these together."""
    labels = [step.action for step in trace.steps]
    seen = _observed(entry.build(trace.parameters, trace.defects), labels, adapter)
    if besides:
        return "others of the release" if _observed(entry.build(trace.parameters, besides), labels, adapter) == seen else ""
    others = [h for h, history in entry.history.items() if release in history.present and h != name]
    for other in others:
        if (target.name, other) in OUT_OF_REACH or not entry.history[other].fits(trace.parameters):
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
    takes by itself. Of steps that the protocol does not have nothing changes. None if they are no run of it."""
    kernel, views = Kernel(protocol), Views(protocol)
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
    shown = target.on({**entry.shown_by[name], **target.settings}, _storage(entry, name, target))
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
