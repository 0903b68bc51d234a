"""Exhaustive search beyond memory on one machine: level by level on disk, where the duplicates of a level are found afterwards.

A level is made in two passes. First its predecessors are expanded, and their successors are written by bucket, a hash of the
state. Then, bucket by bucket, these are put in a table, what earlier levels have is struck out, and the rest is written in
order. So memory holds the new states of one level in one bucket for each thread, and what is known is only read.

As long as there is memory for five bytes a state and its halves, what is known is struck out in the first pass, as successors
are made, and never read. The files are the same.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain
from pathlib import Path
from queue import Empty, SimpleQueue

import numpy as np

from fencepost.model.kernel.compiler.loops import Crew
from fencepost.model.kernel.compiler.packing import Words
from fencepost.model.kernel.search.collapsed import SAMPLE, Collapsed
from fencepost.model.kernel.search.expansion import Tally
from fencepost.model.kernel.search.paths import plain
from fencepost.model.kernel.search.pieces import (
    CodingError,
    Pieces,
    buckets_of,
    by_bucket,
    count_states,
    in_order,
    new_states,
    predecessors,
    read_states,
    write_states,
)
from fencepost.model.kernel.search.results import Finds, Limits, Progress
from fencepost.model.kernel.search.store import BudgetError
from fencepost.model.kernel.search.unknown import Unknown
from fencepost.traces.exploration.folder import FolderError, check, keep
from fencepost.traces.exploration.levelwise import HEAD, LEVELS, Levels, LevelSearch, Searched
from fencepost.traces.exploration.run import Run
from fencepost.traces.files.writing import naming

BUCKETS = 64
"""With so many, a thread holds some 100 MB of a level of 10^8 states."""

_AHEAD = 3
"""States of the next level for each of the last one, for which there is room at most: a level seldom has twice as many."""

_GROWTH = 1.25
"""There is room for so many times the states that the next level has if it grows as the last one did."""


def search_on_disk(
    run: Run,
    folder: Path,
    *,
    head: Limits = HEAD,
    workers: int | None = None,
    buckets: int = BUCKETS,
    memory: int = Limits.memory,
    should_stop: Callable[[], bool] = lambda: False,
    progress: Callable[[Progress], None] = lambda at: None,
) -> Searched:
    """Visits all reachable states, or goes on where the folder's search was cut off; ends with the level of a violation.

    The first levels are made in memory, within the limits of the ``head``. ``workers`` is the number of threads (None: one for
    each core), ``buckets`` that of the parts of a level, ``memory`` the bytes for what is known. ``should_stop`` ends the
    search after the last complete level. Raises OSError, FolderError if its states are damaged or Spark wrote them.
    """
    if begun_on_spark(folder):
        raise FolderError(f"{folder} holds a search that Spark began: go on with it by --master")
    levels = DiskLevels(run, folder, buckets, workers, memory)
    return LevelSearch(levels, folder, head, should_stop, progress).result()


def begun_on_spark(folder: Path) -> bool:
    """Whether the search of a folder, if there is one, was begun on Spark."""
    return any((folder / LEVELS).glob("depth=0/*.parquet"))


class DiskLevels(Levels):
    """Levels as files of coded states, made by the threads of this process."""

    files = "*.states"

    def __init__(self, run: Run, folder: Path, buckets: int, workers: int | None, memory: int) -> None:
        super().__init__(run, folder, buckets)
        self._workers, self._memory = workers, memory
        self._known: Collapsed | None = None
        self._has_room = self.kernel.words > 1

    def check(self, depth: int) -> None:
        check([self.at(d) for d in range(depth + 1)], self.run.text)

    def begin(self, depth: int, states: Words) -> None:
        self.at(depth).mkdir(parents=True)
        buckets = buckets_of(states, self.buckets)
        for bucket in range(self.buckets):
            rows = states[buckets == bucket]
            self._write(depth, bucket, in_order(rows))
        keep([self.at(depth)], self.run.text)

    def step(
        self, depth: int, finds: Finds, should_stop: Callable[[], bool], tell: Callable[[float], None]
    ) -> list[Tally] | None:
        self.at(depth).mkdir(parents=True)
        work, reached = _Work(should_stop, tell, self.buckets, 2), self.folder / f"reached={depth}"
        with Crew(self._workers) as crew:
            self._get_ready(depth, crew, work)
            expanded = crew.run(
                lambda number: self._expand(depth - 1, work.buckets(0), finds, reached / str(number), number), work.look
            )
            tallies, are_new = [tally for tally, _ in expanded], all(every for _, every in expanded)
            crew.run(lambda number: self._sift(depth, work.buckets(1), reached, are_new), work.look)
        if not are_new:
            self._known = None  # it has no more than a part of this level
        shutil.rmtree(reached)
        if work.is_over:
            shutil.rmtree(self.at(depth))
            return None
        keep([self.at(depth)], self.run.text)
        return tallies

    def size(self, depth: int) -> int:
        return sum(map(count_states, self.at(depth).glob(self.files)))

    def before(self, depth: int, state: tuple[int, ...]) -> tuple[int, ...]:
        target, work = np.array(state, dtype=np.uint64), _Work(lambda: False, lambda share: None, self.buckets, 1)

        def smallest(number: int) -> Words:
            states = chain.from_iterable(self._states(depth, bucket) for bucket in work.buckets(0))
            return predecessors(self.kernel, states, target)

        with Crew(self._workers) as crew:
            return min(plain(row) for rows in crew.run(smallest) for row in rows)

    def _get_ready(self, depth: int, crew: Crew, work: _Work) -> None:
        """Makes room for what a level of this depth may have. Without memory for it ``_known`` is None from then on."""
        if not self._has_room:
            return
        expected = self._expected(depth)
        if self._known is not None and self._known.make_room(expected, crew):
            return
        self._known = None  # its memory goes before another takes some
        try:
            known = Collapsed(self._sample(depth - 1), self._memory, crew.size)
            sizes = [self.size(earlier) for earlier in range(depth)]
            self._has_room = known.make_room(sum(sizes) + expected, crew) and self._take_in(sizes, known, crew, work)
        except BudgetError:
            self._has_room = False
        if self._has_room:
            self._known = known

    def _expected(self, depth: int) -> int:
        """For how many states of a level there is to be room."""
        last = self.size(depth - 1)
        growth = last / max(self.size(depth - 2), 1) if depth > 1 else _AHEAD
        return int(last * min(_AHEAD, _GROWTH * growth))

    def _sample(self, depth: int) -> Words:
        """Some states of a level, in which all its buckets have a part if they are few."""
        pieces, count = list[Words](), 0
        for states in chain.from_iterable(self._states(depth, bucket) for bucket in range(self.buckets)):
            pieces.append(states)
            count += len(states)
            if count >= SAMPLE:
                break
        return np.concatenate(pieces)

    def _take_in(self, sizes: Sequence[int], known: Collapsed, crew: Crew, work: _Work) -> bool:
        """Has the states of the levels of these sizes known; false if there is no room for them, or if that is cut off."""

        def learn(depth: int, parts: _Work, thread: int) -> bool:
            states = chain.from_iterable(self._states(depth, bucket) for bucket in parts.buckets(0))
            return all(known.unknown(rows, thread)[1] for rows in states)

        def tell(depth: int, share: float) -> None:
            work.tell((sum(sizes[:depth]) + share * sizes[depth]) / sum(sizes))

        self.reads_back = True
        try:
            depth = 0
            while depth < len(sizes) and known.make_room(sizes[depth], crew):
                parts = _Work(work.should_stop, partial(tell, depth), self.buckets, 1)
                if all(crew.run(partial(learn, depth, parts), parts.look)):
                    depth += 1
                if parts.is_over:
                    return False
        finally:
            self.reads_back = False
        return depth == len(sizes)

    def _expand(self, depth: int, buckets: Iterable[int], finds: Finds, out: Path, thread: int) -> tuple[Tally, bool]:
        """Writes the successors of a level's states in these buckets, each at least once, to a file for each bucket; of what is
        known, none, if there is room for that. Whether these are all new, and each there once."""
        out.mkdir(parents=True)
        known = self._known
        pieces = Pieces(self.kernel, finds) if known is None else Unknown(self.kernel, finds, known, thread)
        states = chain.from_iterable(self._states(depth, bucket) for bucket in buckets)
        with ExitStack() as opened:
            paths = [out / str(bucket) for bucket in range(self.buckets)]
            files = [opened.enter_context(path.open("wb", buffering=0)) for path in paths]
            for piece in pieces.successors(states):
                rows, ends = by_bucket(piece, self.buckets)
                for path, file, start, end in zip(paths, files, [0, *ends], ends, strict=False):
                    with naming(path):
                        file.write(rows[start:end].data)
        return pieces.worker, isinstance(pieces, Unknown) and pieces.every

    def _sift(self, depth: int, buckets: Iterable[int], reached: Path, are_new: bool) -> None:
        """Writes what is new of these buckets in a level, which may be all and each once."""
        for bucket in buckets:
            files = sorted(reached.glob(f"*/{bucket}"))
            pieces = [np.fromfile(file, dtype=np.uint64).reshape(-1, self.kernel.words) for file in files]
            if are_new:
                self._write(depth, bucket, in_order(np.concatenate(pieces)))
            else:
                known = chain.from_iterable(self._states(d, bucket) for d in range(depth))
                self._write(depth, bucket, new_states(pieces, known))

    def _write(self, depth: int, bucket: int, states: Words) -> None:
        path = self._file(depth, bucket)
        with naming(path), path.open("wb") as file:
            write_states(file, states)

    def _states(self, depth: int, bucket: int) -> Iterator[Words]:
        try:
            yield from read_states(self._file(depth, bucket), self.kernel.words)
        except CodingError as error:
            raise FolderError(f"{self._file(depth, bucket)} is damaged: {error}") from error

    def _file(self, depth: int, bucket: int) -> Path:
        return self.at(depth) / f"part-{bucket:05d}.states"


class _Work:
    """What the threads of a step share: its buckets, each for one of them, in as many passes as it takes, and whether
    ``should_stop`` has said that nobody takes another."""

    def __init__(self, should_stop: Callable[[], bool], tell: Callable[[float], None], buckets: int, passes: int) -> None:
        self.should_stop, self.tell = should_stop, tell
        self._queues = [SimpleQueue[int]() for _ in range(passes)]
        self._all = passes * buckets
        self.is_over = False
        for queue in self._queues:
            for bucket in range(buckets):
                queue.put(bucket)

    def look(self) -> None:
        """To be called now and then by the thread that waits."""
        self.is_over = self.is_over or self.should_stop()
        self.tell(1 - sum(queue.qsize() for queue in self._queues) / self._all)

    def buckets(self, number: int) -> Iterator[int]:
        """Buckets of a pass for the thread that asks, until there are no more."""
        while not self.is_over:
            try:
                yield self._queues[number].get_nowait()
            except Empty:
                return
