"""Pinned traces and checks in another project's suite, run by pytest as that project runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from fencepost.checks.cli import main
from tests.marking import first_at_once

pytest_plugins = ["pytester"]

BUG = "ignores_fence"
PROPERTY = "fenced_bookies_take_no_adds"
FILE = f"ledger-bug-{BUG}-{PROPERTY}.itf.json"
TEST = f"test_pinned_ledger_bug_{BUG}_{PROPERTY}.py"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    command = ["check", "ledger", "--bug", BUG, "--property", PROPERTY, "--trace-dir", str(folder), "--quiet"]
    assert main(command) == 12
    return folder / FILE


def pinned(trace: Path, folder: Path, *options: str) -> int:
    return main(["trace", "pin", str(trace), "--out", str(folder), *options])


def ran(pytester: pytest.Pytester, *, passed: int = 0, failed: int = 0) -> Sequence[str]:
    result = pytester.runpytest_inprocess("-p", "fencepost.checks.pytest_plugin", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=passed, failed=failed)
    return result.outlines


@pytest.mark.long
def test_a_pinned_trace_is_violated_with_its_bug_and_gone_without(
    trace: Path, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pinned(trace, pytester.path) == 0
    assert capsys.readouterr().out == f"test: {pytester.path / TEST}\ntrace: {pytester.path / FILE}\n"
    assert (pytester.path / FILE).read_bytes() == trace.read_bytes()
    ran(pytester, passed=2)
    # a file of which the first step is not the protocol's any more
    text = (pytester.path / FILE).read_text()
    (pytester.path / FILE).write_text(text.replace('"mbt::actionTaken": "send"', '"mbt::actionTaken": "close"', 1))
    assert any("the protocol has no action close(e0)" in line for line in ran(pytester, passed=1, failed=1))


@pytest.mark.long
@pytest.mark.parametrize(
    ("expect", "asserts"), first_at_once([("gone", "bugs=()).replays"), ("violated", "assert outcome.replays")])
)
def test_one_of_both_can_be_asked_for(trace: Path, pytester: pytest.Pytester, expect: str, asserts: str) -> None:
    assert pinned(trace, pytester.path, "--expect", expect) == 0
    assert asserts in (pytester.path / TEST).read_text()
    ran(pytester, passed=1)


@pytest.mark.long
def test_what_the_protocol_does_as_it_is_is_pinned_as_violated(tmp_path: Path, pytester: pytest.Pytester) -> None:
    command = ["check", "ownership", "--set", "expiries=1", "--property", "single_server", "--trace-dir", str(tmp_path)]
    assert main([*command, "--quiet"]) == 0
    (file,) = tmp_path.glob("*.itf.json")
    assert pinned(file, pytester.path, "--expect", "both") == 2
    assert pinned(file, pytester.path) == 0
    ran(pytester, passed=1)
    assert pinned(file, pytester.path, "--expect", "gone") == 0  # which it is not yet
    ran(pytester, failed=1)


def test_what_cannot_be_pinned(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = trace.read_text()
    harmless, unnamed = tmp_path / "harmless.itf.json", tmp_path / "unnamed.itf.json"
    unnamed.write_text(text.replace(f'"property": "{PROPERTY}"', '"property": null'))
    harmless.write_text(text.replace(f'"property": "{PROPERTY}"', '"property": "no_truncation"'))
    assert pinned(unnamed, tmp_path) == 2
    assert "nothing that a test could assert" in capsys.readouterr().err
    assert pinned(harmless, tmp_path) == 75
    assert "no_truncation is not violated" in capsys.readouterr().err
    assert pinned(tmp_path / "absent.itf.json", tmp_path) == 150
    assert list(tmp_path.glob("test_*")) == []


def with_property(trace: Path, file: Path, name: str) -> Path:
    """A file that says of a run that it violates something."""
    text = trace.read_text().replace(f'"property": "{PROPERTY}"', f'"property": {json.dumps(name)}')
    file.write_text(text)
    return file


INJECTED = "x():\n    pass\nopen('owned', 'w').close()\ndef test_y"


@pytest.mark.parametrize("expect", first_at_once(["gone", "violated", "both"]))
@pytest.mark.parametrize("name", [INJECTED, "no_such_property", '"""', "\x1b[2J"])
def test_a_name_that_is_no_property_is_not_written_into_a_test(
    trace: Path, tmp_path: Path, expect: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = with_property(trace, tmp_path / "strange.itf.json", name)
    assert pinned(file, tmp_path, "--expect", expect) == 150
    error = capsys.readouterr().err
    assert "has no property" in error
    assert error.removesuffix("\n").isprintable()
    assert list(tmp_path.glob("test_*")) == []


@pytest.mark.parametrize(
    "name", first_at_once(['x") or open("owned", "w").close() or ("', "x\\", "x'\"", "x{y}", "x\n", "\x1b[2J"])
)
def test_the_name_of_a_file_is_a_literal(
    trace: Path, pytester: pytest.Pytester, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (pytester.path / "from").mkdir()
    file = pytester.path / "from" / f"{name.replace('/', '')}.itf.json"
    file.write_bytes(trace.read_bytes())
    assert pinned(file, pytester.path, "--expect", "gone") == 0
    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())
    ran(pytester, passed=1)
    assert not (pytester.path / "owned").exists()


OWN = """
import pytest
from fencepost.model.language import Not, Protocol
from fencepost.properties.bugs import Bug
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite


def lamp(*, switches: int = 2, bugs=()):
    p = Protocol("lamp", parameters={"switches": switches}, bugs={"sticks": "it does not go out"}, active=bugs)
    switch = p.universe("switch", switches)
    lit = p.flag("lit")
    stuck = p.flag("stuck")

    @p.step(by="s", s=switch)
    def press(s):
        \"\"\"Somebody presses a switch.\"\"\"
        return Not(stuck), {lit: Not(lit), stuck: lit if p.has("sticks") else False}

    return p


def suite(p):
    made = Suite(p)

    @made.always
    def never_stuck():
        \"\"\"It is never stuck.\"\"\"
        return Not(p.state.stuck)

    return made


@pytest.fixture(scope="session")
def fencepost_protocols():
    sizes = {"ci": (Instance("small", {}),)}
    return {"lamp": Entry(
        name="lamp",
        summary="a lamp",
        function=lamp,
        suite=suite,
        sizes=sizes,
        bugs={"sticks": Bug(shown_by={"switches": 1})},
    )}
"""


def test_a_suite_checks_protocols_of_its_own(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(OWN)
    pytester.makepyfile(
        """
        def test_holds(fencepost_check):
            (checked,) = fencepost_check("lamp")
            assert checked.instance.name == "small"
            assert len(fencepost_check("lamp", set={"switches": 3})) == len(fencepost_check("lamp", size="ci")) == 1

        def test_bug(fencepost_check):
            fencepost_check("lamp", bugs=["sticks"], violates=["never_stuck"])

        def test_fails(fencepost_check):
            fencepost_check("lamp", bugs=["sticks"])

        def test_misses(fencepost_check):
            fencepost_check("lamp", violates=["never_stuck"])

        def test_no_such(fencepost_check):
            fencepost_check("lamb")

        def test_no_such_property(fencepost_check):
            fencepost_check("lamp", violates=["bright"])

        def test_no_such_file(fencepost_replay):
            fencepost_replay("absent.itf.json")
        """
    )
    output = "\n".join(ran(pytester, passed=2, failed=5))
    for message in (
        "violated     never_stuck: It is never stuck. (in 2 steps)",
        "never_stuck: not violated",
        "there is no protocol 'lamb' (did you mean lamp?); there are lamp",
        "lamp has no property 'bright' here; it has never_stuck",
        "absent.itf.json: No such file or directory",
    ):
        assert message in output
    assert "Traceback" not in output


def test_the_plug_in_loads_nothing_that_takes_time() -> None:
    heavy = "{'z3', 'numpy', 'model', 'properties', 'traces'}"
    program = f"import sys, fencepost.checks.pytest_plugin; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
