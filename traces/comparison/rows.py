"""What a worker does in a comparison: a run under a policy, told in one row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pyarrow as pa

from fencepost.model.balance.simulation.measures import MEASURES, measures
from fencepost.model.balance.simulation.run import Run
from fencepost.model.balance.user_policy import PolicyFault
from fencepost.traces.comparison.comparison import Comparison, Contender
from fencepost.traces.control_actions import replayed

Worker = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

ROW = pa.schema(
    [
        pa.field("run", pa.int64(), nullable=False),
        pa.field("policy", pa.string(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        *(pa.field(name, pa.float64()) for name in MEASURES),
        pa.field("violations", pa.int64()),
        pa.field("fault", pa.string()),
    ]
)
"""A run under a policy.

Its measures, each null where the run has none; how many actions were done that the protocols of ownership, unload and split do
not allow; or how a user's own policy failed in it, and then nothing else.
"""

_SPARKS_NAMES = {pa.int64(): "long", pa.string(): "string", pa.float64(): "double"}
SPARK_ROW = ", ".join(f"{field.name} {_SPARKS_NAMES[field.type]}" for field in ROW)
"""The same, as a schema of Spark."""


def worker(comparison: Comparison) -> Worker:
    """The function for ``mapInArrow``: from numbers (column ``id``) to their rows.

    Number ``n`` is run ``n // p`` under policy ``n % p`` of ``p`` policies, so that the runs of a pair are made by whoever
    is free.
    """
    return partial(_rows, comparison)


def row(comparison: Comparison, run: int, contender: Contender) -> dict[str, object]:
    """The row of one run under one policy."""
    return row_of(comparison, run, contender, partial(comparison.simulated, run, contender))


def row_of(comparison: Comparison, run: int, contender: Contender, simulated: Callable[[], Run]) -> dict[str, object]:
    """The same, of a run that is simulated in this way."""
    cells = {"run": run, "policy": contender.name, "seed": comparison.seed_of(run)}
    try:
        simulation = simulated()
    except PolicyFault as fault:
        return {**cells, "fault": str(fault)}
    values = {name: value if value == value else None for name, value in measures(simulation).as_dict().items()}
    return {**cells, **values, "violations": len(replayed(simulation).objections)}


def table(rows: Iterable[dict[str, object]]) -> pa.Table:
    """Rows as they are in Parquet."""
    return pa.Table.from_pylist(list(rows), schema=ROW)


def _rows(comparison: Comparison, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    count = len(comparison.contenders)
    for batch in batches:
        for number in batch.column("id").to_pylist():
            cells = row(comparison, number // count, comparison.contenders[number % count])
            yield pa.RecordBatch.from_pylist([cells], schema=ROW)
