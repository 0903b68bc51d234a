"""Exhaustive search on Spark: level by level, each written to Parquet; what is new in a level, each bucket of states tells."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from fencepost.model.counts import count_of
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.compiler.program import Program, bit_set, members
from fencepost.model.kernel.search import sealed
from fencepost.model.kernel.search import search as engine
from fencepost.model.kernel.search.expansion import Worker as Tally
from fencepost.model.kernel.search.paths import Path as Steps
from fencepost.model.kernel.search.paths import plain, through
from fencepost.model.kernel.search.results import Established, Find, Limits, Outcome, Progress, Result, with_step
from fencepost.model.kernel.search.sieve import buckets_of
from fencepost.model.kernel.search.totals import Totals
from fencepost.traces.exploration.digests import check, keep, on_spark
from fencepost.traces.exploration.explore import watched
from fencepost.traces.exploration.folder import FolderError, content_of
from fencepost.traces.exploration.levels import (
    BUCKET,
    SURVEY,
    columns,
    expanding,
    finds_of,
    schema,
    sifting,
    sorted_by_bucket,
    surveying,
    tally_of,
    tracing,
    unsigned,
)
from fencepost.traces.exploration.run import Run
from fencepost.traces.files.writing import naming

LEVELS, _STEPS = "levels", "steps"

SEARCH_SETTINGS = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4", "spark.sql.adaptive.enabled": "false"}
"""What Spark is told for a search unless the caller says otherwise; the buckets are as many as partitions are shuffled into."""

HEAD = Limits(memory=64 << 20)
"""How far the driver goes by itself: a level of a few thousand states takes Spark seconds, and the kernel a millisecond."""


@dataclass(frozen=True)
class Searched(Established):
    """What a search on Spark established; the states are in the folder's Parquet."""

    levels: Levels = field(compare=False, repr=False)

    def path(self, find: Find, workers: int | None = None) -> Steps:
        """The shortest run to a find, while the Spark session lasts; the same that the one-machine engine gives."""
        return self.levels.path(find)


def search(
    spark: SparkSession,
    run: Run,
    folder: Path,
    *,
    head: Limits = HEAD,
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[Progress], None] = lambda at: None,
) -> Searched:
    """Visits all reachable states, or goes on where the folder's search was cut off; ends with the level of a violation.

    The driver makes the first levels by itself, within the limits of the ``head``. ``should_stop`` ends the search after the
    last complete level. Raises SparkError, FolderError if its states are damaged.
    """
    return _Search(spark, run, folder, head, should_stop, progress).result()


class Levels:
    """The states of a search by level: a folder of Parquet for each, in it a file for each bucket. A state is in the same
    bucket wherever it comes from, so what is known of a bucket never moves: the task that has its new states reads it."""

    def __init__(self, spark: SparkSession, run: Run, folder: Path) -> None:
        self.spark, self.run, self.folder = spark, run, folder.resolve() / LEVELS
        self.kernel = run.observed().kernel
        self.buckets = int(str(spark.conf.get("spark.sql.shuffle.partitions")))  # a search that goes on keeps its own number

    def adopt(self, depth: int) -> None:
        """Removes what a kill may have left beyond this depth."""
        if self.folder.exists():
            names = {f"depth={d}" for d in range(depth + 1)}
            for path in self.folder.iterdir():
                if path.is_dir() and path.name not in names:
                    shutil.rmtree(path)

    def at(self, depth: int) -> Path:
        """The folder of a level."""
        return self.folder / f"depth={depth}"

    def level(self, depth: int) -> DataFrame:
        return self.spark.read.parquet(str(self.at(depth)))

    def check(self, depth: int) -> None:
        """Finds that the levels up to this depth are as they were written. Raises FolderError, SparkError."""
        errors = list[FolderError]()

        def job() -> None:
            try:
                check([self.at(d) for d in range(depth + 1)], self.run.text, on_spark(self.spark))
            except FolderError as error:
                errors.append(error)

        watched(self.spark, "levels so far", job, lambda: False, lambda share: None)
        if errors:
            raise errors[0]

    def begin(self, depth: int, states: Words) -> None:
        """Writes a level that the driver made."""
        self.at(depth).mkdir(parents=True)
        names, buckets = columns(self.kernel.words), buckets_of(states, self.buckets)
        for bucket in range(self.buckets):
            rows = np.ascontiguousarray(states[buckets == bucket].view(np.int64).T)
            table = pa.Table.from_arrays([pa.array(column) for column in rows], names)
            file = self.at(depth) / f"part-{bucket:05d}.parquet"
            with naming(file):
                pq.write_table(table, file)
        keep([self.at(depth)], self.run.text)

    def extend(self, depth: int) -> None:
        """Writes the level of this depth: the states that are one step from the last level and in no level so far."""
        # few tasks: each makes a state once, however many ways lead there, so fewer of them are shuffled
        few = self.level(depth - 1).coalesce(self.spark.sparkContext.defaultParallelism)
        reached = few.mapInArrow(expanding(self.run, self.buckets), sorted_by_bucket(self.kernel.words))
        known = [self.at(d) for d in range(depth)]
        sifted = reached.repartitionById(self.buckets, BUCKET).mapInArrow(sifting(known), schema(self.kernel.words))
        sifted.write.mode("overwrite").parquet(str(self.at(depth)))
        keep([self.at(depth)], self.run.text, on_spark(self.spark))

    def size(self, depth: int) -> int:
        """How many states a level has, as its files say."""
        return sum(pq.read_metadata(file).num_rows for file in self.at(depth).glob("*.parquet"))

    def bytes(self) -> int:
        """What the levels take on disk."""
        return sum(file.stat().st_size for file in self.folder.rglob("*.parquet"))

    def survey(self, depth: int) -> list[Tally]:
        """What the tasks tell of the steps from this level."""
        rows = self.level(depth).mapInArrow(surveying(self.run), SURVEY).collect()
        return [tally_of(self.run.observed(), row) for row in rows]

    def path(self, find: Find) -> Steps:
        """The shortest run to a find: back level by level, each time to the smallest state that leads on."""
        back = [find.state]
        for depth in range(find.depth - (find.kind == "step") - 1, -1, -1):
            schema_of = schema(self.kernel.words)
            rows = self.level(depth).mapInArrow(tracing(self.run, back[-1]), schema_of).collect()
            back.append(min(plain(unsigned(row)) for row in rows))
        states = [np.array(state, dtype=np.uint64) for state in reversed(back)]
        path = through(self.kernel, Program.of(self.kernel), states[0], states)
        return with_step(self.kernel, path, find.formula) if find.kind == "step" else path


class _Search:
    """One search under way. After each level a file says what was counted and found by then, and that the level counts."""

    def __init__(
        self,
        spark: SparkSession,
        run: Run,
        folder: Path,
        head: Limits,
        should_stop: Callable[[], bool],
        progress: Callable[[Progress], None],
    ) -> None:
        self.spark, self.head, self.should_stop, self.progress = spark, head, should_stop, progress
        self.observed = run.observed()
        self.finds = finds_of(self.observed)
        self.levels = Levels(spark, run, folder)
        self.notes = folder / _STEPS
        self.totals = Totals.none(Program.of(self.observed.kernel))
        self.sizes: list[int] = []
        self.violations: list[Find] = []
        self.ended: Outcome | None = None
        self.started, self.earlier = time.monotonic(), 0.0

    def result(self) -> Searched:
        self._resume()
        if not self.sizes:
            self._begin()
        while not self.violations and self.ended is None and not self.should_stop():
            self._step(len(self.sizes))
        outcome: Outcome = self.ended or "interrupted"
        if self.violations:
            outcome = "deadlock" if all(find.kind == "deadlock" for find in self.violations) else "violated"
        return Searched(
            outcome=outcome,
            distinct=sum(self.sizes),
            transitions=self.totals.transitions,
            depth=len(self.sizes) - 1,
            level_sizes=tuple(self.sizes),
            seen=members(np.array(self.totals.seen, dtype=np.uint64)),
            seen_steps=members(np.array(self.totals.seen_steps, dtype=np.uint64)),
            enabled=self.totals.enabled,
            deadlocks=self.totals.deadlocks,
            deadlock=self.finds.deadlock,
            violations=tuple(self.violations),
            watched=self.finds.watched,
            bytes_in_use=self.levels.bytes(),
            seconds=self.earlier + time.monotonic() - self.started,
            levels=self.levels,
        )

    def _begin(self) -> None:
        """Makes the first levels on the driver, as far as it may go."""
        result = self._by_itself(self.head)
        if result.outcome in ("memory", "time"):
            # once more, to the end of the last level that was complete: these counts are exact
            result = self._by_itself(Limits(memory=self.head.memory, depth=result.depth))
        if result.outcome == "interrupted":
            self.ended = "interrupted"
            return
        self.sizes, self.violations = list(result.level_sizes), list(result.violations)
        self.totals = _totals(result, self.observed.kernel.mask_words)
        self.ended = "exhausted" if result.outcome == "exhausted" else None
        noted = [*result.watched, *([result.deadlock] if result.deadlock else [])]
        self.finds.resume((f.kind, f.formula, f.depth, f.state) for f in noted)
        for depth in range(len(self.sizes)):
            self.levels.begin(depth, result.level(depth))
        self._note(len(self.sizes) - 1)

    def _by_itself(self, limits: Limits) -> Result:
        alarm, step_alarm = self.observed.alarms()
        return engine.search(
            self.observed.kernel,
            alarm=alarm,
            step_alarm=step_alarm,
            watch=self.observed.controls(),
            may_end=next(iter(self.observed.may_end), None),
            stop_on_deadlock=bool(self.observed.may_end),
            limits=limits,
            should_stop=self.should_stop,
            progress=self.progress,
        )

    def _step(self, depth: int) -> None:
        """Makes the level of this depth, and counts the steps that lead there."""
        tallies = list[Tally]()

        def job() -> None:
            tallies.extend(self.levels.survey(depth - 1))
            self.levels.extend(depth)

        if watched(self.spark, f"level {depth}", job, self.should_stop, self._tell):
            self._count(tallies, depth)
        else:
            self.ended = "interrupted"

    def _count(self, tallies: Sequence[Tally], depth: int) -> None:
        self.violations = self.finds.take(tallies, depth)
        self.totals = self.totals.plus(tallies)
        size = self.levels.size(depth)
        if size:
            self.sizes.append(size)
        elif not self.violations:
            self.ended = "exhausted"
        self._note(depth)

    def _tell(self, share: float) -> None:
        if self.sizes:
            distinct = sum(self.sizes)
            rate = distinct / (self.earlier + time.monotonic() - self.started)
            self.progress(Progress(len(self.sizes) - 1, distinct, self.totals.transitions, self.sizes[-1], rate))

    def _note(self, depth: int) -> None:
        """Writes down the search as it stands after a level: from here on the level counts."""
        content = {
            "run": self.levels.run.text,
            "depth": depth,
            "buckets": self.levels.buckets,
            "sizes": self.sizes,
            "totals": asdict(self.totals),
            "finds": self.finds.up_to(depth + 1),
            "violations": [(f.kind, f.formula, f.depth, f.state) for f in self.violations],
            "exhausted": self.ended == "exhausted",
            "seconds": self.earlier + time.monotonic() - self.started,
        }
        self.notes.mkdir(exist_ok=True)
        sealed.write(self.notes / f"{depth:05d}.json", content)

    def _resume(self) -> None:
        notes = sorted(self.notes.glob("[0-9]*.json"))
        if not notes:
            self.levels.adopt(-1)
            return
        held = content_of(notes[-1])
        if (held.get("run"), held.get("depth")) != (self.levels.run.text, int(notes[-1].stem)):
            raise FolderError(f"{notes[-1]} is damaged: it is of another level or run")
        self.levels.buckets = held["buckets"]
        self.sizes, self.earlier = held["sizes"], held["seconds"]
        t = held["totals"]
        bits = tuple(t["enabled"]), tuple(t["seen"]), tuple(t["seen_steps"])
        self.totals = Totals(t["distinct"], t["transitions"], t["deadlocks"], *bits)
        self.finds.resume((kind, formula, depth, tuple(state)) for kind, formula, depth, state in held["finds"])
        self.violations = [Find(kind, formula, depth, tuple(state)) for kind, formula, depth, state in held["violations"]]
        self.ended = "exhausted" if held["exhausted"] else None
        self.levels.check(len(self.sizes) - 1)
        for depth, size in enumerate(self.sizes):
            there = self.levels.size(depth)
            if there != size:
                where = self.levels.at(depth)
                raise FolderError(f"{where} is damaged: it has {count_of(there, 'state')}, and {notes[-1].name} says {size}")
        self.levels.adopt(len(self.sizes) - 1)


def _totals(result: Result, words: Mapping[str, int]) -> Totals:
    seen, seen_steps = bit_set(result.seen, words["observe"]), bit_set(result.seen_steps, words["observe_step"])
    return Totals(0, result.transitions, result.deadlocks, result.enabled, plain(seen), plain(seen_steps))
