"""Strategies that a user wrote: what they answer is used, and what is wrong with them is told with its line and its input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.model.balance.configuration import defaults
from fencepost.model.balance.isolation import AutoFailoverPolicy, NamespaceIsolationData, Policies
from fencepost.model.balance.load_data import BundleData, LoadData, LocalBrokerData, ResourceUsage
from fencepost.model.balance.load_manager import LoadManager, Snapshot
from fencepost.model.balance.placement import LeastLongTermMessageRate
from fencepost.model.balance.user_code import UserCodeError, UserFunction
from fencepost.model.balance.user_policy import PolicyFault, UserPlacement, UserShedder, user_strategy
from fencepost.properties.balance.answers import properties_of
from tests.checks.policy.asking import asked

FIRST, SECOND, OTHER = (f"public/default/0x{n}0000000_0x{n + 1}0000000" for n in range(3))
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "policy" / "fill_the_emptiest.py"


def report(percent: float, *bundles: str) -> LocalBrokerData:
    return LocalBrokerData(cpu=ResourceUsage(percent, 100), bundles=bundles)


LOAD = LoadData({"b1": report(90, FIRST, SECOND), "b2": report(10, OTHER), "b3": report(0), "silent": None})


def shedder(body: str, arguments: str = "load, conf") -> UserShedder:
    strategy = user_strategy(UserFunction("p.py", f"def shed({arguments}):\n    {body}\n", "shed"))
    assert isinstance(strategy, UserShedder)
    return strategy


def placement(body: str, arguments: str = "bundle, candidates, load, conf") -> UserPlacement:
    strategy = user_strategy(UserFunction("p.py", f"def place({arguments}):\n    {body}\n", "place"))
    assert isinstance(strategy, UserPlacement)
    return strategy


def test_the_answer_is_what_is_unloaded() -> None:
    mine = shedder(f"return {{'b1': ({SECOND!r}, {FIRST!r}), 'b2': []}}")
    answer, _ = mine.find_bundles_for_unloading(LOAD, defaults("4.2.4"))
    assert answer.unload == {"b1": (SECOND, FIRST)}
    assert answer.destinations == {}


def test_memory_goes_from_round_to_round() -> None:
    counting = shedder(f"return ({{}} if memory is None else {{'b1': [{FIRST!r}]}}), (memory or 0) + 1", "load, conf, memory")
    first, counting = counting.find_bundles_for_unloading(LOAD, defaults("4.2.4"))
    second, counting = counting.find_bundles_for_unloading(LOAD, defaults("4.2.4"))
    assert (first.unload, second.unload, counting.memory) == ({}, {"b1": (FIRST,)}, 2)
    turns = placement("return candidates[memory or 0], (memory or 0) + 1", "bundle, candidates, load, conf, memory")
    one, turns = turns.select(["b2", "b3"], FIRST, LOAD, defaults("4.2.4"))
    two, turns = turns.select(["b2", "b3"], FIRST, LOAD, defaults("4.2.4"))
    assert (one, two) == (("b2",), ("b3",))


def test_without_candidates_the_function_is_not_asked() -> None:
    assert placement("return 1 / 0").select([], FIRST, LOAD, defaults("4.2.4"))[0] == ()


def test_destinations_are_kept_where_policies_allow() -> None:
    sends = shedder(f"return {{'b1:1': {{{FIRST!r}: 'b3:1'}}}}")
    load = replace(LOAD, brokers={f"{name}:1": report for name, report in LOAD.brokers.items()})
    manager = LoadManager(defaults("4.2.4"), sends, LeastLongTermMessageRate())
    done, _ = manager.next_round(Snapshot(load))
    assert done.destinations == {FIRST: ("b3:1",)}
    failover = AutoFailoverPolicy(parameters={"min_limit": "1"})
    isolated = Policies({"p": NamespaceIsolationData(("public/default",), ("b1", "b2"), (), failover)})
    done, _ = manager.next_round(Snapshot(load, isolated))
    assert done.destinations == {FIRST: ()}
    assert done.why[-1] == f"{FIRST}: stays on b1:1: b3:1 may not serve its namespace"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("pass", "returned None; return the bundles that leave, by broker"),
        ("return {'b1': 'x'}", "the bundles of 'b1' are 'x'; give a list of names"),
        ("return {'b1': [1]}", "the bundles of 'b1' are [1]; give a list of names"),
        ("return {'b1': 3}", "the bundles of 'b1' are 3; give a list of names"),
        ("return {'b9': [FIRST]}", "sheds from 'b9', which is no live broker"),
        ("return {'b1': ['x']}", "sheds x from b1, which nobody knows"),
        ("return {'b1': [OTHER]}", f"sheds {OTHER} from b1, which is owned by b2"),
        ("return {'silent': [FIRST]}", f"sheds {FIRST} from silent, which is owned by b1"),
        ("return {'b1': [FIRST, FIRST]}", f"sheds {FIRST} from b1 more than once"),
        ("return {'b1': {FIRST: 'b1'}}", f"sends {FIRST} from b1 to b1, where it is already"),
        ("return {'b1': {FIRST: 'b9'}}", f"sends {FIRST} from b1 to 'b9', which is no live broker"),
        ("return {'b1': {FIRST: ['b2']}}", f"sends {FIRST} from b1 to ['b2'], which is no live broker"),
        ("return {'b1': [], 'b9': []}", "sheds from 'b9', which is no live broker"),
        ("return {3: []}", "sheds from 3, which is no live broker"),
    ],
)
def test_what_cannot_be_carried_out_is_a_fault(body: str, message: str) -> None:
    mine = shedder(body.replace("FIRST", repr(FIRST)).replace("OTHER", repr(OTHER)))
    with pytest.raises(PolicyFault) as caught:
        mine.find_bundles_for_unloading(LOAD, defaults("4.2.4"))
    assert str(caught.value).startswith(f"p.py:shed: {message}")
    assert caught.value.load is LOAD


def test_a_bundle_that_nobody_owns_is_told_apart() -> None:
    known = replace(LOAD, bundles={"gone": BundleData()})
    with pytest.raises(PolicyFault, match="sheds gone from b1, which nobody owns"):
        shedder("return {'b1': ['gone']}").find_bundles_for_unloading(known, defaults("4.2.4"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return []", f"chooses no broker for {FIRST}; choose among b2, b3"),
        ("return 'b1'", f"places {FIRST} at 'b1', which is not among b2, b3"),
        ("return ['b2', 'b9']", f"places {FIRST} at 'b9', which is not among b2, b3"),
        ("pass", f"the brokers for {FIRST} are None; give a list of names"),
    ],
)
def test_a_placement_that_cannot_be_is_a_fault(body: str, message: str) -> None:
    with pytest.raises(PolicyFault) as caught:
        placement(body).select(["b2", "b3"], FIRST, LOAD, defaults("4.2.4"))
    assert str(caught.value) == f"p.py:place: {message}"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return helper()", "p.py:4: ZeroDivisionError: division by zero"),
        ("return load.brokers['b9']", "p.py:2: KeyError: 'b9'"),
        ("exit(3)", "p.py:2: SystemExit: 3"),
        ("load.brokers['b9'] = None; return {}", "p.py:2: TypeError: 'mappingproxy' object does not support item assignment"),
        ("return shed(load, conf)", "p.py:2: RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_an_exception_is_told_with_its_line(body: str, message: str) -> None:
    text = f"def shed(load, conf):\n    {body}\ndef helper():\n    return 1 / 0\n"
    with pytest.raises(PolicyFault) as caught:
        UserShedder(UserFunction("p.py", text, "shed")).find_bundles_for_unloading(LOAD, defaults("4.2.4"))
    assert str(caught.value).startswith(message)


def test_a_memory_must_be_returned() -> None:
    with pytest.raises(PolicyFault, match="with a memory it returns two things"):
        shedder("return {}", "load, conf, memory").find_bundles_for_unloading(LOAD, defaults("4.2.4"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def shed(load, conf:\n    pass\n", "p.py:1: SyntaxError: '(' was never closed"),
        ("\nimport absent_package\n", "p.py:2: ModuleNotFoundError: No module named 'absent_package'"),
        ("def other(load, conf):\n    pass\n", "p.py: has no function 'shed'; it has other"),
        ("shed = 3\n", "p.py: has no function 'shed'; it has none"),
        ("def shed(load):\n    pass\n", "p.py:shed: takes other arguments; a shedder takes (load, conf)"),
    ],
)
def test_a_file_that_cannot_be_used(text: str, message: str) -> None:
    with pytest.raises(UserCodeError) as caught:
        user_strategy(UserFunction("p.py", text, "shed"))
    assert str(caught.value).startswith(message)


def test_a_dataclass_in_the_file_is_as_anywhere() -> None:
    text = """from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
@dataclass(frozen=True)
class Hits:
    most: ClassVar[int] = 3
    count: int = 0
def shed(load, conf, memory):
    return {}, Hits(1)
"""
    _, after = UserShedder(UserFunction("p.py", text, "shed")).find_bundles_for_unloading(LOAD, defaults("4.2.4"))
    assert after.memory.count == 1


def test_what_a_shedder_does_not_define_is_not_asked_of_it() -> None:
    left_out = properties_of("AvgShedder").keys() - properties_of("mine.py:shed").keys()
    assert left_out == {"sheds_only_from_an_overloaded_broker", "sheds_no_more_than_required"}


# --- on the command line


@pytest.mark.parametrize(
    ("option", "function", "message", "expected"),
    [
        ("--shedder", "place", "is a placement strategy; a shedder takes (load, conf)", 2),
        ("--placement", "shed", "is a shedder; a placement strategy takes (bundle, candidates", 2),
        ("--shedder", "absent", "has no function 'absent'; it has shed, place", 150),
    ],
)
def test_the_wrong_function(option: str, function: str, message: str, expected: int) -> None:
    snapshot = EXAMPLE.parent / "restarted.json"
    status, out, err = asked("decide", "--snapshot", snapshot, option, f"{EXAMPLE}:{function}")
    assert (status, out) == (expected, "")
    assert message in err


@pytest.mark.parametrize(
    ("name", "message"),
    [("absent.py", "there is no such file"), ("folder.py", "is a directory"), ("latin.py", "is not UTF-8")],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "latin.py").write_bytes(b"# \xe9\n")
    status, out, err = asked("check", "--shedder", f"{tmp_path / name}:shed")
    assert (status, out) == (150, "")
    assert err.startswith(f"fencepost: {tmp_path / name}: {message}")


def test_the_input_of_a_fault_is_kept_and_shows_it_again(tmp_path: Path) -> None:
    policy = tmp_path / "hot.py"
    policy.write_text("def shed(load, conf):\n    return {b: [] for b, r in load.reports.items() if 1 / len(r.owned)}\n")
    ask = ["--shedder", f"{policy}:shed"]
    status, out, err = asked("check", *ask, "--out", tmp_path / "found", "--quiet")
    fault = tmp_path / "found" / "fault.json"
    assert (status, out) == (75, "")
    assert err == f"fencepost: {policy}:2: ZeroDivisionError: division by zero\n  asked with {fault}\n"
    assert asked("decide", *ask, "--snapshot", fault) == (75, "", err)
    assert "--out DIR keeps" in asked("check", *ask)[2]


def test_the_example_fills_a_restarted_broker() -> None:
    snapshots = ["--snapshot", EXAMPLE.parent / "restarted.json"] * 3
    status, out, _ = asked("decide", "--shedder", f"{EXAMPLE}:shed", "--placement", f"{EXAMPLE}:place", *snapshots)
    assert status == 0
    assert out.startswith(f"{EXAMPLE}:shed and {EXAMPLE}:place, Pulsar 4.2.4\n")
    assert out.count("unload nothing") == 2
    assert "unload from broker-1:8080: public/default/0x00000000_0x10000000 to broker-6:8080" in out
