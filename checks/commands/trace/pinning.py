"""``fencepost trace pin``: a trace as a test of pytest, which keeps what was found from being forgotten."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fencepost.properties.vocabulary import Property
from fencepost.traces.files.writing import write_text
from fencepost.traces.trace import Trace

HEAD = '''"""A run that `fencepost trace pin` pinned: it violates {name}{switched}."""

from pathlib import Path

TRACE = Path(__file__).with_name({file!a})
'''

OWN = """PROTOCOL = Path(__file__).parent / {protocol!a}
"""

VIOLATED = """

def test_{name}_is_violated{switched}(fencepost_replay):
    outcome = fencepost_replay(TRACE{own})
    assert outcome.replays, outcome.why
"""

GONE = """

def test_{name}_is_gone{switched}(fencepost_replay):
    assert not fencepost_replay(TRACE{bugs}{own}).replays
"""


class Pin:
    """A trace that is to be pinned in a folder, and the test of it, which finds the file of one's ``own`` protocol from there.
    Names in the test are those of the protocol, and never a file's; what else comes from outside is a literal in it.

    ``expect`` says what the test asserts: that the run is ``violated`` as it was, that it is ``gone`` (without its bugs,
    if it has any, it is no longer possible or no longer violates its property), or ``both``.
    """

    def __init__(self, trace: Trace, violated: Property, file: Path, folder: Path, expect: str, own: Path | None) -> None:
        self.trace, self.expect, self._name, self._source = trace, expect, violated.name, file
        self._own = None if own is None else os.path.relpath(own.resolve(), folder.resolve())
        self.file = folder / file.name
        stem = re.sub(r"\W+", "_", file.name.removesuffix(".itf.json"))
        self.test = folder / f"test_pinned_{stem}.py"

    @property
    def program(self) -> str:
        """The text of the test."""
        name, bugs = self._name, " and ".join(self.trace.bugs)
        program = HEAD.format(name=name, switched=f" with {bugs}" if bugs else "", file=self.file.name)
        program += OWN.format(protocol=self._own) if self._own else ""
        own = ", protocol=PROTOCOL" if self._own else ""
        if self.expect in ("both", "violated"):
            program += VIOLATED.format(name=name, switched="_with_its_bug" if bugs else "", own=own)
        if self.expect in ("both", "gone"):
            fixed = {"switched": "_without_its_bug", "bugs": ", bugs=()"}
            program += GONE.format(name=name, own=own, **(fixed if bugs else {"switched": "", "bugs": ""}))
        return program

    def write(self) -> None:
        """Writes the test, and a copy of the trace beside it. Raises OSError."""
        write_text(self.test, self.program)
        if self.file.resolve() != self._source.resolve():
            self.file.write_bytes(self._source.read_bytes())
