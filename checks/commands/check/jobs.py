"""The jobs of a check, one after the other: instances of protocols, theories, bugs of a release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fencepost.checks.commands.check.outputs import shows_only_failures
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.console.progress import Watch
from fencepost.checks.engines.ahead import Check, Means, Work
from fencepost.checks.engines.plan import Approach, Task
from fencepost.checks.engines.results.findings import Checked, PropertyError
from fencepost.checks.engines.search.sampling import Walks
from fencepost.checks.questions.bugs.searching import KnownBug, look_for
from fencepost.checks.questions.planning import Item, held_to_account, unsettled, unsettled_bug
from fencepost.model.kernel.search.checkpoint import CheckpointError
from fencepost.properties.configuration import Configuration
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.theorems import Theory

Job = tuple[Item, Instance] | KnownBug
GIB = 1 << 30
USUAL_MEMORY = 4.0
"""GiB that an exhaustive search may take, unless --memory says how many."""


def means_of(asked: CheckRequest, started: float, watch: Watch, check: Check) -> Means:
    """With what the jobs of a command that ``started`` then are done; ``check`` makes a check."""
    return Means(_approach(asked), watch, None if asked.budget is None else started + asked.budget, check)


def done(jobs: Sequence[Job], asked: CheckRequest, cluster: Configuration | None, means: Means) -> Iterator[Checked]:
    """What was found of each job, as it comes; ``cluster`` is the user's configuration.

    Jobs that are left when a stop is asked for, or when the time is up, are left out. Raises what ``check`` raises.
    """
    known, told = dict[int, Checked](), 0
    for number in _in_turn(jobs, asked):
        if means.is_over:
            break
        try:
            known[number] = _done(jobs[number], asked, _to_blame(jobs[number], cluster), means)
        except (PropertyError, CheckpointError):
            means.watch.reporter.end()
            raise
        while told in known:
            yield known.pop(told)
            told += 1


def _in_turn(jobs: Sequence[Job], asked: CheckRequest) -> list[int]:
    """The numbers of the jobs as they are done. Theories, which are left to this process, come after the first job if there is
    a second process: in the end that would have nothing to do meanwhile."""
    if asked.budget is not None or asked.cores == 1:
        return list(range(len(jobs)))
    return sorted(range(len(jobs)), key=lambda number: (number > 0, not _is_theory(jobs[number])))


def _is_theory(job: Job) -> bool:
    return not isinstance(job, KnownBug) and isinstance(job[0], Theory)


def _to_blame(job: Job, cluster: Configuration | None) -> Mapping[str, Value]:
    """What a protocol takes from the configuration, where a control that fails for it is a failure."""
    if cluster is None or isinstance(job, KnownBug) or not isinstance(job[0], Entry):
        return {}
    return job[0].taken(cluster, {}) if job[0].in_cluster.is_to_blame else {}


def done_ahead(jobs: Sequence[Job], asked: CheckRequest, for_bugs: Callable[[Check], Means] | None = None) -> Iterator[Work]:
    """The jobs for a second process, if time is not limited.

    The first job is left to the first process, which shows its rate and keeps what it has found when it is interrupted. So are
    theories: only checks are shared. Known bugs are searched for with the means ``for_bugs`` where questions come first: what
    was found for one of these is not searched again.
    """

    def usual(check: Check) -> Means:
        return Means(_approach(asked), check=check)

    if asked.budget is None:
        for job in reversed([job for job in jobs[1:] if not _is_theory(job)]):
            means = for_bugs if for_bugs is not None and isinstance(job, KnownBug) else usual
            yield lambda check, job=job, means=means: _done(job, asked, {}, means(check))  # type: ignore[misc]


def left_out(jobs: Sequence[Job], asked: CheckRequest) -> Iterator[Checked]:
    """What there was no time for, every property of it inconclusive. Raises what ``check`` raises."""
    for job in jobs:
        if isinstance(job, KnownBug):
            yield unsettled_bug(job)
        else:
            yield unsettled(*job, asked.bug, asked.property)


def _done(job: Job, asked: CheckRequest, taken: Mapping[str, Value], means: Means) -> Checked:
    if isinstance(job, KnownBug):
        return look_for(job, means)
    item, instance = job
    if isinstance(item, Theory):
        from fencepost.checks.engines.theorems import check_theory  # which loads Z3

        return check_theory(item, asked.bug, means.left, means.watch)
    checked = means.check(Task(item, instance, asked.bug, means.left), means.watch)
    return held_to_account(checked, {**taken, **item.settings(asked.set)})


def _approach(asked: CheckRequest) -> Approach:
    return Approach(
        by=asked.by,
        properties=tuple(asked.property),
        workers=asked.cores,
        memory=int((asked.memory or USUAL_MEMORY) * GIB),
        walks=Walks(asked.walks, asked.steps, asked.seed, asked.strategy),
        second_solver=asked.second_solver,
        checkpoint=asked.checkpoint,
        resume=asked.resume,
        symmetry=asked.symmetry,
        slice=not asked.no_slice,
        strict=asked.strict,
        only_failures=shows_only_failures(asked),
    )
