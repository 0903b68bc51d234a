"""Text from files that others may have written, as a terminal may get it."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with every character that does not print written as its escape, line breaks among them: a file that is shown
    can neither move the cursor, nor colour, hide or reorder what a person reads."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
