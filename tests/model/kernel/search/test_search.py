"""The breadth-first search against a plain one in Python, its limits, and its checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.instructions import Code, object_code
from fencepost.model.kernel.search.checkpoint import CheckpointError
from fencepost.model.kernel.search.paths import plain
from fencepost.model.kernel.search.results import Kept, Limits, Result, Sought
from fencepost.model.kernel.search.search import search, shortest_ways
from fencepost.model.kernel.search.store import BudgetError
from fencepost.model.language import And, OneOf, Protocol, all_of

State = tuple[int, ...]


def counters(number: int, top: int, *, padding: int = 0, resets: bool = True) -> Protocol:
    """Independent counters that rise to ``top`` and, if so told, start again; padding spreads them over more words."""
    p = Protocol("counters")
    counter = p.universe("counter", number)
    value = p.number("value", 0, top, per=counter)
    if padding:
        p.number("padding", 0, 2**60 - 1, per=p.universe("pad", padding), init=lambda i: 12345 * i)
        p.flag("last", init=True)

    @p.step(by="counter", counter=counter)
    def rise(counter: int) -> Any:
        """One more."""
        return value[counter] < top, {value[counter]: value[counter] + 1}

    @p.step(by="counter", counter=counter)
    def reset(counter: int) -> Any:
        """Back to zero, which only the highest counter may do."""
        return And(resets, value[counter] == top), {value[counter]: 0}

    return p


def ring(nodes: int) -> Protocol:
    """Tokens on a ring; a node passes one on to the next, which holds at most two; a node may lose one, once."""
    p = Protocol("ring")
    node = p.universe("node", nodes)
    tokens = p.number("tokens", 0, 2, per=node, init=lambda i: 2 if i == 0 else 1)
    p.budget("losses", 1)

    @p.step(by="node", node=node)
    def send(node: int) -> Any:
        """Passes a token on."""
        after = (node + 1) % nodes
        return (
            And(tokens[node] > 0, tokens[after] < 2),
            {tokens[node]: tokens[node] - 1, tokens[after]: tokens[after] + 1},
        )

    @p.fault(by="node", node=node, spends="losses")
    def lose(node: int) -> Any:
        """Loses a token."""
        return tokens[node] == 2, {tokens[node]: 1}

    return p


def plain_levels(kernel: Kernel, most: int | None = None) -> tuple[list[set[State]], int, list[int]]:
    """The levels of the state space (or the first of them), its transitions, and those of each action, by Python alone."""
    level = {plain(state) for state in kernel.initial()}
    known, levels, transitions, enabled = set(level), [level], 0, [0] * len(kernel.actions)
    while level and len(levels) != most:
        after: set[State] = set()
        for state in level:
            packed = np.array(state, dtype=np.uint64)
            for action in kernel.enabled(packed):
                transitions += 1
                enabled[action] += 1
                after.add(plain(kernel.apply(packed, action)))
        level = after - known
        known |= level
        if level:
            levels.append(level)
    return levels, transitions, enabled


def assert_path(kernel: Kernel, states: tuple[State, ...], actions: tuple[int, ...]) -> None:
    """The run starts where the protocol starts and each step is one of its actions."""
    assert states[0] in {plain(state) for state in kernel.initial()}
    assert len(states) == len(actions) + 1
    for before, action, after in zip(states, actions, states[1:], strict=False):
        packed = np.array(before, dtype=np.uint64)
        assert action in kernel.enabled(packed)
        assert plain(kernel.apply(packed, action)) == after


@pytest.mark.parametrize(
    "protocol",
    [counters(3, 4), counters(4, 3, padding=2), counters(2, 5, resets=False), ring(4), ring(5)],
    ids=["counters", "three words", "with an end", "ring of 4", "ring of 5"],
)
def test_agrees_with_plain_search(protocol: Protocol) -> None:
    kernel = Kernel(protocol)
    levels, transitions, enabled = plain_levels(kernel)
    result = search(kernel, workers=2)
    assert result.outcome == "exhausted"
    assert result.level_sizes == tuple(map(len, levels))
    assert (result.distinct, result.transitions, result.depth) == (sum(map(len, levels)), transitions, len(levels) - 1)
    assert list(result.enabled) == enabled
    for depth, level in enumerate(levels):
        assert [plain(state) for state in result.level(depth)] == sorted(level)
        assert result.depths([plain(state) for state in level]) == [depth] * len(level)


def test_the_depth_of_a_state_that_is_in_no_complete_level_is_not_known() -> None:
    kernel = Kernel(counters(2, 5, resets=False))
    near, far = (plain(kernel.packing.pack(raw)) for raw in [(1, 1), (3, 3)])
    cut = search(kernel, limits=Limits(depth=3), workers=1)
    assert (cut.outcome, cut.depths([far, near, far])) == ("depth", [-1, 2, -1])


def test_states_are_those_of_the_levels() -> None:
    kernel = Kernel(counters(4, 6))
    result = search(kernel, workers=2)
    rows = np.concatenate(list(result.states()))
    assert len(rows) == len(np.unique(rows, axis=0)) == result.distinct == 7**4
    firsts = np.concatenate([result.level(depth) for depth in range(result.depth + 1)])
    ends = np.cumsum(result.level_sizes)
    for start, end in zip([0, *ends], ends, strict=False):
        assert sorted(map(plain, rows[start:end])) == [plain(row) for row in firsts[start:end]]


def test_a_search_may_begin_anywhere() -> None:
    kernel = Kernel(counters(2, 5, resets=False))
    start = np.stack([kernel.packing.pack(raw) for raw in [(4, 3), (3, 4)]])
    result = search(kernel, start=start, workers=2)
    raw = [[kernel.packing.unpack(state) for state in result.level(depth)] for depth in range(4)]
    assert [sorted(level) for level in raw] == [[(3, 4), (4, 3)], [(3, 5), (4, 4), (5, 3)], [(4, 5), (5, 4)], [(5, 5)]]
    assert result.outcome == "exhausted"


def test_words_of_the_packed_state() -> None:
    assert Kernel(counters(4, 3, padding=2)).words == 3


def test_several_initial_states_that_are_violations() -> None:
    p = Protocol("start")
    first = p.number("first", 0, 9, init=OneOf((7, 3, 5)))

    @p.step(by="it")
    def on() -> Any:
        """Goes on."""
        return first < 9, {first: first + 1}

    result = search(Kernel(p, [first >= 5]), Sought(alarm=[0]), workers=2)
    assert (result.outcome, result.level_sizes, result.depth) == ("violated", (3,), 0)
    (find,) = result.violations
    assert (find.depth, find.state) == (0, (5,))
    assert result.path(find).states == ((5,),)


@pytest.fixture(scope="module")
def watched() -> Kernel:
    """Counters, with formulas that hold first in the fifth level (0), never (1), and over steps (2 of them)."""
    p = counters(5, 6)
    value, after = p.state.value, p.next.value
    total, later = sum(value), sum(after)
    return Kernel(p, [And(total == 5, value[0] == value[1]), total > 30], [And(total == 4, later == 5), later < total])


def run(kernel: Kernel, **options: Any) -> Result:
    sought = Sought(**{name: options.pop(name) for name in Sought.__dataclass_fields__ if name in options})
    names = {"checkpoint": "folder", "checkpoint_every": "every", "resume": "resume"}
    kept = {field: options.pop(name) for name, field in names.items() if name in options}
    return search(kernel, sought, workers=options.pop("workers", 2), kept=Kept(**kept) if kept else None, **options)


def test_result_is_the_same_with_any_number_of_workers(watched: Kernel) -> None:
    whole = run(watched, workers=1)
    cut = run(watched, workers=1, alarm=[0], step_alarm=[0])
    assert (whole.outcome, whole.distinct, whole.seen, whole.seen_steps) == ("exhausted", 7**5, (0,), (0, 1))
    for workers in (2, 4):
        assert run(watched, workers=workers) == whole
        again = run(watched, workers=workers, alarm=[0], step_alarm=[0])
        assert again == cut
        for one, other in zip(cut.violations, again.violations, strict=True):
            assert cut.path(one, 1) == again.path(other, workers)


def test_violation_is_the_smallest_of_its_level_and_its_path_shortest(watched: Kernel) -> None:
    levels = plain_levels(watched, most=6)[0]
    result = run(watched, alarm=[0])
    (find,) = result.violations
    assert result.outcome == "violated"
    assert result.level_sizes == tuple(map(len, levels))
    assert (find.kind, find.formula, find.depth) == ("state", 0, 5)
    assert find.state == min(s for s in levels[5] if 0 in watched.observe(np.array(s, dtype=np.uint64)))
    path = result.path(find)
    assert_path(watched, path.states, path.actions)
    assert len(path.actions) == 5
    assert path.states[-1] == find.state


def test_what_is_only_watched_is_found_as_violations_are_and_ends_nothing(watched: Kernel) -> None:
    finds, through = run(watched, alarm=[0]).violations, run(watched)
    for workers in (1, 2, 4):
        result = run(watched, watch=[0, 1], workers=workers)
        assert (result.violations, result.watched) == ((), finds)
        assert replace(result, watched=()) == through


@pytest.mark.parametrize("options", [{}, {"step_alarm": [0]}, {"step_alarm": [1], "alarm": [0]}])
def test_steps_are_seen_alike_one_by_one_and_64_at_once(
    watched: Kernel, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    results = []
    for many in (0, 100, 10**9):  # at once, in the middle of a search, and never
        monkeypatch.setattr("fencepost.model.kernel.search.search.MANY_STEPS", many)
        results.append(run(watched, **options))
    assert results[0] == results[1] == results[2]
    assert results[0].seen_steps == ((0,) if options else (0, 1))
    assert bool(results[0].violations) == bool(options)


def test_violation_over_a_step(watched: Kernel) -> None:
    levels = plain_levels(watched, most=6)[0]
    result = run(watched, step_alarm=[0, 1])
    (find,) = result.violations
    assert (find.kind, find.formula, find.depth, find.state) == ("step", 0, 5, min(levels[4]))
    path = result.path(find)
    assert_path(watched, path.states, path.actions)
    assert len(path.actions) == 5
    last, after = (np.array(s, dtype=np.uint64) for s in path.states[-2:])
    assert 0 in watched.observe_step(last, after)


def test_deadlock_is_counted_and_stops_only_if_told() -> None:
    kernel = Kernel(counters(3, 4, resets=False))
    through, stopped = run(kernel), run(kernel, stop_on_deadlock=True)
    assert (through.outcome, through.deadlocks, through.violations) == ("exhausted", 1, ())
    assert stopped.outcome == "deadlock"
    assert through.deadlock == stopped.violations[0]
    path = stopped.path(stopped.violations[0])
    assert_path(kernel, path.states, path.actions)
    assert len(path.actions) == 12
    assert kernel.enabled(np.array(path.states[-1], dtype=np.uint64)) == []


def test_table_grows_within_levels_and_keeps_every_state() -> None:
    result = run(Kernel(counters(6, 7)))
    assert (result.outcome, result.distinct, result.transitions) == ("exhausted", 8**6, 6 * 8**6)
    assert result.bytes_in_use > 8 * (result.distinct / 0.8) + 8 * result.distinct  # the first table holds 52,000
    assert result.bytes_per_state < 41  # a small table grows fourfold


def test_a_full_memory_ends_it_and_the_part_is_sound() -> None:
    memory = 2 << 20
    result = run(Kernel(counters(6, 7)), limits=Limits(memory=memory))
    assert result.outcome == "memory"
    assert 0.8 * memory < result.bytes_in_use <= memory
    assert 80_000 < result.distinct < 8**6
    assert result.level_sizes == run(Kernel(counters(6, 7))).level_sizes[: len(result.level_sizes)]


def test_more_memory_goes_further_until_it_suffices() -> None:
    kernel = Kernel(counters(6, 7))  # 2 MiB of states and, at a load of 0.8, 2.5 MiB of table
    results = [run(kernel, limits=Limits(memory=mib << 20)) for mib in (2, 3, 4, 5)]
    assert [result.outcome for result in results] == ["memory", "memory", "memory", "exhausted"]
    assert sorted(result.distinct for result in results) == [result.distinct for result in results]


def test_a_memory_too_small_to_begin_with_is_refused() -> None:
    with pytest.raises(BudgetError, match="too little"):
        run(Kernel(ring(3)), limits=Limits(memory=1000))


def test_limits_of_depth_and_time_and_an_interrupt() -> None:
    kernel = Kernel(counters(5, 9))
    deep = run(kernel, limits=Limits(depth=4))
    assert (deep.outcome, deep.depth, deep.level_sizes) == ("depth", 4, (1, 5, 15, 35, 70))
    assert run(kernel, limits=Limits(seconds=0)).outcome == "time"
    asked = count()
    stopped = run(kernel, should_stop=lambda: next(asked) >= 3)
    assert (stopped.outcome, stopped.depth) == ("interrupted", 3)
    assert run(Kernel(ring(3)), limits=Limits(depth=100)).outcome == "exhausted"


def test_symmetry_visits_representatives_and_shows_real_runs() -> None:
    """The symmetry of counters: which one has which value does not matter."""
    p = counters(2, 5)
    kernel = Kernel(p, [all_of(v == 4 for v in p.state.value)], [And(p.state.value[0] == 4, p.next.value[0] == 5)])
    field = kernel.packing.fields["value[c1]"]
    assert (field.shift, field.bits) == (3, 3)
    text = """
        define void @canonical(ptr %state, ptr %out) {
          %w = load i64, ptr %state
          %low = and i64 %w, 7
          %high = lshr i64 %w, 3
          %swapped = shl i64 %low, 3
          %other = or i64 %swapped, %high
          %less = icmp ult i64 %w, %other
          %least = select i1 %less, i64 %w, i64 %other
          store i64 %least, ptr %out
          ret void
        }"""
    code = Code(object_code(text, thorough=True), ["canonical"])
    address = code.address("canonical")
    full, reduced = run(kernel), run(kernel, canonical=address)
    assert (full.distinct, reduced.distinct) == (36, 21)
    result = run(kernel, canonical=address, alarm=[0])
    path = result.path(result.violations[0])
    assert_path(kernel, path.states, path.actions)
    assert len(path.actions) == 8
    stepped = run(kernel, canonical=address, step_alarm=[0])
    path = stepped.path(stepped.violations[0])
    assert_path(kernel, path.states, path.actions)
    assert len(path.actions) == 5


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import fencepost.model.kernel.search.search as module

    ticks = count()
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(ticks)))
    reports: list[Any] = []
    result = run(Kernel(counters(3, 4)), progress=reports.append)
    assert [p.depth for p in reports] == list(range(result.depth + 1))
    assert [p.frontier for p in reports] == list(result.level_sizes)
    assert reports[-1].distinct == result.distinct


# --- checkpoints


def interrupted_after(levels: int) -> Callable[[], bool]:
    asked = count()
    return lambda: next(asked) >= levels


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("alarm", [(), (0,)], ids=["exhausted", "violated"])
def test_resumed_result_is_that_of_an_uninterrupted_search(
    tmp_path: Path, watched: Kernel, workers: int, alarm: tuple[int, ...]
) -> None:
    whole = run(watched, alarm=alarm)
    folder = tmp_path / "search"
    cut = run(watched, alarm=alarm, checkpoint=folder, should_stop=interrupted_after(2), workers=workers)
    assert (cut.outcome, cut.depth) == ("interrupted", 2)
    options = {"alarm": alarm, "checkpoint": folder, "resume": True, "workers": workers}
    again = run(watched, should_stop=interrupted_after(2), checkpoint_every=0, **options)
    assert (again.outcome, again.depth) == ("interrupted", 4)
    resumed = run(watched, **options)
    assert resumed == whole
    for one, other in zip(whole.violations, resumed.violations, strict=True):
        assert whole.path(one) == resumed.path(other)
    assert run(watched, **options) == whole


def test_a_search_that_ran_out_of_memory_goes_on_with_more(tmp_path: Path) -> None:
    kernel = Kernel(counters(6, 7))
    cut = run(kernel, limits=Limits(memory=2 << 20), checkpoint=tmp_path)
    assert cut.outcome == "memory"
    with pytest.raises(CheckpointError, match="too many"):
        run(kernel, limits=Limits(memory=1 << 20), checkpoint=tmp_path, resume=True)
    assert run(kernel, checkpoint=tmp_path, resume=True) == run(kernel)


def test_deadlocks_before_and_after_a_checkpoint(tmp_path: Path) -> None:
    p = Protocol("ends")
    left, right = p.number("left", 0, 4), p.number("right", 0, 9)
    for_left = And(right == 0, left < 4)

    @p.step(by="it")
    def leftward() -> Any:
        """Goes to an early end."""
        return for_left, {left: left + 1}

    @p.step(by="it")
    def rightward() -> Any:
        """Goes to a late end."""
        return And(left == 0, right < 9), {right: right + 1}

    kernel = Kernel(p)
    whole = run(kernel)
    assert (whole.deadlocks, whole.deadlock and whole.deadlock.depth) == (2, 4)
    run(kernel, checkpoint=tmp_path, should_stop=interrupted_after(6))
    assert run(kernel, checkpoint=tmp_path, resume=True) == whole


def test_folders_that_cannot_be_resumed(tmp_path: Path, watched: Kernel) -> None:
    folder = tmp_path / "search"
    with pytest.raises(CheckpointError, match="no search to resume"):
        run(watched, checkpoint=folder, resume=True)
    run(watched, checkpoint=folder, limits=Limits(depth=3))
    with pytest.raises(CheckpointError, match="holds a search already"):
        run(watched, checkpoint=folder)
    with pytest.raises(CheckpointError, match="another protocol"):
        run(Kernel(ring(3)), checkpoint=folder, resume=True)
    with pytest.raises(CheckpointError, match="another protocol"):
        run(watched, alarm=[1], checkpoint=folder, resume=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="cannot be written"):
        run(watched, checkpoint=tmp_path / "file")


def test_ways_are_the_shortest_and_end_where_their_goal_holds() -> None:
    p = Protocol("stairs")
    step = p.number("step", 0, 9)

    @p.step(by="child")
    def climb() -> Any:
        """One step up."""
        return step < 8, {step: step + 1}

    @p.step(by="child")
    def jump() -> Any:
        """Three steps up."""
        return step < 6, {step: step + 3}

    ways = shortest_ways(p, [step == 0, step == 9, step == 7, step > 6], Limits(memory=16 << 20))
    assert {goal: len(path.actions) for goal, path in ways.items()} == {0: 0, 2: 3, 3: 3}
    assert ways[2].states[-1] == (7,)
