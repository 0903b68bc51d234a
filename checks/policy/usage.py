"""Arguments of a command about policies that do not fit."""

from __future__ import annotations


class WrongUsage(Exception):
    """Arguments that do not fit; the message says which and what would."""
