"""Mistakes in a protocol, reported while it is being built."""


class ModelError(Exception):
    """A protocol that cannot be built as written; the message names the action and the variable, and the remedy."""
