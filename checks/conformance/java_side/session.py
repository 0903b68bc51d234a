"""A conversation in JSON lines with a harness in its own JVM: one line out, one line back, and an end on every path."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from fencepost.checks.conformance.java_side.causes import last_cause
from fencepost.checks.conformance.java_side.harness import Harness

ANSWER_SECONDS = 60.0
"""How long one request may take; the harness itself waits for less, and then says for what."""

ENDING_SECONDS = 10.0
"""How long a JVM may take to end when it is asked to; then it is killed."""

MEMORY = Path("/dev/shm")
"""The file system in memory that Linux has."""

ROOM = 1 << 30
"""Bytes that are to be free there; containers often have less."""


_ENCODE = json.JSONEncoder(separators=(",", ":")).encode


Told: TypeAlias = "Mapping[str, Any]"
"""What a harness tells in an answer: JSON, of which each adapter knows what it is made of."""


class _Turns(threading.local):
    """The lock that a thread holds but while it waits for an answer."""

    lock: threading.Lock | None = None


_turns = _Turns()


@contextlib.contextmanager
def taking_turns(lock: threading.Lock) -> Iterator[None]:
    """Within it this thread goes on only while it has the lock, which it lends to others while it waits for an answer."""
    with lock:
        _turns.lock = lock
        try:
            yield
        finally:
            _turns.lock = None


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Within it others have their turn."""
    lock = _turns.lock
    if lock is None:
        yield
        return
    lock.release()
    try:
        yield
    finally:
        lock.acquire()


class SessionError(Exception):
    """The harness does not answer, or answers that it failed; the message is what is known of why."""


class Session:
    """A running harness.

    It is a process group of its own, so that Ctrl-C ends it through us and not in the middle of an answer, and it ends when its
    standard input does, so that it never outlives us. Its temporary files, and what it says on standard error, are in folders
    that go when it does; with a ``folder``, a new one of the caller's, they are there and stay. ``log`` is every answer as it
    came, if ``keep_log``; a ``listener`` hears each request and its answer. Raises SessionError if it does not start.
    """

    def __init__(
        self, harness: Harness, *, seconds: float = ANSWER_SECONDS, keep_log: bool = False, folder: Path | None = None
    ) -> None:
        self.harness, self.seconds = harness, seconds
        self.log: list[bytes] = []
        self._keep_log = keep_log
        self.listener: Callable[[Mapping[str, object], Told], None] | None = None
        self._stays = folder is not None
        if folder is not None:
            folder.mkdir()
            self._folder = self._files = folder
        else:
            self._folder = Path(tempfile.mkdtemp(prefix="fencepost-"))
            self._files = Path(tempfile.mkdtemp(prefix="fencepost-", dir=_fast(self._folder)))
        self._stderr = self._folder / "stderr"
        self._rest = b""
        java, *options = harness.command
        try:
            with self._stderr.open("wb") as file:
                self._process = subprocess.Popen(
                    [java, f"-Djava.io.tmpdir={self._folder}", f"-Dfencepost.files={self._files}", *options],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=file,
                    cwd=self._folder,
                    start_new_session=True,
                )
        except OSError as error:
            self._clear()
            raise SessionError(f"{java} cannot be started: {error.strerror or error}") from error
        assert self._process.stdout is not None
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The process that runs the harness."""
        return self._process.pid

    def ask(self, request: Mapping[str, object]) -> dict[str, Any]:
        """Sends a request and returns its answer.

        An answer with ``error`` is a failure of the harness, not of the code under test, and raises SessionError; so does the
        end of the process, or no answer in time, after either of which the session is closed.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(_ENCODE(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failed("ended") from None
        line = self._line(time.monotonic() + self.seconds)
        if self._keep_log:
            self.log.append(line)
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._failed(f"says what is no JSON: {line[:200]!r}") from None
        if "error" in answer:
            raise self._failed(f"failed: {answer['error']}")
        if self.listener is not None:
            self.listener(request, answer)
        return dict(answer)

    def _line(self, deadline: float) -> bytes:
        assert self._process.stdout is not None
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            left = deadline - time.monotonic()
            with waiting():
                is_ready = left > 0 and self._selector.select(left)
            if not is_ready:
                raise self._failed(f"does not answer within {self.seconds:g} s")
            part = os.read(self._process.stdout.fileno(), 1 << 16)
            if not part:
                raise self._failed("ended")
            parts.append(part)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def _failed(self, what: str) -> SessionError:
        """The error, with what the JVM said last; the session is over."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if what == "ended":
                self._process.wait(ENDING_SECONDS)
        status = self._process.poll()
        cause = last_cause(self.stderr())
        self.close()
        ended = f" with status {status}" if what == "ended" and status is not None else ""
        return SessionError(f"the harness {what}{ended}" + (f"; it said last: {cause}" if cause and cause not in what else ""))

    def stderr(self) -> str:
        """What the JVM has said on standard error."""
        try:
            return self._stderr.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def close(self) -> None:
        """Ends the process, asked first and then killed, and removes the folder that it made. May be called again."""
        process = self._process
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
            self._selector.close()
            self._clear()

    def _clear(self) -> None:
        if self._stays:
            return
        for folder in (self._files, self._folder):
            shutil.rmtree(folder, ignore_errors=True)


def _fast(usual: Path) -> Path:
    """Where the code under test keeps its files: in memory if there is room, because it creates, syncs and removes many, and
    none is to outlive it. What else is temporary stays on disk: not everywhere can libraries be loaded from memory."""
    try:
        return MEMORY if shutil.disk_usage(MEMORY).free >= ROOM and os.access(MEMORY, os.W_OK) else usual
    except OSError:
        return usual
