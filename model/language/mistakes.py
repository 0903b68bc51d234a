"""Mistakes in a protocol, reported while it is being built."""

import ast
import difflib
from collections.abc import Iterable


class ModelError(Exception):
    """A protocol that cannot be built as written; the message names the action and the variable, and the remedy."""


def guess(name: str, names: Iterable[str]) -> str:
    """What may be meant by a name that is none of ``names``, to be put behind it in a message; empty if none is like it."""
    close = difflib.get_close_matches(name, list(names), 1)
    return f" (did you mean {close[0]}?)" if close else ""


def reason(error: Exception) -> str:
    """What an exception says, in one line; Z3 wraps its messages as the text of a bytes literal."""
    text = str(error.args[0]) if error.args else type(error).__name__
    if text.startswith(("b'", 'b"')):
        text = ast.literal_eval(text).decode()
    return " ".join(text.split())
