"""Mutants: which there are of a protocol, what becomes of each, and what the command says of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import z3

from fencepost.checks.cli import main
from fencepost.checks.commands.teeth import run as command
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.teeth.mutation import Mistake, mutants
from fencepost.checks.teeth.report import text
from fencepost.checks.teeth.run import Sample, Teeth, bite
from fencepost.checks.teeth.switched_mutants import alone, differences
from fencepost.checks.teeth.trial import Kill, Trial
from fencepost.model.language import And, If, ModelError, Not, Protocol, at_least
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.values import TRUE
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite
from tests.properties.pins import PINNED
from tests.properties.searching import unexpected, whole


def lift(*, floors: int = 3, quorum: int = 2, trips: int = 1, bugs: Iterable[str] = ()) -> Protocol:
    """A lift that moves with its door closed, from where as many as the quorum have got in."""
    p = Protocol("lift", parameters={"floors": floors, "quorum": quorum, "trips": trips})
    person = p.universe("person", 2)
    floor = p.number("floor", 0, floors - 1)
    door = p.flag("door")
    inside = p.flag("inside", per=person)
    p.budget("trips", trips)

    @p.step(by="w", w=person, fair=True)
    def enter(w: int) -> Any:
        """A person gets in; the last one closes the door."""
        others = [inside[x] for x in person if x != w]
        return And(Not(inside[w]), floor < 1), {inside[w]: True, door: If(And(*others), True, door)}

    @p.step(by="lift", spends="trips")
    def go() -> Any:
        """The lift goes up."""
        return And(at_least(quorum, list(inside)), door, floor < floors - 1), {floor: floor + 1}

    return p


def lift_suite(p: Protocol) -> Suite:
    s, n = p.state, p.next
    suite = Suite(p)

    @suite.step
    def moves_closed() -> Any:
        """The lift moves only with its door closed."""
        return (s.floor == n.floor) | s.door

    @suite.always
    def closed_when_full() -> Any:
        """The door is closed when all are in, and only then."""
        return s.door == And(s.inside[0], s.inside[1])

    @suite.ends
    def no_deadlock() -> Any:
        """Nothing stops before the lift has moved."""
        return And(s.inside[0], s.trips == p.parameters["trips"])

    @suite.leads_to
    def all_get_in() -> Any:
        """Everybody gets in."""
        return True, And(s.inside[0], s.inside[1])

    @suite.lemma
    def low() -> Any:
        """The lift moves once."""
        return And(s.floor <= s.trips, s.trips <= p.parameters["trips"], closed_when_full(), (s.floor == 0) | s.door)

    return suite


LIFT = Entry(
    name="lift",
    summary="a lift",
    function=lift,
    suite=lift_suite,
    sizes={"ci": (Instance("one trip", {}), Instance("parked", {"trips": 0}))},
)

FATES: dict[str, str | tuple[str, str, int]] = {
    "enter: guard without `not inside[w]`": "proved equivalent",
    "enter: guard without `floor < n`": "proved equivalent",
    "enter: guard with `floor < n` as <=": "proved equivalent",
    "enter: guard with `floor < n` one below": ("parked", "no_deadlock", 0),
    "enter: guard with `inside[w]` negated": ("parked", "no_deadlock", 0),
    "enter: no update of inside": ("parked", "all_get_in", 2),
    "enter: no update of door": ("parked", "closed_when_full", 2),
    "enter: door with `door` negated": ("parked", "closed_when_full", 1),
    "enter: door with `inside[*]` negated": ("parked", "closed_when_full", 1),
    "enter: not fair": ("parked", "all_get_in", 0),
    "go: guard without `inside[*]`": "proved equivalent",
    "go: guard without `door`": "proved equivalent",
    "go: guard without `floor < n`": "proved equivalent",
    "go: guard with `floor < n` as <=": "proved equivalent",
    "go: guard with `floor < n` one below": "proved equivalent",
    "go: guard with `door` negated": ("one trip", "no_deadlock", 2),
    "go: guard with `inside[*]` negated": ("one trip", "no_deadlock", 2),
    "go: no update of floor": "survived",
    "go: quorum one more": ("one trip", "no_deadlock", 2),
    "go: quorum one less": "proved equivalent",
}


def test_fairness_that_nothing_needs_survives() -> None:
    def unclaiming(p: Protocol) -> Suite:
        suite = lift_suite(p)
        suite.properties[:] = [prop for prop in suite.properties if prop.kind != "leads_to"]
        return suite

    entry = replace(LIFT, suite=unclaiming)
    teeth = bite(entry, LIFT.sizes["ci"], only=["enter"], workers=1, reporter=Reporter(quiet=True))
    (mutant,) = (m for m in teeth.mutants if m.mistake.change == "not fair")
    assert (mutant.fate, mutant.safe) == ("survived", True)


@pytest.mark.long
def test_only_what_the_named_properties_notice_counts() -> None:
    fates = {str(m.mistake): m for m in bitten(properties=["closed_when_full"]).mutants}
    killed = {mistake for mistake, mutant in fates.items() if mutant.fate == "killed"}
    assert {kill.properties for m in fates.values() if (kill := m.kill)} == {("closed_when_full",)}
    assert "enter: no update of door" in killed
    assert fates["enter: no update of inside"].fate == "survived", "all_get_in notices it, and does not count"


def bitten(**options: Any) -> Teeth:
    return bite(LIFT, LIFT.sizes["ci"], **{"workers": 1, "reporter": Reporter(quiet=True)} | options)


def fates(teeth: Teeth) -> dict[str, str | tuple[str, str, int | None]]:
    kills = {m.mistake: (m.kill.instance, m.kill.properties[0], m.kill.steps) for m in teeth.mutants if m.kill}
    return {str(m.mistake): kills.get(m.mistake, m.fate) for m in teeth.mutants}


@pytest.mark.long
def test_every_mutant_of_a_protocol_has_its_fate() -> None:
    teeth = bitten()
    assert fates(teeth) == FATES
    assert teeth.instances == ("parked", "one trip")
    assert teeth.noticed == {"moves_closed": 0, "closed_when_full": 3, "no_deadlock": 5, "all_get_in": 2}
    assert teeth.idle == ("moves_closed",)
    assert teeth.finished
    assert teeth.score == 10 / 11


@pytest.mark.long
def test_the_workers_change_nothing() -> None:
    assert bitten(workers=2) == bitten()


@pytest.mark.long
def test_an_action_or_a_mutant_can_be_asked_for() -> None:
    assert [m.name for m in bitten(only=["go.8"]).mutants] == ["go.8"]
    assert {m.mistake.action for m in bitten(only=["enter"]).mutants} == {"enter"}


@pytest.mark.long
def test_a_sample_is_some_of_the_mutants_and_the_score_says_so() -> None:
    sampled = bitten(sample=Sample(8, seed=3))
    assert sampled.sampled_of == len(FATES)
    assert len(sampled.mutants) == 8
    assert fates(sampled).items() <= FATES.items()
    assert [m.name for m in sampled.mutants] == [m.name for m in bitten().mutants if m in sampled.mutants]
    assert sampled == bitten(sample=Sample(8, seed=3)) != bitten(sample=Sample(8, seed=4))
    lines = text(sampled, every=False).splitlines()
    assert lines[1].startswith("  8 mutants, sampled of 20: ")
    assert " % of the sample, " in lines[-2]
    assert bitten(sample=Sample(100, seed=0)).mutants == bitten().mutants


def test_what_was_not_tried_is_said() -> None:
    teeth = bitten(should_stop=lambda: True)
    assert not teeth.finished
    assert {m.fate for m in teeth.mutants} == {"not tried"}
    counts, score, _ = text(teeth, every=False).splitlines()[-3:]
    assert counts == f"  {len(teeth.mutants)} mutants: {len(teeth.mutants)} not tried"
    assert score == "lift: no score, because no mutant was tried"


def test_a_mutant_by_itself_goes_wrong_as_it_does_among_others() -> None:
    instance = LIFT.sizes["ci"][1]
    spoiled = mutants(LIFT, instance.parameters, LIFT.build(instance.parameters))
    suite = alone(LIFT, instance, spoiled[Mistake("enter", "no update of door")])
    assert unexpected(exhaust(Observed.of(suite, suite.properties), Budget(workers=1))) == {"closed_when_full": 2}


def test_a_value_outside_its_domain_is_noticed() -> None:
    entry = replace(LIFT, sizes={"ci": (Instance("two floors", {"floors": 2, "trips": 2}),)}, suite=without_end)
    teeth = bite(entry, entry.sizes["ci"], workers=1, reporter=Reporter(quiet=True))
    kills = {str(m.mistake): m.kill for m in teeth.mutants}
    assert kills["go: guard without `floor < n`"] == Kill("two floors", "domains")


def without_end(p: Protocol) -> Suite:
    suite = lift_suite(p)
    suite.properties[:] = [prop for prop in suite.properties if prop.kind != "deadlock"]
    return suite


def marks(*, room: int = 2, bugs: Iterable[str] = ()) -> Protocol:
    """Marks on a wall, as long as there is room."""
    p = Protocol("marks", parameters={"room": room})
    count, full = p.number("made", 0, room), p.flag("full")

    @p.step(by="hand")
    def mark() -> Any:
        """A mark is made."""
        return And(Not(full), count < room), {count: If(count < room, count + 1, count), full: count >= room - 1}

    return p


def marks_suite(p: Protocol) -> Suite:
    suite = Suite(p)

    @suite.step
    def every_step_counts() -> Any:
        """Each step makes one mark."""
        return p.next.made == p.state.made + 1

    @suite.ends
    def no_deadlock() -> Any:
        """It ends when the wall is full."""
        return p.state.full

    @suite.lemma
    def is_full() -> Any:
        """It is full when there is no more room."""
        return p.state.full == (p.state.made == p.parameters["room"])

    return suite


MARKS = Entry(name="marks", summary="marks on a wall", function=marks, suite=marks_suite, sizes={"ci": (Instance("two", {}),)})


def test_a_mutant_that_only_adds_steps_without_effect_is_one_that_no_property_tells() -> None:
    """It would be none if a property of steps were judged by such a step: then it is no equivalent."""
    endless = Mistake("mark", "guard without `not full`"), Mistake("mark", "guard without `made < n`")
    (instance,) = MARKS.sizes["ci"]
    protocol = MARKS.build({})
    (number,) = range(len(protocol.actions))
    spoiled = replace(protocol.actions[number], guard=TRUE)  # both at once: it marks a full wall, without effect
    suite = alone(MARKS, instance, {number: spoiled})
    findings = exhaust(Observed.of(suite, suite.properties), Budget(workers=1))
    assert not unexpected(findings)
    assert findings.verdicts[0].reach["transitions"] == 3
    solver = z3.Solver()
    lemmas = [lemma.formula for lemma in MARKS.suite(protocol).lemmas]
    domains = [v.domain.within(v.term) for v in protocol.variables]
    solver.add(InZ3().all([differences(protocol, {number: spoiled}), *lemmas, *domains]))
    assert solver.check() == z3.unsat
    fates = {m.mistake: m.fate for m in bite(MARKS, [instance], workers=1, reporter=Reporter(quiet=True)).mutants}
    assert {fates[mistake] for mistake in endless} == {"proved equivalent"}


def test_a_protocol_that_does_not_hold_has_no_teeth() -> None:
    entry = replace(LIFT, sizes={"ci": (Instance("stuck", {"floors": 1}),)})
    with pytest.raises(ModelError, match="lift, stuck: no_deadlock does not hold without any mutation"):
        bite(entry, entry.sizes["ci"], workers=1, reporter=Reporter(quiet=True))


# --- the command


@pytest.fixture
def _with_lift(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PROTOCOLS", {**PROTOCOLS, "lift": LIFT})


TEETH = ["teeth", "lift", "--quiet", "--workers", "1"]
SURVIVOR = """\
teeth of lift, in the instances: parked, one trip
  20 mutants: 10 killed, 1 survived, 9 proved equivalent
  noticed by: exhaustive 8, liveness 2
  no mutant breaks: moves_closed
  survived          go.8  go: no update of floor: nothing notices it in one trip; induction proves it safe
lift: score 90.9 %, 10 of 11 mutants that make a difference
"""


@pytest.mark.long
@pytest.mark.usefixtures("_with_lift")
def test_the_command_tells_who_survives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(TEETH) == 10
    assert capsys.readouterr().out.split("# ")[0] == SURVIVOR
    assert main([*TEETH, "--least", "90"]) == 0


@pytest.mark.long
@pytest.mark.usefixtures("_with_lift")
def test_the_command_tells_how_each_was_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    main([*TEETH, "--all"])
    shown = capsys.readouterr().out
    assert "\n  killed            enter.6  enter: no update of inside: all_get_in in 2 steps, by liveness (parked)\n" in shown
    assert "\n  proved equivalent go.2  go: guard without `door`: it makes no difference\n" in shown


@pytest.mark.usefixtures("_with_lift")
def test_the_command_shows_the_run_that_gives_a_mutant_away(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TEETH, "--mutant", "enter.7"]) == 0
    shown = capsys.readouterr().out
    assert "enter.7: enter: no update of door\nlift, parked: floors=3 quorum=2 trips=0\n" in shown
    assert "violated     closed_when_full: The door is closed when all are in, and only then. (in 2 steps)" in shown
    assert "  2  p1  enter(p1)  inside[p1] no -> yes" in shown


@pytest.mark.long
@pytest.mark.usefixtures("_with_lift")
def test_without_a_mutant_there_is_no_score(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TEETH, "--states", "1"]) == 75
    assert "lift: no score, because every instance is too large: raise --states\n" in capsys.readouterr().out
    assert main([*TEETH, "--states", "1", "--mutant", "go.8"]) == 75
    assert "too large, and left out: one trip, parked" in capsys.readouterr().out
    assert main([*TEETH, "--mutant", "go.2"]) == 75
    assert "lift: no score, because no mutant makes a difference\n" in capsys.readouterr().out
    assert main([*TEETH, "--states", "1", "--format", "json"]) == 75
    assert json.loads(capsys.readouterr().out)["protocols"][0]["score"] is None


@pytest.mark.long
@pytest.mark.usefixtures("_with_lift")
def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TEETH, "--format", "json"]) == 10
    document = json.loads(capsys.readouterr().out)
    (protocol,) = document["protocols"]
    assert document["format"] == 1
    assert (protocol["protocol"], protocol["instances"], protocol["finished"]) == ("lift", ["parked", "one trip"], True)
    assert protocol["score"] == 0.9091
    assert protocol["counts"] == {"killed": 10, "survived": 1, "proved equivalent": 9, "same graph": 0, "not tried": 0}
    killed, survived = (m for m in protocol["mutants"] if m["name"] in ("enter.6", "go.8"))
    assert killed == {
        "name": "enter.6",
        "action": "enter",
        "change": "no update of inside",
        "fate": "killed",
        "by": "liveness",
        "instance": "parked",
        "properties": ["all_get_in"],
        "steps": 2,
    }
    assert (survived["fate"], survived["instances"], survived["safe"]) == ("survived", ["one trip"], True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "brokers=2"], "--set is of one protocol"),
        (["--mutant", "write.1"], "--mutant is of one protocol"),
        (["unload", "--set", "brokers=1", "--mutant", "fly"], "unload has no mutant 'fly'; --all lists them"),
        (["leader"], "there is no protocol 'leader'"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["teeth", *arguments, "--quiet"]) == 2
    assert message in capsys.readouterr().err


def only_mutated() -> Iterator[tuple[str, Instance]]:
    """The instances that are mutated, without those that test_pinned.py searches."""
    for name, entry in PROTOCOLS.items():
        pinned = PINNED[name]
        searched = [i.parameters for i in entry.sizes["ci"] if i.name not in pinned.deep]
        searched += [shown for bug, shown in entry.shown_by.items() if bug not in pinned.deep_bugs]
        known = {whole(entry, parameters) for parameters in searched}
        yield from ((name, instance) for instance in entry.mutated if whole(entry, instance.parameters) not in known)


@pytest.mark.long
@pytest.mark.parametrize(("name", "instance"), [*only_mutated()], ids=str)
def test_what_is_mutated_holds_without_any_mutation(name: str, instance: Instance) -> None:
    Trial(PROTOCOLS[name], instance, Budget()).check(lambda: False)
