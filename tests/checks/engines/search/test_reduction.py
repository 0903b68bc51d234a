"""Checks with symmetry: the verdicts, counterexamples and predicted counts are those of the search of everything."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from fencepost.checks.cli import main
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import exit_status
from fencepost.checks.engines.search import reduction
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.engines.search.reduction import Reduction
from fencepost.model.analysis.symmetry import Symmetry, symmetry_of
from fencepost.model.kernel.compiler import store
from fencepost.model.kernel.search.checkpoint import CheckpointError
from fencepost.model.language import And, Implies, Protocol, all_of
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, Value
from fencepost.properties.vocabulary import Suite
from fencepost.traces.replay import replay
from tests.command import fencepost, stable
from tests.model.locks import SPOILS, locks
from tests.properties.ledger.test_safety import CAUGHT, COUNTS, EXPLAINED, LEDGER
from tests.properties.searching import unexpected

REDUCED = {
    "two entries": 130113,
    "two recoveries": 9960,
    "change of ensemble": 115100,
    "striping": 338524,
    "striping, ack quorum of one": 224268,
    "crash and rot": 870753,
    "lost disk": 3566,
    "lost disk, data integrity": 3945,
    "ack quorum of one": 957,
    "without readers": 69868,
}
QUICK = ("recovery_reads_do_not_fence", "recovery_closes_blindly")
AT_ONCE = ("lost disk", "ack quorum of one")
LARGE = ("two entries", "change of ensemble", "striping", "striping, ack quorum of one", "crash and rot", "without readers")
TWO_RECOVERIES = ("--set", "entries=1", "recoverers=2", "--quiet")


def name(instance: Instance) -> str:
    return instance.name


def searched(parameters: dict[str, Value], bugs: Sequence[str] = ()) -> Findings:
    suite = LEDGER.suite(LEDGER.build(parameters, bugs))
    reduction = Reduction.of(suite.protocol, suite.properties, Reporter(quiet=True))
    return exhaust(Observed.of(suite, reduction.observed), Budget(workers=2), reduction=reduction)


@pytest.mark.parametrize(
    "instance",
    [
        pytest.param(i, marks=[] if i.name in AT_ONCE else pytest.mark.deep if i.name in LARGE else pytest.mark.long)
        for i in LEDGER.sizes["ci"]
    ],
    ids=name,
)
def test_the_small_instances_are_predicted(instance: Instance) -> None:
    findings = searched(dict(instance.parameters))
    states, transitions, depth = COUNTS[instance.name]
    reach = findings.verdicts[0].reach
    assert (reach["distinct"], reach["depth"]) == (REDUCED[instance.name], depth)
    judged = [v for v in findings.verdicts if v.property.kind != "leads_to"]
    assert {v.verdict for v in judged if not v.expected} == {"exhausted", "proved"}
    assert {s.subject for s in findings.suspicions} == EXPLAINED.get(instance.name, set())
    if REDUCED[instance.name] < states:
        assert reach["represented"] == states
        assert f"stand for {states:,} with {transitions:,} transitions; reduction factor" in findings.notes[2]
    else:
        assert "represented" not in reach
        assert findings.notes[1] == NOTHING


NOTHING = "symmetry: no members are interchangeable, so every state was visited"

OTHERS = ("ledger", "bookie", "service_unit_migration", "placement", "subscription", "geo_replication", "topic_loading")
"""Protocols that are not of this kind: of a migration the readers are brokers and one that is none, racks have bookies of
different numbers, and messages an order, so that none stands for another."""

CONTROL_PLANE = [
    pytest.param(entry, instance, id=f"{entry.name}, {instance.name}", marks=[pytest.mark.deep if place else pytest.mark.long])
    for entry in PROTOCOLS.values()
    for place, instance in enumerate(entry.sizes["ci"] if entry.name not in OTHERS else ())
]
"""The small instances of the other protocols: of each the first, and the others as deep tests."""


@pytest.mark.parametrize(("entry", "instance"), CONTROL_PLANE)
def test_verdicts_and_counts_are_those_of_the_search_of_everything(entry: Entry, instance: Instance) -> None:
    full, reduced = (
        check(Task(entry, instance, (), Approach(by="exhaustive", symmetry=symmetry))) for symmetry in (False, True)
    )
    finite = [v for v in full.verdicts if v.property.kind != "leads_to"]
    assert [(v.property.name, v.verdict, v.reach.get("steps")) for v in finite] == [
        (v.property.name, v.verdict, v.reach.get("steps")) for v in reduced.verdicts if v.property.kind != "leads_to"
    ]
    if reduced.notes[1] == NOTHING:
        assert instance is not entry.sizes["ci"][0], "the first has interchangeable members"
        assert reduced.verdicts[0].reach["distinct"] == full.verdicts[0].reach["distinct"]
        return
    assert reduced.verdicts[0].reach["distinct"] < full.verdicts[0].reach["distinct"]
    assert reduced.verdicts[0].reach["represented"] == full.verdicts[0].reach["distinct"]
    assert f" with {full.verdicts[0].reach['transitions']:,} transitions; reduction factor" in reduced.notes[2]


@pytest.mark.long
@pytest.mark.parametrize(
    "bug",
    [pytest.param(d, marks=[] if d == QUICK[0] else pytest.mark.long if d in QUICK else pytest.mark.deep) for d in CAUGHT],
)
def test_a_bug_is_caught_by_the_same_properties_in_as_many_steps(bug: str) -> None:
    findings = searched(dict(LEDGER.shown_by[bug]), [bug])
    violations, (properties, steps) = unexpected(findings), CAUGHT[bug]
    first = min(violations.values(), default=None)
    assert ({name for name, its in violations.items() if its == first}, first) == (properties, steps)
    traces = [v.trace for v in findings.verdicts if v.verdict == "violated" and v.trace is not None]
    assert len(traces) >= len(violations)
    for trace in traces:
        replayed = replay(trace, PROTOCOLS)
        assert replayed.replays, replayed


@pytest.mark.long
def test_the_same_is_printed_with_any_number_of_workers() -> None:
    asked = ("check", "ledger", *TWO_RECOVERIES, "--symmetry", "--property", "no_truncation", "--no-slice")
    one, two = (fencepost(*asked, "--workers", n) for n in "12")
    assert one.returncode == 0, one.stderr
    assert stable(one.stdout) == stable(two.stdout)
    assert one.stdout.splitlines()[1:4] == [
        "  exhausted: all 9,960 states up to symmetry, 66,207 transitions, the farthest 27 steps away",
        "  symmetry: bookie b0, b1, b2 and recoverer r0, r1 interchangeable (12 permutations)",
        "  symmetry: 9,960 states stand for 91,030 with 621,434 transitions; reduction factor 9.1",
    ]


@pytest.mark.long
def test_what_is_not_interchangeable_is_told_and_the_trace_is_a_real_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--bug", "recovery_reads_do_not_fence", "--property", "no_truncation", "--symmetry", "--quiet"]
    assert main(["check", *arguments, "--set", "entries=2", "--trace-dir", str(tmp_path)]) == 12
    message = "symmetry: entry e0 and e1 are not interchangeable: action send(e0) with the two exchanged is not send(e1)"
    assert message in capsys.readouterr().out
    (file,) = tmp_path.glob("*.itf.json")
    assert main(["trace", "replay", str(file)]) == 0
    assert capsys.readouterr().out == "replays: 13 steps, no_truncation does not hold in the last state\n"


def test_a_search_goes_on_from_a_checkpoint_with_the_same_symmetry(tmp_path: Path) -> None:
    suite = LEDGER.suite(LEDGER.build(LEDGER.shown_by["no_such_entry_though_stored"]))
    reduction, asked = Reduction.of(suite.protocol, [suite.named("no_truncation")], Reporter(quiet=True)), count()
    observed = Observed.of(suite, reduction.observed)
    exhaust(observed, Budget(), reduction=reduction, checkpoint=tmp_path, should_stop=lambda: next(asked) > 5)
    resumed = exhaust(observed, Budget(), reduction=reduction, checkpoint=tmp_path, resume=True)
    assert resumed == exhaust(observed, Budget(), reduction=reduction)
    with pytest.raises(CheckpointError):
        exhaust(observed, Budget(), checkpoint=tmp_path, resume=True)


def test_other_engines_have_no_use_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "ledger", "--symmetry", "--by", "walks"]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "fencepost: --symmetry needs exhaustive search; --by walks does not support it\n")


def lock_suite(p: Protocol) -> Suite:
    """A lock is held by who is up, and comes to be free; some broker can be told of it by two others."""
    s, suite, broker = p.state, Suite(p), p.universes["broker"]

    @suite.always
    def owners_are_up() -> object:
        """Who has the lock is up."""
        return all_of(Implies(s.owner == broker.label(b), s.up[b]) for b in broker)

    @suite.sometimes
    def last_is_told_more() -> object:
        """The last broker has been told more often than the first."""
        return s.seats[broker.size - 1] > s.seats[0]

    @suite.sometimes
    def two_own_it() -> object:
        """The first broker has the lock, and the last one has it."""
        return And(s.owner == "b0", s.owner == broker.label(broker.size - 1))

    @suite.leads_to
    def comes_free() -> object:
        """A lock that is held comes to be free."""
        return s.owner != "nobody", s.owner == "nobody"

    return suite


def locks_checked(spoiled: str, *, brokers: int, symmetry: bool, only: tuple[str, ...] = ()) -> Findings:
    def build(bugs: Sequence[str] = ()) -> Protocol:
        return locks(brokers, spoiled=spoiled)

    entry = Entry(name="locks", summary="locks", function=build, suite=lock_suite, sizes={})
    approach = Approach(symmetry=symmetry, properties=only, slice=False)
    return check(Task(entry, Instance("some", {}), (), approach))


def verdicts_of(findings: Findings) -> dict[str, str]:
    return {v.property.name: v.verdict for v in findings.verdicts}


@pytest.mark.parametrize(("spoiled", "verdict", "status"), [("", "inconclusive", 20), ("order", "violated", 13)])
def test_what_must_come_about_is_judged_only_without_symmetry(spoiled: str, verdict: str, status: int) -> None:
    """With nothing interchangeable a search with --symmetry is one of every state, and judges everything."""
    findings = locks_checked(spoiled, brokers=2, symmetry=True, only=("owners_are_up", "comes_free"))
    assert verdicts_of(findings) == {"owners_are_up": "exhausted", "comes_free": verdict}
    assert exit_status(findings.verdicts) == status
    if verdict == "inconclusive":
        assert findings.verdicts[-1].note.endswith("check this without --symmetry")


def test_a_search_with_symmetry_refuses_to_observe_what_must_come_about() -> None:
    suite = lock_suite(locks(2))
    reduction = Reduction.of(suite.protocol, suite.properties, Reporter(quiet=True))
    with pytest.raises(ValueError, match="comes_free cannot be judged with symmetry"):
        exhaust(Observed.of(suite, suite.properties), Budget(), reduction=reduction)


def test_situations_of_particular_members_are_reached_with_symmetry_as_without() -> None:
    goals = ("last_is_told_more", "two_own_it")
    with_it, without = (locks_checked("", brokers=3, symmetry=symmetry, only=goals) for symmetry in (True, False))
    assert verdicts_of(with_it) == verdicts_of(without) == dict(zip(goals, ("proved", "violated"), strict=True))
    assert with_it.notes[1] == "symmetry: broker b0, b1, b2 interchangeable (6 permutations)"
    suite = lock_suite(locks(3))
    only = [suite.named("last_is_told_more")]
    as_written = exhaust(Observed.of(suite, only), Budget(), reduction=Reduction.of(suite.protocol, only, Reporter(quiet=True)))
    assert verdicts_of(as_written) == {"last_is_told_more": "violated"}  # no state that stands for others is like this


@pytest.mark.long
def test_of_a_very_large_symmetry_a_part_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.checks.engines.search.reduction.MOST", 5)
    findings = searched({"entries": 1})
    (classes, counts) = findings.notes[1:3]
    assert classes == "symmetry: bookie b0, b1 interchangeable (2 permutations of 6, which would take too long for each state)"
    assert "stand for 4,790 with 21,980 transitions" in counts


def test_what_an_earlier_process_proved_is_what_is_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that differs in one guard, one update, one initial value or one formula is proved again."""
    proofs = list[Protocol]()

    def noted(protocol: Protocol, *rest: Any) -> Symmetry:
        proofs.append(protocol)
        return symmetry_of(protocol, *rest)

    monkeypatch.setattr(store, "FOLDER", str(tmp_path / "protocols"))
    monkeypatch.setattr(reduction, "symmetry_of", noted)
    suites = [lock_suite(locks(3, spoiled=spoiled)) for spoiled in ("", *SPOILS)]
    asked = [(suite.protocol, suite.properties) for suite in suites] + [(suites[0].protocol, suites[0].properties[:0])]
    first = [Reduction.of(*each, Reporter(quiet=True)).symmetry for each in asked]
    assert len(proofs) == len(asked)
    assert first == [Reduction.of(*each, Reporter(quiet=True)).symmetry for each in asked]
    assert len(proofs) == len(asked)
    assert len({symmetry.order for symmetry in first}) > 1


def rooms(per: str) -> Protocol:
    """A light in each room, of which the first alone goes on; what the lights are of is one of two universes of one size."""
    p = Protocol("rooms")
    universes = {name: p.universe(name, 2, "r") for name in ("room", "ring")}
    on = p.flag("on", per=universes[per])

    @p.step(by="somebody")
    def switch() -> object:
        """The first light goes on."""
        return True, {on[0]: True}

    return p


def test_a_proof_of_one_protocol_serves_no_other_whose_universes_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same names, sorts and terms: only what the variables are indexed by is another universe."""
    monkeypatch.setattr(store, "FOLDER", str(tmp_path / "protocols"))
    for per in ("room", "ring"):
        proved = symmetry_of(rooms(per), {})
        (told_apart,) = (name for name in ("room", "ring") if name not in [c.universe.name for c in proved.classes])
        assert told_apart == per
        assert Reduction.of(rooms(per), (), Reporter(quiet=True)).symmetry == proved
