"""The machine in the page is the one that the checks run: WebAssembly and machine code agree on random states, and on reasons.

The page's own scripts ask the machine, in a browser, and what they tell is compared with what Python says of the same states.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.wasm import webassembly
from fencepost.model.language import ModelError, Or, Protocol, Variable
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.vocabulary import Suite
from fencepost.traces.explorer.holding import Held
from fencepost.traces.wording.reasons import why_false

pytestmark = pytest.mark.xdist_group("browser")
SCRIPTS = ("machine.js", "recording.js", "model.js", "files.js")
COUNT = 2000
"""Random states of each protocol."""

ASK = """
const [held, states, asked, done] = arguments;
Model.of(held).then((model) => {
  const { machine, observer } = model;
  let before;
  done(states.map((raw, place) => {
    const state = packed(raw.map(BigInt), model.fields, machine.words);
    const enabled = machine.enabled(state);
    const last = before ?? state;
    before = state;
    const actions = held.actions.map((_, action) => action).filter((action) => !enabled.includes(action)).slice(0, 12);
    return [
      enabled, enabled.map((action) => machine.apply(state, action).join(" ")),
      machine.observe(state), machine.observeStep(last, state), observer.observe(state), observer.observeStep(last, state),
      place < asked ? [model.shown(state), actions.map((action) => model.whyNot(action, state)), actions] : null,
    ];
  }));
});
"""


def wide() -> Suite:
    """A protocol whose state has many words, with a variable of every shape, numbers of 64 bits among them."""
    p = Protocol("wide")
    visitor, bit = p.universe("visitor", 63), p.universe("bit", 64, "i")
    cold, amount = p.number("cold", -9, -3), p.number("amount", -(1 << 63), (1 << 63) - 1)
    p.number("fixed", -7, -7)
    food, crowd, bits = p.choice("food", ["hay", "fish", "bread"]), p.subset("crowd", visitor), p.subset("bits", bit)
    seen = p.flag("seen", per=p.universe("animal", 200))

    @p.step(by="keeper", a=p.universes["animal"])
    def look(a: int) -> Any:
        """The keeper looks at an animal."""
        return Or(~seen[a], food == "fish"), {seen[a]: ~seen[a], cold: -3}

    @p.step(by="keeper", v=visitor)
    def admit(v: int) -> Any:
        """The keeper admits a visitor."""
        return Or(amount < 0, ~crowd.has(v)), {crowd: crowd.plus(v), bits: bits.plus(v + 1), food: "bread"}

    properties = Suite(p)

    @properties.always
    def few() -> Any:
        """Not both."""
        return Or(p.state.amount != -(1 << 63), ~p.state.bits.has(63), p.state.cold > -5)

    @properties.step
    def stays_in() -> Any:
        """Who is in stays in."""
        return (p.state.crowd & ~p.next.crowd) == []

    return properties


@pytest.fixture(scope="module")
def asking(chromium: Any, pages: Path) -> Any:
    """Asks the scripts, in a page that has nothing else."""
    page = pages / "machine.html"
    scripts = "\n".join(files("fencepost.traces.explorer").joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    page.write_text(f'<!doctype html><script>"use strict";{scripts}</script>', encoding="utf-8")
    chromium.get(page.as_uri())
    chromium.set_script_timeout(120)
    return chromium.execute_async_script


def any_of(variable: Variable, chance: random.Random) -> int:
    domain = variable.domain
    return domain.low + chance.choice([0, domain.size - 1, chance.randrange(domain.size)])


def compare(asking: Any, suite: Suite, count: int, asked: int) -> None:
    chance = random.Random(21)
    held, protocol = Held(suite), suite.protocol
    raws = [[any_of(v, chance) for v in protocol.variables] for _ in range(count)]
    answers = asking(ASK, held.content, [[str(raw) for raw in state] for state in raws], asked)
    states = [held.machine.packing.pack(raw) for raw in raws]
    taken = 0
    for raw, (last, state), answer in zip(raws, pairwise([states[0], *states]), answers, strict=True):
        enabled, afters, seen, of_step, parts, of_parts, reasons = answer
        assert enabled == held.machine.enabled(state)
        assert afters == [halves(held.machine.apply(state, action)) for action in enabled]
        assert (seen, of_step) == (held.machine.observe(state), held.machine.observe_step(last, state))
        assert (parts, of_parts) == (held.observer.observe(state), held.observer.observe_step(last, state))
        taken += len(enabled)
        if reasons:
            shown, whys, actions = reasons
            assert shown == [v.domain.show(value) for v, value in zip(protocol.variables, raw, strict=True)]
            assert [why_in(why) for why in whys] == [why_of(protocol, action, raw) for action in actions]
    assert taken > count, "hardly anything could happen in these states"


def halves(state: Words) -> str:
    """The words of a state, each as its lower and its higher 32 bits."""
    return " ".join(f"{int(word) & 0xFFFFFFFF} {int(word) >> 32}" for word in state)


def why_in(answer: dict[str, Any]) -> Any:
    return answer["conditions"], [(conjunct, tuple(values)) for conjunct, values in answer["false"]]


def why_of(protocol: Protocol, action: int, raw: Sequence[int]) -> Any:
    why = why_false(protocol, protocol.actions[action].guard, tuple(raw))
    return why.conjuncts, [(reason.conjunct, reason.values) for reason in why.reasons]


def suite_of(name: str, number: int = 0) -> Suite:
    entry = PROTOCOLS[name]
    return entry.suite(entry.build(entry.instances("ci")[number].parameters))


@pytest.mark.parametrize("name", ["bookie", "election"])
def test_the_machine_of_a_protocol(asking: Any, name: str) -> None:
    compare(asking, suite_of(name), COUNT, 5)


def test_the_machine_of_wide_states(asking: Any) -> None:
    suite = wide()
    assert Held(suite).machine.words > 4
    compare(asking, suite, 200, 3)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, entry in PROTOCOLS.items() for number in range(len(entry.instances("ci")))]
)
def test_the_machine_of_every_instance(asking: Any, name: str, number: int) -> None:
    compare(asking, suite_of(name, number), COUNT, 50)


def test_a_page_can_hold_it_as_json() -> None:
    data = Held(wide()).content
    assert json.loads(json.dumps(data))["machine"]["words"] == data["machine"]["words"]


def test_what_would_need_a_linker_is_refused() -> None:
    with pytest.raises(ModelError, match="refer to something that they do not have"):
        webassembly("declare void @other()\ndefine void @one() {\n call void @other()\n ret void\n}")
