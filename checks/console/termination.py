"""SIGTERM does what Ctrl-C does: pipelines and containers end a run with it. And no process of a run outlives it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

TERMINATED = 128 + signal.SIGTERM
"""The exit status of a run that SIGTERM ended, as shells have it."""

_PARENT_DIED = 1
"""The option of Linux' ``prctl`` that names the signal for a process whose parent has ended: ``PR_SET_PDEATHSIG``."""

END = 0
"""What ends the thread that reads the numbers of signals; no signal has it."""


class Termination:
    """Whether SIGTERM came."""

    def __init__(self) -> None:
        self.received = False


@contextmanager
def terminable() -> Iterator[Termination]:
    """Within it SIGTERM is noted, and passed on as SIGINT.

    A thread passes it on: while a solver thinks, Python runs no handler of its own, and the solver listens to SIGINT alone. A
    forked process ends by SIGTERM as if nothing were changed. Outside the main thread nothing is changed.
    """
    termination = Termination()
    if threading.current_thread() is not threading.main_thread():
        yield termination
        return
    asked, (reading, writing) = os.getpid(), os.pipe()
    os.set_blocking(writing, False)

    def handle(number: int, frame: FrameType | None) -> None:
        """The C handler has written to the pipe by now."""
        if os.getpid() != asked:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)

    def pass_on() -> None:
        numbers = b""
        while END not in numbers:  # a forked process may have the pipe open, so that its end never comes
            numbers = os.read(reading, 64)
            if signal.SIGTERM in numbers:
                termination.received = True
                os.kill(asked, signal.SIGINT)

    before = signal.signal(signal.SIGTERM, handle)
    former = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    watcher = threading.Thread(target=pass_on, name="termination", daemon=True)
    watcher.start()
    try:
        yield termination
    finally:
        signal.set_wakeup_fd(former)
        signal.signal(signal.SIGTERM, before)
        os.write(writing, bytes([END]))
        watcher.join()
        os.close(reading)
        os.close(writing)


def not_passed_on() -> None:
    """In a process that was just forked: SIGTERM ends it at once, and whoever forked it hears nothing of that."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def end_with(parent: int) -> None:
    """In a process that ``parent`` has just forked: it ends when its parent does, whatever it is at and however that ended.

    Nothing else ends one whose parent was killed: it may be within a solver, or wait for somebody to read what it has sent.
    Outside Linux it has no effect.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DIED, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before this process could ask to hear of it
            os.kill(os.getpid(), signal.SIGKILL)
