"""The jobs of a check, one after the other: instances of protocols, theories, bugs of a release."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from fencepost.checks.commands.check.outputs import shows_only_failures
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.console.progress import UNWATCHED, Watch
from fencepost.checks.engines.ahead import Work
from fencepost.checks.engines.plan import Approach, Task
from fencepost.checks.engines.results.findings import Checked, PropertyError
from fencepost.checks.engines.search.sampling import Walks
from fencepost.checks.questions.bugs.searching import KnownBug, Searches, look_for
from fencepost.checks.questions.planning import Item, held_to_account, unsettled, unsettled_bug
from fencepost.model.kernel.search.checkpoint import CheckpointError
from fencepost.properties.configuration import Configuration
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.theorems import Theory

Job = tuple[Item, Instance] | KnownBug
GIB = 1 << 30
USUAL_MEMORY = 4.0
"""GiB that an exhaustive search may take, unless --memory says how many."""


def done(
    jobs: Sequence[Job],
    asked: CheckRequest,
    cluster: Configuration | None,
    started: float,
    watch: Watch,
    searches: Searches,
) -> Iterator[Checked]:
    """What was found of each job, as it comes; ``cluster`` is the user's configuration, ``searches``
    those for bugs that were made before, and what makes a check.

    Jobs that are left when a stop is asked for, or when the time that began at ``started`` is up, are left out. Raises what
    ``check`` raises.
    """
    for job in jobs:
        left = None if asked.budget is None else asked.budget - (time.monotonic() - started)
        if watch.should_stop() or (left is not None and left <= 0):
            return
        try:
            taken = _to_blame(job, cluster)
            checked = _done(job, asked.bug, asked.set, taken, _approach(asked, left), watch, searches)
        except (PropertyError, CheckpointError):
            watch.reporter.end()
            raise
        yield checked


def _to_blame(job: Job, cluster: Configuration | None) -> Mapping[str, Value]:
    """What a protocol takes from the configuration, where a control that fails for it is a failure."""
    if cluster is None or isinstance(job, KnownBug) or not isinstance(job[0], Entry):
        return {}
    return job[0].taken(cluster, {}) if job[0].in_cluster.is_to_blame else {}


def done_ahead(jobs: Sequence[Job], asked: CheckRequest) -> Iterator[Work]:
    """The jobs for a second process, if time is not limited.

    The first job is left to the first process, which shows its rate and keeps what it has found when it is interrupted. So are
    theories: only checks are shared.
    """
    if asked.budget is None:
        for job in reversed([job for job in jobs[1:] if isinstance(job, KnownBug) or not isinstance(job[0], Theory)]):
            yield lambda check, job=job: _done(  # type: ignore[misc]
                job, asked.bug, asked.set, {}, _approach(asked, None), UNWATCHED, Searches(check)
            )


def left_out(jobs: Sequence[Job], asked: CheckRequest) -> Iterator[Checked]:
    """What there was no time for, every property of it inconclusive. Raises what ``check`` raises."""
    for job in jobs:
        if isinstance(job, KnownBug):
            yield unsettled_bug(job)
        else:
            yield unsettled(*job, asked.bug, asked.property)


def _done(
    job: Job,
    bugs: Sequence[str],
    changes: Sequence[str],
    taken: Mapping[str, Value],
    approach: Approach,
    watch: Watch,
    searches: Searches,
) -> Checked:
    if isinstance(job, KnownBug):
        return look_for(job, approach, searches, watch)
    item, instance = job
    if isinstance(item, Theory):
        from fencepost.checks.engines.theorems import check_theory  # which loads Z3

        return check_theory(item, bugs, approach, watch)
    checked = searches.check(Task(item, instance, bugs, approach), watch)
    return held_to_account(checked, {**taken, **item.settings(changes)})


def _approach(asked: CheckRequest, seconds: float | None) -> Approach:
    return Approach(
        by=asked.by,
        properties=tuple(asked.property),
        workers=asked.cores,
        memory=int((asked.memory or USUAL_MEMORY) * GIB),
        seconds=seconds,
        walks=Walks(asked.walks, asked.steps, asked.seed, asked.strategy),
        second_solver=asked.second_solver,
        checkpoint=asked.checkpoint,
        resume=asked.resume,
        symmetry=asked.symmetry,
        slice=not asked.no_slice,
        strict=asked.strict,
        only_failures=shows_only_failures(asked),
    )
