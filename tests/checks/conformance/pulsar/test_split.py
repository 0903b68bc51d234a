"""Splits on the NamespaceService of Pulsar's brokers: no difference without a name, bugs, and bugs are noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fencepost.checks.conformance.java_side.harness import OF_PULSAR, harness
from fencepost.checks.conformance.java_side.servers import pulsar_brokers
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.pulsar.brokers_target import MAIN, SPLIT, start_split
from fencepost.checks.conformance.pulsar.split import Scale, SplitAdapter
from fencepost.checks.conformance.pulsar.target import OPTIONS
from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.differences import KNOWN_OF_LOCKS, unexplained
from tests.checks.conformance.real import tools

pytestmark = pytest.mark.xdist_group("real brokers")

ENTRY = PROTOCOLS["split"]
USUAL, *NEWER = SPLIT.releases
WHOLE = "4.2.4"
"""The release whose whole brokers are known to start here."""


@pytest.fixture(scope="module")
def adapter() -> Iterator[SplitAdapter]:
    tools()
    with start_split(Asked(USUAL)) as adapter:
        yield adapter


def held(adapter: SplitAdapter, *, runs: int, release: str = USUAL) -> Result:
    instances = [SPLIT.model(ENTRY, release, each) for each in SPLIT.instances]
    return campaign(instances, adapter, runs=runs, steps=40, seed=1, weights=SPLIT.weights, stop_after=1, shrink=False)


def follow(adapter: SplitAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    pair = Pair(Kernel(ENTRY.build({"hashes": 3, "policies": True, **parameters}, bugs)), adapter)
    return pair.follow([step.strip() for step in script.split(";")])


# --- no difference without a name


@pytest.mark.deep
def test_runs_differ_only_where_it_is_known(adapter: SplitAdapter) -> None:
    result = held(adapter, runs=len(SPLIT.instances))
    assert result.agrees, unexplained(result)
    assert set(result.known) <= KNOWN_OF_LOCKS
    assert result.agreeing > 5


RELEASED_BEHIND = """try_to_own(b0, u0_2); create(b0, u0_2); start_split(b0, u0_2); prepare(b0, u0_2, 1); create(b0, u0_1);
start_release(b0, u0_2); release(b0, u0_2); create(b0, u1_2); try_to_own(b0, u0_2); write(b0); write_policies(b0);
hand_over(b0, u0_2); create(b0, u0_2)"""


@pytest.mark.long
@pytest.mark.parametrize(("release", "known"), [("5.0.0-M1", ""), ("5.0.1", "release behind an acquisition")])
def test_a_split_releases_the_parent_that_is_acquired_as_it_ends(release: str, known: str) -> None:
    tools()
    with start_split(Asked(release)) as adapter:
        outcome = follow(adapter, RELEASED_BEHIND, releases=1, attempts=8)
    assert (outcome.verdict, outcome.known) == ("differs" if known else "agrees", known), str(outcome)


@pytest.mark.deep
@pytest.mark.parametrize("release", SPLIT.releases)
def test_many_runs_differ_only_where_it_is_known(release: str) -> None:
    tools()
    with start_split(Asked(release)) as adapter:
        result = held(adapter, runs=240, release=release)
    assert result.agrees, unexplained(result)
    assert set(result.known) <= KNOWN_OF_LOCKS
    assert {"hear_of_layout", "meet_bad_version", "begin_again", "hand_over", "release"} <= result.coverage.names().keys()


def test_the_jars_of_whole_brokers_are_pinned() -> None:
    assert pulsar_brokers(WHOLE).pinned


@pytest.mark.parametrize("hashes", [3, 4, 5, 9, 10])
def test_boundaries_are_where_the_code_cuts(hashes: int) -> None:
    scale = Scale(ENTRY.build({"hashes": hashes}))
    for name, (lower, upper) in scale.ends.items():
        low, high = scale.large(lower), scale.large(upper)
        assert scale.named([low, high]) == {name}
        middle = low + (high - low) // 2
        assert upper - lower == 1 or scale.named([low, middle]) <= scale.ends.keys()


# --- runs that a person can follow

OWNS = "try_to_own(b0, u0_2); create(b0, u0_2)"
BEGINS = f"{OWNS}; start_split(b0, u0_2); prepare(b0, u0_2, 1)"
WRITES = f"{BEGINS}; create(b0, u0_1); create(b0, u1_2); write(b0)"
SPLITS = f"{WRITES}; write_policies(b0); hand_over(b0, u0_2)"
TWO: dict[str, Value] = {"hashes": 5, "bundles": 2, "splits": 2}
OTHER_OWNS = "try_to_own(b1, u2_4); create(b1, u2_4); start_split(b1, u2_4)"
AT_ONCE = (
    f"{WRITES}; {OTHER_OWNS}; hear_of_layout(b1); prepare(b1, u2_4, 3); create(b1, u2_3); create(b1, u3_4); write(b1);"
    "write_policies(b1); write_policies(b0); hear_of_layout(b0); hand_over(b0, u0_2); release(b0, u0_2);"
    "hear_of_deletion(b0, u0_2); hear_of_deletion(b1, u0_2); hand_over(b1, u2_4); release(b1, u2_4);"
    "hear_of_deletion(b1, u2_4); hear_of_deletion(b0, u2_4)"
)
BAD_VERSION = (
    f"{BEGINS}; create(b0, u0_1); create(b0, u1_2); {OTHER_OWNS}; prepare(b1, u2_4, 3); create(b1, u2_3); create(b1, u3_4);"
    "write(b1); meet_bad_version(b0); hear_of_layout(b0); begin_again(b0); prepare(b0, u0_2, 1); write(b0)"
)
ACQUIRED_AGAIN = f"{SPLITS}; release(b0, u0_2); hear_of_deletion(b1, u0_2); try_to_own(b1, u0_2); create(b1, u0_2)"
FAILED_AND_CUT = f"{WRITES}; expire(b0); fail_to_write_policies(b0)"
UNANSWERED = (
    "try_to_own(b0, u0_2); create(b0, u0_2); start_split(b0, u0_2); expire(b0); learn_of_expiry(b0); fail_to_load(b0);"
    "reestablish(b0); find_missing(b0, u0_2); create(b0, u0_2)"
)
KEPT = f"{SPLITS}; lone_release_unheard(b0, u0_2, 0); reconnect(b0)"


def seen(outcome: Outcome, what: str) -> object:
    assert outcome.seen is not None
    return outcome.seen.values[what]


def serves(outcome: Outcome, broker: str) -> dict[str, str]:
    brokers = seen(outcome, "brokers")
    assert isinstance(brokers, dict)
    return {u: bundle["bundle_state"] for u, bundle in brokers[broker]["bundles"].items() if bundle["bundle_state"] != "absent"}


def overwritten(adapter: SplitAdapter) -> None:
    """Two splits at once, no fault: in the end the layout has both, and the policies have one."""
    outcome = follow(adapter, AT_ONCE, "policies_overwritten", **TWO)
    assert outcome.verdict == "agrees", outcome
    assert len(outcome.trace.steps) == 26
    assert seen(outcome, "layout") == {"u0_1", "u1_2", "u2_3", "u3_4"}
    assert seen(outcome, "policies") == {"u0_1", "u1_2", "u2_4"}
    assert not outcome.seen.requests  # type: ignore[union-attr]


def test_two_splits_at_once_leave_the_policies_without_one(adapter: SplitAdapter) -> None:
    overwritten(adapter)


@pytest.mark.deep
@pytest.mark.parametrize("release", NEWER)
def test_the_bugs_of_other_releases(release: str) -> None:
    tools()
    with start_split(Asked(release)) as adapter:
        overwritten(adapter)
        cut_and_failed(adapter)
        unanswered(adapter)
        stays_the_splitters(adapter)


STARTING_SECONDS = 300.0
"""How long whole brokers may take to start, on a machine that has other work."""


def start_split_whole() -> SplitAdapter:
    """A harness whose brokers are whole: they start with the first run, and stay. No broker can crash or be cut off.

    ZooKeeper and the bookie, which Pulsar's LocalBookkeeperEnsemble starts, listen on all interfaces, on free ports.
    """
    bench = harness("brokers", MAIN, pulsar_brokers(WHOLE), besides=(*OF_PULSAR, "bundles"), options=OPTIONS)
    return SplitAdapter(Session(bench.with_arguments("whole"), seconds=STARTING_SECONDS))


@pytest.mark.deep
def test_two_splits_at_once_by_whole_brokers() -> None:
    tools()
    with start_split_whole() as adapter:
        overwritten(adapter)


def cut_and_failed(adapter: SplitAdapter) -> None:
    """The layout is cut, the policies are not, and the broker keeps the parent."""
    outcome = follow(adapter, FAILED_AND_CUT, "policies_unwritten", expiries=1)
    assert outcome.verdict == "agrees", outcome
    assert (seen(outcome, "layout"), seen(outcome, "policies")) == ({"u0_1", "u1_2"}, {"u0_2"})
    assert serves(outcome, "b0") == {"u0_1": "active", "u0_2": "active", "u1_2": "active"}


def test_a_split_that_cannot_write_the_policies_has_cut_and_keeps_the_parent(adapter: SplitAdapter) -> None:
    cut_and_failed(adapter)


def unanswered(adapter: SplitAdapter) -> None:
    """The layout cannot be read for want of a session: nothing is outstanding, and the split has not ended."""
    outcome = follow(adapter, UNANSWERED, "load_fails_unanswered", expiries=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["brokers"]["b0"]["splitting"]
    assert not outcome.seen.requests


def test_a_split_that_cannot_read_the_layout_never_ends(adapter: SplitAdapter) -> None:
    unanswered(adapter)


def stays_the_splitters(adapter: SplitAdapter) -> None:
    """The parent's node is not deleted, and stays its splitter's, which does not serve it."""
    outcome = follow(adapter, KEPT, "lone_release_fails", disconnects=1)
    assert outcome.verdict == "agrees", outcome
    nodes = seen(outcome, "nodes")
    assert isinstance(nodes, dict)
    assert nodes["u0_2"]["holder"] == "b0"
    assert serves(outcome, "b0") == {"u0_1": "active", "u0_2": "inactive", "u1_2": "active"}


def test_a_parent_whose_release_fails_stays_its_splitters(adapter: SplitAdapter) -> None:
    stays_the_splitters(adapter)


def test_a_split_begins_again_from_what_it_has_heard(adapter: SplitAdapter) -> None:
    outcome = follow(adapter, BAD_VERSION, **TWO)
    assert outcome.verdict == "agrees", outcome
    assert seen(outcome, "layout") == {"u0_1", "u1_2", "u2_3", "u3_4"}


def test_a_bundle_that_was_split_is_acquired_again(adapter: SplitAdapter) -> None:
    outcome = follow(adapter, ACQUIRED_AGAIN)
    assert outcome.verdict == "agrees", outcome
    assert (serves(outcome, "b0"), serves(outcome, "b1")) == ({"u0_1": "active", "u1_2": "active"}, {"u0_2": "active"})


# --- bugs in the model are noticed

CONFLICT = BAD_VERSION.partition("meet_bad_version")[0]
NOTICED: dict[str, tuple[str, dict[str, Value]]] = {
    "writes_blindly": (CONFLICT + "write(b0)", TWO),
    "stale_parent": (BAD_VERSION.rpartition(";")[0], TWO),
    "parent_never_released": (SPLITS, {}),
    "retries_on_stale_cache": (CONFLICT + "meet_bad_version(b0); begin_again(b0); prepare(b0, u0_2, 1)", TWO),
    "layout_not_watched": (f"{WRITES}; hear_of_layout(b1)", {}),
    "splits_unloaded_bundle": ("start_split(b0, u0_2)", {}),
    "policies_not_updated": (f"{WRITES}; write_policies(b0)", {}),
}
"""Runs that the code follows until the bug shows."""


@pytest.mark.parametrize("bug", ["parent_never_released", "policies_not_updated", "writes_blindly"])
def test_a_bug_in_the_model_is_noticed(adapter: SplitAdapter, bug: str) -> None:
    script, parameters = NOTICED[bug]
    outcome = follow(adapter, script, bug, **parameters)
    assert outcome.verdict in ("differs", "departs"), outcome
    assert not outcome.explained
    assert len(outcome.trace.steps) == script.count(";") + 1


@pytest.mark.deep
@pytest.mark.parametrize("bug", sorted(NOTICED.keys() - {"retries_on_stale_cache"}))
def test_bugs_in_the_model_are_noticed(adapter: SplitAdapter, bug: str) -> None:
    test_a_bug_in_the_model_is_noticed(adapter, bug)
