"""Why a program in Java or Maven failed, in one line: the last cause of all that it said."""

from __future__ import annotations

import re

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_CAUSE = re.compile(r"^\s*Caused by: (.+)", re.MULTILINE)
_THROWN = re.compile(r"^.*?((?:\w+\.)+\w*(?:Exception|Error|Throwable)\b(?:: .+)?)$", re.MULTILINE)
_FULL = "No space left on device"
_SHORT = 60
"""Characters of a cause that says too little alone: the cause before it is shown as well."""
LONGEST = 500


def last_cause(said: str) -> str:
    """The innermost cause in what a JVM printed: of the last trace of a stack, or its last line; empty if it said nothing."""
    text = _STYLE.sub("", said)
    if _FULL in text:
        return _FULL
    last_trace = text[max((found.start() for found in _THROWN.finditer(text) if "Caused by: " not in found[0]), default=0) :]
    causes = _CAUSE.findall(last_trace) or _THROWN.findall(last_trace)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (causes[-1] if causes else lines[-1] if lines else "")[:LONGEST]


def of_maven(said: str) -> str:
    """The last cause of Maven's first error, and the one before it if that alone says little; or the first line of all that it
    said."""
    lines = [line.strip() for line in _STYLE.sub("", said).splitlines() if line.strip()]
    if any(_FULL in line for line in lines):
        return _FULL
    error = next((line.removeprefix("[ERROR]").strip() for line in lines if line.startswith("[ERROR]")), "")
    causes = re.sub(r" -> \[Help \d+\]$", "", error).split(": ")
    told = causes[-1] if len(causes[-1]) > _SHORT else ": ".join(causes[-2:])
    return (told.partition(". This failure was cached")[0] or " ".join(lines[:2]) or "it says nothing")[:LONGEST]
