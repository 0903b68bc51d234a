"""Measures what it takes to find each bug of each modelled release: the shortest run to it, and seconds.

Run by ``make bench`` as ``python tests/bench/time_to_find.py --known-bugs``. Each bug is looked for as ``fencepost check
--pulsar RELEASE`` does it: exhaustively, in the instance in which it is known to show, with all properties, up to the
violation with the fewest steps. Releases in which that is the same instance share a line. That the run is the shortest is
looked at once more, by a second search that goes no deeper than one step less: it finds nothing. Lines that begin with # name
the time; seconds are of one core and depend on the machine.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.bugs.searching import KnownBug, known_bugs_of, look_for
from fencepost.model.kernel.search.results import Limits, Result
from fencepost.model.kernel.search.search import search
from fencepost.model.releases import BOOKKEEPER, PULSAR, Releases
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from tests.bench.bench import show

RELEASES = tuple(Releases.of(pulsar) for pulsar in PULSAR)
"""Each release of Pulsar with the BookKeeper that it ships."""

UNSHIPPED = tuple(Releases.of(bookkeeper=number) for number in BOOKKEEPER if number not in PULSAR.values())
"""Each release of BookKeeper that none of them ships: of these the bugs of BookKeeper alone."""


def of_releases(protocols: Iterable[str]) -> Iterator[tuple[KnownBug, tuple[str, ...]]]:
    """Each bug of the releases, once for each instance in which it is looked for, and the releases for which it is that."""
    instances: dict[Any, tuple[KnownBug, list[str]]] = {}
    for releases in (*RELEASES, *UNSHIPPED):
        for bug in known_bugs_of([PROTOCOLS[name] for name in protocols], releases, None, [], []):
            if releases in UNSHIPPED and bug.bug.project != "bookkeeper":
                continue
            release = releases.pulsar if bug.bug.project == "pulsar" else releases.bookkeeper
            key = (bug.entry.name, bug.name, tuple(sorted(bug.instance.parameters.items())))
            instances.setdefault(key, (bug, []))[1].append(release)
    for bug, of in instances.values():
        yield bug, tuple(of)


def verdict_on(bug: KnownBug) -> tuple[Verdict, float]:
    """The verdict on a bug, and the seconds of a processor that it took."""
    started = time.process_time()
    checked = look_for(bug, Means(Approach(workers=1)))
    return checked.verdicts[0], time.process_time() - started


def violation(observed: Observed, limits: Limits) -> Result:
    """A search on one core up to the first violation."""
    return search(observed.kernel, observed.sought(), workers=1, limits=limits)


def shorter(bug: KnownBug, verdict: Verdict) -> list[str]:
    """The properties that a run of fewer steps violates: none. What only a whole run violates, in the end, is passed over."""
    suite = bug.entry.suite(bug.entry.build(dict(bug.instance.parameters), [bug.name]))
    finite = [p for p in suite.properties if p.kind in ("always", "step", "deadlock") and not p.strict]
    observed = Observed.of(suite, finite)
    result = violation(observed, Limits(depth=int(verdict.reach["steps"]) - 1))
    of = {"state": observed.states, "step": observed.steps}
    return [of[find.kind][find.formula].name if find.kind in of else "no_deadlock" for find in result.violations]


def main(protocols: Iterable[str]) -> None:
    """Prints the table, and says so of a bug that is not found, or in fewer steps than its run has."""
    print(f"# {os.cpu_count()} cores, {time.strftime('%Y-%m-%d %H:%M:%S %Z')}")
    rows, wrong, slowest = [["known bug", "releases", "violates", "steps", "s"]], list[str](), 0.0
    for bug, of in of_releases(protocols):
        verdict, seconds = verdict_on(bug)
        slowest = max(slowest, seconds)
        name = f"{bug.entry.name} {bug.name}"
        if verdict.verdict != "known bug":
            wrong.append(f"{name} of {', '.join(of)}: {verdict.verdict}")
            continue
        wrong += [f"{name}: {short} is violated in fewer steps" for short in shorter(bug, verdict)]
        assert verdict.shows is not None
        rows.append([name, ", ".join(of), verdict.shows.name, str(verdict.reach["steps"]), f"{seconds:.1f}"])
        print(f"# {name}", file=sys.stderr)
    show(rows)
    print(f"{len(rows) - 1} bugs of releases, the slowest found in {slowest:.1f} s.")
    print("\n".join(wrong) or "Each was found, and none in fewer steps by a search that ends one step before.")
