"""Random walks on Spark: round after round of slices into Parquet, each round complete or not there."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pyspark import InheritableThread, StatusTracker
from pyspark.sql import SparkSession

from fencepost.traces.exploration.folder import check, is_kept, keep
from fencepost.traces.exploration.java import SparkError
from fencepost.traces.exploration.places import Place, located
from fencepost.traces.exploration.run import Run
from fencepost.traces.exploration.session import reason
from fencepost.traces.exploration.spark_digests import digests_in
from fencepost.traces.exploration.stretches import SCHEMA, worker

Outcome = Literal["complete", "stopped", "interrupted"]

SLICES = "slices"
_GLANCE = 0.2
_TASKS_PER_CORE = 4


@dataclass(frozen=True)
class Progress:
    """How far a run is: walks done of all, their steps, steps per second in this session."""

    walks: int
    steps: int
    rate: float


@dataclass(frozen=True)
class News:
    """The first walk, of the rounds so far, that violates a property: its number and how many steps it takes."""

    property: str
    walk: int
    length: int


def explore(
    spark: SparkSession,
    run: Run,
    folder: Place,
    *,
    stop_on_first: bool = False,
    expected: frozenset[str] = frozenset(),
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[Progress], None] = lambda progress: None,
    news: Callable[[News], None] = lambda first: None,
) -> Outcome:
    """Makes the rounds of a run that its folder does not have yet.

    ``news`` is told of the first violation of each property, when its round is complete; with ``stop_on_first`` there is no
    round after one with a violation of a property that is not ``expected``. ``should_stop`` ends the run with the round that
    is under way left out. Raises SparkError, FolderError if a round that was kept is damaged.
    """
    violated = set[str]()
    walks = steps = before = 0
    started, digests = time.monotonic(), digests_in(spark, folder)
    for number, slices in enumerate(run.rounds()):
        target = _round(folder, number)
        if not is_kept(target):
            if stop_on_first and violated - expected:
                return "stopped"
            done = walks
            ahead = min(len(slices) * run.walks_per_slice, run.walks - done)
            per_walk = steps / walks if walks else 0.0

            def so_far(share: float) -> None:
                guess = int(share * ahead)  # noqa: B023
                steps_so_far = steps + int(guess * per_walk)  # noqa: B023
                rate = (steps_so_far - before) / max(time.monotonic() - started, 1e-9)  # noqa: B023
                if steps_so_far:
                    progress(Progress(done + guess, steps_so_far, rate))  # noqa: B023

            if not _make(spark, run, slices, target, should_stop, so_far):
                return "interrupted"
            keep([target], run.text, digests)
            made = _totals(spark, target)
        else:
            check([target], run.text, digests)
            made = _totals(spark, target)
            before += made[1]
        walks, steps = walks + made[0], steps + made[1]
        for first in _firsts(spark, target):
            if first.property not in violated:
                violated.add(first.property)
                news(first)
    return "complete"


def complete(run: Run, folder: Place) -> list[Place]:
    """The Parquet of the complete rounds in a run's folder, in order."""
    rounds = (_round(folder, number) for number in range(len(run.rounds())))
    return [path for path in rounds if is_kept(path)]


def _round(folder: Place, number: int) -> Place:
    return folder / SLICES / f"round={number:05d}"


def _make(
    spark: SparkSession,
    run: Run,
    slices: range,
    target: Place,
    should_stop: Callable[[], bool],
    progress: Callable[[float], None],
) -> bool:
    """Makes one round; false if it was given up. The driver looks on from another thread than the one that waits."""
    tasks = min(len(slices), _TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
    numbers = spark.range(slices.start, slices.stop, 1, tasks)
    rows = numbers.mapInArrow(worker(run), SCHEMA)
    path = located(target)
    return watched(spark, target.name, lambda: rows.write.mode("overwrite").parquet(path), should_stop, progress)


def watched(
    spark: SparkSession,
    name: str,
    job: Callable[[], None],
    should_stop: Callable[[], bool],
    progress: Callable[[float], None],
) -> bool:
    """Runs Spark jobs while ``progress`` is told of the share of tasks that are done; false if ``should_stop`` ended them."""
    context = spark.sparkContext
    tasks = Tasks(context.statusTracker())
    failed = list[Exception]()

    def work() -> None:
        context.setJobGroup(name, name, interruptOnCancel=True)
        try:
            job()
        except Exception as error:
            failed.append(error)

    thread = InheritableThread(target=work)
    thread.start()
    given_up = False
    while thread.is_alive():
        thread.join(_GLANCE)
        given_up = given_up or should_stop()
        if given_up:  # again at each glance: a job that has not begun yet is not cancelled
            context.cancelJobGroup(name)
        progress(tasks.share())
    gc.collect()  # objects of Py4J are in cycles, and until Python collects them the JVM keeps the plans that they stand for
    if given_up:
        return False
    if failed:
        raise SparkError(reason(failed[0])) from failed[0]
    return True


class Tasks:
    """The tasks of a session's jobs, as far as these were seen to run.

    Each number is a call into the JVM, so only jobs that run are asked for theirs: one that no longer runs has done its tasks.
    """

    def __init__(self, tracker: StatusTracker) -> None:
        self._tracker = tracker
        self._counts = dict[int, tuple[int, int]]()

    def share(self) -> float:
        """The part of the tasks that is done now."""
        running = set(self._tracker.getActiveJobsIds())
        self._counts |= {job: self._count(job) for job in running}
        done = sum(done if job in running else whole for job, (done, whole) in self._counts.items())
        whole = sum(whole for _, whole in self._counts.values())
        return done / whole if whole else 0.0

    def _count(self, job: int) -> tuple[int, int]:
        """How many tasks of a job are done, of how many."""
        info = self._tracker.getJobInfo(job)
        stages = [self._tracker.getStageInfo(stage) for stage in info.stageIds] if info else []
        return sum(each.numCompletedTasks for each in stages if each), sum(each.numTasks for each in stages if each)


def _totals(spark: SparkSession, path: Place) -> tuple[int, int]:
    """The walks of a round, and their steps."""
    (total,) = spark.read.parquet(located(path)).selectExpr("sum(walks) AS walks", "sum(steps) AS steps").collect()
    return int(total.walks), int(total.steps)


def _firsts(spark: SparkSession, path: Place) -> list[News]:
    """The first violating walk of each property in a round."""
    violations = spark.read.parquet(located(path)).selectExpr("inline(violations)")
    found = violations.selectExpr("property", "struct(walk, length) AS first").groupBy("property").agg({"first": "min"})
    return sorted((News(name, first.walk, first.length) for name, first in found.collect()), key=lambda news: news.walk)
