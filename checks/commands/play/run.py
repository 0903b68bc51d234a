"""``fencepost play``: a page that holds the model of a protocol, to be played with from its initial state."""

from __future__ import annotations

import math
from itertools import islice
from pathlib import Path

from fencepost.checks.commands.pages import write_recordings
from fencepost.checks.commands.play.request import PlayRequest
from fencepost.checks.console.options import UNNAMED
from fencepost.checks.console.progress import Reporter, Watch
from fencepost.checks.console.unread import chosen_aloud
from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.inputs.own_protocols import is_own, own_protocols
from fencepost.model.language import Protocol
from fencepost.model.releases import Releases
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, RegistryError, find
from fencepost.traces.explorer.content import Recording
from fencepost.traces.explorer.guide import Guide
from fencepost.traces.trace import Trace

FEW = 3
"""Known bugs that are looked for, at most."""

SMALL = 1 << 26
"""Bytes of the search for a known bug: it takes seconds, and finds the same on every machine."""

MOST = 16
"""Initial states that a page begins with, at most."""


def run(asked: PlayRequest) -> ExitStatus:
    """Writes the page; 20 if the model is too large for one.

    Raises RegistryError, ModelError or ReleaseError for an instance that there is not, InputError for a file of one's own that
    cannot be read, OSError if the page cannot be written.
    """
    entry = _entry(asked.protocol)
    shown = {name: value for bug in asked.bug for name, value in entry.shown_by.get(bug, {}).items()}
    releases = chosen_aloud(asked)
    behaviour = entry.behaviour(releases) if releases else {}
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin(f"building {entry.name}")
    protocol = entry.build({**behaviour, **shown, **entry.settings(asked.set)}, asked.bug)
    suite = entry.suite(protocol)
    reporter.end()
    initial = list(islice(protocol.initial_states(), MOST))
    recordings = [Recording(_name(protocol, state), _beginning(entry, protocol, state), suite) for state in initial]
    bug, shown_bug = ("", None) if asked.bug else _known_bug(entry, releases, reporter)
    about = Guide(entry.summary, suite, bug, None if shown_bug is None else len(recordings))
    recordings += [] if shown_bug is None else [shown_bug]
    out = Path(f"{entry.name}.html") if asked.html in (None, UNNAMED) else asked.html
    whole = write_recordings(out, recordings, reporter, about)
    every = math.prod(len(variable.initial) for variable in protocol.variables)
    print(f"page: {out}" if every <= MOST else f"page: {out} (of {every:,} initial states the first {MOST})")
    return ExitStatus.HOLDS if whole else ExitStatus.INCONCLUSIVE


def _known_bug(entry: Entry, releases: Releases | None, reporter: Reporter) -> tuple[str, Recording | None]:
    """A known bug of the releases, or else of the protocol, and the shortest run to what it violates; of the first few the
    first that a small search finds."""
    names = entry.bugs_of(releases or Releases.of()) or tuple(entry.shown_by)
    approach = Approach(by="exhaustive", workers=1, memory=SMALL)
    for name in names[:FEW]:
        instance = Instance(f"known bug: {name}", entry.shown_by[name])
        checked = check(Task(entry, instance, [name], approach), Watch(reporter))
        runs = [v for v in checked.verdicts if v.verdict == "violated" and not v.expected and v.trace is not None]
        if runs:
            trace = min((verdict.run for verdict in runs), key=lambda trace: len(trace.steps))
            return name, Recording(checked.instance.name, trace, entry.suite(checked.protocol))
    return "", None


def _beginning(entry: Entry, protocol: Protocol, state: tuple[int, ...]) -> Trace:
    """The run of no steps from an initial state."""
    return Trace(entry.name, state, parameters=dict(protocol.parameters), bugs=protocol.active)


def _name(protocol: Protocol, state: tuple[int, ...]) -> str:
    """The initial state in words: what it has of what others have otherwise."""
    values = zip(protocol.variables, state, strict=True)
    chosen = [f"{variable.name} {variable.domain.show(raw)}" for variable, raw in values if len(variable.initial) > 1]
    return f"initial state: {', '.join(chosen)}" if chosen else "initial state"


def _entry(name: str) -> Entry:
    """The protocol of that name, or the one in a file of one's own; RegistryError if that has several."""
    if not is_own(name):
        return find(name, PROTOCOLS)
    entries = own_protocols(Path(name), PROTOCOLS)
    if len(entries) != 1:
        names = ", ".join(entry.name for entry in entries)
        raise RegistryError(f"{name} has {len(entries)} protocols, and a page holds one: {names}")
    return entries[0]
