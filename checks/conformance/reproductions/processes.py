"""Programs of a release as they are shipped, each a process that can be stopped, paused and killed."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from fencepost.checks.conformance.java_side.causes import last_cause
from fencepost.checks.conformance.java_side.harness import Harness
from fencepost.checks.conformance.java_side.session import SessionError
from fencepost.checks.conformance.reproductions.stage import SECONDS

MEMORY = ("-Xmx256m", "-XX:MaxDirectMemorySize=192m", "-Djava.net.preferIPv4Stack=true", "-Dzookeeper.admin.enableServer=false")
PROGRAMS = "reproductions/programs"
"""The folder of the harnesses that start programs, and of ZooKeeper."""


_PORTS = range(20_000, 32_000)
"""None of them is taken for a connection that some process opens: Linux begins with 32,768 (ip_local_port_range)."""


def free_port() -> int:
    """A port of the loopback interface on which nothing listens, and which no connection takes until somebody does."""
    while True:
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", random.SystemRandom().choice(_PORTS)))
            return int(free.getsockname()[1])


class Process:
    """A program with a new folder that outlives it. A context that ends by killing it.

    ``flag`` precedes the name of its configuration, which has the ``settings``; ``port`` is where it listens, if it does.
    """

    def __init__(
        self,
        harness: Harness,
        folder: Path,
        flag: Sequence[str],
        settings: Mapping[str, object],
        arguments: Sequence[str] = (),
        port: int | None = None,
    ) -> None:
        self.folder, self._name, self._port = folder, folder.name, port
        folder.mkdir()
        conf = folder / "program.conf"
        conf.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")
        self._command = [*harness.command, *flag, str(conf), *arguments]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Starts its process."""
        with (self.folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=output, stderr=output, cwd=self.folder, start_new_session=True
            )

    def ended(self) -> None:
        """Waits until it has done its work. Raises SessionError if it fails or takes too long."""
        assert self._process is not None
        try:
            status = self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise SessionError(f"{self._name} does not end within {SECONDS:g} s") from None
        if status != 0:
            raise self._failed(status)

    def runs(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def _failed(self, status: int) -> SessionError:
        cause = last_cause((self.folder / "output").read_text(encoding="utf-8", errors="replace"))
        return SessionError(f"{self._name} ended with status {status}" + (f"; it said last: {cause}" if cause else ""))

    def stop(self) -> None:
        """Asks it to stop (SIGTERM), and waits until it has. Raises SessionError if it takes too long."""
        assert self._process is not None
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS)
        if self.runs():
            raise SessionError(f"{self._name} does not stop within {SECONDS:g} s")
        self.kill()

    def pause(self) -> None:
        """Its threads stand still, as in a long collection of garbage, until ``resume``."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Ends a pause."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def limit_files(self, size: int | None) -> None:
        """The kernel refuses writes of the process beyond that many bytes of a file, as it does those to a full disk; None ends
        it. Raises SessionError where the system cannot do that."""
        if not hasattr(resource, "prlimit"):
            raise SessionError("a disk that refuses writes needs Linux (prlimit)")
        assert self._process is not None
        soft = resource.RLIM_INFINITY if size is None else size
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))

    def kill(self) -> None:
        """``kill -9``; nothing if it does not run."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None

    def lose_disk(self) -> None:
        """It is killed, and its files are gone."""
        self.kill()
        shutil.rmtree(self.folder)

    def ready(self) -> None:
        """Waits until it takes connections. Raises SessionError if it does not, or has ended."""
        end = time.monotonic() + SECONDS
        while not self._listens():
            if time.monotonic() > end:
                raise SessionError(f"{self._name} does not start within {SECONDS:g} s")
            time.sleep(0.05)

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._port is not None
        if self._process.poll() is not None:
            raise self._failed(self._process.returncode)
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=1):
            return True
        return False
