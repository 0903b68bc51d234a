"""What the compiler writes of a protocol: nothing twice, nothing for nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fencepost.model.kernel.compiler.functions import Compiler
from fencepost.model.kernel.compiler.packing import Packing
from fencepost.model.kernel.compiler.planes import PlaneCompiler
from fencepost.model.language import And, Not, Or, Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.vocabulary import Suite
from tests.marking import first_at_once

RESULT = re.compile(r"(%v\d+) = (.*)")


def _written(suite: Suite) -> str:
    """The functions that search and walks call, with all properties of a suite observed."""
    protocol = suite.protocol
    compiler = PlaneCompiler(protocol, Packing(protocol.variables))
    states = [Not(p.formula) for p in suite.properties if p.kind == "always"]
    steps = [Not(p.formula) for p in suite.properties if p.kind == "step"]
    compiler.enabled(protocol.actions)
    compiler.observe(states)
    compiler.apply(protocol.actions)
    compiler.advance(protocol.actions, steps, states)
    compiler.enabled_planes(protocol.actions)
    compiler.observe_planes(states)
    compiler.step_planes(protocol.actions, steps)
    return str(compiler)


@pytest.fixture(scope="module", params=first_at_once(["ownership", "ledger", "election", "unload"]))
def functions(request: pytest.FixtureRequest) -> list[str]:
    """The text of each function of a protocol's smallest instance."""
    entry = PROTOCOLS[request.param]
    protocol = entry.function(**entry.sizes["ci"][0].parameters)
    return re.split(r"(?=^define )", _written(entry.suite(protocol)), flags=re.MULTILINE)[1:]


def test_every_result_is_used(functions: list[str]) -> None:
    for text in functions:
        used = set(re.findall(r"%v\d+", RESULT.sub(r"\2", text)))
        assert {name for name, _ in RESULT.findall(text)} == used


def test_nothing_is_worked_out_twice(functions: list[str]) -> None:
    for text in functions:
        first, *blocks = re.split(r"^case_\d+:$", text, flags=re.MULTILINE)
        for block in blocks or [""]:
            done = [what for _, what in RESULT.findall(first + block) if not what.startswith(("load", "getelementptr"))]
            assert len(done) == len(set(done))


def test_of_a_rule_only_what_an_action_changes_is_written() -> None:
    """A rule over ten counters: each action's text says what the rule says of its own, and not a word of the others."""
    p = Protocol("counters")
    counter = p.universe("counter", 10)
    value = p.number("value", 0, 7, per=counter)

    @p.step(by="counter", counter=counter)
    def rise(counter: int) -> Any:
        """One more."""
        return value[counter] < 7, {value[counter]: value[counter] + 1}

    before, after = p.state.value, p.next.value
    odd = Or(*(And(after[c] != before[c], after[c] + before[c] == 7) for c in counter))
    bare, ruled = Compiler(p, Packing(p.variables)), Compiler(p, Packing(p.variables))
    bare.advance(p.actions, [], [])
    ruled.advance(p.actions, [odd], [])
    more = str(ruled).count(" icmp ") - str(bare).count(" icmp ")
    assert more == 2 * counter.size
