"""Logs that are explained by runs of the model, those that are not, and what lines mean."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fencepost.checks.conformance.logs.events import (
    EmptyLogError,
    Events,
    LogError,
    Meaning,
    Shown,
    events_of,
    read_log,
    read_mapping,
)
from fencepost.checks.conformance.logs.explanation import Explanation, explain
from fencepost.checks.conformance.logs.mismatch import possible, why_not
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from fencepost.traces.files.itf_values import encode
from fencepost.traces.trace import Trace
from tests.command import Ran, fencepost

KERNELS = {
    name: Kernel(PROTOCOLS[name].build(parameters))
    for name, parameters in {
        "ledger": {"entries": 1, "crashes": 1},
        "election": {"brokers": 2, "crashes": 1, "expiries": 1},
    }.items()
}
LEDGER = KERNELS["ledger"]


def written(folder: Path, *lines: object) -> Path:
    file = folder / "log.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def events(folder: Path, kernel: Kernel, *lines: object, meaning: Meaning | None = None) -> Events:
    return events_of(read_log(written(folder, *lines)), kernel.protocol, meaning)


def explained(folder: Path, kernel: Kernel, *lines: object, meaning: Meaning | None = None) -> Explanation:
    return explain(kernel, events(folder, kernel, *lines, meaning=meaning))


def random_run(kernel: Kernel, seed: int, steps: int = 25) -> tuple[list[int], list[Any]]:
    choose, states, actions = random.Random(seed), [kernel.initial()[0]], []
    while len(actions) < steps and (enabled := kernel.enabled(states[-1])):
        actions.append(choose.choice(enabled))
        states.append(kernel.apply(states[-1], actions[-1]))
    return actions, states


def shown(kernel: Kernel, state: Any, places: Sequence[int]) -> dict[str, Any]:
    raw = kernel.packing.unpack(state)
    values = {}
    for place in places:
        variable = kernel.packing.variables[place]
        value = encode(variable.domain, raw[place])
        values[variable.name] = value["#set"] if isinstance(value, dict) else value
    return values


def partial_log(kernel: Kernel, seed: int) -> list[dict[str, Any]]:
    """The log of a random run in which some names of actions are never told of, and some variables now and then."""
    choose = random.Random(seed)
    actions, states = random_run(kernel, seed)
    names = sorted({action.name for action in kernel.actions})
    observable = set(choose.sample(names, max(1, len(names) // 2)))
    lines: list[dict[str, Any]] = [{"unobserved": sorted(set(names) - observable)}]
    for number, state in zip(actions, states[1:], strict=True):
        action = kernel.actions[number]
        line: dict[str, Any] = {"steps": [action.label]} if action.name in observable else {}
        if choose.random() < 0.3:
            line["seen"] = shown(kernel, state, choose.sample(range(len(kernel.packing.variables)), 3))
        if line:
            lines.append(line)
    return lines


def explained_by_hand(kernel: Kernel, log: Events) -> int:
    """How many events are explained: plain Python over sets of states."""

    def onward(states: set[tuple[int, ...]], allowed: Sequence[int]) -> set[tuple[int, ...]]:
        packed = [np.array(state, dtype=np.uint64) for state in states]
        return {tuple(map(int, kernel.apply(s, n))) for s in packed for n in kernel.enabled(s) if n in allowed}

    def closed(states: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
        new = states
        while new:
            new = onward(new, log.unobserved) - states
            states = states | new
        return states

    now = closed({tuple(map(int, kernel.initial()[0]))})
    for done, event in enumerate(log.events):
        stays = event.steps is None or event.perhaps_none
        after = closed(onward(now, event.steps or ()) | (now if stays else set()))
        now = closed({s for s in after if all(kernel.packing.unpack(s)[place] == raw for place, raw in event.seen)})
        if not now:
            return done
    return len(log.events)


def is_a_run(kernel: Kernel, run: Trace) -> bool:
    numbers = {action.label: number for number, action in enumerate(kernel.actions)}
    state = kernel.packing.pack(run.initial)
    for step in run.steps:
        if numbers[step.action] not in kernel.enabled(state):
            return False
        state = kernel.apply(state, numbers[step.action])
        if kernel.packing.unpack(state) != step.state:
            return False
    return True


# --- what is explained


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", range(8))
def test_the_log_of_a_run_is_explained(name: str, seed: int, tmp_path: Path) -> None:
    kernel, lines = KERNELS[name], partial_log(KERNELS[name], seed)
    if len(lines) == 1:
        return
    explanation = explained(tmp_path, kernel, *lines)
    assert explanation.whole
    assert is_a_run(kernel, explanation.run)
    assert explanation.unobserved_steps <= len(explanation.run.steps)


@pytest.mark.parametrize("seed", range(10))
def test_a_wrong_log_is_explained_as_far_as_it_can_be(seed: int, tmp_path: Path) -> None:
    lines = partial_log(LEDGER, seed)
    mixed = [lines[0], *random.Random(seed).sample(lines[1:], len(lines) - 1)]
    log = events(tmp_path, LEDGER, *mixed)
    explanation = explain(LEDGER, log)
    assert explanation.explained == explained_by_hand(LEDGER, log)
    assert is_a_run(LEDGER, explanation.run)


def test_some_shuffled_logs_are_not_explained(tmp_path: Path) -> None:
    def whole(seed: int) -> bool:
        lines = partial_log(LEDGER, seed)
        return explained(tmp_path, LEDGER, lines[0], *random.Random(seed).sample(lines[1:], len(lines) - 1)).whole

    assert not all(whole(seed) for seed in range(10))


# --- why not


def test_why_no_step_fits(tmp_path: Path) -> None:
    explanation = explained(tmp_path, LEDGER, {"steps": "send(e0)"}, {"steps": ["send(e0)"]})
    assert (explanation.explained, [step.action for step in explanation.run.steps]) == (1, ["send(e0)"])
    assert possible(LEDGER, explanation.possible)["sent"] == ("0",)
    assert any("sent" in line for line in why_not(LEDGER, explanation, 120))


def test_why_what_was_seen_does_not_fit(tmp_path: Path) -> None:
    log = [{"unobserved": []}, {"steps": "send(e0)", "seen": {"stored[b0]": ["e0"]}}]
    explanation = explained(tmp_path, LEDGER, *log)
    assert why_not(LEDGER, explanation, 120) == [
        "a step fits, and what was seen does not:",
        "  stored[b0] is {e0} in the log, and in the model {}",
    ]


def test_a_step_that_the_instance_does_not_have_is_no_step_at_all(tmp_path: Path) -> None:
    explanation = explained(tmp_path, LEDGER, {"steps": "rot(b0, e0)"})
    assert explanation.explained == 0
    assert why_not(LEDGER, explanation, 120) == ["the instance has no such step"]


def test_too_many_states_are_inconclusive(tmp_path: Path) -> None:
    log = events(tmp_path, LEDGER, {"steps": "send(e0)"}, {"seen": {"status": "closed"}})
    explanation = explain(LEDGER, log, limit=10)
    assert "more than 10 states" in explanation.stopped
    assert not explanation.whole


def test_an_interrupt_keeps_what_was_explained(tmp_path: Path) -> None:
    log = events(tmp_path, LEDGER, {"steps": "send(e0)"}, {"seen": {"status": "closed"}})
    heard: list[int] = []
    explanation = explain(LEDGER, log, progress=lambda done, states: heard.append(done), should_stop=lambda: bool(heard))
    assert (explanation.stopped, explanation.explained) == ("interrupted", 1)


# --- what lines mean

MEANING = Meaning(
    kind="event",
    steps={"sent": ["send(e{entry})"], "stored": ["add({bookie.name}, e{entry})", "nothing"], "heartbeat": []},
    seen={"ledger.state": Shown("status", {"OPEN": "open", "CLOSED": "closed"}), "fenced": Shown("fenced[{bookie.name}]")},
)


def test_a_mapping_reads_a_log_in_other_words(tmp_path: Path) -> None:
    log = events(
        tmp_path,
        LEDGER,
        {"event": "sent", "entry": 0, "ledger": {"state": "OPEN"}},
        {"event": "heartbeat"},
        {"event": "gc", "took": 3},
        {"event": "stored", "entry": 0, "bookie": {"name": "b1"}, "fenced": False},
        meaning=MEANING,
    )
    first, second = log.events
    label = [action.label for action in LEDGER.actions]
    assert (first.line, first.what, first.perhaps_none, second.line, second.perhaps_none) == (1, "sent", False, 4, True)
    assert [[label[n] for n in event.steps or ()] for event in log.events] == [["send(e0)"], ["add(b1, e0)"]]
    assert LEDGER.packing.variables[second.seen[0][0]].name == "fenced[b1]"
    assert log.unmatched == (3,)
    assert {label[n].partition("(")[0] for n in log.unobserved}.isdisjoint({"send", "add"})
    assert explain(LEDGER, log).whole


def test_an_argument_may_be_any(tmp_path: Path) -> None:
    (event,) = events(tmp_path, LEDGER, {"steps": ["add(_, e0)", "restart"]}).events
    assert [LEDGER.actions[n].label for n in event.steps or ()] == [
        *(f"add(b{b}, e0)" for b in range(3)),
        *(f"restart(b{b})" for b in range(3)),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"steps": ["sned(e0)"]}], "log.jsonl:1: ledger has no action 'sned(e0)'"),
        ([{"seen": {"colour": "red"}}], "log.jsonl:1: ledger has no variable 'colour' in this instance"),
        ([{"seen": {"status": "ajar"}}], "log.jsonl:1: status: "),
        ([{"seen": {"stored[b0]": ["e7"]}}], "log.jsonl:1: stored[b0]: 'e7' is not a entry"),
        ([{"seen": 3}], 'log.jsonl:1: "seen" is not an object'),
        ([{"steps": 3}], "log.jsonl:1: the steps of 'steps' are not a list"),
        (["send"], "log.jsonl:1: is not a JSON object"),
        ([{"unobserved": ["sned"]}, {"steps": "send"}], "log.jsonl: unobserved: ledger has no action 'sned'"),
    ],
)
def test_what_a_log_cannot_say(lines: Sequence[object], message: str, tmp_path: Path) -> None:
    with pytest.raises(LogError) as error:
        events(tmp_path, LEDGER, *lines)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "it is not a JSON object"),
        ("{}", '"kind" is missing'),
        ('{"kind": "k", "sees": {}}', "'sees' is not known"),
        ('{"kind": "k", "steps": {"a": 3}}', "the steps of 'a' are not a list"),
        ('{"kind": "k", "seen": {"a": 3}}', "what 'a' shows is neither"),
        ("{", "Expecting"),
    ],
)
def test_what_a_mapping_cannot_say(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mapping.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(LogError, match=r"mapping\.json: ") as error:
        read_mapping(file)
    assert message in str(error.value)


def test_a_mapping_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "mapping.json"
    content: Mapping[str, Any] = {
        "kind": "event",
        "steps": {"sent": "send(e{entry})"},
        "seen": {"state": {"variable": "status", "values": {"OPEN": "open"}}, "end": "last"},
        "unobserved": ["ack"],
    }
    file.write_text(json.dumps(content), encoding="utf-8")
    seen = {"state": Shown("status", {"OPEN": "open"}), "end": Shown("last")}
    assert read_mapping(file) == Meaning("event", {"sent": ("send(e{entry})",)}, seen, ["ack"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"event": "stored", "entry": 0}, "needs the field 'bookie.name'"),
        ({"event": "sent", "entry": 0, "ledger": {"state": "AJAR"}}, "is 'AJAR', which the mapping has no value for"),
    ],
)
def test_a_line_that_does_not_fit_its_mapping(line: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(LogError) as error:
        events(tmp_path, LEDGER, line, meaning=MEANING)
    assert message in str(error.value)


def test_nothing_to_explain_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EmptyLogError, match="the log is empty"):
        events(tmp_path, LEDGER)
    with pytest.raises(EmptyLogError, match="the log is empty"):
        events(tmp_path, LEDGER, {"parameters": {}})
    with pytest.raises(EmptyLogError, match="the mapping matches none of its lines"):
        events(tmp_path, LEDGER, {"event": "gc"}, {"event": "heartbeat"}, meaning=MEANING)
    with pytest.raises(EmptyLogError, match='no line of it has "steps" or "seen"'):
        events(tmp_path, LEDGER, {"event": "sent", "entry": 0})


# --- the command


def conform_log(*arguments: str | Path) -> Ran:
    return fencepost("conform", "log", "ledger", "--quiet", *arguments)


SENT: Mapping[str, Any] = {"steps": ["send(e0)"], "seen": {"status": "open"}}
PARAMETERS: Mapping[str, Value] = {"entries": 1}


def test_a_log_that_is_explained(tmp_path: Path) -> None:
    log, out = written(tmp_path, {"parameters": PARAMETERS}, SENT, {"seen": {"confirmed": ["e0"]}}), tmp_path / "run.itf.json"
    ran = conform_log(log, "--out", out)
    assert ran.returncode == 0, ran
    lines = ran.stdout.splitlines()
    assert lines[0] == f"{log}: 2 events, explained by a run of ledger of 6 steps, 5 of them not in the log"
    assert lines[-1] == f"run: {out}"
    assert fencepost("trace", "replay", out).returncode == 0


@pytest.mark.long
def test_a_log_that_is_not(tmp_path: Path) -> None:
    log = written(tmp_path, {"parameters": PARAMETERS}, SENT, {"what": "the writer again", "steps": ["send(e0)"]})
    ran = conform_log(log)
    assert ran.returncode == 12
    first, second = ran.stdout.splitlines()[:2]
    assert first == f"{log}:3: the writer again: no run of ledger explains this"
    assert second.startswith("  explained: the first 1 of 2 events")
    document = json.loads(conform_log(log, "--format", "json").stdout)
    assert (document["exit_status"], document["explained"], document["next"]["line"]) == (12, 1, 3)
    assert document["next"]["steps"] == ["send(e0)"]
    assert document["next"]["why"]


@pytest.mark.long
def test_statuses(tmp_path: Path) -> None:
    log = written(tmp_path, SENT, {"seen": {"status": "closed"}})
    assert conform_log(log, "--limit", "3").returncode == 20
    empty = tmp_path / "empty"
    empty.write_text("\n", encoding="utf-8")
    mapping = tmp_path / "mapping.json"
    mapping.write_text('{"kind": "event", "steps": {"sent": "send"}}', encoding="utf-8")
    for arguments, status, message in (
        ([empty], 75, "the log is empty"),
        ([log, "--mapping", mapping], 75, "the mapping matches none of its lines"),
        ([tmp_path / "none"], 150, "none: No such file or directory"),
        ([log, "--set", "entries=0"], 2, "entries is at least 1"),
    ):
        ran = conform_log(*arguments)
        assert (ran.returncode, len(ran.stderr.splitlines())) == (status, 1), ran
        assert message in ran.stderr
