"""The house is as DESIGN.md draws it: imports run downward, modules stay small, nothing in them belongs to one machine."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("model", "properties", "traces", "checks")
LONG: dict[str, str] = {
    "model/ledger.py": "one protocol is one module, read from top to bottom",
    "properties/ledger_invariant.py": "one inductive invariant is one conjunction, and each lemma leans on the others",
}
"""Modules that may be longer than 400 lines, and why."""


def _modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


ALL = [module for layer in LAYERS for module in _modules(layer)]


def _name(module: Path) -> str:
    return module.relative_to(ROOT).as_posix()


def _imports(source: str) -> set[str]:
    """The top-level names of what a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the direction"
            found.add((node.module or "").split(".")[0])
    return found


def _upward(layer: str, source: str) -> set[str]:
    above = {*LAYERS[LAYERS.index(layer) + 1 :], "tests"}
    return _imports(source) & above


def test_every_layer_exists() -> None:
    assert all(_modules(layer) for layer in LAYERS)


def test_imports_run_downward() -> None:
    upward = {_name(module): _upward(module.relative_to(ROOT).parts[0], module.read_text(encoding="utf-8")) for module in ALL}
    assert {name: above for name, above in upward.items() if above} == {}


@pytest.mark.parametrize(
    ("layer", "source", "upward"),
    [
        ("model", "import properties.ledger", {"properties"}),
        ("properties", "def f():\n    from checks import cli", {"checks"}),
        ("traces", "from model.language import Protocol\nimport properties", set()),
        ("checks", "import tests.bench.interpreter", {"tests"}),
    ],
)
def test_an_upward_import_is_seen(layer: str, source: str, upward: set[str]) -> None:
    assert _upward(layer, source) == upward


def test_modules_are_short_but_for_those_that_say_why() -> None:
    assert {_name(module) for module in ALL if len(module.read_text(encoding="utf-8").splitlines()) > 400} == set(LONG)


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "misc", "common"}
    assert [_name(module) for module in ALL if drawers & set(module.relative_to(ROOT).with_suffix("").parts)] == []


def test_every_module_says_what_it_is() -> None:
    assert [_name(module) for module in ALL if not ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))] == []


HOME_OF_A_MACHINE = re.compile(r"(?<![\w.])/(home|root|Users|mnt)/[\w.]")


def _tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git clone: there is no list of tracked files")
    return [name for name in listed.stdout.split("\0") if name]


def _texts() -> list[tuple[str, str]]:
    """The tracked files but this one, each with its text."""
    paths = [ROOT / name for name in _tracked()]
    others = [path for path in paths if path.is_file() and path != Path(__file__).resolve()]
    return [(str(path.relative_to(ROOT)), path.read_bytes().decode("utf-8", errors="ignore")) for path in others]


def test_no_tracked_file_names_a_path_of_a_machine() -> None:
    found = []
    for name, text in _texts():
        found += [f"{name}: {match.group()}" for match in HOME_OF_A_MACHINE.finditer(text)]
        if f"{ROOT.parent}/" in text and len(ROOT.parent.parts) > 1:
            found.append(f"{name}: {ROOT.parent}")
    assert not found


UNMERGED = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)


def test_no_tracked_file_has_a_merge_left_to_do() -> None:
    assert [name for name, text in _texts() if UNMERGED.search(text)] == []


def test_a_merge_left_to_do_is_seen() -> None:
    assert UNMERGED.search("one\n" + "<" * 7 + " HEAD\n")


@pytest.mark.parametrize("text", ["see /home/me/x", "'/mnt/disk'", "C=/Users/x"])
def test_a_path_of_a_machine_is_seen(text: str) -> None:
    assert HOME_OF_A_MACHINE.search(text)


@pytest.mark.parametrize("text", ["a/home/x", "https://example.org/home/x", "/etc/pulsar/broker.conf", "and/or"])
def test_other_paths_are_not(text: str) -> None:
    assert not HOME_OF_A_MACHINE.search(text)


@pytest.mark.xdist_group("together")
def test_groups_of_tests_are_kept_together(request: pytest.FixtureRequest) -> None:
    """Over workers pytest-xdist spreads them by the ends of their names, which pytest 9.2 does not let it write."""
    assert request.node.nodeid.endswith("@together") == request.config.getoption("loadgroup", False)
