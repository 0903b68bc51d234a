"""ITF files: they keep a trace as it is, other tools find in them what ADR-015 says, and what is wrong is told in one line."""

import json
import keyword
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import itf_py
import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry
from fencepost.traces.files.itf import TraceFileError, read, write
from fencepost.traces.replay import replay_on
from fencepost.traces.trace import Loop, Step, Trace, trace_of

Content = dict[str, Any]


@pytest.fixture
def file(trace: Trace, broken: Protocol, tmp_path: Path) -> Path:
    path = tmp_path / "lock.itf.json"
    write(trace, broken, path)
    return path


def refusal(path: Path, protocols: dict[str, Entry]) -> str:
    with pytest.raises(TraceFileError) as error:
        read(path, protocols)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_a_trace_survives_its_file(trace: Trace, file: Path, protocols: dict[str, Entry]) -> None:
    again, protocol = read(file, protocols)
    assert again == trace
    assert protocol.active == ("takes_held",)


def test_the_same_trace_gives_the_same_bytes_and_no_other_file(trace: Trace, broken: Protocol, file: Path) -> None:
    before = file.read_bytes()
    write(trace, broken, file)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_what_other_tools_see(file: Path) -> None:
    content = json.loads(file.read_text())
    assert content["#meta"]["format"] == "ITF"
    assert content["#meta"]["property"] == "one_holder"
    assert content["vars"] == ["holders", "taken", "phase", "seen", "colour", "mbt::actionTaken", "mbt::nondetPicks"]
    first, second, third, *_ = content["states"]
    assert [set(state) for state in content["states"]] == [{"#meta", *content["vars"]}] * 5
    assert first["mbt::actionTaken"] == "init"
    assert second == {
        "#meta": {"index": 1},
        "holders": {"#set": ["c0"]},
        "taken": {"#bigint": str(2**60 + 1)},
        "phase": {"#map": [["c0", "holding"], ["c1", "idle"]]},
        "seen": {
            "#map": [
                [{"#tup": ["c0", "c0"]}, True],
                [{"#tup": ["c0", "c1"]}, False],
                [{"#tup": ["c1", "c0"]}, False],
                [{"#tup": ["c1", "c1"]}, False],
            ]
        },
        "colour": "green",
        "mbt::actionTaken": "take",
        "mbt::nondetPicks": {"c": {"tag": "Some", "value": "c0"}},
    }
    assert third["mbt::actionTaken"] == "cut"
    assert third["mbt::nondetPicks"] == {}


def test_a_parameter_that_is_absent_as_quint_writes_it(trace: Trace, file: Path, protocols: dict[str, Entry]) -> None:
    content = json.loads(file.read_text())
    content["states"][2]["mbt::nondetPicks"] = {"c": {"tag": "None", "value": {"#tup": []}}}
    file.write_text(json.dumps(content))
    assert read(file, protocols)[0] == trace


def names_in(value: Any) -> Iterator[str]:
    """What becomes a name for a reader in Python: fields of records, tags of variants, variables."""
    if isinstance(value, dict):
        if value.keys() == {"tag", "value"}:
            yield value["tag"]
        yield from (name for name in value if not name.startswith("#"))
        for inner in value.values():
            yield from names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names_in(inner)


@pytest.mark.parametrize(
    "protocol", [name if name in ("election", "ledger") else pytest.param(name, marks=pytest.mark.long) for name in PROTOCOLS]
)
def test_itf_py_reads_and_writes_what_we_read(protocol: str, tmp_path: Path) -> None:
    entry = PROTOCOLS[protocol]
    suite = entry.suite(entry.build({}))
    kernel, rng = Kernel(suite.protocol), random.Random(7)
    states, actions = [kernel.initial()[0]], list[int]()
    while len(actions) < 12 and (enabled := kernel.enabled(states[-1])):
        actions.append(rng.choice(enabled))
        states.append(kernel.apply(states[-1], actions[-1]))
    loop = Loop(len(actions), unobliged=("x",)) if protocol == "election" else None
    trace = trace_of(kernel, states, actions, found_by="by hand", loop=loop)
    ours, theirs = tmp_path / "ours.itf.json", tmp_path / "theirs.itf.json"
    write(trace, suite.protocol, ours)
    content = json.loads(ours.read_text())
    assert {name for name in names_in(content["states"]) if keyword.iskeyword(name)} == set()
    held = itf_py.trace_from_json(content)
    assert [held.states[-1].values[name] for name in ("mbt::actionTaken",)] == [suite.protocol.actions[actions[-1]].name]
    theirs.write_text(json.dumps(itf_py.trace_to_json(held)))
    again, built = read(theirs, PROTOCOLS)
    assert again == trace
    assert replay_on(replace(again, loop=None), built, entry.suite(built)).replays


def test_order_within_maps_sets_and_states_does_not_matter(trace: Trace, file: Path, protocols: dict[str, Entry]) -> None:
    content = json.loads(file.read_text())
    content["vars"].reverse()
    for state in content["states"]:
        state["seen"]["#map"].reverse()
        state["holders"]["#set"].reverse()
        state["taken"] = int(state["taken"]["#bigint"])
    content["states"] = [dict(reversed(state.items())) for state in content["states"]]
    file.write_text(json.dumps(content))
    assert read(file, protocols)[0] == trace


def test_an_action_that_does_not_exist_is_left_to_replay(
    trace: Trace, broken: Protocol, tmp_path: Path, protocols: dict[str, Entry]
) -> None:
    path = tmp_path / "odd.itf.json"
    odd = replace(trace, steps=(Step("vanish", trace.steps[0].state), *trace.steps[1:]))
    write(odd, broken, path)
    assert read(path, protocols)[0] == odd


@pytest.mark.parametrize("keep", [1, 5, 200, 900, -4, -2])
def test_a_file_cut_short(file: Path, protocols: dict[str, Entry], keep: int) -> None:
    file.write_bytes(file.read_bytes()[:keep])
    assert "cut short" in refusal(file, protocols)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"protocol lock", "not JSON"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": 1' + b"0" * 5000 + b"}", "number too long"),
        (b"[]", "the file is not an object"),
        (b"{}", "it is not a trace that Fencepost wrote"),
        (b'{"#meta": {"format": "ITF"}, "vars": [], "states": []}', "it is not a trace that Fencepost wrote"),
        (b'{"vars": [], "vars": []}', "name twice"),
    ],
)
def test_no_trace_at_all(tmp_path: Path, protocols: dict[str, Entry], content: bytes, what: str) -> None:
    path = tmp_path / "bad.itf.json"
    path.write_bytes(content)
    assert what in refusal(path, protocols)


def edit(path: str, value: Any) -> Callable[[Content], None]:
    """Sets what lies at a path such as ``states/1/colour``; None removes it."""

    def change(content: Content) -> None:
        *way, last = [int(part) if part.isdigit() else part for part in path.split("/")]
        place: Any = content
        for part in way:
            place = place[part]
        if value is None:
            del place[last]
        else:
            place[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "what"),
    [
        ("#meta/fencepost-version", 2, "this version reads 1"),
        ("#meta/protocol", "lokc", "no protocol 'lokc' (did you mean lock?)"),
        ("#meta/protocol", 7, "#meta protocol is not a string"),
        ("#meta/parameters", {"clients": "two"}, "clients is a number from 0 on, not 'two'"),
        ("#meta/parameters", {"client": 2}, "no parameter 'client'"),
        ("#meta/bugs", ["none"], "no bug 'none'"),
        ("#meta/bugs", [1], "each of #meta bugs is not a string"),
        ("#meta/seed", "x", "#meta seed is not a whole number"),
        ("loop", 99, "loop is 99, and there is no such state"),
        ("vars", ["holders"], "vars: taken is missing"),
        ("vars/0", "holder", "vars: unknown variable 'holder'"),
        ("vars/0", ["x"], "vars: unknown variable"),
        ("states", [], "no states"),
        ("states", {}, "states is not a list"),
        ("states/2", None, "state 2 has index 3"),
        ("states/1/#meta", None, "#meta of state 1 is missing"),
        ("states/1/colour", None, "state 1: colour is missing"),
        ("states/1/colours", "red", "state 1: unknown variable 'colours'"),
        ("states/1/colour", "blue", "state 1, colour: 'blue' is none of red, green"),
        ("states/1/colour", 0, "state 1, colour: 0 is not a name"),
        ("states/1/taken", 5, "state 1, taken: 5 is outside"),
        ("states/1/taken", True, "True is not an integer"),
        ("states/1/taken", 1.0, "1.0 is not an integer"),
        ("states/1/taken", {"#bigint": "1e3"}, "is not an integer"),
        ("states/1/holders", {"#set": ["c2"]}, "'c2' is not a client"),
        ("states/1/holders", {"#set": [0]}, "not a set of labels"),
        ("states/1/holders", [], "not a set of labels"),
        ("states/1/phase", {"#map": [["c0", "idle"]]}, "phase[c1] is missing"),
        ("states/1/phase", {"#map": [["c0", "idle"]] * 2}, "phase[c0] is given twice"),
        ("states/1/phase/#map/1/0", "c7", "phase[c1] is missing"),
        ("states/1/phase", {"#map": [["c0", "idle"], ["c1", "idle"], ["c2", "idle"]]}, "unknown key 'c2'"),
        ("states/1/phase", "idle", "'idle' is not a map"),
        ("states/1/seen/#map/0/1", 1, "state 1, seen: 1 is not true or false"),
        ("states/1/mbt::actionTaken", 4, "mbt::actionTaken of state 1 is not a string"),
        ("states/1/mbt::nondetPicks/c", "c0", "is not an object"),
        ("states/1/mbt::nondetPicks/c/tag", "Perhaps", "c is neither Some nor None"),
    ],
)
def test_what_does_not_fit(file: Path, protocols: dict[str, Entry], path: str, value: Any, what: str) -> None:
    content = json.loads(file.read_text())
    edit(path, value)(content)
    file.write_text(json.dumps(content))
    assert what in refusal(file, protocols)


def test_no_file(tmp_path: Path, protocols: dict[str, Entry]) -> None:
    assert "No such file" in refusal(tmp_path / "absent.itf.json", protocols)
    assert "directory" in refusal(tmp_path, protocols)


@pytest.mark.parametrize("value", [65, 10**9, 10**400, -1])
def test_a_size_beyond_what_the_registry_allows_is_refused_before_anything_is_built(tmp_path: Path, value: int) -> None:
    path = tmp_path / "large.itf.json"
    meta = {"fencepost-version": 1, "protocol": "election", "parameters": {"brokers": value}, "bugs": []}
    path.write_text(json.dumps({"#meta": meta, "vars": [], "states": []}))
    assert "election: brokers is from 0 to 64 in a file, not " in refusal(path, dict(PROTOCOLS))


def test_no_control_character_of_a_file_reaches_who_reads_it(
    file: Path, protocols: dict[str, Entry], trace: Trace, broken: Protocol
) -> None:
    content = json.loads(file.read_text())
    evil = "x\x1b[2J\u202e\r\ny"
    content["#meta"] |= {"found-by": evil, "property": evil}
    content["states"][-1]["mbt::actionTaken"] = evil
    content["states"][-1]["mbt::nondetPicks"] = {}
    file.write_text(json.dumps(content))
    again, _ = read(file, protocols)
    assert [again.found_by, again.violated, again.steps[-1].action] == ["x\\x1b[2J\\u202e\\r\\ny"] * 3
    content["states"][0][evil] = evil
    file.write_text(json.dumps(content))
    assert refusal(file, protocols).isprintable()
    file.write_text('{"\x1b[2J": 1, "\x1b[2J": 2}')
    assert refusal(file, protocols).isprintable()
