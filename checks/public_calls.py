"""Checking, exploring and replaying as functions: what the commands of these names do, for a program.

They find protocols by name among Fencepost's own, take an entry for one of the caller's, and say nothing while they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fencepost.checks.engines import plan
from fencepost.checks.engines.plan import Approach
from fencepost.checks.engines.results.findings import Checked, Findings
from fencepost.checks.engines.search.exhaustive import GIB, Budget, exhaust
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, Value, find
from fencepost.properties.vocabulary import Suite
from fencepost.traces import replay as replaying
from fencepost.traces.files.itf import read
from fencepost.traces.replay import Replay
from fencepost.traces.trace import Trace


def check(
    protocol: str | Entry,
    *,
    size: str | None = None,
    set: Mapping[str, Value] | None = None,
    bugs: Sequence[str] = (),
    properties: Sequence[str] = (),
    by: str | None = None,
    seconds: float | None = None,
    workers: int | None = 1,
    slice: bool = True,
) -> list[Checked]:
    """Checks a protocol, by its name or as it is; returns what was established of each instance.

    Without ``size`` or ``set`` these are the instances of size ``ci`` or, with ``bugs``, the one that shows them.
    ``properties`` names those to check, all unless told otherwise; ``by`` names the engine, the strongest that finishes unless
    told otherwise; ``seconds`` bounds each instance, and what is open then is ``inconclusive``; ``workers`` is the number of
    threads or processes (None: one for each core). ``slice`` has a search for properties that are named visit only what these
    can see.

    Raises RegistryError for a protocol, parameter or size that there is not, ModelError for parameters that do not fit each
    other and for bugs that there are not, PropertyError for a property that the instance does not have.
    """
    entry = protocol if isinstance(protocol, Entry) else find(protocol, PROTOCOLS)
    approach = Approach(by=by, properties=tuple(properties), seconds=seconds, workers=workers, slice=slice)
    return [plan.check(plan.Task(entry, i, bugs, approach)) for i in _instances(entry, size, set, bugs)]


def explore(
    suite: Suite,
    *,
    properties: Sequence[str] = (),
    seconds: float | None = None,
    memory: int = 4 * GIB,
    workers: int | None = 1,
) -> Findings:
    """Visits every reachable state of the suite's protocol; what is violated comes with the shortest run that violates it.

    ``properties`` names those to look at, all unless told otherwise. ``seconds`` and ``memory``, in bytes, bound the search;
    what is open then is ``inconclusive``. ``workers`` is the number of threads (None: one for each core).

    Raises ModelError if an action can take a variable out of its domain, KeyError for a property that the suite does not have,
    and MemoryError if the system refuses the memory.
    """
    chosen = [suite.named(name) for name in properties] or suite.properties
    return exhaust(Observed.of(suite, chosen), Budget(memory, seconds, workers, memory))


def replay(run: Trace | str | Path, protocols: Mapping[str, Entry] = PROTOCOLS, *, bugs: Sequence[str] | None = None) -> Replay:
    """Whether a trace, or the one in a file, is a run of the protocol as it is now, and violates what it says.

    ``bugs`` are switched on in place of the run's: none, ``()``, asks whether it is still possible once they are fixed.
    Raises TraceFileError for a file that cannot be read, RegistryError or ModelError if there is no such instance.
    """
    trace = run if isinstance(run, Trace) else read(Path(run), protocols)[0]
    return replaying.replay(trace if bugs is None else replace(trace, bugs=tuple(bugs)), protocols)


def _instances(entry: Entry, size: str | None, set: Mapping[str, Value] | None, bugs: Sequence[str]) -> Iterator[Instance]:
    """The instances to check, each with the parameters that are set."""
    changed = dict(set or {})
    if size is not None:
        yield from (replace(i, parameters={**i.parameters, **changed}) for i in entry.instances(size))
    elif bugs:
        shown = {name: value for bug in bugs for name, value in entry.shown_by.get(bug, {}).items()}
        yield Instance("bug", {**shown, **changed})
    elif changed:
        yield Instance("as set", changed)
    else:
        yield from entry.instances("ci")
