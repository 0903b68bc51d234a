"""What a Spark task does: makes slices of the random walks, and tells each in one row, which is there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial

import pyarrow as pa

from fencepost.model.kernel.walks.census import Census, Walking
from fencepost.properties.observed import Observed
from fencepost.traces.exploration.run import Run
from fencepost.traces.trace import Trace, trace_of

SCHEMA = """
slice long, first_walk long, walks long, steps long, stuck long, looked_at long,
coverage array<struct<action: string, enabled: boolean, taken: long, possible: long>>,
values array<struct<variable: string, value: string>>,
met array<struct<property: string, what: string>>,
states array<struct<fingerprint: long, visits: long>>,
violating array<struct<property: string, walks: long>>,
violations array<struct<walk: long, property: string, length: int, actions: array<string>>>
"""
"""The rows of a run, as Spark writes them: a slice of the walks each."""

KEPT = 16
"""The violating walks that a slice keeps of each property: its shortest."""

Worker = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def _several(**fields: pa.DataType) -> pa.DataType:
    return pa.list_(pa.struct(fields.items()))


_ARROW = pa.schema(
    {
        **dict.fromkeys(("slice", "first_walk", "walks", "steps", "stuck", "looked_at"), pa.int64()),
        "coverage": _several(action=pa.string(), enabled=pa.bool_(), taken=pa.int64(), possible=pa.int64()),
        "values": _several(variable=pa.string(), value=pa.string()),
        "met": _several(property=pa.string(), what=pa.string()),
        "states": _several(fingerprint=pa.int64(), visits=pa.int64()),
        "violating": _several(property=pa.string(), walks=pa.int64()),
        "violations": _several(walk=pa.int64(), property=pa.string(), length=pa.int32(), actions=pa.list_(pa.string())),
    }
)


def worker(run: Run) -> Worker:
    """The function for ``mapInArrow``: from numbers of slices (column ``id``) to their rows."""
    return partial(_rows, run)


def walking(run: Run) -> Walking:
    """The walks of a run, ready to be made; made ready once in each process."""
    return _walking(run.text)


@lru_cache(maxsize=1)
def _walking(text: str) -> Walking:
    run = Run.of(text)
    observed = run.observed()
    alarm, step_alarm = observed.alarms()
    return Walking(
        observed.kernel,
        seed=run.seed,
        steps=run.steps,
        strategy=run.strategy,
        alarm=alarm,
        step_alarm=step_alarm,
        may_end=next(iter(observed.may_end), None),
        bits=run.bits,
        keep=KEPT,
    )


def _rows(run: Run, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    walks = walking(run)
    for batch in batches:
        for number in batch.column("id").to_pylist():
            first = number * run.walks_per_slice
            census = walks.census(first, min(run.walks_per_slice, run.walks - first))
            row = {"slice": number, "first_walk": first, **_row_of(run.observed(), census)}
            yield pa.RecordBatch.from_pylist([row], schema=_ARROW)


def _row_of(observed: Observed, census: Census) -> dict[str, object]:
    """A census in the words of its protocol and properties."""
    kernel = observed.kernel
    properties = named_rows(observed)
    variables = kernel.protocol.variables
    enabled = set(census.enabled)
    counts = zip(kernel.actions, census.taken.tolist(), census.possible.tolist(), strict=True)
    return {
        "walks": census.walks,
        "steps": census.steps,
        "stuck": census.stuck,
        "looked_at": census.looked_at,
        "coverage": [
            {"action": action.label, "enabled": number in enabled, "taken": taken, "possible": possible}
            for number, (action, taken, possible) in enumerate(counts)
        ],
        "values": [
            {"variable": variable.name, "value": variable.domain.show(raw)}
            for variable, values in zip(variables, census.values, strict=True)
            for raw in values
        ],
        "met": _met(observed, census.seen),
        "states": [
            {"fingerprint": fingerprint, "visits": visits}
            for fingerprint, visits in zip(census.fingerprints.view("int64").tolist(), census.visits.tolist(), strict=True)
        ],
        "violating": [{"property": properties[row], "walks": walks} for row, walks in census.violating.items()],
        "violations": [
            {
                "walk": run.walk,
                "property": properties[row],
                "length": len(run.actions),
                "actions": [kernel.actions[action].label for action in run.actions],
            }
            for row, runs in census.shortest.items()
            for run in runs
        ],
    }


def named_rows(observed: Observed) -> dict[int, str]:
    """The properties by the row of a census that tells of their violation."""
    formulas = observed.kernel.formulas
    rows = {number: p.name for number, p in observed.states.items()}
    rows |= {formulas["observe"] + number: p.name for number, p in observed.steps.items()}
    for end in observed.may_end.values():
        rows[formulas["observe"] + formulas["observe_step"]] = end.name
    return rows


def _met(observed: Observed, seen: Iterable[int]) -> list[dict[str, str]]:
    """What was seen of the properties that only need to be seen: goals, premises, and controls that are violated."""
    controls = {number: observed.states[number] for number in observed.controls()}
    kinds = {"reached": observed.goals, "premise": observed.premises, "control": controls}
    return [
        {"property": numbered[number].name, "what": what}
        for what, numbered in kinds.items()
        for number in seen
        if number in numbered
    ]


def trace_of_walk(run: Run, walk: int) -> Trace:
    """The trace of one walk of a run, up to the violation if it ends with one (the first of several, by name)."""
    observed = run.observed()
    walks = walking(run)
    states, actions = walks.path(walk)
    rows = walks.census(walk, 1).violating
    violated = min((named_rows(observed)[row] for row in rows), default=None)
    found_by = f"walk {walk} ({run.strategy})"
    return trace_of(observed.kernel, list(states), actions, violated=violated, found_by=found_by, seed=run.seed)
