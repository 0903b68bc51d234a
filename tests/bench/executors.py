"""Measures an exhaustive search on Spark with two executors that are processes of their own: bytes a state, seconds a level.

Run by ``make bench``. The driver makes the first levels, the executors the others. Without pyspark a line says so.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.model.kernel.search.results import Limits
from fencepost.traces.exploration.run import Run
from tests.bench.bench import show

MASTER = "local-cluster[2,1,2048]"
PARAMETERS, HEAD = {"entries": 2}, 14
HEADINGS = ["two executors", "states", "bytes a state", "levels of theirs", "states", "s a level", "the longest", "us a state"]


def main() -> None:
    """Prints the row."""
    spark = find_spec("pyspark")
    if spark is None or spark.origin is None:
        print("two executors: not measured, pyspark is not installed")
        return
    os.environ["SPARK_HOME"] = str(Path(spark.origin).parent)  # from where Spark starts executors
    print(f"# load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    show([HEADINGS, measured()])


def measured() -> list[str]:
    """The row. A level takes from the end of the one before to its own."""
    from fencepost.traces.exploration.search import search
    from fencepost.traces.exploration.session import spark_session

    ends: list[tuple[int, float]] = []
    with tempfile.TemporaryDirectory() as folder, spark_session(MASTER) as session:
        run = Run("ledger", PARAMETERS)
        result = search(
            session,
            run,
            Path(folder),
            head=Limits(depth=HEAD),
            progress=lambda at: ends.append((at.depth, time.perf_counter())),
        )
    by_depth = dict(ends)  # of a level the last that is told of it
    times = [end for depth, end in sorted(by_depth.items()) if depth >= HEAD]
    each = [after - before for before, after in itertools.pairwise(times)]
    theirs = sum(result.level_sizes[-len(each) :])
    return [
        f"ledger, {PARAMETERS}",
        f"{result.distinct:,}",
        f"{result.bytes_in_use / result.distinct:.1f}",
        str(len(each)),
        f"{theirs:,}",
        f"{sum(each) / len(each):.1f}",
        f"{max(each):.1f}",
        f"{1e6 * sum(each) / theirs:.0f}",
    ]


if __name__ == "__main__":
    main()
