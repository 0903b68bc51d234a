"""What ``fencepost new`` is asked for, and what its help teaches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fencepost.checks.commands.tree import Command
from fencepost.checks.console.requests import Argument, Option

NEW = """Writes a protocol of your own to start from: a model, its properties, the instances to check and a known bug, in
NAME.py, and a test of it, in test_NAME.py. Both pass as they are. Replace the example line by line, and check after each."""

EXAMPLES = """examples:
  fencepost new lease                       lease.py and test_lease.py in this folder
  fencepost check lease.py                  check it
  fencepost check lease.py --bug taken_blindly
  pytest test_lease.py                      the same in your own test suite
  fencepost new lease --out protocols       in another folder

exit status: 0 written, 2 wrong usage, 153 a file is there already, or cannot be written"""


@dataclass(frozen=True, kw_only=True)
class NewRequest:
    """The name of the protocol, and the folder to write it to."""

    name: Annotated[str, Argument("of the protocol: lower-case letters, digits and underscores", "NAME")]
    out: Annotated[Path, Option("where to write it", "DIR", writes="folder")] = Path()


COMMAND = Command(NewRequest, "new.run:run", NEW, EXAMPLES)
