"""The order of policies: by what they violate, make worse and make better, and last by their imbalance."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from fencepost.checks.policy.comparison.judgement import Judgement
from fencepost.checks.policy.comparison.paired import Tolerances
from fencepost.checks.policy.comparison.preference import preferred, recommendation
from fencepost.checks.policy.comparison.text import not_chosen
from fencepost.model.balance.configuration import defaults
from fencepost.model.balance.simulation.cluster import Generated
from fencepost.model.balance.simulation.measures import MEASURES
from fencepost.model.balance.simulation.scenario import scenario
from fencepost.model.balance.simulation.what_if import WhatIf
from fencepost.model.balance.strategies import load_manager
from fencepost.traces.comparison.comparison import Comparison, Contender

RUNS = 12
NOTHING: Mapping[str, WhatIf] = {}


def judged(
    runs: int = RUNS, violating: str = "", suppose: Mapping[str, WhatIf] = NOTHING, **policies: dict[str, float]
) -> Judgement:
    """A comparison whose runs have these measures, and 5, with a little noise, in all others; the first is the baseline."""
    manager = load_manager(defaults("4.2.4"))
    contenders = tuple(Contender(name, manager, suppose.get(name, WhatIf())) for name in policies)
    comparison = Comparison(contenders, scenario("steady", Generated(3, 6, 1, 2, 0.5)), runs, 1.0, 0)
    noise = np.random.default_rng(1)
    rows = [
        {measure: own.get(measure, 5.0) + noise.uniform(-0.01, 0.01) for measure in MEASURES}
        | {"violations": int(name == violating)}
        for _ in range(runs)
        for name, own in policies.items()
    ]
    return Judgement(comparison, pa.Table.from_pylist(rows), "complete", Tolerances(), 0.95, Path("out"))


def recommended(judgement: Judgement) -> list[str]:
    return recommendation(judgement, preferred(judgement))


def order(judgement: Judgement) -> list[str]:
    return [one.contender.name for one in preferred(judgement)]


def test_the_order() -> None:
    policies = {
        "now": {},
        "worse": {"returns": 9.0, "imbalance": 1.0},
        "twice": {"returns": 1.0, "refused": 1.0},
        "once": {"returns": 1.0},
        "uneven": {"imbalance": 5.2},
    }
    assert order(judged(**policies)) == ["twice", "once", "now", "uneven", "worse"]
    assert order(judged(violating="twice", **policies)) == ["once", "now", "uneven", "worse", "twice"]
    texts = {one.contender.name: one.text for one in preferred(judged(violating="once", **policies))}
    assert texts["once"] == f"violates the protocols in {RUNS} runs; better in returns"
    assert texts["worse"] == "better in imbalance; worse in returns"
    assert texts["uneven"] == "neither better nor worse in anything"


@pytest.mark.parametrize("runs", [0, 1, 9])
def test_too_few_runs_have_none(runs: int) -> None:
    assert order(judged(runs, now={}, other={"returns": 1.0})) == []


def test_what_is_recommended_and_its_price() -> None:
    judgement = judged(now={}, other={"returns": 1.0, "refused": 9.0}, third={"returns": 1.0})
    best, gained, price = recommended(judgement)
    assert best == "recommended: third"
    assert re.fullmatch(r"  gained: returns 5(\.\d+)? -> (1|0\.99\d|1\.00\d) unloads", gained), gained
    assert price == "  the price: none is shown"
    assert recommended(judged(now={}, other={"returns": 9.0})) == [
        "recommended: now, which you have: whatever else is proposed makes something worse, or nothing better"
    ]
    assert recommended(judged(violating="now", now={}, other={"refused": 9.0}))[2].startswith("  the price: refused 5")
    assert recommended(judged(9, now={}, other={"returns": 1.0})) == []


def test_fewer_brokers_are_preferred_and_more_are_the_price() -> None:
    fewer, more, twice = WhatIf(removed=("broker-3:8080",)), WhatIf(added=1), WhatIf(bigger=(("broker-1:8080", 3.0),))
    suppose = {"fewer": fewer, "more": more, "twice": twice}
    all_of_them = judged(suppose=suppose, now={}, twice={}, more={}, fewer={"imbalance": 5.1})
    assert order(all_of_them) == ["fewer", "now", "more", "twice"]
    judgement = judged(suppose=suppose, now={}, twice={"returns": 1.0})
    assert recommended(judgement)[2] == "  the price: 2 brokers more, or their worth"


def test_another_load_is_nothing_to_choose() -> None:
    judgement = judged(suppose={"busy": WhatIf(loads=(("", 2.0),))}, now={}, busy={"returns": 1.0}, other={"returns": 2.0})
    assert order(judgement) == ["other", "now"]
    assert not_chosen(judgement) == ["busy"]


def test_the_price_that_the_tolerance_accepts_is_told() -> None:
    judgement = judged(now={}, better={"returns": 1.0, "topics_moved": 5.2})
    *_, price, accepted = recommended(judgement)
    assert price == "  the price: none is shown"
    assert re.fullmatch(r"  accepted, within the tolerance: topics_moved 5 -> 5\.\d+ topics", accepted)
