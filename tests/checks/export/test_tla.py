"""Protocols as TLA+: what TLC makes of a module is what the kernel makes of the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from fencepost.checks.commands.export.run import tla as files_of
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import exit_status
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.export.tla.module import Module
from fencepost.model.analysis.obligations import prove_domains
from fencepost.model.kernel.search.search import search
from fencepost.model.language import (
    And,
    If,
    Implies,
    ModelError,
    Not,
    Or,
    Protocol,
    all_of,
    any_of,
    at_least,
    how_many,
    maximum,
    minimum,
)
from fencepost.model.terms.nodes import ONLY_PROVED, Op, below, literal
from fencepost.model.terms.values import concatenation, distinct, extract
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from fencepost.properties.vocabulary import Suite
from tests.checks.engines.test_stillness import marks
from tests.checks.export.tlc import Report, Tlc
from tests.command import fencepost

pytestmark = pytest.mark.xdist_group("tlc")  # which is fetched once
REACH = "SPECIFICATION Spec\nINVARIANT TypeOK\nCHECK_DEADLOCK FALSE\n"
PAIR: dict[str, Value] = {"bookies": 2, "ensemble": 2, "write_quorum": 2, "entries": 1}
SMALL: dict[str, dict[str, Value]] = {
    "ledger": PAIR,
    "bookie": {"entries": 1, "records": 4, "recovery": False, "kills": 1},
    "election": {"brokers": 2, "disconnects": 1},
    "ownership": {"brokers": 2, "releases": 1},
    "unload": {},
    "split": {"hashes": 3},
}
WITH_BUG: dict[str, tuple[str, dict[str, Value]]] = {
    "ledger": ("closes_before_recovery_add", PAIR | {"changes": 1, "bookies": 3, "ack_quorum": 1}),
    "election": ("elected_follows", {"brokers": 2, "expiries": 1}),
    "ownership": ("deletion_ignored", {"brokers": 2, "crashes": 1}),
    "unload": ("released_before_close", {}),
    "split": ("parent_never_released", {"hashes": 3}),
}
FURTHER = ("ledger", "ownership", "split")


def counted(suite: Suite, tlc: Tlc, folder: Path) -> tuple[Report, tuple[int, int, int]]:
    """What TLC reports of a suite's module, and what the kernel counts as TLC does: the initial states are generated, too."""
    module = Module(suite)
    report = tlc.run(folder, {f"{module.name}.tla": module.text, "Reach.cfg": REACH}, "Reach.cfg")
    result = search(Observed.of(suite, []).kernel, workers=1)
    initial = len(list(suite.protocol.initial_states()))
    return report, (result.distinct, result.transitions + initial, result.depth)


def suite_of(name: str, parameters: dict[str, Value], *bugs: str) -> Suite:
    entry = PROTOCOLS[name]
    return entry.suite(entry.build(parameters, bugs))


@pytest.mark.parametrize("name", SMALL)
def test_tlc_reaches_the_same_states_by_as_many_transitions(name: str, tlc: Tlc, tmp_path: Path) -> None:
    report, expected = counted(suite_of(name, SMALL[name]), tlc, tmp_path)
    assert report.status == 0, report.output
    assert report.counts == expected
    assert expected[0] > 100


@pytest.mark.parametrize("name", ["election", "unload", *(pytest.param(n, marks=pytest.mark.deep) for n in FURTHER)])
def test_so_it_does_with_a_bug(name: str, tlc: Tlc, tmp_path: Path) -> None:
    bug, parameters = WITH_BUG[name]
    report, expected = counted(suite_of(name, parameters, bug), tlc, tmp_path)
    assert report.counts == expected
    faithful = search(Observed.of(suite_of(name, parameters), []).kernel, workers=1)
    assert (faithful.distinct, faithful.transitions) != (expected[0], expected[1])


def test_a_module_that_differs_in_a_word_is_told_apart(tlc: Tlc, tmp_path: Path) -> None:
    suite = suite_of("unload", SMALL["unload"])
    module = Module(suite)
    guard = 'lock[b, u] = "releasing"'
    assert guard in module.text
    changed = module.text.replace(guard, 'lock[b, u] # "none"', 1)
    report = tlc.run(tmp_path, {"Unload.tla": changed, "Reach.cfg": REACH}, "Reach.cfg")
    result = search(Observed.of(suite, []).kernel, workers=1)
    assert report.counts != (result.distinct, result.transitions + 1, result.depth)


def test_tlc_finds_a_violation_in_as_few_steps(tlc: Tlc, tmp_path: Path) -> None:
    suite = suite_of("election", {"brokers": 2, "crashes": 1, "leads": "confirmed"})
    files = files_of(suite, Reporter(quiet=True))
    findings = exhaust(Observed.of(suite, suite.properties), Budget(workers=1))
    steps = {v.property.name: len(v.trace.steps) for v in findings.verdicts if v.trace is not None}
    configurations = {name for name in files if name.endswith(".cfg")}
    goals = {p.name for p in suite.properties if p.kind == "sometimes"}
    apart = {*goals, *steps}
    assert configurations == {"Election.cfg", "Election_liveness.cfg", *(f"Election_{name}.cfg" for name in apart)}
    assert "leader_is_alone" in steps
    shortest = tlc.run(tmp_path, files, "Election_leader_holds_the_node.cfg")
    assert (shortest.status, shortest.steps) == (12, steps["leader_holds_the_node"])


def test_tlc_breaks_the_one_property_that_is_exported(tlc: Tlc, tmp_path: Path) -> None:
    asked = ("election", "--set", "brokers=2", "crashes=1", "leads=confirmed", "--property", "leader_holds_the_node")
    assert fencepost("export", *asked, "--format", "tla", "--out", tmp_path).returncode == 0
    suite = suite_of("election", {"brokers": 2, "crashes": 1, "leads": "confirmed"})
    asked_for = [p for p in suite.properties if p.name == "leader_holds_the_node"]
    (violated,) = exhaust(Observed.of(suite, asked_for), Budget(workers=1)).verdicts
    files = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    (asking,) = (name for name in files if name.endswith("leader_holds_the_node.cfg"))
    report = tlc.run(tmp_path, files, asking)
    assert violated.trace is not None
    assert (report.status, report.steps) == (12, len(violated.trace.steps))


@pytest.mark.deep
@pytest.mark.parametrize("name", SMALL)
def test_tlc_comes_to_the_same_verdict_on_every_property(name: str, tlc: Tlc, tmp_path: Path) -> None:
    suite = suite_of(name, SMALL[name])
    files = files_of(suite, Reporter(quiet=True))
    findings = exhaust(Observed.of(suite, suite.properties), Budget(workers=1))
    verdicts = {v.property.name: v for v in findings.verdicts}
    temporal = {p.name for p in suite.properties if p.leads}
    for file in sorted(files.keys() - {f"{Module(suite).name}.tla"}):
        asked = file.removesuffix(".cfg").partition("_")[2]
        report = tlc.run(tmp_path, files, file)
        if asked in ("", "liveness"):
            assert report.status == 0, report.output
        elif verdicts[asked].verdict in ("exhausted", "unreached"):
            assert report.status == 0, file
        else:
            assert report.status == (13 if asked in temporal else 12), file


def instrument() -> Suite:
    """A protocol that does something with every operator of the language, and has it show in its states, for four moves."""
    p = Protocol("instrument", doc="Everything that a term can be.")
    side, single = p.universe("side", 2, "s"), p.universe("single", 1, "o")
    mark = p.universe("mark", 3, "m")
    x, y = p.number("x", -3, 3, init=0), p.number("y", 0, 6)
    up, down = p.flag("up"), p.flag("down", per=single)
    one, other = p.subset("one", mark), p.subset("other", mark, init=[0, 2])
    held, guest = p.choice("held", mark), p.choice("guest", mark, none="nobody")
    name = p.choice("name", ("low", "middle", "high"))
    lamp = p.choice("lamp", ("off", "on"), per=(side, mark))
    pair = p.subset("pair", side, per=side)
    p.budget("moves", 4)

    @p.step(by="hand", spends="moves", s=side, m=mark)
    def press(s: int, m: int) -> Any:
        """A lamp goes on beside one that is off, and all others of its side with it."""
        return And(lamp[s, m] == "off", lamp[1 - s, m] == "off", Not(one.has(m))), {
            **{lamp[s, i]: If(i == m, "on", lamp[s, i]) for i in mark},
            **{lamp[1 - s, i]: "off" for i in mark if i != m},
            one: one.plus(m),
        }

    @p.step(by="hand", spends="moves", m=mark)
    def take(m: int) -> Any:
        """What is held changes, the number with it."""
        return Implies(up, held != m), {held: m, x: If(x + m <= 3, x + m, -x), up: up ^ other.has(held)}

    @p.step(by="hand", spends="moves")
    def reckon() -> Any:
        """Numbers."""
        return And(x * x < 5, distinct(x, y, x - y)), {
            y: maximum(minimum(x * 2 - 1, 6), how_many(up, down[0], *(lamp[0, i] == "on" for i in mark))),
            x: -x,
            name: If(at_least(2, [up, Not(down[0]), *(one.has(i) for i in mark)]), "high", "middle"),
        }

    @p.step(by="hand", spends="moves")
    def combine() -> Any:
        """Sets, and their bits."""
        both = concatenation(extract(1, 1, other), extract(2, 1, one))
        return Or(one != other, guest == "nobody"), {
            guest: If(held == 0, "m0", If(held == 1, "m1", "m2")),
            one: other ^ ~one,
            other: both,
            pair[0]: extract(2, 1, other),
            pair[1]: If(up, pair[0], pair[1]),
            down[0]: Or(extract(1, 0, one) == extract(2, 1, one), y > x, y >= 3),
        }

    @p.step(by="hand", spends="moves")
    def mix() -> Any:
        """Choices by their names and members, and a member that a number names."""
        return And(held != 0, name.among("low", name)), {
            name: If(y < 3, name, "low"),
            other: other.plus(held).minus(y),
        }

    @p.step(by="hand", spends="moves", keep=range(1, 3))
    def clear(keep: int) -> Any:
        """Everything is as it was, or nearly."""
        return And(x >= keep, any_of(lamp[s, i] == "on" for s in side for i in mark)), {
            **{lamp[s, i]: "off" for s in side for i in mark},
            one: [],
            x: keep - 1,
            held: 0,
            guest: "nobody",
        }

    suite = Suite(p)

    @suite.always
    def holds_together() -> Any:
        """Something that holds of every state: what is taken is on one side only."""
        return And(all_of(Not(And(lamp[0, i] == "on", lamp[1, i] == "on")) for i in mark), True)

    return suite


def test_every_operator_of_the_language_has_its_meaning(tlc: Tlc, tmp_path: Path) -> None:
    suite = instrument()
    prove_domains(suite.protocol)
    terms = [term for action in suite.protocol.actions for term in (action.guard, *action.updates.values())]
    kinds = {part.op for part in below(terms, set())}
    assert kinds | {"true", "false"} >= set(get_args(Op)) - ONLY_PROVED
    report, expected = counted(suite, tlc, tmp_path)
    assert report.counts == expected
    assert expected[0] > 1000


@pytest.mark.parametrize("by", [1, 2])
def test_a_step_that_changes_nothing_is_judged_as_the_engines_judge_it(by: int, tlc: Tlc, tmp_path: Path) -> None:
    suite = marks(by)
    findings = exhaust(Observed.of(suite, suite.properties), Budget(workers=1))
    statuses = exit_status(findings.verdicts), tlc.run(tmp_path, files_of(suite, Reporter(quiet=True)), "Marks.cfg").status
    assert statuses == {1: (0, 0), 2: (12, 13)}[by]  # a property over steps is a temporal one for TLC


def test_what_leads_to_anything_or_comes_from_nothing_holds(tlc: Tlc, tmp_path: Path) -> None:
    """TLC takes both for violated, and a property that is TRUE for a mistake."""
    p = Protocol("clock", doc="A clock that stops.")
    hour = p.number("hour", 0, 2)

    @p.step(by="clock", fair=True)
    def tick() -> Any:
        """An hour passes."""
        return hour < 2, {hour: hour + 1}

    suite = Suite(p)
    anything, nothing, end = (hour == 1, True), (False, hour == 1), (hour == 0, hour == 2)
    for name, leads in {"trivial": [anything, nothing, (False, False)], "mixed": [anything, end, nothing]}.items():

        def declared(leads: Any = leads) -> Any:
            """What leads to what."""
            return leads

        declared.__name__ = name
        suite.leads_to(declared)
    report = tlc.run(tmp_path, files_of(suite, Reporter(quiet=True)), "Clock_liveness.cfg")
    assert report.status == 0, report.output


def test_a_value_that_has_no_name_is_an_error() -> None:
    p = Protocol("odd")
    name = p.choice("name", ("low", "high"))

    @p.step(by="hand")
    def move() -> Any:
        """Out of the domain, which nobody has proved yet."""
        return True, {name: literal(name.sort, 2)}

    with pytest.raises(ModelError, match="no name for value 2 of a choice among low, high"):
        Module(Suite(p))
