"""What the fixtures of the pytest plug-in do: check a protocol, replay a trace, and fail the test with what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.plan import Checked, Options, PropertyError, check
from fencepost.checks.engines.verdicts import exit_status
from fencepost.checks.reports.report import closing, text
from fencepost.model.language import ModelError
from fencepost.properties.registry import Entry, Instance, RegistryError, Value, find
from fencepost.traces.files.itf import TraceFileError, read
from fencepost.traces.replay import Replay, replay


@dataclass(frozen=True)
class Replaying:
    """Replays trace files of these protocols."""

    protocols: Mapping[str, Entry]

    def __call__(self, file: str | Path, *, defects: Sequence[str] | None = None) -> Replay:
        """Whether the run of a file is one of the protocol as it is now, and violates what it says.

        ``defects`` are switched on in place of the file's: none, ``()``, asks whether the run is still possible once they are
        mended. Fails the test if the file cannot be read, or the protocol does not have them.
        """
        try:
            trace, _ = read(Path(file), self.protocols)
            return replay(trace if defects is None else replace(trace, defects=tuple(defects)), self.protocols)
        except (TraceFileError, RegistryError, ModelError) as error:
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
        defects: Sequence[str] = (),
        violates: Sequence[str] = (),
        by: str | None = None,
        seconds: float | None = None,
        workers: int | None = 1,
    ) -> list[Checked]:
        """Checks a protocol, by its name or as it is, and fails the test with the report unless everything holds.

        Without ``size`` or ``set`` these are the instances of size ``ci`` or, with ``defects``, the one that shows them.
        ``violates`` turns it round: each property named must be violated. ``by`` names the engine, ``seconds`` bounds each
        check; what is open then is a failure.
        """
        try:
            entry = protocol if isinstance(protocol, Entry) else find(protocol, self.protocols)
            chosen = list(_instances(entry, size, set, defects))
            common = Options(by=by, seconds=seconds, workers=workers)
            options = [replace(common, properties=(name,)) for name in violates] or [common]
            reporter = Reporter(quiet=True)
            checked = [check(entry, i, defects, o, reporter, lambda: False) for o in options for i in chosen]
        except (RegistryError, ModelError, PropertyError) as error:
            pytest.fail(str(error), pytrace=False)
        verdicts = [verdict for one in checked for verdict in one.findings.verdicts]
        status = exit_status(verdicts)
        violated = {verdict.property.name for verdict in verdicts if verdict.verdict == "violated"}
        missed = [name for name in violates if name not in violated]
        if missed or (status and not violates):
            head = f"{', '.join(missed)}: not violated\n\n" if missed else ""
            report = "\n".join(text(one) for one in checked)
            pytest.fail(f"{head}{report}\n{closing(checked, status)}", pytrace=False)
        return checked


def _instances(entry: Entry, size: str | None, set: Mapping[str, Value] | None, defects: Sequence[str]) -> Iterator[Instance]:
    """The instances to check, each with the parameters that are set."""
    changed = dict(set or {})
    if size is not None:
        yield from (replace(i, parameters={**i.parameters, **changed}) for i in entry.instances(size))
    elif defects:
        shown = {name: value for defect in defects for name, value in entry.shown_by.get(defect, {}).items()}
        yield Instance("defect", {**shown, **changed})
    elif changed:
        yield Instance("as set", changed)
    else:
        yield from entry.instances("ci")
