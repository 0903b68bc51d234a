"""Protocols as state machines for Hypothesis that write the run they fail with to a trace file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from fencepost.properties.machines import STRETCH, Machine, Violation, machine, program_of, run_of
from fencepost.properties.registry import Entry, Value
from fencepost.traces.files.itf import write
from fencepost.traces.trace import Trace, trace_of

FOLDER = Path(".hypothesis") / "traces"


def machine_of(
    protocol: str | Entry,
    parameters: Mapping[str, Value],
    bugs: Iterable[str] = (),
    only: Iterable[str] = (),
    *,
    stretch: int = STRETCH,
    folder: Path = FOLDER,
) -> type[Machine]:
    """The machine of an instance, of a protocol by its name or as it is.

    It is watched by all properties that finite runs can violate or by those named in ``only``.

    With each violation it writes the run to a file of ``folder``, named after the instance; the last that Hypothesis makes is
    the smallest. ``stretch`` is as for ``machine``. Raises RegistryError or ModelError if there is no such instance, KeyError
    if it has no such property.
    """
    bugs = tuple(bugs)
    name = protocol if isinstance(protocol, str) else protocol.name
    observed = run_of(protocol, parameters, bugs, only).observed
    base = machine(observed, stretch=stretch, made_by=program_of(protocol, parameters, bugs))

    def violation(self: Machine, finding: Violation) -> Violation:
        folder.mkdir(parents=True, exist_ok=True)
        stem = "-".join(re.sub(r"\W+", "_", part) for part in (name, *bugs, finding.property.name))
        file = folder / f"{stem}.itf.json"
        write(trace_of_violation(finding), observed.kernel.protocol, file)
        finding.add_note(f"trace: {file}")
        return finding

    return type(base.__name__, (base,), {"violation": violation})


def trace_of_violation(violation: Violation) -> Trace:
    """The run of a violation as a trace."""
    kernel = violation.observed.kernel
    states = [np.array(state, dtype=np.uint64) for state in violation.path.states]
    return trace_of(kernel, states, violation.path.actions, violated=violation.property.name, found_by="Hypothesis")
