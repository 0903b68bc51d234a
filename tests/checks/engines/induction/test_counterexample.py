"""Counterexamples to induction are the nearest to the initial state, and take no longer than they may."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fencepost.checks.engines.induction import counterexample as engine
from fencepost.checks.engines.induction.counterexample import counterexample
from fencepost.checks.engines.solvers.solving import ask
from fencepost.model.language import And, If, OneOf, Protocol
from fencepost.model.terms.evaluation import Evaluation


def gauges(high: int) -> Protocol:
    """A variable of each kind."""
    p = Protocol("gauges")
    tank = p.universe("tank", 3)
    p.number("pressure", -high, high, init=OneOf((5, 3, 7)))
    p.number("heat", 0, high, init=1)
    p.flag("alarm")
    p.choice("state", ["off", "on", "broken"])
    p.subset("leaking", tank)
    return p


@pytest.mark.parametrize("high", [9, 100_000, 2 * 10**9, 2**62 - 1])
def test_the_nearest_state_is_found_in_any_range(high: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    def counted(*arguments: Any, **options: Any) -> Any:
        asked.append(1)
        return ask(*arguments, **options)

    monkeypatch.setattr(engine, "ask", counted)
    p = gauges(high)
    s = p.state
    domains = [v.domain.within(v.term) for v in p.variables]
    near = counterexample(p, [*domains, s.pressure >= 4], seconds=600)
    assert near is not None
    assert near.before == (5, 1, 0, 0, 0)
    odd: list[Any] = [s.pressure < 4, s.pressure != 3, s.heat >= high // 2, s.state != "off", s.leaking.has(2), s.alarm]
    far = counterexample(p, [*domains, *odd], seconds=600)
    assert far is not None
    assert far.before == (-high, high // 2, 1, 1, 4)
    assert len(asked) < 300, "it halves the range and does not walk through it"


def test_a_counterexample_takes_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    now, given = 0.0, list[float]()

    def in_a_second(solver: Any, *, seconds: float) -> Any:
        nonlocal now
        now += 1.0
        given.append(seconds)
        return ask(solver)

    monkeypatch.setattr(engine, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(engine, "ask", in_a_second)
    p = gauges(9)
    domains = [v.domain.within(v.term) for v in p.variables]
    example = counterexample(p, [*domains, p.state.heat > 5], seconds=3.5)
    assert given == [3.5, 2.5, 1.5, 0.5]
    assert example is not None
    assert Evaluation({v.term: raw for v, raw in zip(p.variables, example.before, strict=True)})(p.state.heat > 5)


def test_who_is_told_to_stop_settles_for_the_state_that_is_there() -> None:
    p = gauges(100)
    domains = [v.domain.within(v.term) for v in p.variables]
    asked = iter([False])
    wanted = And(p.state.heat > 10, If(p.state.alarm, p.state.heat > 20, p.state.heat > 30))
    example = counterexample(p, [*domains, wanted], should_stop=lambda: next(asked, True))
    assert example is not None
    assert Evaluation({v.term: raw for v, raw in zip(p.variables, example.before, strict=True)})(wanted)
