"""The runs that the explorer's pages show: the violations of a check, and what is beyond the guarantees of a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.questions.part_runs import runs_below
from fencepost.checks.reports.guarantees import Opening
from fencepost.model.releases import Releases
from fencepost.properties.registry import Entry
from fencepost.traces.explorer.content import Recording


def beyond(opening: Opening) -> Iterator[Recording]:
    """Of each guarantee the run in which one event more breaks it."""
    for row in opening.now.rows:
        if row.failure is not None and isinstance(row.failure.checked.entry, Entry):
            trace, protocol = row.failure.verdict.trace, row.failure.checked.protocol
            suite, below = row.failure.checked.entry.suite(protocol), runs_below(trace, protocol, opening.now.releases)
            yield Recording(f"{row.guarantee.name}: {row.failure.events} too many", trace, suite, below)


def violations(everything: Iterable[Checked], releases: Releases | None = None) -> Iterator[Recording]:
    """The run of every violated property, also of the expected ones, and of the bugs; of these releases are the runs of a
    ledger that explain a step."""
    for checked in everything:
        if not isinstance(checked.entry, Entry):  # a theory has no runs
            continue
        suite = checked.entry.suite(checked.protocol)
        instance = ", ".join([checked.entry.name, checked.instance.name, *checked.protocol.active])
        for verdict in checked.findings.verdicts:
            if verdict.trace is not None and verdict.refuted:
                below = runs_below(verdict.trace, checked.protocol, releases)
                yield Recording(f"{verdict.property.name} ({instance})", verdict.trace, suite, below)
