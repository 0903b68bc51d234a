"""Traces: built from a run of a kernel."""

import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.traces.trace import Trace, trace_of


def test_a_run_becomes_a_trace(trace: Trace, broken: Protocol) -> None:
    assert trace.protocol == "lock"
    assert trace.parameters == {"clients": 2, "turns": 3, "fair": False, "mode": "plain"}
    assert trace.bugs == ("takes_held",)
    assert [step.action for step in trace.steps] == ["take(c0)", "cut", "take(c0)", "take(c1)"]
    assert len(trace.states) == 5
    holders = next(place for place, variable in enumerate(broken.variables) if variable.name == "holders")
    assert [state[holders] for state in trace.states] == [0, 1, 0, 1, 3]


def test_states_must_fit_actions(broken: Protocol) -> None:
    kernel = Kernel(broken)
    with pytest.raises(ValueError, match="through 2 states, not 1"):
        trace_of(kernel, [kernel.initial()[0]], [0])
