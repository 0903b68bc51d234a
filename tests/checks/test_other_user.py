"""The command as a container runs it: any uid, no home, an installation that cannot be written. No failure is a traceback."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.checks.engines.results.verdicts import ExitStatus
from tests.command import ROOT, Ran, command, stable
from tests.other_user import UID, as_other_user, reached, require_other_users

pytestmark = pytest.mark.long  # its loops are compiled for this user

SMALL = ("check", "election", "--set", "brokers=1", "--quiet")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder in which this user may write, with a temporary one; skipped where no process can be another user's."""
    require_other_users()
    folder = Path(tempfile.mkdtemp(prefix="fencepost-other-user-", dir="/tmp"))
    folder.chmod(0o755)
    (folder / "tmp").mkdir()
    (folder / "forbidden").mkdir(mode=0o700)
    (folder / "secret.conf").write_text("managedLedgerDefaultEnsembleSize=2\n")
    (folder / "secret.conf").chmod(0o600)
    for each in (folder, folder / "tmp"):
        os.chown(each, UID, UID)
    yield folder
    shutil.rmtree(folder)


def ran(folder: Path, *words: str | Path, **environment: str) -> Ran:
    around = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "tmp"), **environment}
    needed = [Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), ROOT]
    read_only = f"mount --bind {ROOT} {ROOT} && mount -o remount,bind,ro {ROOT}"
    done = as_other_user(command(*words), folder, f"{reached(needed, folder)} && {read_only}", around)
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def test_a_check_works_and_says_in_a_line_where_its_loops_are(folder: Path) -> None:
    first = ran(folder, *SMALL)
    (line,) = first.stderr.splitlines()
    assert first.returncode == 0
    assert f"cannot be written: compiled code is in {folder}/tmp/fencepost-{UID};" in line
    again = ran(folder, *SMALL)
    assert (stable(again.stdout), again.stderr) == (stable(first.stdout), "")
    assert not list(folder.glob("~")), "a home that is none"


def test_a_temporary_folder_of_somebody_else_is_not_trusted(folder: Path) -> None:
    (folder / "others" / f"fencepost-{UID}").mkdir(parents=True)
    (folder / "others").chmod(0o777)
    done = ran(folder, *SMALL, TMPDIR=str(folder / "others"))
    assert done.returncode == 0
    assert "code is compiled again in each run" in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("check", "--conf", "secret.conf"), ExitStatus.INPUT, "secret.conf: cannot be read: Permission denied"),
        (("check", "--conf", "forbidden/b.conf"), ExitStatus.INPUT, "forbidden/b.conf: cannot be read: Permission denied"),
        (("check", "election", "--baseline", "secret.conf"), ExitStatus.INPUT, "secret.conf: cannot be read"),
        (("check", "forbidden/mine.py"), ExitStatus.INPUT, "forbidden/mine.py: cannot be read: Permission denied"),
        (("check", "--conf", "x" * 300), ExitStatus.INPUT, "cannot be read: File name too long"),
        (("check", "x" * 300), ExitStatus.USAGE, "there is no"),
        (
            (*SMALL, "--trace-dir", "forbidden/traces"),
            ExitStatus.SYSTEM,
            "forbidden/traces: cannot be written: Permission denied",
        ),
        (
            (*SMALL, "--sarif", "forbidden/a.sarif"),
            ExitStatus.SYSTEM,
            "a.sarif: cannot be written: Permission denied",
        ),
        ((*SMALL, "--write-baseline", "/new.json"), ExitStatus.SYSTEM, "/new.json: cannot be written: Permission denied"),
        (
            ("lemmas", "election", "--property", "x", "--out", "/l.py"),
            ExitStatus.SYSTEM,
            "/l.py: cannot be written: ",
        ),
        (("trace", "show", "x" * 300), ExitStatus.INPUT, "File name too long"),
        (("play", "election", "--html", "forbidden/page.html"), ExitStatus.SYSTEM, "Permission denied"),
        (("export", "election", "--format", "tla", "--out", "forbidden/there"), ExitStatus.SYSTEM, "Permission denied"),
        (("policy", "decide", "--snapshot", "secret.conf"), ExitStatus.INPUT, "secret.conf: cannot be read: Permission denied"),
        (("explore", "report", "forbidden/run"), ExitStatus.SYSTEM, "Permission denied"),
        (("conform", "election"), ExitStatus.SYSTEM, "set HOME or XDG_CACHE_HOME"),
    ],
)
def test_what_cannot_be_read_or_written_is_named_in_a_line(
    folder: Path, words: tuple[str, ...], status: ExitStatus, message: str
) -> None:
    done = ran(folder, *words)
    *notes, line = done.stderr.splitlines()
    assert (done.returncode, message in line) == (status, True), done.stderr
    assert line.startswith("fencepost: ")
    assert all(note.startswith("# ") for note in notes)
