"""What a checkpoint resumes from: nothing that was changed since, and whatever a kill leaves."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.checkpoint import CheckpointError
from fencepost.model.kernel.search.results import Kept, Limits, Result, Sought
from fencepost.model.kernel.search.search import search
from fencepost.model.sealed import sealed, unsealed
from tests.command import ROOT
from tests.model.kernel.search.test_search import ring

SUMMARY, STATES = "search.json", "states.bin"


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    """A ring, of which a state that has no token left at its first node is watched."""
    protocol = ring(3)
    return Kernel(protocol, [protocol.state.tokens[0] == 0])


@pytest.fixture(scope="module")
def cut(kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a search that was cut off."""
    folder = tmp_path_factory.mktemp("cut") / "search"
    result = search(kernel, Sought(watch=[0]), workers=1, limits=Limits(depth=3), kept=Kept(folder))
    assert result.watched
    assert result.outcome == "depth"
    return folder


@pytest.fixture
def folder(cut: Path, tmp_path: Path) -> Path:
    """A copy of that checkpoint, to be changed."""
    return Path(shutil.copytree(cut, tmp_path / "search"))


def resumed(kernel: Kernel, folder: Path) -> Result:
    return search(kernel, Sought(watch=[0]), workers=1, kept=Kept(folder, resume=True))


def assert_refused(kernel: Kernel, file: Path) -> None:
    with pytest.raises(CheckpointError) as refused:
        resumed(kernel, file.parent)
    assert str(refused.value).startswith(f"{file} "), refused.value


def test_what_is_not_changed_is_resumed(kernel: Kernel, folder: Path) -> None:
    assert resumed(kernel, folder) == search(kernel, Sought(watch=[0]), workers=1)


@pytest.mark.long
def test_a_summary_in_which_any_byte_is_changed_is_refused(kernel: Kernel, folder: Path) -> None:
    summary, seed = folder / SUMMARY, random.Random(15)
    good = summary.read_bytes()
    for place, byte in enumerate(good):
        others = {byte ^ 1 << seed.randrange(8)}
        if chr(byte).isdigit():
            others |= set(b"0123456789") - {byte}
        for other in others:
            summary.write_bytes(good[:place] + bytes([other]) + good[place + 1 :])
            assert_refused(kernel, summary)
    for length in range(len(good)):
        summary.write_bytes(good[:length])
        assert_refused(kernel, summary)
    summary.write_bytes(good + b" ")
    assert_refused(kernel, summary)


def test_states_of_which_any_byte_is_changed_are_refused(kernel: Kernel, folder: Path) -> None:
    states = folder / STATES
    good = states.read_bytes()
    for place, byte in enumerate(good):
        states.write_bytes(good[:place] + bytes([byte ^ 1 << place % 8]) + good[place + 1 :])
        assert_refused(kernel, states)
    states.write_bytes(good[8:16] + good[:8] + good[16:])
    assert_refused(kernel, states)
    states.write_bytes(good[:-8])
    assert_refused(kernel, states)


def test_files_that_have_changed_places_are_refused(kernel: Kernel, folder: Path, tmp_path: Path) -> None:
    search(kernel, Sought(watch=[0]), workers=1, limits=Limits(depth=2), kept=Kept(tmp_path / "further"))
    further = shutil.copytree(folder, tmp_path / "mixed")
    shutil.copy(tmp_path / "further" / STATES, further)
    assert_refused(kernel, further / STATES)
    summary, states = ((folder / name).read_bytes() for name in (SUMMARY, STATES))
    (folder / SUMMARY).write_bytes(states)
    (folder / STATES).write_bytes(summary)
    assert_refused(kernel, folder / SUMMARY)


@pytest.mark.parametrize("content", ["[", "{}", "[]", "7", '{"content": {"format": 2}}', "[" * 100_000], ids=range(6))
def test_what_is_no_summary_is_refused(kernel: Kernel, folder: Path, content: str) -> None:
    (folder / SUMMARY).write_text(content)
    assert_refused(kernel, folder / SUMMARY)


def test_summaries_of_other_versions_are_told_as_such(kernel: Kernel, folder: Path) -> None:
    summary = folder / SUMMARY
    saved = unsealed(summary.read_bytes())
    summary.write_bytes(sealed({**saved, "format": 3}))
    with pytest.raises(CheckpointError, match=r"search.json has format 3, but this version reads 2"):
        resumed(kernel, folder)
    summary.write_text(json.dumps({**saved, "format": 1, "checksum": 1}))
    with pytest.raises(CheckpointError, match=r"search.json is damaged: it has no checksum, as if another version"):
        resumed(kernel, folder)


KILLED = """
import os, signal, sys
from pathlib import Path
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.results import Kept
from fencepost.model.kernel.search.search import search
from tests.model.kernel.search.test_search import ring

folder, kernel, left = Path(sys.argv[1]), Kernel(ring(3)), 0
search(kernel, workers=1)  # so that the children have its code already

def dying(frame, event, argument):
    global left
    if Path(frame.f_code.co_filename).name not in ("checkpoint.py", "sealed.py"):
        return None
    left -= event == "line"
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return dying

for left in range(5, 140, 6):
    child = os.fork()
    if not child:
        sys.settrace(dying)
        search(kernel, workers=1, kept=Kept(folder, 0, resume=folder.exists()))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.long
def test_a_search_that_is_killed_wherever_it_writes_goes_on(tmp_path: Path) -> None:
    """A process is killed before a line of what writes a checkpoint; the next one goes on, and is killed at another."""
    folder = tmp_path / "search"
    arguments = [sys.executable, "-c", KILLED, str(folder)]
    process = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True)
    statuses = [int(line) for line in process.stdout.split()]
    assert statuses.count(-9) >= 15, process
    assert set(statuses) <= {0, -9}, process.stderr
    kernel = Kernel(ring(3))
    assert search(kernel, kept=Kept(folder, resume=True)) == search(kernel)
