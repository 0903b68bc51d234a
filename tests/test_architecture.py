"""The house is as its plan below draws it: imports run downward, modules stay small, nothing in them belongs to one machine."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.marking import TEMPORARY

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("model", "properties", "traces", "checks")
PROTOCOL_ROOMS = tuple(sorted(path.parent.name for path in (ROOT / "properties").glob("*/entry.py")))
BUILT_ON_OTHERS = ("cluster", "service_unit", "service_unit_migration")
"""Rooms of protocols that import from those of others."""

FLOORS: dict[str, tuple[tuple[str, ...], ...]] = {
    "model": (
        ("own_sources", "sealed", "terms"),
        ("language", "releases", "counts", "nobody"),
        ("any_size", "analysis", "java_numbers"),
        ("kernel/compiler",),
        ("kernel/search",),
        ("kernel/walks", "kernel/clause_tables"),
        ("kernel/__init__",),
        ("stand_ins", "odds"),
        ("zookeeper",),
        ("bookkeeper", "kafka", "pulsar"),
        ("cluster",),
        ("balance",),
    ),
    "properties": (
        ("conditions", "loading", "vocabulary"),
        ("any_size", "bugs"),
        ("configuration",),
        ("registry", "slices", "suspicions"),
        ("bug_files", "pages"),
        ("small_instances",),
        ("observed", "theorems"),
        ("locks",),
        ("balance", "hash_range", *(room for room in PROTOCOL_ROOMS if room not in BUILT_ON_OTHERS)),
        tuple(room for room in BUILT_ON_OTHERS if room != "service_unit_migration"),
        ("service_unit_migration",),
        ("protocols", "theories"),
        ("machines",),
    ),
    "traces": (
        ("trace", "printable", "signals", "pages"),
        ("files", "wording", "lassos", "comparing", "control_actions"),
        ("machines", "replay"),
        ("shrinking",),
        ("drawings",),
        ("exploration", "explorer"),
        ("comparison",),
    ),
    "checks": (
        ("console", "inputs", "teeth/pinned"),
        ("settings",),
        ("engines/results",),
        ("engines/solvers",),
        ("engines/search", "engines/odds"),
        ("engines/induction",),
        ("engines/any_size",),
        ("engines/lemmas",),
        ("engines/plan",),
        ("engines/shared_protocols",),
        ("engines/ahead",),
        ("engines/theorems",),
        ("questions/matters",),
        ("questions/guarantees",),
        ("questions/bugs",),
        ("questions/answers", "questions/baseline", "questions/planning"),
        ("odds",),
        ("conformance/__init__", "conformance/java_side", "conformance/logs"),
        ("conformance/running", "conformance/reproductions"),
        ("conformance/targets", "conformance/scenario"),
        ("conformance/policy",),
        ("conformance/bookkeeper", "conformance/kafka", "conformance/pulsar", "conformance/service_unit"),
        ("conformance/topic",),
        ("conformance/registry",),
        ("reports", "export", "policy", "public_calls"),
        ("cluster",),
        ("history",),
        ("teeth", "pytest_fixtures"),
        ("commands", "pytest_plugin"),
        ("cli",),
        ("hook",),
    ),
}
"""The rooms of each floor from the ground up; a room imports only from rooms below its own row. Loose modules are rooms."""


def _modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


ALL = [module for layer in LAYERS for module in _modules(layer)]


OURS = re.compile(r"\b(fencepost|tests)\b|from \.")
"""What any source has that imports something of ours; to parse one takes longer."""

ALL_ON_ONE_WORKER = pytest.mark.xdist_group("architecture")
"""Which then reads and parses every module once."""


def _name(module: Path) -> str:
    return module.relative_to(ROOT).as_posix()


@cache
def _source(module: Path) -> str:
    return module.read_text(encoding="utf-8")


@cache
def _imports(source: str) -> frozenset[tuple[str, ...]]:
    """What a module imports of ours, wherever in it, each as its path within the package; ``tests`` counts as ours."""
    paths: set[tuple[str, ...]] = set()
    for node in ast.walk(ast.parse(source)) if OURS.search(source) else ():
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the direction"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        paths |= {tuple(name.split(".")) for name in names}
    ours = {path[1:] for path in paths if path[0] == "fencepost"}
    return frozenset(ours | {path for path in paths if path[0] == "tests"})


def _upward(layer: str, source: str) -> set[str]:
    above = {*LAYERS[LAYERS.index(layer) + 1 :], "tests"}
    return {path[0] for path in _imports(source)} & above


def _row(path: Sequence[str]) -> tuple[str, int]:
    """The room that a path within the package leads to, and its row on its floor; ("", -1) if it is none."""
    floor, *inside = path
    rooms = {room: row for row, rooms in enumerate(FLOORS.get(floor, ())) for room in rooms}
    named = [room for room in rooms if tuple(inside[: room.count("/") + 1]) == tuple(room.split("/"))]
    return (named[0], rooms[named[0]]) if named else ("", -1)


MOST_UNTYPED = 300
"""Lines that may have the word Any: each is at the edge of a library, or says that authors of protocols may give anything."""


def test_few_lines_say_that_a_value_is_anything() -> None:
    word = re.compile(r"\bAny\b")
    lines = [f"{_name(module)}: {line.strip()}" for module in ALL for line in _source(module).splitlines() if word.search(line)]
    assert len(lines) < MOST_UNTYPED


SPEAKS_Z3 = re.compile(r"^\s*(import z3\b|from z3\b)", re.MULTILINE)
PROVES = ("model/terms/in_z3.py", "model/terms/asking.py", "checks/engines/", "checks/teeth/equivalence.py")
"""Where Z3 is asked; everything else gives terms to these."""


def test_z3_is_asked_in_few_rooms() -> None:
    speaking = [_name(module) for module in ALL if SPEAKS_Z3.search(_source(module))]
    assert [name for name in speaking if not name.startswith(PROVES)] == []
    assert all(any(name.startswith(room) for name in speaking) for room in PROVES)


def test_every_layer_exists() -> None:
    assert all(_modules(layer) for layer in LAYERS)


def test_options_of_the_command_line_go_no_further_than_the_commands() -> None:
    """What is below takes a request, whose fields have names and types."""
    below = [module for module in ALL if "commands" not in module.relative_to(ROOT).parts]
    assert [_name(module) for module in below if _names_options(_source(module))] == []
    holding = [_name(module) for module in _modules("checks/commands") if _names_options(_source(module))]
    assert holding == ["checks/commands/tree.py"], "it makes requests of them"


def _names_options(source: str) -> bool:
    if "Namespace" not in source:
        return False
    nodes = ast.walk(ast.parse(source))
    return any("Namespace" in (getattr(node, "attr", ""), getattr(node, "id", ""), getattr(node, "name", "")) for node in nodes)


@pytest.mark.parametrize("source", ["def f(x: argparse.Namespace): ...", "from argparse import Namespace", "x: Namespace"])
def test_options_that_go_further_are_seen(source: str) -> None:
    assert _names_options(source)
    assert not _names_options(source.replace("Namespace", "NamespaceBundle"))


@ALL_ON_ONE_WORKER
def test_imports_run_downward() -> None:
    upward = {_name(module): _upward(module.relative_to(ROOT).parts[0], _source(module)) for module in ALL}
    assert {name: above for name, above in upward.items() if above} == {}


def test_every_module_is_in_a_room() -> None:
    inside = [module.relative_to(ROOT).with_suffix("").parts for module in ALL]
    assert [path for path in inside if path[1:] != ("__init__",) and _row(path) == ("", -1)] == []


def test_every_room_of_the_plan_is_there() -> None:
    inside = {_row(module.relative_to(ROOT).with_suffix("").parts)[0] for module in ALL}
    assert {room for rows in FLOORS.values() for row in rows for room in row} - inside == set()


def _climbs(path: Sequence[str], source: str) -> list[str]:
    """What a module imports from a room of its floor that is not below its own."""
    (room, row), imported = _row(path), sorted(_imports(source))
    return [".".join(other) for other in imported if other[0] == path[0] and _row(other)[0] != room and _row(other)[1] >= row]


@ALL_ON_ONE_WORKER
def test_rooms_import_only_from_rooms_below() -> None:
    paths = {module: module.relative_to(ROOT).with_suffix("").parts for module in ALL}
    climbing = {_name(m): _climbs(path, _source(m)) for m, path in paths.items()}
    assert {name: above for name, above in climbing.items() if above} == {}


def test_a_room_that_imports_from_above_is_seen() -> None:
    assert _climbs(("checks", "reports", "x"), "from fencepost.checks.commands.check.run import run")
    assert _climbs(("model", "pulsar", "x"), "import fencepost.model.bookkeeper.ledger")
    assert not _climbs(("checks", "reports", "x"), "from fencepost.checks.questions.baseline import Doubt")


@pytest.mark.parametrize(
    ("layer", "source", "upward"),
    [
        ("model", "import fencepost.properties.ledger", {"properties"}),
        ("properties", "def f():\n    from fencepost.checks import cli", {"checks"}),
        ("traces", "from fencepost.model.language import Protocol\nimport fencepost.properties", set()),
        ("checks", "import tests.bench.interpreter", {"tests"}),
    ],
)
def test_an_upward_import_is_seen(layer: str, source: str, upward: set[str]) -> None:
    assert _upward(layer, source) == upward


HOW_TO = "see docs/how-to/add-a-protocol.md"


def _lacks(root: Path, protocol: str) -> list[str]:
    """What a protocol of the registry lacks, a line for each."""
    parts = {
        f"properties/{protocol}/suite.py": "its properties",
        f"properties/{protocol}/bugs.toml": "its bugs",
        f"tests/properties/{protocol}/test_safety.py": "COUNTS, CONTROLS and CAUGHT",
        f"docs/reference/{protocol}.md": "its page",
    }
    lacking = [f"{protocol}: write {path}, {what}; {HOW_TO}" for path, what in parts.items() if not (root / path).exists()]
    link = f"(reference/{protocol}.md)"
    if link not in (root / "docs" / "contents.md").read_text(encoding="utf-8"):
        lacking.append(f"{protocol}: add {link} to docs/contents.md; {HOW_TO}")
    return lacking


def test_every_protocol_has_its_parts() -> None:
    assert PROTOCOL_ROOMS
    lacking = [line for protocol in PROTOCOL_ROOMS for line in _lacks(ROOT, protocol)]
    assert lacking == [], "\n".join(lacking)


def test_a_part_that_a_protocol_lacks_is_one_line() -> None:
    lacking = _lacks(ROOT, "toll")
    assert lacking[0] == f"toll: write properties/toll/suite.py, its properties; {HOW_TO}"
    assert lacking[-1] == f"toll: add (reference/toll.md) to docs/contents.md; {HOW_TO}"
    assert len(lacking) == 5


SCRIPTS = [*_modules("tests/bench"), *_modules("tests/fuzz"), *_modules("docs"), ROOT / "tests/checks/teeth/pin_teeth.py"]
"""What no test imports, so that a name that has moved would be missed by whoever runs them."""


def _is_there(path: tuple[str, ...]) -> bool:
    """Whether a module has that path, or the module above it has a word of that name."""
    *inside, name = path if path[0] in ("tests", *LAYERS) else ("fencepost", *path)
    here, above = ROOT.joinpath(*inside, name), ROOT.joinpath(*inside)
    if here.is_dir() or here.with_suffix(".py").exists():
        return True
    home = above / "__init__.py" if above.is_dir() else above.with_suffix(".py")
    return home.exists() and re.search(rf"\b{name}\b", _source(home)) is not None


@ALL_ON_ONE_WORKER
def test_scripts_import_what_there_is() -> None:
    assert not _is_there(("tests", "bench", "bugs"))
    gone = {_name(script): [".".join(p) for p in _imports(_source(script)) if not _is_there(p)] for script in SCRIPTS}
    assert {name: paths for name, paths in gone.items() if paths} == {}


def test_modules_have_one_idea() -> None:
    """A class of the real system is a unit, however long; beyond this size there is a second idea inside."""
    assert [_name(module) for module in ALL if len(_source(module).splitlines()) > 600] == []


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "misc", "common"}
    assert [_name(module) for module in ALL if drawers & set(module.relative_to(ROOT).with_suffix("").parts)] == []


def test_every_module_says_what_it_is() -> None:
    others = [module for module in ALL if not re.match(r'"""\w', _source(module))]  # to parse all of them takes longer
    assert [_name(module) for module in others if not ast.get_docstring(ast.parse(_source(module)))] == []


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
    places = []
    for name, text in _texts():
        places += [f"{name}: {match.group()}" for match in HOME_OF_A_MACHINE.finditer(text)]
        if f"{ROOT.parent}/" in text and len(ROOT.parent.parts) > 1 and ROOT.parent != TEMPORARY:
            places.append(f"{name}: {ROOT.parent}")
    assert not places


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
