"""Replay: a trace of the protocol replays, and whatever is changed in it is found where it is."""

import dataclasses
import random

import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.properties.registry import Entry
from fencepost.properties.vocabulary import Suite
from fencepost.traces.replay import replay, replay_on
from fencepost.traces.trace import Step, Trace, trace_of


def changed(trace: Trace, position: int, action: str | None = None, **values: int) -> Trace:
    """The trace with another action at a step, or another first value (``first``) in the state after it."""
    step = trace.steps[position - 1]
    state = (values.get("first", step.state[0]), *step.state[1:])
    steps = list(trace.steps)
    steps[position - 1] = Step(action or step.action, state)
    return dataclasses.replace(trace, steps=tuple(steps))


def test_a_violation_replays(trace: Trace, protocols: dict[str, Entry]) -> None:
    result = replay(trace, protocols)
    assert (result.replays, result.step) == (True, 4)
    assert str(result) == "replays: 4 steps, one_holder does not hold in the last state"


def test_a_violated_step_replays(trace: Trace, protocols: dict[str, Entry]) -> None:
    result = replay(dataclasses.replace(trace, violated="taken_by_one"), protocols)
    assert str(result) == "replays: 4 steps, taken_by_one does not hold of the last step"


def test_a_witness_replays(trace: Trace, protocols: dict[str, Entry]) -> None:
    witness = dataclasses.replace(trace, violated="all_turns")
    assert str(replay(witness, protocols)) == "replays: 4 steps, all_turns holds in the last state"
    shorter = dataclasses.replace(witness, steps=witness.steps[:-1])
    assert str(replay(shorter, protocols)) == "does not replay: step 3: all_turns does not hold in the last state"


def test_a_run_of_interest_replays(trace: Trace, protocols: dict[str, Entry]) -> None:
    assert str(replay(dataclasses.replace(trace, violated=None), protocols)) == "replays: 4 steps"


@pytest.mark.parametrize(
    ("violated", "why"),
    [
        ("one_holder", "one_holder is not violated: it holds in the last state"),
        ("taken_by_one", "taken_by_one is not violated: it holds of the last step"),
    ],
)
def test_a_violation_that_is_none(trace: Trace, protocols: dict[str, Entry], violated: str, why: str) -> None:
    shorter = dataclasses.replace(trace, violated=violated, steps=trace.steps[:-1])
    assert str(replay(shorter, protocols)) == f"does not replay: step 3: {why}"


def test_a_step_property_needs_a_step(trace: Trace, protocols: dict[str, Entry]) -> None:
    nothing = dataclasses.replace(trace, violated="taken_by_one", steps=())
    assert "there is none" in str(replay(nothing, protocols))


def test_a_deadlock_is_where_nothing_is_enabled(broken: Protocol) -> None:
    suite = Suite(broken)

    @suite.ends
    def ends_in_red() -> object:
        """Turns end in red."""
        return broken.state.colour == "red"

    kernel = Kernel(broken)
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    states, labels = [kernel.initial()[1]], ["take(c0)", "cut"] * 3
    for label in labels:
        states.append(kernel.apply(states[-1], numbers[label]))
    run = trace_of(kernel, states, [numbers[label] for label in labels], violated="ends_in_red")
    assert str(replay_on(run, broken, suite)) == "replays: 6 steps, ends_in_red does not hold in the last state"
    shorter = dataclasses.replace(run, steps=run.steps[:-1])
    assert str(replay_on(shorter, broken, suite)) == "does not replay: step 5: it does not end there: release(c0) is enabled"


def test_a_guard_forbids(trace: Trace, protocols: dict[str, Entry]) -> None:
    faithful = dataclasses.replace(trace, bugs=())
    assert str(replay(faithful, protocols)) == "does not replay: step 4: take(c1) is not enabled there"


def test_an_action_that_does_not_exist(trace: Trace, protocols: dict[str, Entry]) -> None:
    result = replay(changed(trace, 2, "cut(c9)"), protocols)
    assert str(result) == "does not replay: step 2: the protocol has no action cut(c9)"


def test_another_action(trace: Trace, protocols: dict[str, Entry]) -> None:
    result = replay(changed(trace, 1, "take(c1)"), protocols)
    assert str(result) == "does not replay: step 1: take(c1) makes holders {c1}, and the trace has {c0}"


def test_another_state(trace: Trace, protocols: dict[str, Entry]) -> None:
    result = replay(changed(trace, 3, first=2), protocols)
    assert str(result) == "does not replay: step 3: take(c0) makes holders {c0}, and the trace has {c1}"


def test_a_value_outside_its_domain(trace: Trace, protocols: dict[str, Entry]) -> None:
    assert "and the trace has raw value 9" in str(replay(changed(trace, 3, first=9), protocols))


def test_a_state_of_another_size(trace: Trace, protocols: dict[str, Entry]) -> None:
    longer = dataclasses.replace(trace, initial=(*trace.initial, 0))
    assert "step 0: the state has 10 values, the protocol 9 variables" in str(replay(longer, protocols))


def test_another_initial_state(trace: Trace, protocols: dict[str, Entry]) -> None:
    elsewhere = dataclasses.replace(trace, initial=(3, *trace.initial[1:]))
    assert str(replay(elsewhere, protocols)) == "does not replay: step 0: holders starts as {}, not as raw value 3"


def test_an_unknown_property(trace: Trace, protocols: dict[str, Entry]) -> None:
    assert "no property 'other'" in str(replay(dataclasses.replace(trace, violated="other"), protocols))


def test_random_runs_replay(protocols: dict[str, Entry]) -> None:
    protocol = protocols["lock"].build({"clients": 3, "turns": 9}, ["takes_held"])
    kernel = Kernel(protocol)
    for seed in range(6):
        rng = random.Random(seed)
        states, actions = [kernel.initial()[seed % 2]], []
        for _ in range(30):
            enabled = kernel.enabled(states[-1])
            if not enabled:
                break
            actions.append(rng.choice(enabled))
            states.append(kernel.apply(states[-1], actions[-1]))
        run = trace_of(kernel, states, actions)
        assert replay(run, protocols).replays
        assert not replay(dataclasses.replace(run, steps=run.steps[1:]), protocols).replays
