"""The ledger protocol on BookKeeper's client and bookies: no difference without a name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.checks.conformance.bookkeeper import ledger_requests as words
from fencepost.checks.conformance.bookkeeper.ledger import LedgerAdapter
from fencepost.checks.conformance.bookkeeper.ledger_observables import OBSERVABLES
from fencepost.checks.conformance.bookkeeper.target import LEDGER, STORAGES
from fencepost.checks.conformance.running.campaign import Result
from fencepost.checks.conformance.running.pair import Pair
from fencepost.model.bookkeeper.ledger import BUGS
from fencepost.model.kernel import Kernel
from fencepost.model.nobody import NOBODY
from fencepost.properties.registry import Value
from tests.checks.conformance.bookkeeper.ledgers import ENTRY, follow, held, running
from tests.checks.conformance.differences import unexplained

pytestmark = pytest.mark.xdist_group("real bookkeeper")


@pytest.fixture(scope="module")
def adapter() -> Iterator[LedgerAdapter]:
    with running() as adapter:
        yield adapter


# --- no difference without a name


@pytest.fixture(scope="module")
def ran(adapter: LedgerAdapter) -> Result:
    return held(adapter, runs=150)


def test_runs_differ_only_where_it_is_known(ran: Result) -> None:
    assert ran.agrees, unexplained(ran)
    assert ran.agreeing > 100
    assert ran.runs == 150


BACK_BY_A_CHANGE = (
    "send(e0); send(e1); replace(b2, b3); add(b2, e0); publish_change; resend; replace(b1, b2); ack(b2, e0); publish_change; "
    "add(b3, e0); resend; ack(b3, e0)"
)


def test_what_a_bookie_acknowledges_that_is_to_come_back_does_not_count(adapter: LedgerAdapter) -> None:
    """The model counts it, and so allows more: the code compares the bookie with the ensemble that the add was sent to last."""
    pair = Pair(Kernel(ENTRY.build({"bookies": 4, "entries": 2, "changes": 2})), adapter)
    script = BACK_BY_A_CHANGE.split("; ")
    assert pair.follow(script).verdict == "differs"
    outcome = pair.follow(script, lenient=True)
    assert outcome.verdict == "agrees", outcome
    assert [label for label in script if label not in {step.action for step in outcome.trace.steps}] == ["ack(b2, e0)"]


def test_every_action_is_taken(ran: Result) -> None:
    taken = ran.coverage.names()
    everything = {action.name for each in LEDGER.instances for action in ENTRY.build(each).actions}
    assert everything - set(taken) == set()


def test_the_words_are_those_of_the_model() -> None:
    """Each action and variable that the adapter names exists: a name that is gone would leave a hole in what is compared."""
    protocol = ENTRY.build(
        {
            **dict.fromkeys(("changes", "crashes", "losses", "unclean_shutdowns", "rots", "explicit_lacs", "deletions"), 1),
            "failed_saves": 1,
            "data_integrity": True,
        },
        [
            "unknown_counts_as_no_such_entry",
            "idle_checkpoint_skips_index",
            "captured_ensemble",
            "confirms_while_unsetting",
            "failed_save_forgotten",
            "fence_checked_apart",
            "last_entry_of_the_write_cache",
            "length_after_refusal",
        ],
    )
    names = {value for name, value in vars(words).items() if name.isupper() and isinstance(value, str)}
    names -= {words.ADDING, NOBODY, *BUGS}
    assert names == {action.name for action in protocol.actions}
    families = {family for observable in OBSERVABLES for family in observable.variables} | set(words.BY_REQUESTS)
    assert families <= {variable.family for variable in protocol.variables}


@settings(max_examples=25)
@given(data=st.data())
def test_hypothesis_finds_no_other_difference(adapter: LedgerAdapter, data: st.DataObject) -> None:
    pair = Pair(_kernel(), adapter)

    def choose(state: object, actions: object, seen: object) -> object:
        tried = [a for a in actions if not pair.allowed_only(a, state, seen)]  # type: ignore[attr-defined, arg-type]
        return data.draw(st.sampled_from(tried), label="step") if tried else None

    outcome = pair.choose(choose, 25, found_by="Hypothesis", seed=None)  # type: ignore[arg-type]
    assert outcome.explained, outcome


_KERNELS: list[Kernel] = []


def _kernel() -> Kernel:
    if not _KERNELS:
        _KERNELS.append(Kernel(ENTRY.build({"entries": 1, "recoverers": 2, "bookies": 4, "changes": 1})))
    return _KERNELS[0]


@pytest.mark.parametrize("storage", [s for s in STORAGES if s != "db"])
def test_each_storage_agrees_where_nothing_is_known_of_it(storage: str) -> None:
    with running(storage=storage) as other:
        result = held(other, runs=20, entries=2, recoverers=2)
        assert result.agrees, unexplained(result)
        assert set(result.known) <= {"L14"}
        assert (words.LOSE_DISK in other.covered) == (storage == "db")


def test_two_jvms_say_the_same_to_the_byte() -> None:
    logs = []
    for _ in range(2):
        with running(keep_log=True) as adapter:
            held(adapter, runs=2, seed=5)
            logs.append(hashlib.sha256(b"\n".join(adapter.session.log)).hexdigest())
    assert logs[0] == logs[1]


# --- runs that a person can follow

HAPPY = (
    "send(e0); send(e1); add(b0, e0); add(b1, e0); add(b2, e0); ack(b0, e0); ack(b1, e0); add(b1, e1); add(b2, e1);"
    "ack(b2, e1); ack(b1, e1); add(b0, e1); close"
)
CHANGE = (
    "send(e0); add(b0, e0); add(b2, e0); ack(b0, e0); ack(b2, e0); send(e1); replace(b1, b3); add(b0, e1); ack(b0, e1);"
    "publish_change; resend; add(b3, e1); ack(b3, e1)"
)


def test_a_ledger_that_is_written_and_closed(adapter: LedgerAdapter) -> None:
    outcome = follow(adapter, HAPPY)
    assert outcome.verdict == "agrees"
    assert outcome.seen is not None
    assert outcome.seen.values["metadata"]["status"] == "closed"
    assert outcome.seen.values["clients"]["writer"]["confirmed"] == [0, 1]


def test_a_change_of_ensemble_by_the_writer(adapter: LedgerAdapter) -> None:
    outcome = follow(adapter, CHANGE, bookies=4, changes=1)
    assert outcome.verdict == "agrees", outcome
    assert outcome.seen is not None
    ensembles = outcome.seen.values["metadata"]["ensembles"]
    assert ensembles == [[0, "b0", "b1", "b2"], [1, "b0", "b3", "b2"]]


CLOSED_BEHIND_A_READER = (
    "send(e0); send(e1); replace(b2, b3); publish_change; add(b1, e0); recover(r1); add(b1, e1); recover(r0); read_lac(r0, b0);"
    "read_lac(r0, b1); start_reading(r0); read_lac(r1, b1); read_lac(r1, b3); start_reading(r1); read_no_such_entry(r1, b3);"
    "read_found(r0, b1); read_no_such_entry(r1, b0); recovery_add(r0, b1); recovery_add(r0, b3); recovery_add_complete(r0);"
    "close_recovered(r1); read_found(r0, b1); recovery_add(r0, b3)"
)


CONFIRMED_BY_A_ROTTEN_COPY = (
    "send(e0); add(b0, e0); ack(b0, e0); add(b1, e0); ack(b1, e0); confirm(e0); send(e1); add(b0, e1); rot(b0, e1)"
)


@pytest.mark.parametrize(
    ("script", "parameters"),
    [
        pytest.param(CLOSED_BEHIND_A_READER, {"bookies": 4, "recoverers": 2, "changes": 2}, id="opens a closed ledger"),
        pytest.param(CONFIRMED_BY_A_ROTTEN_COPY, {"rots": 1, "readers": 1}, id="the only copy that says it is rotten"),
    ],
)
def test_what_no_reader_of_the_code_hears_is_not_tried(
    adapter: LedgerAdapter, script: str, parameters: dict[str, Value]
) -> None:
    """One that had opened the closed ledger in between would hear of e0 from b3; the harness has none."""
    protocol = ENTRY.build({"entries": 2, **parameters})
    pair, labels = Pair(Kernel(protocol), adapter), [label.strip() for label in script.split(";")]
    followed = pair.follow(labels)
    assert followed.verdict == "agrees", followed
    assert followed.seen is not None
    read = next(action for action in pair.kernel.actions if action.label == "read_tail(reader0, e0)")
    last = followed.trace.states[-1]
    assert pair.numbers[read.label] in pair.kernel.enabled(pair.kernel.packing.pack(last))
    assert pair.allowed_only(read, last, followed.seen) == "hears of an entry from one bookie, whichever it is"
    assert pair.follow([*labels, read.label]).verdict == "departs"


def test_a_fence_that_a_kill_takes_back_is_known(adapter: LedgerAdapter) -> None:
    script = "recover(r0); fence_unheard(r0, b2); crash(b2); restart(b2)"
    outcome = follow(adapter, script, entries=1, crashes=1)
    assert (outcome.verdict, outcome.known) == ("differs", "L12")
    assert [str(d) for d in outcome.differences] == ["fenced[b2]: model yes, code no"]


def test_a_fence_of_a_ledger_that_is_known_survives_a_kill(adapter: LedgerAdapter) -> None:
    script = "send(e0); add(b2, e0); recover(r0); fence_unheard(r0, b2); crash(b2); restart(b2)"
    assert follow(adapter, script, entries=1, crashes=1).verdict == "agrees"


READ_OF_A_DELETED_LEDGER = (
    "send(e0); add(b0, e0); recover(r0); read_lac(r0, b2); recover(r1); read_lac(r1, b1); read_lac(r1, b0); start_reading(r1); "
    "read_no_such_entry(r1, b1); read_no_such_entry(r1, b2); close_recovered(r1); delete; collect(b0); read_lac(r0, b0); "
    "start_reading(r0)"
)


def test_who_reads_of_a_ledger_that_was_fenced_and_deleted_hears_that_it_is_not_there(adapter: LedgerAdapter) -> None:
    assert follow(adapter, READ_OF_A_DELETED_LEDGER, recoverers=2, deletions=1).verdict == "agrees"


@pytest.mark.deep
def test_up_to_4_17_2_he_hears_that_his_password_is_wrong() -> None:
    with running("4.17.2") as older:
        outcome = follow(older, READ_OF_A_DELETED_LEDGER, recoverers=2, deletions=1)
    assert (outcome.verdict, outcome.known) == ("differs", "L6")
    assert "wrong password" in " ".join(map(str, outcome.differences))
