"""The wheel, an environment that has it with what it requires, and pytest; and a project of somebody else there."""

from __future__ import annotations

import tarfile
import time
from pathlib import Path

import pytest

from fencepost.model.own_sources import MARGIN
from tests.package.environment import FLOORS, ROOT, Environment, built, copied, environment

THEIR_TEST = '''\
"""Another project's tests: its own rooms, and Fencepost's fixtures."""

import checks, model, properties, tests, traces


def test_the_names_are_ours():
    assert {room.WHOSE for room in (checks, model, properties, tests, traces)} == {"theirs"}


def test_a_protocol(fencepost_check):
    (checked,) = fencepost_check("election", set={"brokers": 2}, by="walks", seconds=9)
    assert checked.entry.name == "election"


def test_a_trace(fencepost_replay):
    assert str(fencepost_replay("broken.itf.json")).startswith("replays")
    assert not fencepost_replay("broken.itf.json", bugs=()).replays
'''


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the package is made of."""
    return copied(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="session")
def unpacked(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(built("sdist", sources, folder)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        archive.extractall(folder)
    (root,) = (path for path in folder.iterdir() if path.is_dir())
    return root


@pytest.fixture(scope="session")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is made of the clone."""
    return built("wheel", sources, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel and pytest, made as if a Spark session of an earlier test were alive."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", str(ROOT))
        made = environment(tmp_path_factory.mktemp("clean"), wheel, beside=["pytest"])
    _wait_until_trusted(made)
    return made


def _wait_until_trusted(made: Environment) -> None:
    """A process keeps nothing that sources made which were saved as it began (model/own_sources.py): until they are older."""
    sources = made.python.parents[1].glob("lib/python*/site-packages/fencepost/**/*.py")
    newest = max(source.stat().st_ctime for source in sources)
    while time.time() <= newest + MARGIN:
        time.sleep(0.1)


@pytest.fixture(scope="session")
def theirs(tmp_path_factory: pytest.TempPathFactory, clean: Environment) -> Path:
    """The other project, with a trace that Fencepost found there."""
    folder = tmp_path_factory.mktemp("theirs")
    for room in (*FLOORS, "tests"):
        (folder / room).mkdir()
        (folder / room / "__init__.py").write_text('WHOSE = "theirs"\n', encoding="utf-8")
    (folder / "tests" / "test_theirs.py").write_text(THEIR_TEST, encoding="utf-8")
    asked = ["check", "election", "--bug", "creates_blindly", "--property", "node_is_taken_when_free", "--quiet"]
    run = clean.run("-m", "fencepost", *asked, "--trace-dir", "found", folder=folder)
    assert run.returncode == 12, run.stdout + run.stderr
    (trace,) = folder.glob("found/*.itf.json")
    trace.rename(folder / "broken.itf.json")
    return folder
