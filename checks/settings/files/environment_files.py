"""Environment files: the variables from which images of Pulsar and of BookKeeper make their configuration, one a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from fencepost.checks.settings.files.properties_file import Setting

Owner = Literal["", "broker", "bookie"]
"""Whose settings they are; empty where the file does not say it."""

Image = Literal["", "pulsar", "bookkeeper"]
"""Which image applies settings to a file of its own; empty for a file that is used as it is."""

PREFIX = "PULSAR_PREFIX_"
"""What is before a key in the environment: the image adds such a key to the file, and others only if the file has them."""

BOOKKEEPER = "BK_"
"""What is before a key in the environment of BookKeeper's own image, whose other variables are no settings: BOOKIE_PORT, ..."""

ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_][\w.]*)=(.*)")


def is_environment(text: str) -> bool:
    """Whether a text is an environment file and no broker.conf: some line of it sets a variable with a prefix."""
    return re.search(rf"^\s*(?:export\s+)?(?:{PREFIX}\w|{BOOKKEEPER}[a-z]\w*=)", text, re.MULTILINE) is not None


def variables(text: str) -> Iterator[Setting]:
    """The variables of an environment file, each with its line; comments and what is no assignment are left out.

    A pair of quotes around a value is taken off, as a shell and Docker Compose do.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if match := ASSIGNMENT.fullmatch(line):
            key, value = match[1], match[2].strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
            yield Setting(key, value[1:-1] if quoted else value, number)


def bookkeepers(settings: Sequence[Setting]) -> list[Setting]:
    """Of some variables the settings of a bookie in BookKeeper's own image.

    Mirrors docker/scripts/apply-config-from-env.py of BookKeeper, which changes what the file has, commented out or not.
    """
    mine = [one for one in settings if re.match(f"{BOOKKEEPER}[a-z]", one.key)]
    return [Setting(one.key.removeprefix(BOOKKEEPER), one.value.strip(), one.line) for one in mine]


def as_applied(settings: Sequence[Setting]) -> list[Setting]:
    """Variables as settings, in the order in which Pulsar's images apply them: those with the prefix last, and without it.

    Mirrors docker/pulsar/scripts/apply-config-from-env.py of Pulsar, which also trims values.
    """
    plain = [one for one in settings if not one.key.startswith(PREFIX)]
    prefixed = [Setting(one.key.removeprefix(PREFIX), one.value, one.line) for one in settings if one not in plain]
    return [Setting(one.key, one.value.strip(), one.line) for one in (*plain, *prefixed)]
