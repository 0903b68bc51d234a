"""Proof for any number of members and any quorum of them: voters who say yes or no, and what enough of them settle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
import z3

from fencepost.checks.engines.any_size.instantiation import Instantiation
from fencepost.checks.engines.any_size.link import link
from fencepost.checks.engines.any_size.proof import GeneralProof, prove_for_any_size
from fencepost.checks.engines.solvers.second_solver import ground_answer
from fencepost.model.any_size.first_order import AnySize, any_size
from fencepost.model.any_size.sizes import Size
from fencepost.model.language import And, Implies, ModelError, Not, Or, Protocol, all_of, any_of, at_least
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.nodes import Function, constant, number
from fencepost.model.terms.sorts import BOOL, INT, things_sort
from fencepost.model.terms.traversal import QUANTIFIERS
from fencepost.model.terms.values import TRUE, conditional, for_all, for_some
from fencepost.properties.any_size import Case, General, Sizes, sizes_from
from fencepost.properties.vocabulary import Suite

BUGS = {"one_no_less": "the proposal fails with one refusal less", "votes_twice": "who has refused may agree after all"}


def vote(*, voters: int = 3, enough: int = 2, bugs: Iterable[str] = ()) -> Protocol:
    """A proposal passes once ``enough`` voters agree, and fails once so many refuse that no more can."""
    p = Protocol("vote", parameters={"voters": voters, "enough": enough}, bugs=BUGS, active=bugs)
    voter = p.universe("voter", voters)
    yes, no = p.subset("yes", voter), p.subset("no", voter)
    outcome = p.choice("outcome", ["open", "passed", "failed"])

    @p.step(by="v", v=voter)
    def agree(v: int) -> Any:
        """A voter agrees."""
        return Not(Or(yes.has(v), no.has(v) if not p.has("votes_twice") else False)), {yes: yes.plus(v)}

    @p.step(by="v", v=voter)
    def refuse(v: int) -> Any:
        """A voter refuses."""
        return Not(Or(yes.has(v), no.has(v))), {no: no.plus(v)}

    @p.step(by="chair")
    def count() -> Any:
        """The chair finds that enough agree."""
        return at_least(enough, (yes.has(v) for v in voter)), {outcome: "passed"}

    @p.step(by="chair")
    def give_up() -> Any:
        """The chair finds that so many refuse that the others are not enough."""
        less = 0 if p.has("one_no_less") else 1
        return at_least(voters - enough + less, (no.has(v) for v in voter)), {outcome: "failed"}

    return p


def properties(p: Protocol) -> Suite:
    """What has been decided stays decided, because of those who voted."""
    suite, s, voter = Suite(p), p.state, p.universes["voter"]
    voters, enough = p.parameters["voters"], p.parameters["enough"]

    @suite.lemma
    def votes_are_single() -> Any:
        """Nobody agrees and refuses."""
        return all_of(Not(And(s.yes.has(v), s.no.has(v))) for v in voter)

    @suite.lemma
    def outcomes_are_voted() -> Any:
        """What is decided was voted."""
        passed = at_least(enough, (s.yes.has(v) for v in voter))
        failed = at_least(voters - enough + 1, (s.no.has(v) for v in voter))
        return And(Implies(s.outcome == "passed", passed), Implies(s.outcome == "failed", failed))

    @suite.always
    def passed_was_wanted() -> Any:
        """What passed was wanted by somebody, and cannot be found to have failed."""
        others = Not(at_least(voters - enough + 1, (s.no.has(v) for v in voter)))
        return Implies(s.outcome == "passed", And(others, any_of(s.yes.has(v) for v in voter)))

    return suite


def between(voters: Any) -> Any:
    return voters - 1 if type(voters) is int else voters.part("enough", 2, short=1)


VOTERS = Sizes(
    (
        Case(3, lambda voters: {"voters": voters, "enough": between(voters)}),
        Case(2, lambda voters: {"voters": voters, "enough": 1}),
        Case(1, lambda voters: {"voters": voters, "enough": voters}),
    ),
    alike=True,
)


def proof(bug: str = "", instance: str | None = None) -> GeneralProof:
    def make(parameters: Mapping[str, Any]) -> Suite:
        is_general = any(isinstance(size, Size) for size in parameters.values())
        active = bug if is_general or instance is None else instance
        return properties(vote(**parameters, bugs=[active] if active else []))

    return prove_for_any_size(list(General({"voters": VOTERS}, (), lambda *_: "", "").parts(["voters"], make)))


@pytest.mark.long
def test_what_holds_of_every_quorum_is_proved_by_both_solvers() -> None:
    result = proof()
    assert [prop.name for prop in result.proved] == ["passed_was_wanted"]
    assert (result.unproved, result.refuted, result.doubt, result.impossible) == ((), (), "", ())
    assert result.discharged == result.confirmed > 20
    assert list(result.links) == [
        f"voters={voters} enough={enough}" for voters, enough in ((3, 2), (4, 3), (2, 1), (3, 1), (1, 1), (2, 2))
    ]


@pytest.mark.long
def test_a_bug_is_refuted_and_not_just_unproved() -> None:
    result = proof("votes_twice")
    assert result.proved == ()
    assert "votes_are_single" in {failure.statement for failure in result.unproved}
    assert "votes_are_single" in {failure.statement.name for failure in result.refuted if not failure.undecided}


def test_a_number_that_may_be_none_is_refused() -> None:
    voters = Size.named("voters", 3, alike=True)
    message = r"whether that is a number from 1 to voters depends on the sizes"
    with any_size(), pytest.raises(ModelError, match=message):
        vote(voters=voters, enough=voters.part("enough", 2, short=0), bugs=["one_no_less"])


@pytest.mark.long
def test_an_instance_that_counts_otherwise_is_told() -> None:
    assert "not those of the instance with voters=3 enough=2: give_up" in proof(instance="one_no_less").doubt


def test_quorums_meet_if_they_are_large_enough_and_not_otherwise() -> None:
    with any_size():
        voters = Size.named("voters", 3, alike=True)
        p = vote(voters=voters, enough=voters.part("enough", 2, short=1))
    assert isinstance(p, AnySize)
    yes, no = p.quorums
    axioms = [axiom for axiom in p.assumed if axiom.op in QUANTIFIERS]
    assert len(axioms) == 3  # each is of somebody, and the two have one in common; two of the same size need not
    solver = z3.SimpleSolver()
    q, r, r2 = constant("q", yes.sort), constant("r", no.sort), constant("r2", no.sort)
    x, printed = constant("x", yes.has.sorts[0]), InZ3()
    solver.add(printed.all([*p.assumed, yes.is_one(q), no.is_one(r), no.is_one(r2)]))
    assert solver.check(printed(for_all([x], Not(And(yes.has(x, q), no.has(x, r)))))) == z3.unsat
    assert solver.check(printed(for_all([x], Not(And(no.has(x, r), no.has(x, r2)))))) != z3.unsat


def test_a_quorum_of_another_size_is_not_linked() -> None:
    with any_size():
        voters = Size.named("voters", 3, alike=True)
        general = properties(vote(voters=voters, enough=voters.part("enough", 2, short=1)))
    finite = properties(vote(voters=4, enough=2))
    assert link(general, finite, {"voters": 4, "enough": 2}).differing == ()
    assert "count" in link(general, finite, {"voters": 4, "enough": 3}).differing


def test_sizes_that_stand_alone_are_instances() -> None:
    sizes = {"things": sizes_from("things", 2, 0, 1)}
    parts = list(General(sizes, (), lambda *_: "", "").parts(["things"], lambda parameters: Suite(Protocol("p"))))
    assert [part.is_an_instance for part in parts] == [False, True, True]
    assert [part.sizes(3) for part in parts] == [{"things": 5}, {"things": 0}, {"things": 1}]


def test_what_is_known_of_a_part_is_answered() -> None:
    whole = Size.named("whole", 3)
    part = whole.part("part", 2, short=1)
    assert (part <= whole, part < whole, whole > part, whole >= part, whole < whole, whole <= whole) == (
        (True, True, True, True, False, True)
    )
    assert (whole <= part, part > whole) == (False, False)
    with pytest.raises(ModelError, match="depends on the size"):
        _ = whole.part("other", 1, short=0) < whole
    solver = z3.Solver()
    solver.add(InZ3().all([part.is_allowed, whole.term == 3, part.term != 2]))
    assert solver.check() == z3.unsat


def test_quantifiers_over_things_stay_and_what_is_under_them_keeps_its_meaning() -> None:
    thing = things_sort("thing")
    t, n = constant("t", thing), constant("n", INT)
    p, q = Function("p", thing, INT, BOOL), Function("q", thing, BOOL)
    has_one = for_some([n], p(t, n))
    given = for_all([t], Implies(q(t), has_one))
    instantiation = Instantiation([], [thing])
    for goal, answer in ((given, "unsat"), (for_all([t], has_one), "sat")):
        formulas = [instantiation.supposed(given), instantiation.denied(goal), *instantiation.definitions()]
        solver = z3.Solver()
        solver.add(InZ3().all(formulas))
        assert str(solver.check()) == answer
        assert ground_answer(formulas, 5.0) in (answer, "unknown")
    chosen = conditional(for_some([t], q(t)), number(1), number(2)) == 1
    for known, expected in ((q(constant("one", thing)), z3.unsat), (TRUE, z3.sat)):
        instantiation, solver = Instantiation([], [thing]), z3.Solver()
        solver.add(InZ3().all([known, instantiation.denied(chosen), *instantiation.definitions()]))
        assert solver.check() == expected
