"""Checks of a slice: verdicts and lengths are those of the whole protocol, runs are its runs, and what is left out is told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from fencepost.checks import public_calls as calls
from fencepost.checks.cli import main
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.engines.search.reduction import Reduction
from fencepost.model.kernel import Kernel
from fencepost.model.language import Implies, Protocol
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.slices import DECIDED, slice_for
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.files.itf import read
from fencepost.traces.replay import replay
from fencepost.traces.shrinking.shrinking import shrink
from fencepost.traces.trace import trace_of
from tests.properties.searching import unexpected

AT_ONCE = ("ack quorum of one",)
SMALL = (*AT_ONCE, "lookups", "page cache", "nodes, cut off")
"""Instances that are compared in the first step and by default, and protocols of which a bug is."""
QUICK = ("ledger", "election", "ownership")

SLICED = {
    ("ledger", "crash and rot"): (1_736_068, 406_128, "no_truncation"),
    ("ledger", "two entries"): (735_344, 392_619, "no_truncation"),
    ("ledger", "two recoveries"): (91_030, 76_062, "no_truncation"),
    ("election", "lookups"): (21_066, 2_799, "leader_holds_the_node"),
    ("bookie", "explicit last add and reads"): (44_230, 10_081, "acknowledged_adds_survive"),
    ("service_unit", "nodes, cut off"): (23_072, 5_600, "told_brokers_know_the_record"),
}
"""States of the whole and of the slice for a property."""

INSTANCES = [
    pytest.param(
        entry,
        i,
        id=f"{entry.name}, {i.name}",
        marks=[] if i.name in AT_ONCE else pytest.mark.long if i.name in SMALL else pytest.mark.deep,
    )
    for entry in PROTOCOLS.values()
    for i in entry.sizes["ci"]
]


def _cost(protocol: str, place: int) -> list[pytest.MarkDecorator]:
    """One bug of the first protocol is in the first step, one of each of the others in the second."""
    if place or protocol not in QUICK:
        return [pytest.mark.deep]
    return [] if protocol == QUICK[0] else [pytest.mark.long]


BUGS = [
    pytest.param(entry, name, id=f"{entry.name}, {name}", marks=_cost(entry.name, place))
    for entry in PROTOCOLS.values()
    for place, name in enumerate(entry.shown_by)
]


def _slices(suite: Suite, properties: Iterable[Property]) -> list[tuple[Protocol, list[Property]]]:
    """The slices that there are, each with the properties that see just that."""
    slices: dict[tuple[str, ...], tuple[Protocol, list[Property]]] = {}
    for prop in properties:
        part = slice_for(suite.protocol, [prop])
        if part is not suite.protocol:
            slices.setdefault(tuple(v.name for v in part.variables), (part, []))[1].append(prop)
    return list(slices.values())


def _outcomes(verdicts: Iterable[Verdict]) -> dict[str, tuple[str, object]]:
    return {v.property.name: (v.verdict, v.reach.get("steps")) for v in verdicts}


@pytest.mark.long
@pytest.mark.parametrize(("entry", "instance"), INSTANCES)
def test_verdicts_and_lengths_are_those_of_the_whole(entry: Entry, instance: Instance) -> None:
    suite = entry.suite(entry.build(instance.parameters))
    decided = [p for p in suite.properties if p.kind in DECIDED]
    whole = exhaust(Observed.of(suite, decided), Budget(workers=2))
    wanted = _outcomes(whole.verdicts)
    states = whole.verdicts[0].reach["distinct"]
    for part, properties in _slices(suite, decided):
        findings = exhaust(Observed.of(suite, properties, within=part), Budget(workers=2))
        assert _outcomes(findings.verdicts) == {p.name: wanted[p.name] for p in properties}
        count = findings.verdicts[0].reach["distinct"]
        assert count <= states
        for verdict in findings.verdicts:
            if verdict.trace is not None:
                assert replay(verdict.trace, PROTOCOLS).replays
        pinned = SLICED.get((entry.name, instance.name))
        if pinned is not None and pinned[2] in [p.name for p in properties]:
            assert (states, count) == pinned[:2]


@pytest.mark.parametrize(("entry", "bug"), BUGS)
def test_a_bug_is_caught_in_as_many_steps(entry: Entry, bug: str) -> None:
    suite = entry.suite(entry.build(dict(entry.shown_by[bug]), [bug]))
    whole = unexpected(exhaust(Observed.of(suite, [p for p in suite.properties if not p.strict]), Budget(workers=2)))
    for name, steps in whole.items():
        prop = suite.named(name)
        if prop.kind in DECIDED:
            part = slice_for(suite.protocol, [prop])
            (verdict,) = exhaust(Observed.of(suite, [prop], within=part), Budget(workers=2)).verdicts
            assert (verdict.verdict, verdict.reach["steps"]) == ("violated", steps)
            assert replay(verdict.trace, PROTOCOLS).replays


@pytest.mark.parametrize(
    ("name", "instance"),
    [key if key[0] == "election" else pytest.param(*key, marks=pytest.mark.deep) for key in SLICED],
)
def test_symmetry_is_that_of_the_slice(name: str, instance: str) -> None:
    entry = PROTOCOLS[name]
    (parameters,) = (i.parameters for i in entry.sizes["ci"] if i.name == instance)
    suite = entry.suite(entry.build(parameters))
    _, states, prop = SLICED[name, instance]
    chosen = [suite.named(prop)]
    part = slice_for(suite.protocol, chosen)
    reduction = Reduction.of(part, chosen, Reporter(quiet=True))
    findings = exhaust(Observed.of(suite, reduction.observed, within=part), Budget(workers=2), reduction=reduction)
    reach = findings.verdicts[0].reach
    assert reach.get("represented", reach["distinct"]) == states
    if reduction.orbits is not None:
        assert reach["distinct"] < states


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["check", *arguments, "--quiet"])
    return status, capsys.readouterr().out


ASKED = ("election", "--set", "lookups=yes", "brokers=2", "--property", "leader_holds_the_node")


@pytest.mark.long
def test_what_is_sliced_is_told_and_can_be_turned_off(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = check(capsys, *ASKED)
    assert status == 0
    assert " states of the slice, " in out
    (line,) = (line for line in out.splitlines() if line.startswith("  slice: "))
    assert "matter to what is checked; left out: " in line
    for turned_off in ("--no-slice", "--strict"):
        status, out = check(capsys, *ASKED, turned_off)
        assert " of the slice" not in out
        assert "\n  slice: " not in out
    assert " of the slice" not in check(capsys, *ASKED[:-2])[1]  # all properties together see everything


def test_where_a_property_speaks_of_more_than_what_is_reached_everything_is_searched() -> None:
    entry = PROTOCOLS["election"]
    suite = entry.suite(entry.build({}))
    safe, kinds = suite.named("leader_holds_the_node"), ("leads_to", "deadlock")
    others = [p for p in suite.properties if p.kind in kinds]
    assert {p.kind for p in others} == set(kinds)
    assert slice_for(suite.protocol, [safe]) is not suite.protocol
    for other in others:
        assert slice_for(suite.protocol, [safe, other]) is suite.protocol


@pytest.mark.long
def test_the_trace_file_has_every_variable_and_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("ledger", "--bug", "closes_at_lac", "--property", "no_truncation", "--trace-dir")
    contents = {}
    for folder, options in (("sliced", ()), ("whole", ("--no-slice",))):
        assert check(capsys, *asked, str(tmp_path / folder), *options)[0] == 12
        (file,) = (tmp_path / folder).glob("*.itf.json")
        assert main(["trace", "replay", str(file)]) == 0
        itf = json.loads(file.read_text())
        contents[folder] = itf["vars"], itf["#meta"], len(itf["states"]), itf["states"][0].keys()
        trace, _ = read(file, PROTOCOLS)[:2]
        assert len(trace.initial) == len(PROTOCOLS["ledger"].build(trace.parameters, trace.bugs).variables)
    assert contents["sliced"] == contents["whole"]


def test_a_function_slices_too() -> None:
    def states(*, slice: bool) -> int:
        (checked,) = calls.check("election", set={"lookups": True}, properties=["leader_holds_the_node"], slice=slice)
        return int(checked.verdicts[0].reach["distinct"])

    assert states(slice=True) < states(slice=False)


def test_suspicions_are_of_what_the_slice_has() -> None:
    """What a slice leaves out is neither never enabled nor unchanged; a premise that is never met is told as ever."""
    suite = _idle()
    prop = suite.named("stays")
    part = slice_for(suite.protocol, [prop])
    suspicions = [s.text for s in exhaust(Observed.of(suite, [prop], closely=True, within=part), Budget()).suspicions]
    assert suspicions == ["action never was never enabled", "the premise of stays was never met"]


@cache
def _idle() -> Suite:
    p = Protocol("idle")
    seen, unseen = p.number("seen", 0, 3), p.number("unseen", 0, 3)

    @p.step(by="one")
    def rise() -> object:
        """Rises."""
        return seen < 2, {seen: seen + 1}

    @p.step(by="one")
    def never() -> object:
        """Cannot."""
        return seen == 3, {seen: 0}

    @p.step(by="one", member=range(2))
    def elsewhere(member: int) -> object:
        """Of the two one can be seen, and neither is ever enabled."""
        return seen == 3, {(unseen, seen)[member]: 1}

    suite = Suite(p)

    @suite.always
    def stays() -> object:
        """Is kept."""
        return Implies(seen == 3, seen >= 0)

    return suite


def test_a_long_run_is_shrunk_on_what_its_property_sees() -> None:
    suite = _busy()
    kernel = Kernel(suite.protocol)
    labels = ["tick", "rise", "tick", "tick", "rise", "tick", "fall", "rise", "tick", "rise", "tick"]
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    states = [kernel.initial()[0]]
    for label in labels:
        states.append(kernel.apply(states[-1], numbers[label]))
    trace = trace_of(kernel, states, [numbers[label] for label in labels], violated="low", found_by="by hand")
    shrunk = shrink(trace, suite)
    assert [step.action for step in shrunk.trace.steps] == ["rise"] * 3
    assert (shrunk.steps, shrunk.changes, shrunk.searched) == (11, 8, 2)
    assert shrunk.trace.found_by == "by hand, shrunk from 11 steps"
    assert shrunk.trace.states[-1] == (3, 0)


@cache
def _busy() -> Suite:
    p = Protocol("busy")
    height, time = p.number("height", 0, 3), p.number("time", 0, 9)

    @p.step(by="one")
    def rise() -> object:
        """Rises."""
        return height < 3, {height: height + 1}

    @p.step(by="one")
    def fall() -> object:
        """Falls."""
        return height > 0, {height: height - 1}

    @p.step(by="clock")
    def tick() -> object:
        """Goes on."""
        return time < 9, {time: time + 1}

    suite = Suite(p)

    @suite.always
    def low() -> object:
        """Is low."""
        return height < 3

    return suite
