"""Runs replayed through the protocols: what was done is enabled, what was not could not be, and a false run is found out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.model.balance.configuration import Version, defaults
from fencepost.model.balance.simulation.cluster import Generated
from fencepost.model.balance.simulation.cycle import simulate
from fencepost.model.balance.simulation.run import Action, Run
from fencepost.model.balance.simulation.scenario import SCENARIOS, Event, scenario
from fencepost.model.balance.simulation.world import World
from fencepost.model.balance.strategies import SHEDDERS, load_manager
from fencepost.traces.control_actions import replayed
from tests.model.balance.simulation.pictures import bundle, policy, still

SMALL = Generated(count=4, bundles=24, namespaces=3, topics_per_bundle=5)
RUN = simulate(policy(), still({"b1:1": {0: 100, 1: 100}, "b2:1": {2: 100}, "b3:1": {3: 100}}), seed=0, hours=0.05)
CUT = (0x08000000,)
PART = "public/default/0x00000000_0x08000000"


def _reasons(*actions: Action) -> list[str]:
    """What is objected to a run in which this was done, from nobody knows what."""
    return [objection.reason for objection in replayed(replace(RUN, actions=actions)).objections]


def _move(source: str, destination: str, which: str = bundle(0), **others: str) -> Action:
    return Action(1, "unload", which, source, destination, **others)


@pytest.mark.parametrize("name", ["rolling-restart", "scale-in", "crash", "zipf"])
def test_what_a_simulated_cluster_does_the_protocols_allow(name: str) -> None:
    run = simulate(policy("AvgShedder", loadBalancerNamespaceBundleMaxMsgRate=20_000), scenario(name, SMALL), seed=1, hours=0.8)
    replay = replayed(run)
    assert run.done("split")
    assert [refusal.action for refusal in replay.refusals] == list(run.refused)
    assert replay.objections == ()
    assert replay.actions >= len(run.done("assign", "unload", "split"))
    assert 0 < replay.kinds < 9


def test_what_was_refused_could_not_be_done() -> None:
    """DeviationShedder goes by reports in which bundles are that have left."""
    run = simulate(policy("DeviationShedder"), scenario("steady"), seed=0, hours=0.4)
    replay = replayed(run)
    assert run.refused
    assert [refusal.action for refusal in replay.refusals] == list(run.refused)
    assert all("in ownership, start_release(b1, u0) cannot happen there" in refusal.reason for refusal in replay.refusals)
    assert replay.objections == ()


@pytest.mark.parametrize(
    ("actions", "step"),
    [
        ((_move("b2:1", "b3:1"),), "in ownership, start_release(b1, u0)"),
        ((_move("b1:1", "b2:1"), _move("b1:1", "b3:1")), "in ownership, start_release(b1, u0)"),
        ((Action(1, "assign", bundle(0), "", "b2:1"),), "in ownership, try_to_own(b1, u0)"),
        ((Action(0, "stop", source="b3:1"), _move("b1:1", "b3:1")), "in ownership, try_to_own(b1, u0)"),
        ((Action(0, "crash", source="b3:1"), Action(1, "assign", bundle(3), "", "b3:1")), "in ownership, try_to_own(b0, u0)"),
        ((Action(0, "crash", source="b1:1"), _move("b1:1", "b2:1")), "in ownership, start_release(b0, u0)"),
        ((Action(1, "split", bundle(0), "b2:1", "b2:1", boundaries=CUT),), "in split, start_split(b0, u0_3)"),
        ((Action(1, "split", bundle(0), "b1:1", "b1:1", boundaries=(0,)),), "in split, prepare(b0, u0_3, 0)"),
        ((Action(1, "split", bundle(0), "b1:1", "b1:1", boundaries=(*CUT, *CUT)),), "in split, prepare(b0, u0_3, 0)"),
    ],
)
def test_what_was_done_and_could_not_be_is_found(actions: tuple[Action, ...], step: str) -> None:
    assert _reasons(*actions) == [f"was done, although {step} cannot happen there"]


def test_a_bundle_that_was_split_is_no_more_and_its_parts_are_owned() -> None:
    cut = Action(1, "split", bundle(0), "b1:1", "b1:1", boundaries=CUT)
    assert _reasons(cut, _move("b1:1", "b2:1", PART), _move("b2:1", "b1:1", PART)) == []
    assert _reasons(cut, _move("b1:1", "b2:1")) == ["was done, although in split, start_release(b0, u0_3) cannot happen there"]
    assert _reasons(cut, cut) == ["was done, although in split, start_split(b0, u0_3) cannot happen there"]
    assert _reasons(cut, Action(2, "assign", bundle(0), "", "b2:1")) == [
        "was done, although in split, try_to_own(b0, u0_3) cannot happen there"
    ]


def test_what_was_refused_and_could_be_done_is_found() -> None:
    assert _reasons(_move("b1:1", "b2:1", refused="no")) == ["no, although the protocols allow it"]


def test_brokers_that_come_back_can_own_again() -> None:
    back = (Action(0, "crash", source="b1:1"), Action(1, "start", source="b1:1"))
    assert _reasons(*back, Action(2, "assign", bundle(0), "", "b1:1"), Action(2, "assign", bundle(1), "", "b2:1")) == []
    assert len(_reasons(back[0], Action(2, "assign", bundle(0), "", "b1:1"))) == 1


def _forgetting(action: str) -> Callable[[Run], Run]:
    return lambda run: replace(run, actions=tuple(a for a in run.actions if a.kind != action))


@pytest.mark.parametrize("kind", ["stop", "start"])
def test_a_run_from_which_something_is_left_out_does_not_replay(kind: str) -> None:
    events = (Event(1, "stop", "b1:1"), Event(2, "start", "b1:1"), Event(4, "crash", "b2:1"))
    world = still({"b1:1": {0: 100, 1: 100}, "b2:1": {2: 100}, "b3:1": {3: 100}}, events=events)
    run = simulate(policy(loadBalancerSheddingEnabled=False), world, seed=0, hours=0.1)
    assert replayed(run).objections == ()
    assert replayed(_forgetting(kind)(run)).objections != ()


BROKERS = st.sampled_from(["b1:1", "b2:1", "b3:1"])
PLACES = st.integers(0, 3)
ATTEMPTS = st.lists(
    st.one_of(
        st.tuples(st.just("assign"), PLACES, BROKERS),
        st.tuples(st.just("unload"), PLACES, BROKERS, BROKERS),
        st.tuples(st.just("split"), PLACES, BROKERS, st.sampled_from([0, 1, 2, 4])),
        st.tuples(st.sampled_from(["crash", "stop", "start"]), BROKERS),
    ),
    max_size=25,
)
"""Things to do to a cluster, possible and impossible ones; a bundle is cut at so many quarters of its range."""


@settings(max_examples=150)
@given(ATTEMPTS)
def test_the_cluster_refuses_what_the_protocols_refuse_and_nothing_else(attempts: list[Any]) -> None:
    world = World(still({"b1:1": {0: 100, 1: 100}, "b2:1": {2: 100}, "b3:1": {3: 100}}), seed=0, minutes=1)
    for kind, *asked in attempts:
        if kind == "assign":
            world.assign(bundle(asked[0]), asked[1], "")
        elif kind == "unload":
            world.unload(bundle(asked[0]), *asked[1:], "")
        elif kind == "split":
            world.split(bundle(asked[0]), asked[1], ((asked[0] << 28) + asked[2] * (1 << 26),), "")
        else:
            world.happens(Event(0, kind, asked[0]))
    replay = replayed(replace(RUN, actions=tuple(world.actions)))
    assert [refusal.action for refusal in replay.refusals] == [action for action in world.actions if action.refused]
    assert replay.objections == ()


@pytest.mark.deep
@pytest.mark.parametrize("version", ["4.2.4", "2.10.1"])
@pytest.mark.parametrize("shedder", SHEDDERS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_simulation_and_protocols_agree(name: str, shedder: str, version: Version) -> None:
    run = simulate(load_manager(defaults(version), shedder), scenario(name), seed=2, hours=3)
    replay = replayed(run)
    assert [refusal.action for refusal in replay.refusals] == list(run.refused)
    assert replay.objections == ()
