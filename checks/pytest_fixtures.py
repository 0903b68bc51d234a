"""What the fixtures of the pytest plug-in do: check a protocol, replay a trace, and fail the test with what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from fencepost.checks import public_calls
from fencepost.checks.engines.results.findings import Checked, PropertyError
from fencepost.checks.engines.results.verdicts import run_status
from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.inputs.own_protocols import own_protocols
from fencepost.checks.reports.report import closing, text
from fencepost.model.language import ModelError
from fencepost.properties.registry import Entry, RegistryError, Value, find
from fencepost.traces.files.itf import TraceFileError
from fencepost.traces.replay import Replay


@dataclass(frozen=True)
class Replaying:
    """Replays trace files of these protocols."""

    protocols: Mapping[str, Entry]

    def __call__(self, file: str | Path, *, bugs: Sequence[str] | None = None, protocol: str | Path | None = None) -> Replay:
        """Whether the run of a file is one of the protocol as it is now, and violates what it says.

        ``bugs`` are switched on in place of the file's: none, ``()``, asks whether the run is still possible once they are
        fixed. ``protocol`` is the file of one's own protocol, if the run is of one. Fails the test if a file cannot be read, or
        the protocol does not have the bugs.
        """
        try:
            own = () if protocol is None else own_protocols(Path(protocol), self.protocols)
            return public_calls.replay(file, {**self.protocols, **{entry.name: entry for entry in own}}, bugs=bugs)
        except (InputError, TraceFileError, RegistryError, ModelError) as error:
            pytest.fail(str(error), pytrace=False)


@dataclass(frozen=True)
class Checking:
    """Checks these protocols."""

    protocols: Mapping[str, Entry]

    def __call__(
        self,
        protocol: str | Entry,
        *,
        size: str | None = None,
        set: Mapping[str, Value] | None = None,
        bugs: Sequence[str] = (),
        violates: Sequence[str] = (),
        by: str | None = None,
        seconds: float | None = None,
        workers: int | None = 1,
    ) -> list[Checked]:
        """Checks a protocol, by its name or as it is, and fails the test with the report unless everything holds.

        Without ``size`` or ``set`` these are the instances of size ``ci`` or, with ``bugs``, the one that shows them.
        ``violates`` turns it round: each property named must be violated. ``by`` names the engine, ``seconds`` bounds each
        check; what is open then is a failure.
        """
        try:
            entry = protocol if isinstance(protocol, Entry) else find(protocol, self.protocols)
            how = partial(public_calls.check, entry, size=size, set=set, bugs=bugs, by=by, seconds=seconds, workers=workers)
            checked = [one for name in violates for one in how(properties=[name])] if violates else how()
        except (RegistryError, ModelError, PropertyError) as error:
            pytest.fail(str(error), pytrace=False)
        verdicts = [verdict for one in checked for verdict in one.verdicts]
        status = run_status(one.verdicts for one in checked)
        violated = {verdict.property.name for verdict in verdicts if verdict.verdict == "violated"}
        missed = [name for name in violates if name not in violated]
        if missed or (status and not violates):
            head = f"{', '.join(missed)}: not violated\n\n" if missed else ""
            report = "\n".join(text(one) for one in checked)
            pytest.fail(f"{head}{report}\n{closing(checked, status)}", pytrace=False)
        return checked
