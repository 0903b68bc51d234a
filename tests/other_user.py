"""Commands run as a user who is nobody, with mounts of their own, as a container runs them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

UID = 61_345
"""Nobody's: it has no entry in the passwd file, and so no home."""


def require_other_users() -> None:
    """Skips the test where no process can be another user's."""
    if os.getuid() != 0 or not (shutil.which("setpriv") and shutil.which("unshare")):
        pytest.skip("only root, with setpriv and unshare, can run a command as another user")
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine has no mount namespaces for root")


def reached(needed: Iterable[Path], folder: Path) -> str:
    """Commands of a shell by which another user can reach these paths, whatever folders above them are closed to it.

    What hides them is held in ``folder`` meanwhile, where that user cannot look.
    """
    paths, lines = list(needed), list[str]()
    for number, hidden in enumerate(sorted({above for path in paths if (above := _hidden(path))})):
        held = folder / f"held-{number}"
        held.mkdir(mode=0o700, exist_ok=True)
        lines += [f"mount --bind {hidden} {held}", f"mount -t tmpfs -o mode=755 tmpfs {hidden}"]
        for path in (path for path in paths if path.is_relative_to(hidden)):
            lines += [f"mkdir -p {path}", f"mount --bind {held / path.relative_to(hidden)} {path}"]
    return " && ".join(lines or ["true"])


def as_other_user(
    words: Sequence[str | Path], folder: Path, mounts: str, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder as that user, after a shell has made its own mounts."""
    user = ["setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups", *map(str, words)]
    within = ["unshare", "--mount", "--propagation", "private", "sh", "-c", f"{mounts} && exec {shlex.join(user)}"]
    return subprocess.run(within, cwd=folder, env=dict(environment), capture_output=True, text=True, check=False)


def _hidden(path: Path) -> Path | None:
    """The highest folder above a path through which another user may not go."""
    return next((above for above in reversed(path.parents) if not above.stat().st_mode & 0o001), None)
