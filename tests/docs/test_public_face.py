"""The names of ``fencepost`` are what its page documents and the documentation imports, and wait until they are asked for."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fencepost
from tests.docs.examples import ROOT, blocks

PAGE = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
TEACHING = [
    ROOT / "README.md",
    ROOT / "docs" / "tutorial.md",
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    ROOT / "docs" / "reference" / "language.md",
    ROOT / "docs" / "reference" / "python.md",
]
ROOMS: dict[str, tuple[str, ...]] = {
    "hold-it-against-the-code.md": ("fencepost.checks.conformance.",),
    "add-a-protocol.md": ("fencepost.model.", "fencepost.properties."),
}
"""An adapter, and a protocol of the project, are written with the rooms that they stand in."""
"""What teaches a reader to write Python with Fencepost; the other documents look into the model to show how it is made."""

FUNCTIONS = ["check", "explore", "machine_of", "prove", "read_trace", "replay", "run_of", "show", "write_trace"]


def _programs(document: Path) -> list[str]:
    if document.suffix == ".py":
        return [document.read_text(encoding="utf-8")]
    return [b.text for b in blocks(document.read_text(encoding="utf-8")) if b.language == "python" and b.source is None]


def _imported(program: str) -> Iterator[str]:
    """What a program imports of ours, each in full, e.g. ``fencepost.And``."""
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == "fencepost")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "fencepost":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _section(name: str) -> str:
    """What the page says of a function."""
    return re.split(r"^##", PAGE.split(f"\n### `{name}`\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


def test_what_type_checkers_see_is_what_is_loaded() -> None:
    imports = {}
    for node in ast.walk(ast.parse(inspect.getsource(fencepost))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("fencepost."):
            imports |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    assert sorted(imports) == sorted(fencepost.__all__) == dir(fencepost)
    for name, (module, there) in imports.items():
        assert getattr(fencepost, name) is getattr(sys.modules[module], there), name


def test_the_page_documents_every_name() -> None:
    cells = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", PAGE, re.MULTILINE)
    arguments = {name for function in FUNCTIONS for name in inspect.signature(getattr(fencepost, function)).parameters}
    documented = {name for cell in cells for name in re.findall(r"\w+", cell)} - arguments
    assert documented | set(FUNCTIONS) == set(fencepost.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_page_documents_every_argument(name: str) -> None:
    text = _section(name)
    call = re.findall(rf"`{name}\(([^`]*)\)`", text)[0]
    arguments = inspect.signature(getattr(fencepost, name)).parameters
    assert [a for a in arguments if f"`{a}`" not in text and a not in re.findall(r"\w+", call)] == []
    assert [a for a in re.findall(r"(\w+)(?:=|,|$)", re.sub(r"=[^,]*", "=", call)) if a not in arguments] == []


@pytest.mark.parametrize("document", TEACHING, ids=lambda document: document.name)
def test_what_teaches_imports_public_names_only(document: Path) -> None:
    public, room = {f"fencepost.{name}" for name in fencepost.__all__}, ROOMS.get(document.name, ())
    imported = [name for program in _programs(document) for name in _imported(program)]
    assert [name for name in imported if name not in public and not name.startswith(room)] == []


def test_the_examples_of_policies_import_public_names_only() -> None:
    programs = sorted((ROOT / "docs" / "examples").rglob("*.py"))
    imported = {name.removeprefix("fencepost.") for file in programs for name in _imported(file.read_text(encoding="utf-8"))}
    assert imported
    assert imported <= set(fencepost.__all__)


def test_what_is_imported_is_seen() -> None:
    program = "import os, fencepost.model\nfrom fencepost import And\nfrom fencepost.checks import cli\nfrom posts import x"
    assert list(_imported(program)) == ["fencepost.model", "fencepost.And", "fencepost.checks.cli"]


def test_importing_the_package_loads_nothing() -> None:
    script = "import sys; before = set(sys.modules); import fencepost; dir(fencepost); print(*(set(sys.modules) - before))"
    loaded = subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True).split()
    heavy = {name for name in loaded if name.partition(".")[0] in ("z3", "numba", "llvmlite", "numpy", "hypothesis", "pyspark")}
    assert heavy == set()
    assert [name for name in loaded if name.startswith("fencepost")] == ["fencepost"]


def test_the_language_loads_neither_the_kernel_nor_z3() -> None:
    script = "import sys; from fencepost import Protocol, Suite; print('numba' in sys.modules, 'z3' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True).split() == ["False", "False"]


def test_a_name_that_there_is_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'fencepost' has no attribute 'chekc'"):
        fencepost.chekc  # noqa: B018
