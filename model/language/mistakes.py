"""Mistakes in a protocol, reported while it is being built."""

import ast


class ModelError(Exception):
    """A protocol that cannot be built as written; the message names the action and the variable, and the remedy."""


def reason(error: Exception) -> str:
    """What an exception says, in one line; Z3 wraps its messages as the text of a bytes literal."""
    text = str(error.args[0]) if error.args else type(error).__name__
    if text.startswith(("b'", 'b"')):
        text = ast.literal_eval(text).decode()
    return " ".join(text.split())
