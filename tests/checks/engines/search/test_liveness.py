"""Leads-to under weak fairness: small protocols with known answers, and an oracle that knows nothing of components."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Mapping
from typing import Any

import networkx
import pytest

from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import ExitStatus, Verdict, exit_status
from fencepost.checks.engines.search import liveness as liveness_engine
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.engines.search.liveness import INTERRUPTED, OUT_OF_TIME, Means, judge
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.graph import graph_of
from fencepost.model.kernel.search.search import search
from fencepost.model.language import OneOf, Protocol, any_of, select
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.vocabulary import Suite
from fencepost.traces.replay import replay_on
from tests.bench import liveness

Moves = Mapping[str, Mapping[int, int]]
"""For each action, from which state it leads to which."""


def table(moves: Moves, *, unfair: Collection[str] = (), starts: tuple[int, ...] = (0,)) -> Protocol:
    """A protocol of one variable ``at``, whose actions are given as tables."""
    p = Protocol("table")
    at = p.number("at", 0, 15, init=OneOf(starts))

    def declare(name: str, move: Mapping[int, int]) -> None:
        def step() -> Any:
            """Leads on as its table says."""
            return any_of(at == state for state in move), {at: select(at, [move.get(state, 0) for state in range(16)])}

        step.__name__ = name
        p.step(by=f"{name}r", fair=name not in unfair)(step)

    for name, move in moves.items():
        declare(name, move)
    return p


def among(p: Protocol, states: Collection[int]) -> Any:
    return any_of(p.state.at == state for state in states)


def promised(p: Protocol, premise: Collection[int], conclusion: Collection[int], **how: Any) -> Suite:
    """The suite whose only property is that the first states lead to the others."""
    suite = Suite(p)

    @suite.leads_to(**how)
    def comes() -> Any:
        """What is promised comes."""
        return among(p, premise), among(p, conclusion)

    return suite


def findings_of(suite: Suite, *, workers: int = 1, **limits: Any) -> Findings:
    return exhaust(Observed.of(suite, suite.properties), Budget(workers=workers, **limits))


def verdict(suite: Suite, *, workers: int = 1) -> Verdict:
    (only,) = findings_of(suite, workers=workers).verdicts
    return only


def steps(of: Verdict) -> tuple[list[str], list[str]]:
    """The actions of the stem and of the loop of a violation, which must replay."""
    loop = of.trace.loop
    actions = [step.action for step in of.trace.steps]
    assert of.reach["steps"] == len(actions)
    assert of.reach["loop"] == len(actions) - loop.start
    return actions[: loop.start], actions[loop.start :]


# --- small protocols


def test_a_fair_action_that_stays_enabled_is_taken() -> None:
    suite = promised(table({"go": {0: 1}}), {0}, {1})
    assert verdict(suite).verdict == "exhausted"
    assert verdict(suite).reach == {"distinct": 2, "transitions": 1, "pending": 1, "components": 1}


def test_an_action_that_is_not_fair_need_not_be() -> None:
    suite = promised(table({"go": {0: 1}}, unfair={"go"}), {0}, {1})
    violation = verdict(suite)
    assert violation.verdict == "violated"
    assert exit_status([violation]) == ExitStatus.LIVENESS
    assert steps(violation) == ([], [])
    assert violation.trace.loop.unobliged == ("go",)


def test_an_end_of_the_run_is_for_ever() -> None:
    suite = promised(table({"go": {0: 1}, "lose": {1: 2}, "win": {1: 3}}), {1}, {3})
    assert steps(verdict(suite)) == (["go", "lose"], [])


def test_a_run_may_not_stop_where_something_is_obliged_to_happen() -> None:
    suite = promised(table({"go": {0: 1}, "on": {1: 2}, "last": {2: 3}}), {0}, {3})
    assert verdict(suite).verdict == "exhausted"


def test_an_action_is_starved_if_it_is_disabled_again_and_again() -> None:
    moves = {"tick": {0: 1}, "tock": {1: 0}, "leave": {0: 2}}
    violation = verdict(promised(table(moves), {0}, {2}))
    assert steps(violation) == ([], ["tick", "tock"])
    assert violation.trace.loop.starved == ("leave",)
    assert verdict(promised(table({**moves, "leave": {0: 2, 1: 2}}), {0}, {2})).verdict == "exhausted"


def test_a_loop_that_takes_the_action_is_fair_to_it() -> None:
    """The same action leads around in one state and out of the other: to take it anywhere is enough."""
    violation = verdict(promised(table({"act": {0: 1, 1: 2}, "back": {1: 0}}), {0}, {2}))
    assert steps(violation) == ([], ["act", "back"])


def test_a_step_that_changes_nothing_is_taken() -> None:
    violation = verdict(promised(table({"spin": {0: 0}, "go": {0: 1}}, unfair={"go"}), {0}, {1}))
    assert steps(violation) == ([], ["spin"])
    assert verdict(promised(table({"spin": {0: 0}, "go": {0: 1}}), {0}, {1})).verdict == "exhausted"


def test_faults_may_go_on_for_ever() -> None:
    """A fault in the loop keeps the recovery from ever being enabled for good."""
    suite = promised(table({"break_it": {0: 1}, "fix": {1: 0}, "finish": {0: 2}}, unfair={"break_it"}), {0}, {2})
    assert steps(verdict(suite)) == ([], ["break_it", "fix"])


def test_the_loop_goes_wherever_fairness_asks() -> None:
    """Two actions lead out, each disabled in another state of the component: the loop must visit both."""
    moves = {"a": {0: 1, 1: 2, 2: 3, 3: 0}, "x": {0: 9, 1: 9, 2: 9}, "y": {0: 9, 2: 9, 3: 9}}
    violation = verdict(promised(table(moves), {0}, {9}))
    assert steps(violation) == ([], ["a", "a", "a", "a"])
    assert violation.trace.loop.starved == ("x", "y")


def test_of_several_components_the_soonest_fair_one_is_shown() -> None:
    moves = {
        "go": {0: 1, 1: 2, 2: 3, 3: 4, 4: 5},
        "spin": {1: 1, 5: 5},
        "out": {1: 9, 5: 9},
        "round": {3: 2},
    }
    # state 1 spins, but "out" is always enabled there; 2 and 3 go around; so does 5
    assert steps(verdict(promised(table(moves), {0}, {9}))) == (["go", "go"], ["go", "round"])


def test_what_was_fulfilled_is_owed_again_when_the_premise_holds_again() -> None:
    """0 -> 1 (answer) -> 2 (asks again) -> 3 forever: the first answer does not count for the second question."""
    suite = promised(table({"go": {0: 1, 1: 2, 2: 3}}), {0, 2}, {1})
    assert steps(verdict(suite)) == (["go", "go", "go"], [])
    assert verdict(promised(table({"go": {0: 1, 1: 2, 2: 3}}), {0}, {1})).verdict == "exhausted"


def test_a_conclusion_that_holds_at_once_is_enough() -> None:
    assert verdict(promised(table({"go": {0: 1}}), {1}, {1})).reach["pending"] == 0
    assert verdict(promised(table({"go": {0: 1}}), {1}, {1})).verdict == "exhausted"


def test_where_every_premise_has_its_conclusion_at_once_nothing_was_awaited() -> None:
    """So it is with an excuse in a conclusion that holds wherever there is something to excuse."""
    awaited, at_once = (findings_of(promised(table({"go": {0: 1}}), premise, {1})) for premise in ({0, 1}, {1}))
    assert not awaited.suspicions
    assert tuple(map(str, at_once.suspicions)) == ("the premise of comes was never met without its conclusion",)


def test_a_cycle_before_the_premise_is_none_of_it() -> None:
    suite = promised(table({"tick": {0: 0}, "ask": {0: 1}, "answer": {1: 2}}), {1}, {2})
    assert verdict(suite).verdict == "exhausted"


def test_a_premise_that_is_never_met_is_reported() -> None:
    checked = findings_of(promised(table({"go": {0: 1}}), {7}, {1}))
    (only,) = checked.verdicts
    assert only.verdict == "inconclusive"
    assert "premise is never met" in only.note
    assert exit_status(checked.verdicts) == ExitStatus.INCONCLUSIVE
    assert tuple(map(str, checked.suspicions)) == ("the premise of comes was never met",)


def test_a_negative_control_is_expected_to_be_violated() -> None:
    why, moves = "nobody moves it", {"go": {0: 1}}
    violated = verdict(promised(table(moves, unfair={"go"}), {0}, {1}, strict=why))
    assert violated.expected
    assert violated.note == why
    assert exit_status([violated]) == ExitStatus.HOLDS
    assert exit_status([verdict(promised(table(moves), {0}, {1}, strict=why))]) == ExitStatus.ASSUMPTION
    plain = verdict(promised(table(moves, unfair={"go"}), {0}, {1}, strict=why, when=False))
    assert exit_status([plain]) == ExitStatus.LIVENESS


@pytest.mark.parametrize(("why", "only", "times"), [("nobody moves it", True, 0), ("nobody moves it", False, 1), ("", True, 1)])
def test_the_run_of_a_control_is_shrunk_only_where_it_is_shown(
    why: str, only: bool, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    shrunk = liveness_engine.shrink
    monkeypatch.setattr(
        liveness_engine, "shrink", lambda trace, *rest, **how: asked.append(trace) or shrunk(trace, *rest, **how)
    )
    suite = promised(table({"go": {0: 1}}, unfair={"go"}), {0}, {1}, strict=why)
    (violated,) = exhaust(Observed.of(suite, suite.properties), Budget(workers=1), only_failures=only).verdicts
    assert len(asked) == times
    assert violated.verdict == "violated"
    assert violated.trace is not None
    assert replay_on(violated.trace, suite.protocol, suite).replays


@pytest.mark.parametrize("name", ["go", "gor"])
def test_a_property_may_leave_out_what_a_run_is_fair_to(name: str) -> None:
    assert verdict(promised(table({"go": {0: 1}}), {0}, {1}, unfair=[name])).verdict == "violated"


def test_each_of_several_pairs_counts() -> None:
    suite = Suite(table({"left": {0: 1, 1: 2}, "stay": {2: 2}}))
    p = suite.protocol

    @suite.leads_to
    def both() -> Any:
        """Either way something comes."""
        return [(among(p, {0}), among(p, {1})), (among(p, {1}), among(p, {3}))]

    violation = verdict(suite)
    assert steps(violation) == (["left", "left"], ["stay"])


def test_a_search_that_was_cut_short_claims_nothing() -> None:
    suite = promised(table({"go": {0: 1}, "rise": {s: s + 1 for s in range(1, 15)}}), {0}, {1})

    @suite.always
    def low() -> Any:
        """It stays low."""
        return suite.protocol.state.at < 5

    judged = {v.property.name: v for v in findings_of(suite).verdicts}
    assert judged["low"].verdict == "violated"
    assert judged["comes"].verdict == "inconclusive"
    assert "the search ended with the shortest violation" in judged["comes"].note


def test_a_graph_beyond_the_memory_claims_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.checks.engines.search.liveness.JUDGING_BYTES_PER_STATE", 1 << 40)
    only = verdict(promised(table({"go": {0: 1}}), {0}, {1}))
    assert only.verdict == "inconclusive"
    assert "raise --memory" in only.note


def test_judging_may_run_out_of_time_or_be_interrupted() -> None:
    suite = promised(table({"go": {0: 1}}), {0}, {1})
    observed = Observed.of(suite, suite.properties)
    (only,) = judge(observed, search(observed.kernel), Means(memory=1 << 30, seconds=-1.0), "").verdicts
    assert (only.verdict, only.note) == ("inconclusive", OUT_OF_TIME)
    (only,) = judge(observed, search(observed.kernel), Means(memory=1 << 30, should_stop=lambda: True), "").verdicts
    assert (only.verdict, only.note) == ("inconclusive", INTERRUPTED)


def test_the_graph_is_the_same_with_any_number_of_workers() -> None:
    entry = PROTOCOLS["ledger"]
    suite = entry.suite(entry.build({"entries": 1, "crashes": 1}))
    observed = Observed.of(suite, [suite.named("open_ledgers_close")])
    one, two = (graph_of(search(observed.kernel, workers=n), workers=n) for n in (1, 2))
    assert one is not None
    assert two is not None
    assert (one.states, one.transitions) == (23950, 125236)
    for name in ("depth", "rows", "targets", "actions", "observed"):
        assert (getattr(one, name) == getattr(two, name)).all(), name
    assert all((one.state(number) == two.state(number)).all() for number in range(0, one.states, 97))


def test_the_graph_has_the_steps_of_the_protocol() -> None:
    suite = PROTOCOLS["ledger"].suite(PROTOCOLS["ledger"].build({"entries": 1}))
    kernel = Kernel(suite.protocol)
    graph = graph_of(search(kernel))
    assert graph is not None
    for number in range(0, graph.states, 53):
        state, row = graph.state(number), graph.successors_of(number)
        assert [action for action, _ in row] == kernel.enabled(state)
        assert all((graph.state(after) == kernel.apply(state, action)).all() for action, after in row)


@pytest.mark.deep
def test_ten_million_transitions_fit_into_four_gibibytes() -> None:
    rows = liveness.rows()
    assert max(int(transitions) for _, _, transitions, *_ in rows) > 10_000_000
    assert all(int(row[-1]) < 4096 for row in rows)


# --- against an oracle


def oracle(moves: Moves, fair: Collection[str], starts: Collection[int], premise: set[int], conclusion: set[int]) -> bool:
    """Whether the premise leads to the conclusion, by the definition alone: no set of states, tied together by steps, is both
    within reach of what is owed and fair. All sets are tried, not only the largest."""
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(range(16))
    graph.add_edges_from((a, b, name) for name, move in moves.items() for a, b in move.items())
    reachable = set().union(*({start} | networkx.descendants(graph, start) for start in starts))
    open_still = graph.subgraph(reachable - conclusion)
    owing = set().union(*({s} | networkx.descendants(open_still, s) for s in reachable & premise - conclusion))
    for size in range(1, len(owing) + 1):
        for states in map(set, itertools.combinations(sorted(owing), size)):
            if size > 1 and not networkx.is_strongly_connected(graph.subgraph(states)):
                continue
            if all(
                any(s not in moves[name] for s in states) or any(moves[name].get(s) in states for s in states) for name in fair
            ):
                return False
    return True


def random_case(seed: int) -> tuple[dict[str, dict[int, int]], set[str], tuple[int, ...], set[int], set[int]]:
    dice = random.Random(seed)
    count = dice.randint(3, 8)
    names = [f"act{number}" for number in range(dice.randint(2, 4))]
    moves = {
        name: {s: dice.randrange(count) for s in range(count) if dice.random() < dice.choice([0.3, 0.6, 0.9])} or {0: 1}
        for name in names
    }
    unfair = {name for name in names if dice.random() < 0.25}
    starts = tuple(sorted(dice.sample(range(count), dice.randint(1, 2))))
    premise = set(dice.sample(range(count), dice.randint(1, 3)))
    return moves, unfair, starts, premise, set(dice.sample(range(count), dice.randint(1, 2)))


def agrees_with_the_oracle(seed: int) -> str:
    moves, unfair, starts, premise, conclusion = random_case(seed)
    suite = promised(table(moves, unfair=unfair, starts=starts), premise, conclusion)
    only = verdict(suite)
    if only.verdict == "inconclusive":
        return "vacuous"
    holds = oracle(moves, set(moves) - unfair, starts, premise, conclusion)
    assert only.verdict == ("exhausted" if holds else "violated"), seed
    if not holds:
        replayed = replay_on(only.trace, suite.protocol, suite)
        assert replayed.replays, f"{seed}: {replayed}"
    return only.verdict


@pytest.mark.long
def test_agrees_with_an_oracle_on_random_protocols() -> None:
    outcomes = [agrees_with_the_oracle(seed) for seed in range(20)]
    assert all(outcomes.count(each) >= 3 for each in ("exhausted", "violated")), outcomes


@pytest.mark.long
def test_agrees_with_an_oracle_on_more_random_protocols() -> None:
    for seed in range(20, 60):
        agrees_with_the_oracle(seed)


@pytest.mark.deep
def test_agrees_with_an_oracle_on_many_random_protocols() -> None:
    for seed in range(60, 1000):
        agrees_with_the_oracle(seed)
