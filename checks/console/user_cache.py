"""The user's cache."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


class NoCacheError(OSError):
    """The user has no folder for a cache; the message says what to set."""


def user_cache(environment: Mapping[str, str] | None = None) -> Path:
    """Where it is: ``fencepost`` in XDG_CACHE_HOME, or in ``~/.cache``. Raises NoCacheError for a user who has no home."""
    around = os.environ if environment is None else environment
    # the specification of XDG has a relative path ignored
    base = Path(around.get("XDG_CACHE_HOME") or "")
    try:
        return (base if base.is_absolute() else Path.home() / ".cache") / "fencepost"
    except RuntimeError:
        raise NoCacheError("there is no home for a cache: set HOME or XDG_CACHE_HOME to a folder that can be written") from None
