"""What is said while a signal is handled."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def say_at_once(text: str) -> None:
    """Writes to standard error past its buffer: a signal may come in the middle of a write, and the buffer refuses another."""
    try:
        os.write(sys.stderr.fileno(), text.encode())
    except (OSError, ValueError):  # it is no file, or closed
        with suppress(OSError, ValueError, RuntimeError):
            sys.stderr.write(text)
