"""The metadata store on Pulsar's ZKMetadataStore and a real ZooKeeper: no difference, and bugs are noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.checks.conformance.pulsar.store import StoreAdapter
from fencepost.checks.conformance.pulsar.target import METADATA_STORE, start_store
from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.differences import unexplained
from tests.checks.conformance.real import tools

pytestmark = pytest.mark.xdist_group("real pulsar")

ENTRY = PROTOCOLS["metadata_store"]
USUAL, *OTHERS = METADATA_STORE.releases


@pytest.fixture(scope="module")
def adapter() -> Iterator[StoreAdapter]:
    tools()
    with start_store(Asked(USUAL)) as adapter:
        yield adapter


def held(adapter: StoreAdapter, *bugs: str, runs: int, steps: int = 40, seed: int = 1, **parameters: Value) -> Result:
    instances = [parameters] if parameters else METADATA_STORE.instances
    protocols = [ENTRY.build(each, bugs) for each in instances]
    without = [ENTRY.build(each) for each in instances] if bugs else ()
    return campaign(
        protocols, adapter, runs=runs, steps=steps, seed=seed, weights=METADATA_STORE.weights, without=without, stop_after=1
    )


def follow(adapter: StoreAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    """Takes these steps; of the path there is one."""
    pair = Pair(Kernel(ENTRY.build(parameters, bugs)), adapter)
    return pair.follow([step.strip().replace("*", "p0") for step in script.split(";")])


def about(outcome: Outcome, client: str) -> dict[str, object]:
    """What the code showed in the end of what a client knows of the path."""
    assert outcome.seen is not None
    shown: dict[str, object] = outcome.seen.values["clients"][client]["paths"]["p0"]
    return shown


# --- no difference


def test_runs_do_not_differ(adapter: StoreAdapter) -> None:
    result = held(adapter, runs=8)
    assert result.agrees, unexplained(result)
    assert (result.runs, result.agreeing) == (8, 8)


@pytest.mark.deep
@pytest.mark.parametrize("release", METADATA_STORE.releases)
def test_many_runs_do_not_differ(release: str) -> None:
    tools()
    with start_store(Asked(release)) as adapter:
        result = held(adapter, runs=10_000, steps=60)
    assert result.agrees, unexplained(result)
    assert result.agreeing == result.runs
    assert set(result.coverage.names()) == set(adapter.covered)


@pytest.mark.deep
@pytest.mark.parametrize("release", OTHERS)
def test_other_releases_do_not_differ(release: str) -> None:
    tools()
    with start_store(Asked(release)) as adapter:
        result = held(adapter, runs=8, steps=30)
    assert result.agrees, unexplained(result)
    assert result.agreeing == 8


def test_all_but_the_budgets_is_observed(adapter: StoreAdapter) -> None:
    faults: dict[str, Value] = {"writes": 1, "changes": 1, "disconnects": 1, "expiries": 1, "crashes": 1}
    shown = {family for observable in adapter.observables for family in observable.variables}
    families = {variable.family for variable in ENTRY.build(faults, ENTRY.bugs).variables}
    assert shown | {"disconnects", "expiries", "crashes"} == families


@settings(max_examples=8)
@given(data=st.data())
def test_hypothesis_finds_no_difference(adapter: StoreAdapter, data: st.DataObject) -> None:
    pair = Pair(KERNEL, adapter)

    def choose(state: object, actions: object, seen: object) -> object:
        return data.draw(st.sampled_from(actions), label="step") if actions else None  # type: ignore[arg-type]

    outcome = pair.choose(choose, 20, found_by="Hypothesis", seed=None)  # type: ignore[arg-type]
    assert outcome.explained, outcome


KERNEL = Kernel(ENTRY.build({"disconnects": 1, "expiries": 1, "crashes": 1}))


# --- runs that a person can follow

CREATED = "ask_to_create(c0, *); create(c0, *)"
READ = "ask_to_read(c1, *); read(c1, *)"


def test_a_deletion_meets_the_node_of_another(adapter: StoreAdapter) -> None:
    """What deletions_mean_the_node is violated by happens in the real store: version 0 is that of the next node, too."""
    again = "ask_to_delete(c1, *); ask_to_delete(c0, *); delete(c0, *); ask_to_create(c2, *); create(c2, *); delete(c1, *)"
    outcome = follow(adapter, f"{CREATED}; {READ}; {again}", clients=3)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["nodes"]["p0"] == {}
    assert [about(outcome, c)["request"] for c in ("c0", "c1", "c2")] == ["done", "done", "done"]


def test_a_deletion_whose_version_is_gone_is_refused(adapter: StoreAdapter) -> None:
    script = f"{CREATED}; {READ}; ask_to_delete(c1, *); write(c0, *); delete(c1, *); ask_to_read(c1, *); read(c1, *)"
    outcome = follow(adapter, script, writes=1)
    assert outcome.verdict == "agrees", outcome
    assert (about(outcome, "c1")["knows"], about(outcome, "c1")["version"]) == ("c0", 1)
    gone = follow(adapter, f"{CREATED}; {READ}; ask_to_delete(c1, *); ask_to_delete(c0, *); delete(c0, *); delete(c1, *)")
    assert (gone.verdict, about(gone, "c1")["request"]) == ("agrees", "not_found")


def test_a_creation_that_is_sent_again_meets_its_own_node(adapter: StoreAdapter) -> None:
    script = "ask_to_create(c0, *); creation_unheard(c0, *); reconnect(c0); create(c0, *)"
    outcome = follow(adapter, f"{script}; ask_to_read(c0, *); read(c0, *)", disconnects=1)
    assert outcome.verdict == "agrees", outcome
    assert (about(outcome, "c0")["knows"], about(outcome, "c0")["mine"]) == ("c0", True)
    assert about(follow(adapter, script, disconnects=1), "c0")["request"] == "bad_version"


def test_a_node_outlives_a_crash_until_its_session_expires(adapter: StoreAdapter) -> None:
    script = f"{CREATED}; crash(c0); restart(c0); ask_to_read(c0, *); read(c0, *)"
    outcome = follow(adapter, script, crashes=1)
    assert outcome.verdict == "agrees", outcome
    assert (about(outcome, "c0")["knows"], about(outcome, "c0")["mine"]) == ("c0", False)
    heard = follow(adapter, f"{script}; expire_former(c0); hear_of_deletion(c0, *)", crashes=1)
    assert (heard.verdict, about(heard, "c0")["knows"]) == ("agrees", "nobody")


def test_a_write_that_is_sent_again_meets_itself(adapter: StoreAdapter) -> None:
    looked = "ask_to_look(c0); look(c0); ask_to_look(c1); look(c1); ask_to_change(c0)"
    script = f"{looked}; write_unheard(c0); hear_of_change(c1); reconnect(c0); write_lasting(c0)"
    outcome = follow(adapter, script, changes=2, disconnects=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    assert outcome.seen.values["lasting"] == 1
    clients = outcome.seen.values["clients"]
    assert [clients[c]["lasting"]["saw"] for c in ("c0", "c1")] == [-1, -1]
    assert clients["c0"]["lasting"]["request"] == "bad_version"


# --- bugs in the model are noticed


@pytest.mark.parametrize("bug", ["creates_blindly", pytest.param("deleted_without_version", marks=pytest.mark.deep)])
def test_a_bug_in_the_model_is_noticed(adapter: StoreAdapter, bug: str) -> None:
    result = held(adapter, bug, runs=60, **dict(ENTRY.shown_by[bug]))
    assert not result.agrees


def test_a_bug_about_connections_is_noticed(adapter: StoreAdapter) -> None:
    script = f"{CREATED}; disconnect(c0, 0); reconnect(c0)"
    assert follow(adapter, script, disconnects=1).verdict == "agrees"
    mistaken = follow(adapter, script, "cache_kept_on_disconnect", disconnects=1)
    assert (mistaken.verdict, mistaken.explained) == ("differs", False)
    assert [d.what for d in mistaken.differences] == ["knows[c0, p0]", "mine[c0, p0]"]
