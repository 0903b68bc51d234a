"""``fencepost new``: the skeleton of a protocol of one's own."""

from __future__ import annotations

import keyword
import re
import sys

from fencepost.checks.commands.new.request import NewRequest
from fencepost.checks.commands.new.skeleton import PROTOCOL, TEST
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError


def run(asked: NewRequest) -> ExitStatus:
    """Writes both files, or none; 153 if one of them is there. RegistryError for a name that cannot be one of a protocol."""
    name = asked.name
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise RegistryError(f"{name!r} cannot name a protocol: use lower-case letters, digits and underscores, such as lease")
    if name in PROTOCOLS:
        raise RegistryError(f"{name} is a protocol of Fencepost's own; choose another name")
    texts = {asked.out / f"{name}.py": PROTOCOL, asked.out / f"test_{name}.py": TEST}
    for file in texts:
        if file.exists():
            print(f"fencepost: {file} is there already; remove it, or choose another name or --out", file=sys.stderr)
            return ExitStatus.SYSTEM
    asked.out.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        file.write_text(text.replace("NAME", name), encoding="utf-8")
    model, test = texts
    print(f"{model}: the model, its properties, its instances and a known bug; check it with: fencepost check {model}")
    print(f"{test}: run it with: pytest {test}")
    return ExitStatus.HOLDS
