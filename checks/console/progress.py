"""Progress on standard error (one line rewritten on a terminal, a line now and then elsewhere), and Ctrl-C as a request."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from fencepost.model.counts import count_of
from fencepost.traces.signals import say_at_once

if TYPE_CHECKING:  # who asks a policy need not wait for the kernel to load
    from fencepost.model.kernel.search.results import Progress
    from fencepost.model.kernel.walks.walks import WalkProgress

SILENT_SECONDS = 2.0
SELDOM_SECONDS = 15.0

LINE_AGAIN = "\r\x1b[K"
"""What makes a terminal forget the line that it is at."""


@dataclass
class Parts:
    """The parts of a run: how many there are, of what kind, since when they are being done, whether each takes about as long as
    any other, and how many are ``done``."""

    count: int
    what: str
    started: float
    even: bool = True
    done: int = 0

    def in_words(self, now: float) -> str:
        """The share that is done, and of even parts, once it is a tenth, the time that the others take."""
        done = f"{self.done} of {count_of(self.count, self.what)} ({self.done / self.count:.0%})"
        if not self.even or self.done * 10 < self.count:
            return done
        return f"{done}, about {(now - self.started) * (self.count - self.done) / self.done:.0f} s left"


class Reporter:
    """Tells how far a long run is, from two seconds on, in a pipe a line every 15 s; ``quiet`` says nothing.

    A run whose parts are counted (``expect``, ``passed`` and ``left``) tells also which share of them is done, and, if they are
    even, how long the others take at this rate; its two seconds begin with the first part.
    """

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream, self._quiet = stream or sys.stderr, quiet
        self._started = time.monotonic()
        self._due = 0.0  # when the next line may go into a pipe; the first need not wait
        self._open = False
        self._parts: Parts | None = None
        self.subject = ""

    def head(self, text: str) -> None:
        """Tells at once what the run is about, in a line that stays."""
        if not self._quiet:
            self._stream.write(f"# {text}\n")
            self._stream.flush()

    def expect(self, count: int, what: str, *, even: bool = True) -> None:
        """So many parts are to be done, each of them a ``what``; ``even`` says that each takes about as long as any other."""
        self._parts = Parts(count, what, time.monotonic(), even)

    def passed(self) -> None:
        """One more part is done."""
        if self._parts is not None:
            self._parts.done += 1

    def left(self, count: int) -> None:
        """So many parts are left, however many were passed: some were not needed."""
        if self._parts is not None:
            self._parts.done = self._parts.count - count

    def begin(self, subject: str) -> None:
        """From here on the progress is of this."""
        self.subject = subject
        self._started = time.monotonic()
        if self._parts is not None:
            self._tell("begins")

    def searching(self, at: Progress) -> None:
        """Tells of an exhaustive search; the level that is being expanded is all that is known of what is left."""
        done = "all states read back" if at.reads_back else "that done"
        part = "" if at.share is None else f", {at.share:.0%} of {done}"
        self._tell(
            f"{count_of(at.distinct, 'state')}, {count_of(at.transitions, 'transition')}, depth {at.depth}, "
            f"{at.frontier:,} to expand there{part}, {at.rate:,.0f} states/s"
        )

    def walking(self, at: WalkProgress, count: int) -> None:
        """Tells of random walks, with the time that is left at this rate."""
        seconds = time.monotonic() - self._started
        left = seconds * (count - at.walks) / max(at.walks, 1)
        sampled = f"{at.walks:,} of {count_of(count, 'walk')}, {count_of(at.steps, 'step')}"
        self._tell(f"{sampled}, {at.rate:,.0f} steps/s, about {left:.0f} s left")

    def proving(self, done: int, count: int) -> None:
        """Tells of a proof: actions done of all."""
        seconds = time.monotonic() - self._started
        self._tell(f"{done} of {count} proof tasks, about {seconds * (count - done) / max(done, 1):.0f} s left")

    def counting(self, done: int, count: int) -> None:
        """Tells how many of the states that a search with symmetry visited have been asked what they stand for."""
        self._tell(f"counted what {done:,} of {count_of(count, 'state')} stand for")

    def telling(self, text: str) -> None:
        """Tells of anything else, in its own words."""
        self._tell(text)

    def _tell(self, text: str) -> None:
        now = time.monotonic()
        on_terminal = self._stream.isatty()
        started = self._started if self._parts is None else self._parts.started
        if self._quiet or now - started < SILENT_SECONDS:
            return
        if not on_terminal and now < self._due:
            return
        self._due = now + SELDOM_SECONDS
        parts = "" if self._parts is None or self._parts.done >= self._parts.count else f"{self._parts.in_words(now)}; "
        line = f"# {parts}{self.subject}: {text}"
        self._stream.write(f"{LINE_AGAIN}{line}" if on_terminal else f"{line}\n")
        self._stream.flush()
        self._open = on_terminal

    def end(self) -> None:
        """Clears the line, so that what is printed next stands alone."""
        if self._open:
            self._stream.write(LINE_AGAIN)
            self._stream.flush()
            self._open = False


@dataclass(frozen=True)
class Watch:
    """Whoever watches a run: to whom its progress is reported, and who may stop it."""

    reporter: Reporter
    should_stop: Callable[[], bool] = lambda: False


UNWATCHED = Watch(Reporter(quiet=True))
"""Nobody watches: nothing is reported, and the run goes to its end."""


class Interrupt:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.requested = False

    def __call__(self) -> bool:
        return self.requested


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Within it a first Ctrl-C asks the run to stop and keep what it found; a second one ends the program."""
    interrupt, asked = Interrupt(), os.getpid()
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: FrameType | None) -> None:
        if interrupt.requested:
            raise KeyboardInterrupt
        interrupt.requested = True
        if os.getpid() == asked:  # the processes that it forked hear Ctrl-C, too
            say_at_once("\n# stopping; what was found is kept (once more to give up at once)\n")

    signal.signal(signal.SIGINT, handle)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
