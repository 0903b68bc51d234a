"""Random walks: reproducible, as likely as their strategy says, and of the same result with any number of workers."""

from __future__ import annotations

import ctypes
import itertools
import random
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, get_args

import numpy as np
import pytest

import fencepost.model.kernel.walks.walks
from fencepost.model.bookkeeper.ledger import ledger
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.loops import HAS_DEPOSIT, by_clearing, by_deposit
from fencepost.model.kernel.compiler.program import Program, bit_set, members
from fencepost.model.kernel.search.search import search
from fencepost.model.kernel.walks.course import Sample, Strategy
from fencepost.model.kernel.walks.walking import first_of
from fencepost.model.kernel.walks.walks import WalkResult, random_walks, walk_path
from fencepost.model.language import And, Not, OneOf, Protocol

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def grid(*, size: int = 40, starts: tuple[int, ...] = (0,), padding: int = 0, wraps: bool = True) -> Protocol:
    """A point that goes east or north on a grid and, where it wraps, comes back on the other side."""
    p = Protocol("grid")
    if padding:
        p.number("padding", 0, 2**60 - 1, per=p.universe("pad", padding), init=lambda i: i + 1)
    x = p.number("x", 0, size - 1, init=OneOf(starts))
    y = p.number("y", 0, size - 1)

    @p.step(by="point")
    def east() -> Any:
        """One to the east."""
        return x < size - 1, {x: x + 1}

    @p.step(by="point")
    def north() -> Any:
        """One to the north."""
        return y < size - 1, {y: y + 1}

    @p.step(by="point")
    def back() -> Any:
        """To the other side."""
        return And(wraps, x == size - 1), {x: 0}

    @p.step(by="point")
    def down() -> Any:
        """To the bottom."""
        return And(wraps, y == size - 1), {y: 0}

    return p


@pytest.fixture(scope="module")
def watched() -> Kernel:
    p = grid()
    x, y = p.state.x, p.state.y
    return Kernel(p, [And(x == 13, y == 2), x == 41], [And(p.next.x == 20, x == 19, y == 5), p.next.x < x])


def walks(kernel: Kernel, **options: Any) -> WalkResult:
    return random_walks(kernel, **{"seed": 5, "count": 3000, "steps": 50, "workers": 2, **options})


def assert_run(kernel: Kernel, states: tuple[tuple[int, ...], ...], actions: tuple[int, ...]) -> None:
    assert len(states) == len(actions) + 1
    assert states[0] in {tuple(map(int, state)) for state in kernel.initial()}
    for before, action, after in zip(states, actions, states[1:], strict=False):
        packed = np.array(before, dtype=np.uint64)
        assert action in kernel.enabled(packed)
        assert tuple(map(int, kernel.apply(packed, action))) == after


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("stop", [False, True])
def test_result_is_the_same_with_any_number_of_workers(watched: Kernel, strategy: Strategy, stop: bool) -> None:
    options = {"strategy": strategy, "alarm": [0, 1], "step_alarm": [0], "stop_on_violation": stop, "count": 20_000}
    first = walks(watched, workers=1, **options)
    assert first.outcome == "violated"
    assert {(find.kind, find.formula) for find in first.violations} == {("state", 0), ("step", 0)}
    assert first.walks < 20_000 if stop else first.walks == 20_000
    for workers in (2, 4):
        assert walks(watched, workers=workers, **options) == first


def test_thorough_code_walks_the_same_walks(watched: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = random_walks(watched, seed=4, count=20000, steps=20, stop_on_violation=False)
    monkeypatch.setattr(fencepost.model.kernel.walks.walks, "_LONG", 0.0)
    assert random_walks(watched, seed=4, count=20000, steps=20, stop_on_violation=False) == quick


def test_walks_by_parts_are_the_same_walks(watched: Kernel) -> None:
    whole = walks(watched, count=400)
    parts = [walks(watched, first=first, count=100) for first in range(0, 400, 100)]
    assert whole.steps == sum(part.steps for part in parts)
    assert whole.taken == tuple(map(sum, zip(*(part.taken for part in parts), strict=True)))


@pytest.mark.parametrize("padding", [0, 2], ids=["one word", "three words"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_replayed_walks_add_up_to_the_result(padding: int, strategy: Strategy) -> None:
    kernel = Kernel(grid(size=7, starts=(0, 4, 6), padding=padding, wraps=False))
    assert kernel.words == 1 + padding
    result = walks(kernel, count=200, steps=9, strategy=strategy)
    taken, enabled, deadlocks, starts = [0] * len(kernel.actions), set[int](), 0, set()
    for number in range(200):
        path = walk_path(kernel, seed=5, walk=number, steps=9, strategy=strategy)
        assert_run(kernel, path.states, path.actions)
        starts.add(path.states[0])
        for state, action in zip(path.states, path.actions, strict=False):
            taken[action] += 1
            enabled.update(kernel.enabled(np.array(state, dtype=np.uint64)))
        ended = not kernel.enabled(np.array(path.states[-1], dtype=np.uint64))
        assert ended or len(path.actions) == 9
        deadlocks += ended and len(path.actions) < 9
    assert (list(result.taken), set(result.enabled), result.deadlocks) == (taken, enabled, deadlocks)
    assert result.steps == sum(taken)
    assert deadlocks > 0
    assert len(starts) == 3


def keyboard(keys: int) -> Protocol:
    """Keys of which each may be pressed once it is up; a pressed key is released by its left neighbour."""
    p = Protocol("keyboard")
    key = p.universe("key", keys)
    down = p.flag("down", per=key)
    last = p.choice("last", key)

    @p.step(by="hand", key=key)
    def press(key: int) -> Any:
        """Presses a key."""
        return Not(down[key]), {down[key]: True, last: key}

    @p.step(by="hand", key=key)
    def release(key: int) -> Any:
        """Lets go of a key."""
        return And(down[key], last != key), {down[key]: False, last: (key + 1) % keys}

    return p


def observed_keyboard(keys: int) -> Kernel:
    p = keyboard(keys)
    down, last = p.state.down, p.state.last
    later = p.next.down
    pressed = [And(Not(down[k]), later[k]) for k in range(keys)]
    observed = [And(down[k], down[(k + 1) % keys]) for k in range(keys)] + [Not(down[0]), last == last]
    return Kernel(p, observed, [*pressed, p.next.last == last, Not(And(down[0], later[1]))])


@pytest.mark.parametrize(
    "kernel",
    [observed_keyboard(5), observed_keyboard(66), Kernel(grid(size=9, padding=2)), Kernel(ledger(bookies=3, entries=1))],
    ids=["keyboard", "wide keyboard", "grid", "ledger"],
)
def test_a_step_keeps_the_bit_sets_up_to_date(kernel: Kernel) -> None:
    """``advance`` looks only at what an action may change; ``apply``, ``enabled`` and ``observe`` look at everything."""
    address = kernel.advance(thorough=False).address("advance")
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, *[ctypes.c_void_p] * 4)(address)
    steps = 0
    for walk in range(10):
        path = walk_path(kernel, seed=3, walk=walk, steps=60)
        state, after = np.array(path.states[0], dtype=np.uint64), np.zeros(kernel.words, dtype=np.uint64)
        enabled = bit_set(kernel.enabled(state), kernel.mask_words["enabled"])
        observed = bit_set(kernel.observe(state), kernel.mask_words["observe"])
        held = bit_set((), kernel.mask_words["observe_step"])
        for action, expected in zip(path.actions, path.states[1:], strict=True):
            call(state.ctypes.data, action, *(a.ctypes.data for a in (after, held, enabled, observed)))
            assert tuple(map(int, after)) == expected
            assert members(enabled) == tuple(kernel.enabled(after))
            assert members(observed) == tuple(kernel.observe(after))
            assert members(held) == tuple(kernel.observe_step(state, after))
            state[:] = after
            steps += 1
    assert steps > 60


def test_violating_walk_is_the_first_and_replays_to_its_end(watched: Kernel) -> None:
    options = {"steps": 60, "alarm": [0], "step_alarm": [0]}
    finds = {find.kind: find for find in walks(watched, stop_on_violation=False, **options).violations}
    violating: dict[str, tuple[int, int]] = {}
    for number in range(max(find.walk for find in finds.values()) + 1):
        path = walk_path(watched, seed=5, walk=number, **options)
        states = [np.array(state, dtype=np.uint64) for state in path.states]
        if 0 in watched.observe(states[-1]):
            violating.setdefault("state", (number, len(path.actions)))
        if len(states) > 1 and 0 in watched.observe_step(states[-2], states[-1]):
            violating.setdefault("step", (number, len(path.actions)))
    assert violating == {kind: (find.walk, find.steps) for kind, find in finds.items()}


def test_a_run_that_ends_where_it_may_not_is_a_violation() -> None:
    """The point ends in the corner; it may, or it may not, or only there."""
    p = grid(size=3, starts=(0, 1), wraps=False)
    x, y = p.state.x, p.state.y
    kernel = Kernel(p, [And(x == 2, y == 2), And(x == 2, y < 2)])
    anywhere, corner, edge = (walks(kernel, steps=9, may_end=end) for end in (None, 0, 1))
    assert anywhere == corner
    assert (corner.outcome, corner.walks, corner.deadlocks) == ("sampled", 3000, 3000)
    (find,) = edge.violations
    assert (edge.outcome, find.kind, find.formula, find.walk) == ("violated", "deadlock", 0, 0)
    path = walk_path(kernel, seed=5, walk=find.walk, steps=9)
    assert find.steps == len(path.actions)
    assert kernel.enabled(np.array(path.states[-1], dtype=np.uint64)) == []
    assert walks(kernel, steps=9, may_end=1, workers=1) == edge
    assert walks(kernel, steps=2, may_end=1).violations == ()  # too short to come to an end


def test_another_seed_or_number_is_another_walk() -> None:
    kernel = Kernel(keyboard(12))

    def runs(strategy: Strategy) -> set[tuple[int, ...]]:
        numbers = itertools.product(range(20), range(20))
        return {walk_path(kernel, seed=s, walk=w, steps=40, strategy=strategy).actions for s, w in numbers}

    uniform, swarm, held = map(runs, STRATEGIES)
    assert len(uniform) == len(swarm) == len(held) == 400
    assert len(uniform & held) == 200
    assert not uniform & swarm


def test_choices_are_uniform_among_the_enabled_actions() -> None:
    kernel = Kernel(grid(size=30))
    result = walks(kernel, count=4000, steps=29, strategy="uniform")  # east and north are always possible, and nothing else
    east, north, back, down = result.taken
    assert back == down == 0
    assert result.steps == east + north == 4000 * 29
    assert abs(east - north) < 5 * (4000 * 29) ** 0.5


def keys(count: int) -> Kernel:
    """Keys of which any may always be pressed."""
    p = Protocol("keys")
    key = p.universe("key", count)
    pressed = p.choice("pressed", key)

    @p.step(by="hand", key=key)
    def press(key: int) -> Any:
        """Presses a key."""
        return pressed == pressed, {pressed: key}

    return Kernel(p)


def assert_as_often(counts: Collection[int]) -> None:
    """Chi-squared, five deviations."""
    expected = sum(counts) / len(counts)
    assert sum((n - expected) ** 2 / expected for n in counts) < len(counts) + 5 * (2 * len(counts)) ** 0.5


def test_many_actions_are_each_taken_as_often() -> None:
    assert_as_often(walks(keys(150), count=3000, steps=100, strategy="uniform").taken)


@pytest.mark.long
def test_held_walks_of_odd_number_keep_an_order_of_the_actions_and_the_others_are_uniform() -> None:
    kernel, first, again = keys(70), Counter[int](), 0
    for number in range(3000):
        actions = walk_path(kernel, seed=1, walk=number, steps=30, strategy="held").actions
        if number % 2 == 0:
            assert actions == walk_path(kernel, seed=1, walk=number, steps=30, strategy="uniform").actions
        else:
            first[actions[0]] += 1
            again += sum(before == after for before, after in itertools.pairwise(actions))
    assert_as_often([first[action] for action in range(70)])
    steps, expected = 1500 * 29, 5 / 6 + 1 / 6 / 70
    assert abs(again - steps * expected) < 5 * (steps * expected * (1 - expected)) ** 0.5


def test_the_first_of_an_order_is_any_and_stays_so_when_others_come_or_go() -> None:
    program, chance, first = Program.of(keys(70)), random.Random(3), Counter[int]()
    many = sorted(chance.sample(range(70), 20))
    few = many[::3]
    sets = [bit_set(each, program.enabled_words) for each in (many, few, ())]
    for _ in range(3000):
        order = np.uint64(chance.getrandbits(64))
        of_many, of_few, of_none = (first_of(program, each.ctypes.data, order) for each in sets)
        first[of_many] += 1
        assert of_few in few
        assert of_few == of_many or of_many not in few
        assert of_none == -1
    assert_as_often([first[action] for action in many])
    assert first.total() == sum(first[action] for action in many)


def test_swarm_leaves_actions_out_and_falls_back_when_nothing_else_is_possible() -> None:
    kernel = keys(64)
    kinds = {len(set(walk_path(kernel, seed=1, walk=n, steps=2000, strategy="swarm").actions)) // 13 for n in range(40)}
    assert kinds == {0, 1, 2, 3, 4}  # about 16, 32, 48 or all 64 of the keys
    single = Kernel(grid(size=2, wraps=False))
    assert all(len(walk_path(single, seed=1, walk=n, steps=5, strategy="swarm").actions) == 2 for n in range(50))


@pytest.mark.long
def test_unseen_is_estimated() -> None:
    p = Protocol("lattice")
    axis = p.universe("axis", 6)
    at = p.number("at", 0, 20, per=axis)

    @p.step(by="point", axis=axis)
    def move(axis: int) -> Any:
        """One further along an axis."""
        return at[axis] < 20, {at[axis]: at[axis] + 1}

    lattice = Kernel(p)
    exhausted = walks(Kernel(grid()), count=20_000, steps=100)
    assert exhausted.unseen == 0.0
    assert 10 < exhausted.sampled < 45  # of 1600 states, one in 64
    rare = walks(lattice, steps=20)
    visits = Counter(s for n in range(3000) for s in walk_path(lattice, seed=5, walk=n, steps=20).states)
    once = sum(n == 1 for n in visits.values())
    assert rare.sampled > 300
    assert 0.1 < once / visits.total() < 0.7
    assert rare.unseen == pytest.approx(once / visits.total(), rel=0.15)


@pytest.mark.long
def test_what_is_estimated_as_unseen_is_what_further_walks_find() -> None:
    """On an instance that is known whole: the estimate is about further walks, and not about how much of the space is left."""
    kernel = Kernel(ledger(entries=1))
    whole = search(kernel).distinct

    def visits(seed: int, count: int) -> list[tuple[int, ...]]:
        return [state for n in range(count) for state in walk_path(kernel, seed=seed, walk=n, steps=60).states]

    estimates, shares = [], []
    for seed in range(1, 9):
        estimates.append(random_walks(kernel, seed=seed, count=400, steps=60).unseen or 0.0)
        seen, further = set(visits(seed, 400)), visits(100 + seed, 200)
        shares.append(sum(state not in seen for state in further) / len(further))
        assert len(seen) < 0.3 * whole
    assert 0.02 < sum(shares) / 8 < 0.3
    assert sum(estimates) == pytest.approx(sum(shares), rel=0.3)


@pytest.mark.parametrize("select", [by_deposit, by_clearing] if HAS_DEPOSIT else [by_clearing])
def test_bits_are_found_by_their_rank(select: Callable[[np.uint64, int], int]) -> None:
    chance = random.Random(2)
    for word in [1, 1 << 63, (1 << 64) - 1, *(chance.getrandbits(64) & chance.getrandbits(64) for _ in range(50))]:
        bits = [bit for bit in range(64) if word >> bit & 1]
        assert [select(np.uint64(word), rank) for rank in range(len(bits))] == bits


def test_sample_keeps_to_its_size_whatever_the_order() -> None:
    chance = np.random.default_rng(1)
    hashes = chance.integers(0, 2**63, 600_000, dtype=np.uint64) << np.uint64(6)
    visits = np.concatenate([hashes, hashes[::3]])
    first, second = Sample(), Sample()
    assert first.unseen is None
    first.add([visits], 64 * len(visits))
    second.add(np.split(chance.permutation(visits), 8), 64 * len(visits))
    assert first.states <= 1 << 18
    assert first.bits > 6
    assert first.unseen == pytest.approx(2 / 4, abs=0.01)  # two of three states once, a third of them twice
    assert (second.bits, second.states, second.unseen) == (first.bits, first.states, first.unseen)


def test_time_and_interrupts_end_it_between_rounds(watched: Kernel) -> None:
    assert walks(watched, count=10**9, seconds=0).outcome == "time"
    stopped = walks(watched, count=10**9, should_stop=lambda: True)
    assert stopped.outcome == "interrupted"
    assert stopped == walks(watched, count=10**9, should_stop=lambda: True, workers=1)


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"count": 0}, {"steps": 0}, {"first": -1}, {"workers": 0}])
def test_counts_out_of_range_are_refused(watched: Kernel, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be at least"):
        walks(watched, **wrong)
