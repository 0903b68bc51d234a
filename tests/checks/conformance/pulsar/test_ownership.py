"""Ownership on Pulsar's locks and OwnershipCache: no difference without a name, bugs by name, and bugs are noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.checks.conformance.pulsar.ownership import OwnershipAdapter
from fencepost.checks.conformance.pulsar.target import OWNERSHIP, pulsar_ownership, start_ownership
from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.model.kernel import Kernel
from fencepost.model.pulsar import store_migration
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.differences import shown, unexplained
from tests.checks.conformance.real import each_release, tools

pytestmark = pytest.mark.xdist_group("real pulsar")

ENTRY = PROTOCOLS["ownership"]
USUAL, *NEWER = OWNERSHIP.releases


@pytest.fixture(scope="module")
def adapter() -> Iterator[OwnershipAdapter]:
    tools()
    with start_ownership(Asked(USUAL)) as adapter:
        yield adapter


def held(adapter: OwnershipAdapter, *, runs: int, release: str = USUAL, seed: int = 1) -> Result:
    instances = [OWNERSHIP.model(ENTRY, release, each) for each in OWNERSHIP.instances]
    return campaign(instances, adapter, runs=runs, steps=40, seed=seed, weights=OWNERSHIP.weights, stop_after=1)


def follow(adapter: OwnershipAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    """Takes these steps; of the bundle there is one."""
    pair = Pair(Kernel(ENTRY.build(parameters, bugs)), adapter)
    return pair.follow([step.strip().replace("*", "u0") for step in script.split(";")])


def holder(outcome: Outcome) -> str:
    assert outcome.seen is not None
    return str(outcome.seen.values["nodes"]["u0"].get("holder", "nobody"))


# --- no difference without a name


def test_runs_differ_only_where_it_is_known(adapter: OwnershipAdapter) -> None:
    result = held(adapter, runs=48)
    assert result.agrees, unexplained(result)
    assert set(result.known) <= {"N2", "valid while it is released"}
    assert result.agreeing > 40


@settings(max_examples=15)
@given(data=st.data())
def test_hypothesis_finds_no_other_difference(adapter: OwnershipAdapter, data: st.DataObject) -> None:
    pair = Pair(KERNEL, adapter)

    def choose(state: object, actions: object, seen: object) -> object:
        # an allowance says which steps the code does not take, and the pair asks it only for steps that it chooses itself
        possible = [a for a in actions if not pair.allowed_only(a, state, seen)]  # type: ignore[attr-defined,arg-type]
        return data.draw(st.sampled_from(possible), label="step") if possible else None

    outcome = pair.choose(choose, 20, found_by="Hypothesis", seed=None)  # type: ignore[arg-type]
    assert outcome.explained, outcome


KERNEL = Kernel(OWNERSHIP.model(ENTRY, USUAL, {"expiries": 1, "crashes": 1, "releases": 1}))


# --- runs that a person can follow: the bugs of all three releases

OWNS = "try_to_own(b0, *); create(b0, *)"
NEW_SESSION = "expire(b0); learn_of_expiry(b0); reestablish(b0)"
FOUND = "try_to_own(b0, *); creation_unheard(b0, *); reconnect(b0); create(b0, *); find_own(b0, *)"
UNATTENDED = f"{FOUND}; {NEW_SESSION}; try_to_own(b1, *); create(b1, *)"
ORPHAN = f"{OWNS}; {NEW_SESSION}; start_release(b0, *); release(b0, *); recreate_behind_release(b0, *)"
SENT_AGAIN = (
    f"{OWNS}; start_release(b0, *); deletion_unheard(b0, *); hear_of_deletion(b0, *); try_to_own(b1, *); create(b1, *);"
    "reconnect(b0); release(b0, *)"
)
NEVER_RELEASED = (
    f"{OWNS}; expire(b0); try_to_own(b1, *); create(b1, *); start_release(b0, *); release_fails(b0, *);"
    "learn_of_expiry(b0); reestablish(b0)"
)
RELEASED_ALONE = (
    f"{OWNS}; start_release(b0, *); lone_release_unheard(b0, *, 1); reconnect(b0); hear_of_deletion(b0, *);"
    "try_to_own(b1, *); create(b1, *)"
)
LEFT_BY_A_RELEASE = f"{OWNS}; start_release(b0, *); lone_release_unheard(b0, *, 0); reconnect(b0)"
LEFT_BY_A_CREATION = "try_to_own(b0, *); lone_creation_unheard(b0, *); reconnect(b0)"
CLEANED_UP = (
    f"{OWNS}; expire(b0); try_to_own(b1, *); create(b1, *); learn_of_expiry(b0); reestablish(b0); lose_in_background(b0, *);"
    "start_release(b1, *); release(b1, *); try_to_own(b0, *); create(b0, *); clean_up(b0, *)"
)
FORMER_NODE = (
    f"{OWNS}; crash(b0); restart(b0); try_to_own(b0, *); create(b0, *); find_former(b0, *); expire_former(b0);"
    "try_to_own(b1, *); create(b1, *); retake(b0, *)"
)
DELETED_TWICE = f"{FORMER_NODE}; expire(b1); hear_of_deletion(b1, *); fail(b1, *)"
DELETED_THRICE = (
    f"{FORMER_NODE}; create(b0, *); start_release(b0, *); release(b0, *); {OWNS}; hear_of_deletion(b0, *); find_own(b0, *)"
)
FORGOTTEN = (
    "try_to_own(b1, *); create(b1, *); crash(b1); restart(b1); try_to_own(b1, *); create(b1, *); find_former(b1, *); "
    "expire_former(b1); try_to_own(b0, *); create(b0, *); retake(b1, *); start_migration; hear_of_preparation(b1); "
    "start_release(b0, *); hear_of_deletion(b1, *); create(b1, *); release(b0, *); hear_of_deletion(b1, *); find_missing(b1, *)"
)
MARKED = (
    f"{OWNS}; start_release(b0, *); release(b0, *); {OWNS}; hear_of_deletion(b0, *); expire(b0); fail(b0, *);"
    "learn_of_expiry(b0); reestablish(b0)"
)
LOSS_UNHEARD = (
    f"{OWNS}; {NEW_SESSION}; try_to_own(b1, *); create(b1, *); start_release(b0, *); release(b0, *); disconnect(b1, 0);"
    "hear_of_deletion(b0, *); reconnect(b1); try_to_own(b0, *); create(b0, *)"
)


def test_nothing_is_left_to_clean_up_of_a_bundle_that_was_disabled(adapter: OwnershipAdapter) -> None:
    script = CLEANED_UP.replace("expire(b0)", "disable(b0, *); expire(b0)", 1).partition("start_release")[0] + "clean_up(b0, *)"
    outcome = follow(adapter, script, "stale_unload", expiries=1, disables=1)
    assert (outcome.verdict, outcome.last) == ("not covered", "lose_in_background(b0, u0)"), outcome  # nor in the model
    asked = adapter.session.ask({"do": "clean-up", "of": "b0", "bundle": "u0"})
    assert "nothing left" in asked["refused"]


def test_what_recreates_the_node_of_a_disabled_bundle_is_valid_while_it_is_released(adapter: OwnershipAdapter) -> None:
    script = f"{OWNS}; disable(b0, *); {NEW_SESSION}; release_disabled(b0, *); recreate_behind_release(b0, *)"
    outcome = follow(adapter, script, "recreated_behind_release", expiries=1, disables=1)
    assert (outcome.verdict, outcome.known) == ("differs", "valid while it is released"), outcome
    assert len(outcome.differences) == 3


@each_release(OWNERSHIP.releases)
def test_the_bugs_of_each_release(release: str) -> None:
    tools()
    with start_ownership(Asked(release)) as adapter:
        two = follow(adapter, UNATTENDED, "found_lock_unattended", disconnects=1, expiries=1)
        assert two.verdict == "agrees", two
        assert shown(two, "bundle_state") == {"b0": "active", "b1": "active"}  # for good: nothing is outstanding
        assert shown(two, "requests") == {"b0": [], "b1": []}

        orphan = follow(adapter, ORPHAN, "recreated_behind_release", expiries=1, releases=1)
        assert orphan.verdict == "agrees", orphan
        assert (holder(orphan), shown(orphan, "bundle_state")) == ("b0", {"b0": "absent", "b1": "absent"})

        again = follow(adapter, SENT_AGAIN, "deletion_sent_again", disconnects=1, releases=1)
        assert again.verdict == "agrees", again
        assert (holder(again), shown(again, "bundle_state")) == ("nobody", {"b0": "absent", "b1": "active"})

        stranded = follow(adapter, NEVER_RELEASED, expiries=1, releases=1)
        assert stranded.verdict == "agrees", stranded
        assert shown(stranded, "state") == {"b0": "Releasing", "b1": "Valid"}
        assert shown(stranded, "bundle_state") == {"b0": "inactive", "b1": "active"}

        alone = follow(adapter, RELEASED_ALONE, "lone_release_fails", disconnects=1, releases=1)
        assert alone.verdict == "agrees", alone
        assert (holder(alone), shown(alone, "state")) == ("b1", {"b0": "Releasing", "b1": "Valid"})

        undone = follow(adapter, LEFT_BY_A_RELEASE, "lone_release_fails", disconnects=1, releases=1)
        assert undone.verdict == "agrees", undone
        assert (holder(undone), shown(undone, "state")["b0"]) == ("b0", "Releasing")

        left = follow(adapter, LEFT_BY_A_CREATION, "failed_creation_left", disconnects=1)
        assert left.verdict == "agrees", left
        assert (holder(left), shown(left, "state"), shown(left, "requests")["b0"]) == ("b0", {"b0": "none", "b1": "none"}, [])

        cleaned = follow(adapter, CLEANED_UP, "stale_unload", expiries=1, releases=1)
        assert shown(cleaned, "bundle_state")["b0"] == "active"  # until the release is answered
        if release not in ENTRY.bugs["stale_unload"].present:
            assert (cleaned.verdict, cleaned.last) == ("differs", "clean_up(b0, u0)"), cleaned
            assert (shown(cleaned, "state")["b0"], shown(cleaned, "requests")["b0"]) == ("Valid", [])
        else:
            assert cleaned.verdict == "agrees", cleaned
            assert (shown(cleaned, "state")["b0"], shown(cleaned, "requests")["b0"]) == ("Releasing", ["release"])
            # what is released is active, and so it is unloaded in its turn, when nothing may be left to release
            again = follow(adapter, f"{CLEANED_UP}; release(b0, *); clean_up(b0, *)", "stale_unload", expiries=1, releases=1)
            assert again.verdict == "agrees", again
            assert shown(again, "bundle_state") == {"b0": "absent", "b1": "absent"}

        unheard = follow(adapter, LOSS_UNHEARD, "recreated_behind_release", disconnects=1, expiries=1, releases=1)
        assert unheard.verdict == "agrees", unheard
        assert (holder(unheard), shown(unheard, "bundle_state")) == ("b0", {"b0": "active", "b1": "active"})

        former = follow(adapter, FORMER_NODE, crashes=1)
        assert former.verdict == "agrees", former
        assert (holder(former), shown(former, "bundle_state")) == ("nobody", {"b0": "absent", "b1": "active"})


@pytest.mark.parametrize(
    ("name", "script", "parameters"),
    [
        ("found_lock_unattended", FOUND, {"disconnects": 1}),
        ("recreated_behind_release", f"{OWNS}; {NEW_SESSION}; start_release(b0, *)", {"expiries": 1, "releases": 1}),
        ("N2", f"{OWNS}; {NEW_SESSION}; find_missing(b0, *); start_release(b0, *)", {"expiries": 1, "releases": 1}),
        ("several deletions", DELETED_THRICE, {"brokers": 2, "crashes": 1, "releases": 1}),
        ("several deletions", DELETED_TWICE, {"crashes": 1, "expiries": 1}),
    ],
)
def test_what_is_known_has_a_name(adapter: OwnershipAdapter, name: str, script: str, parameters: dict[str, Value]) -> None:
    outcome = follow(adapter, script, **parameters)
    assert (outcome.verdict, outcome.known) == ("differs", name)


def test_a_new_session_takes_the_mark_off_a_lock_that_was_due(adapter: OwnershipAdapter) -> None:
    """It is told as Reconnected first, and the lock is looked after then."""
    outcome = follow(adapter, f"{MARKED}; find_missing(b0, *); create(b0, *)", expiries=1, releases=1)
    assert outcome.verdict == "agrees", outcome


@pytest.mark.parametrize("release", OWNERSHIP.releases)
def test_the_jars_are_pinned(release: str) -> None:
    assert pulsar_ownership(release).pinned


# --- bugs in the model are noticed

LOST = f"{OWNS}; expire(b0); try_to_own(b1, *); create(b1, *); learn_of_expiry(b0); reestablish(b0); find_other(b0, *)"
RESUMED = "disconnect(b0, 1); lose(b0); resume(b0)"
ONE_EACH: dict[str, Value] = {"disconnects": 1, "expiries": 1}
RELEASED_LATE = (
    f"{OWNS}; disable(b0, *); expire(b0); try_to_own(b1, *); create(b1, *); release_disabled(b0, *);"
    "learn_of_expiry(b0); reestablish(b0); release(b0, *)"
)
NOTICED: dict[str, tuple[str, dict[str, Value]]] = {
    "released_without_version": (RELEASED_LATE, {"expiries": 1, "disables": 1}),
    "not_revalidated": (f"{OWNS}; {NEW_SESSION}", {"expiries": 1}),
    "deletion_ignored": (f"{LOST}; hear_of_deletion(b1, *)", {"expiries": 1}),
    "reconnection_flag_never_set": (f"{OWNS}; {RESUMED}; expire(b0); fail(b0, *)", ONE_EACH),
    "concurrent_revalidations": (f"{OWNS}; {NEW_SESSION}; find_missing(b0, *); create_concurrently(b0, *)", {"expiries": 1}),
    "busy_lock_kept": (LOST, {"expiries": 1}),
    "both_contenders_lose": ("try_to_own(b0, *); try_to_own(b1, *); create(b0, *); create(b1, *)", {}),
    "lost_lock_served": (LOST, {"expiries": 1}),
    "endless_revalidation": (f"{OWNS}; {RESUMED}; find_own(b0, *)", {"disconnects": 1}),
    "version_goes_back": (f"{OWNS}; disable(b0, *); {RESUMED}; find_own(b0, *)", {"disconnects": 1, "disables": 1}),
    "cache_kept_on_disconnect": (f"{OWNS}; read_owner(b1, *); disconnect(b1, 1); reconnect(b1)", {"disconnects": 1}),
}
"""Runs that the code follows until the bug shows."""

BUGS = {
    "found_lock_unattended",
    "recreated_behind_release",
    "deletion_sent_again",
    "lone_release_fails",
    "failed_creation_left",
    "stale_unload",
    *store_migration.BUGS,
}
"""Bugs that the releases have, too."""

NOT_TOLD_APART = {
    "answers_disabled": "what a lookup makes of a disabled owner is findBrokerServiceUrl's matter",
    "event_lost": "that a session event is lost takes more than this harness does to a client",
}


def test_each_bug_is_noticed_or_has_a_reason_why_not() -> None:
    assert {*NOTICED, *BUGS, *NOT_TOLD_APART} == set(ENTRY.bugs)
    assert len(NOTICED) + len(BUGS) + len(NOT_TOLD_APART) == len(ENTRY.bugs)


@pytest.mark.parametrize("bug", NOTICED)
def test_a_bug_in_the_model_is_noticed(adapter: OwnershipAdapter, bug: str) -> None:
    script, parameters = NOTICED[bug]
    assert follow(adapter, script, **parameters).verdict in ("agrees", "not covered")
    outcome = follow(adapter, script, bug, **parameters)
    assert outcome.verdict in ("differs", "departs")
    assert not outcome.explained
    assert len(outcome.trace.steps) == script.count(";") + 1


def test_what_a_broker_answers_of_a_disabled_owner_is_not_seen(adapter: OwnershipAdapter) -> None:
    script = f"{OWNS}; disable(b0, *); read_owner(b1, *)"
    assert follow(adapter, script, "answers_disabled", disables=1).verdict == "agrees"
    # the cache has the node, disabled as it is; who asks is refused by what is above it
    assert follow(adapter, script, disables=1).verdict == "not covered"


# --- the metadata are migrated to another store

PREPARED = "hear_of_preparation({0}); prepare({0})"
DEAD_OWNER = (
    "try_to_own(b0, *); try_to_own(b1, *); create(b1, *); crash(b1); start_migration; hear_of_preparation(b0); create(b0, *);"
    "prepare(b0); expire_dead(b1); complete"
)
REFUSED = f"start_migration; {OWNS}; hear_of_preparation(b0); start_release(b0, *); prepare(b0); {PREPARED.format('b1')}"
REFUSED += "; complete; hear_of_completion(b0); hear_of_completion(b1)"
WITH_MIGRATION = [release for release in OWNERSHIP.releases if release != "4.0.8"]


@pytest.mark.long
@pytest.mark.parametrize("release", WITH_MIGRATION)
def test_migrations_are_as_in_the_model(release: str) -> None:
    """DualMetadataStores of two brokers, the coordinator's methods, two servers: bugs on their runs, and random runs."""
    tools()
    with start_ownership(Asked(release)) as adapter:
        dead = follow(adapter, DEAD_OWNER, "recreates_of_others", migration=True, crashes=1)
        without = follow(adapter, DEAD_OWNER, migration=True, crashes=1)
        if release in ENTRY.bugs["recreates_of_others"].present:
            assert (dead.verdict, holder(dead)) == ("agrees", "b1"), dead
            assert not without.explained
        else:
            assert (without.verdict, holder(without)) == ("agrees", "nobody"), without
            assert not dead.explained
        forgotten = follow(adapter, FORGOTTEN, "recreated_behind_release", migration=True, crashes=1, releases=1)
        assert (forgotten.verdict, forgotten.known) == ("differs", "version forgotten")
        refused = follow(adapter, REFUSED, "release_refused", migration=True, releases=1)
        assert refused.verdict == "agrees", refused
        assert refused.seen is not None
        assert refused.seen.values["brokers"]["b0"]["bundles"]["u0"]["state"] == "Releasing"
        instances = [OWNERSHIP.model(ENTRY, release, each) for each in OWNERSHIP.instances if each.get("migration")]
        result = campaign(instances, adapter, runs=30, steps=40, seed=5, weights=OWNERSHIP.weights, stop_after=1)
    assert result.agrees, unexplained(result)
    assert result.agreeing > 25
    assert {"prepare", "complete", "hear_of_completion"} <= {label.partition("(")[0] for label in result.coverage.names()}


@pytest.mark.deep
def test_only_4_2_4_goes_on_when_a_broker_is_not_prepared() -> None:
    """The coordinator waits for a minute."""
    tools()
    verdicts = {}
    for release in WITH_MIGRATION:
        with start_ownership(Asked(release)) as adapter:
            script = f"{OWNS}; start_migration; complete"
            verdicts[release] = follow(adapter, script, "goes_on_unprepared", migration=True).verdict
    assert verdicts == {"4.2.4": "agrees", "5.0.0-M1": "departs", "5.0.1": "departs"}


TAKEN_OVER = """try_to_own(b0, *); create(b0, *); expire(b0); learn_of_expiry(b0); try_to_own(b1, *); create(b1, *);
give_up(b0, *); start_release(b1, *); release(b1, *); reestablish(b0); find_missing(b0, *); create(b0, *)"""


@pytest.mark.long
def test_what_a_broker_gives_up_it_owns_again_with_its_next_session_and_serves_at_the_next_lookup() -> None:
    """OwnershipCache.handleOwnershipTakenOver of 5.0.1; LockManagerImpl keeps the lock, and creates the node again."""
    tools()
    of_5_0_1: dict[str, Value] = {"expiries": 1, "releases": 1, "gives_up": True, "acquires_when_lost": False}
    with start_ownership(Asked("5.0.1")) as adapter:
        given_up = follow(adapter, TAKEN_OVER, **of_5_0_1)
        assert (given_up.verdict, holder(given_up)) == ("agrees", "b0"), given_up
        assert given_up.seen is not None
        of_bundle = given_up.seen.values["brokers"]["b0"]["bundles"]["u0"]
        assert (of_bundle["state"], of_bundle["bundle_state"]) == ("Valid", "absent")
        adapter.begin(ENTRY.build(of_5_0_1))
        follow(adapter, TAKEN_OVER, **of_5_0_1)
        for line in lines("own", "let create"):  # what reads then is let go: another lock is there
            values = adapter.seen(line).values
        assert values["brokers"]["b0"]["bundles"]["u0"]["bundle_state"] == "active"


def test_a_release_without_migrations_refuses_one(adapter: OwnershipAdapter) -> None:
    outcome = follow(adapter, f"{OWNS}; start_migration", migration=True)
    assert (outcome.verdict, outcome.why) == ("departs", "this release has nothing that migrates the metadata")


# --- beyond the model: the state of a lock that is being released

WHILE_RELEASED = (
    "own",
    "let create",
    "expire",
    "learn",
    "reestablish",
    "unload",
    "let-both read create",
    "let-unheard release",
)
"""A release begins as the read of a revalidation is out, whose creation makes the lock Valid again; its answer is lost."""

AFTER_THE_DELETION = ("reconnect", "let release")


def lines(*steps: str) -> list[dict[str, str]]:
    """The harness's lines for steps, each with what it is about."""
    words = (dict(zip(("do", "what", "then"), step.split(), strict=False)) for step in steps)
    return [{"of": "b0", "bundle": "u0", **each} for each in words]


def left_over(release: str, *steps: str) -> tuple[str, str]:
    """Who holds the node after the steps, and the state of b0's lock."""
    with start_ownership(Asked(release)) as adapter:
        adapter.begin(ENTRY.build({"brokers": 2, "expiries": 1, "releases": 1, "disconnects": 1}))
        for line in lines(*steps):
            values = adapter.seen(line).values
    return values["nodes"]["u0"].get("holder", "nobody"), values["brokers"]["b0"]["bundles"]["u0"]["state"]


@pytest.mark.deep
@pytest.mark.parametrize("release", OWNERSHIP.releases)
def test_a_deletion_before_the_answer_of_a_release_leaves_a_node_that_nobody_releases(release: str) -> None:
    tools()
    heard = left_over(release, *WHILE_RELEASED, "hear", *AFTER_THE_DELETION, "let read", "let create")
    assert heard == ("b0", "none")
    assert left_over(release, *WHILE_RELEASED, *AFTER_THE_DELETION, "hear") == ("nobody", "none")
