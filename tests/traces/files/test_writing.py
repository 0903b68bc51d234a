"""Files are written as a whole, and an error names them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from fencepost.traces.files.writing import naming, write_text


def test_a_disk_that_fills_up_is_told_with_the_path(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as error, naming(tmp_path / "page.html"):
        Path("/dev/full").write_text("x")
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(tmp_path / "page.html"))


def test_a_path_that_the_system_names_is_kept(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error, naming(tmp_path / "page.html"):
        (tmp_path / "gone").read_text()
    assert error.value.filename == str(tmp_path / "gone")


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "page.html"
    write_text(file, "first")

    def full(self: Path, *_: object, **__: object) -> int:
        self.write_bytes(b"half of it")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match=r"page\.html"):
        write_text(file, "second")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert file.read_text() == "first"
