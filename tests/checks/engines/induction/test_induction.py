"""Induction proves what holds, says exactly what does not, and never says more than it knows."""

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from fencepost.checks.engines.induction.proof import Proof, prove
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.engines.solvers.second_solver import cvc5_solver
from fencepost.checks.engines.solvers.solving import Answer, Disagreement, Solve
from fencepost.model.language import And, If, Implies, ModelError, Not, Or, Protocol, all_of
from fencepost.model.language.protocol import Action
from fencepost.properties.observed import Observed
from fencepost.properties.vocabulary import Suite

TICKETS = 4
LEMMAS = ("served_is_given", "given_before", "tickets_differ", "critical_is_served")


def ticket_lock(mutant: str = "", lemmas: Iterable[str] = LEMMAS) -> Suite:
    """Two clients share a lock by drawing tickets; ``mutant`` names a mistake."""
    p = Protocol("ticket_lock")
    client = p.universe("client", 2)
    following = p.number("following", 0, TICKETS)
    serving = p.number("serving", 0, TICKETS)
    ticket = p.number("ticket", 0, TICKETS, per=client)
    phase = p.choice("phase", ["idle", "waiting", "critical"], per=client)
    s, n = p.state, p.next

    @p.step(by="c", c=client)
    def draw(c: int) -> object:
        """Draws a ticket."""
        drawn = following if mutant == "ticket is not used up" else following + 1
        return And(phase[c] == "idle", following < TICKETS), {ticket[c]: following, following: drawn, phase[c]: "waiting"}

    @p.step(by="c", c=client)
    def enter(c: int) -> object:
        """Enters when the ticket is served."""
        due = ticket[c] <= serving + 1 if mutant == "enters one early" else ticket[c] == serving
        return And(phase[c] == "waiting", due), {phase[c]: "critical"}

    @p.step(by="c", c=client)
    def leave(c: int) -> object:
        """Leaves, and the next ticket is served."""
        outside = "critical" if mutant == "stays inside" else "idle"
        return And(phase[c] == "critical", serving < TICKETS), {phase[c]: outside, serving: serving + 1}

    suite = Suite(p)

    @suite.always
    def mutual_exclusion() -> object:
        """Never are both in the critical section."""
        return Not(And(s.phase[0] == "critical", s.phase[1] == "critical"))

    @suite.step
    def served_in_order() -> object:
        """The tickets are served one after the other."""
        return Or(n.serving == s.serving, And(n.serving == s.serving + 1, s.serving < s.following))

    @suite.sometimes
    def lock_is_taken() -> object:
        """A client enters."""
        return s.phase[0] == "critical"

    wanted = set(lemmas)

    def lemma(function: Callable[[], object]) -> None:
        if function.__name__ in wanted:
            suite.lemma(function)

    @lemma
    def served_is_given() -> object:
        """No ticket is served that comes after the next one to be drawn."""
        return s.serving <= s.following

    @lemma
    def given_before() -> object:
        """A ticket in use was drawn before."""
        return all_of(Implies(s.phase[c] != "idle", s.ticket[c] < s.following) for c in client)

    @lemma
    def tickets_differ() -> object:
        """No two clients have the same ticket."""
        return Implies(And(s.phase[0] != "idle", s.phase[1] != "idle"), s.ticket[0] != s.ticket[1])

    @lemma
    def critical_is_served() -> object:
        """Who is in the critical section has the ticket that is served."""
        return all_of(Implies(s.phase[c] == "critical", s.ticket[c] == s.serving) for c in client)

    return suite


def without(*names: str) -> Suite:
    return ticket_lock(lemmas=[name for name in LEMMAS if name not in names])


def verdicts(proof: Proof) -> dict[str, str]:
    return {v.property.name: v.verdict for v in proof.verdicts}


def action(suite: Suite, label: str) -> Action:
    return next(a for a in suite.protocol.actions if a.label == label)


def test_what_holds_is_proved_and_every_obligation_is_accounted_for() -> None:
    proof = prove(ticket_lock())
    assert verdicts(proof) == {"mutual_exclusion": "proved", "served_in_order": "proved"}
    assert proof.failures == ()
    assert proof.impossible == ()
    # conjuncts: 6 of the lemmas and 1 of the step property, for 6 actions; besides 6 initially and 1 property implied
    assert proof.discharged + proof.frame == 7 * 6 + 6 + 1
    assert proof.domains == 2 * (3 + 1 + 2)  # drawing, entering, leaving
    assert proof.confirmed == 0
    assert proof.verdicts[0].reach == {"obligations": proof.discharged, "frame": proof.frame}


def test_an_obligation_is_left_out_only_where_the_action_changes_nothing_in_it() -> None:
    proof = prove(ticket_lock())
    # entering changes one phase: it leaves alone served_is_given, the other's given_before and critical_is_served, and
    # the step property; drawing leaves alone the other's critical_is_served (its given_before speaks of following, and so
    # does the step property); leaving changes what all speak of but the other's given_before
    assert proof.frame == 2 * 4 + 2 * 1 + 2 * 1


def test_a_missing_lemma_is_reported_with_both_places_and_a_counterexample() -> None:
    suite = without("given_before")
    proof = prove(suite)
    lemma = next(x for x in suite.lemmas if x.name == "tickets_differ")
    assert str(proof.failures[0]) == (
        "action draw(c0) does not preserve lemma tickets_differ\n"
        f"  tickets_differ: {lemma.location}\n"
        f"  draw: {action(suite, 'draw(c0)').location}\n"
        "  in the state where\n"
        "    phase[c1] = waiting\n"
        "    and all else is as it starts\n"
        "  the action changes\n"
        "    following: 0 -> 1\n"
        "    phase[c0]: idle -> waiting"
    )
    assert str(lemma.location).startswith("tests/checks/engines/induction/test_induction.py:")
    assert [f.sentence for f in proof.failures] == [
        "action draw(c0) does not preserve lemma tickets_differ",
        "action draw(c1) does not preserve lemma tickets_differ",
        "action leave(c0) does not preserve lemma served_is_given",
        "action leave(c0) breaks step property served_in_order",
        "action leave(c1) does not preserve lemma served_is_given",
        "action leave(c1) breaks step property served_in_order",
    ]
    assert verdicts(proof) == {"mutual_exclusion": "inconclusive", "served_in_order": "inconclusive"}
    assert proof.verdicts[0].note == "action draw(c0) does not preserve lemma tickets_differ"


def test_an_invariant_that_is_too_weak_for_a_property() -> None:
    suite = without("critical_is_served")
    proof = prove(suite)
    by_sentence = {f.sentence: str(f) for f in proof.failures}
    assert by_sentence["the invariant does not imply property mutual_exclusion"] == (
        "the invariant does not imply property mutual_exclusion\n"
        f"  mutual_exclusion: {suite.named('mutual_exclusion').location}\n"
        "  in the state where\n"
        "    following = 2\n"
        "    ticket[c1] = 1\n"
        "    phase[c0] = critical\n"
        "    phase[c1] = critical\n"
        "    and all else is as it starts"
    )
    assert "action leave(c0) does not preserve lemma served_is_given" in by_sentence


def test_the_other_property_is_proved_even_so() -> None:
    """A property that the invariant does not imply says nothing against the invariant."""
    suite = ticket_lock()

    @suite.always
    def nothing_happens() -> object:
        """Nothing is ever drawn."""
        return suite.protocol.state.following == 0

    assert verdicts(prove(suite)) == {
        "mutual_exclusion": "proved",
        "served_in_order": "proved",
        "nothing_happens": "inconclusive",
    }


def test_a_lemma_that_does_not_hold_initially() -> None:
    suite = ticket_lock()

    @suite.lemma
    def all_wait() -> object:
        """Both clients wait."""
        return all_of(phase == "waiting" for phase in suite.protocol.state.phase)

    proof = prove(suite)
    assert str(proof.failures[0]) == (
        f"lemma all_wait does not hold initially\n  all_wait: {suite.lemmas[-1].location}\n  in an initial state"
    )
    assert verdicts(proof)["mutual_exclusion"] == "inconclusive"


def searched(suite: Suite, name: str) -> str:
    (verdict,) = exhaust(Observed.of(suite, [suite.named(name)]), Budget(workers=1)).verdicts
    return verdict.verdict


@pytest.mark.parametrize("mutant", ["ticket is not used up", "enters one early", "stays inside"])
def test_no_mutant_is_proved(mutant: str) -> None:
    suite = ticket_lock(mutant)
    assert searched(suite, "mutual_exclusion") == "violated"
    assert verdicts(prove(suite))["mutual_exclusion"] == "inconclusive"


@pytest.mark.long
def test_the_number_of_workers_changes_nothing() -> None:
    for suite in (ticket_lock(), without("given_before"), ticket_lock("enters one early")):
        alone, together = prove(suite, workers=1, examples=99), prove(suite, workers=3, examples=99)
        assert [str(f) for f in alone.failures] == [str(f) for f in together.failures]
        assert alone.verdicts == together.verdicts
        assert (alone.discharged, alone.frame, alone.impossible) == (together.discharged, together.frame, together.impossible)


def test_progress_counts_every_task() -> None:
    reports: list[tuple[int, int]] = []
    prove(ticket_lock(), workers=2, progress=lambda done, count: reports.append((done, count)))
    assert reports == [(done, 8) for done in range(1, 9)]


def test_actions_that_can_never_happen_are_named() -> None:
    suite = ticket_lock()
    p = suite.protocol

    @p.step(by="nobody")
    def overtake() -> object:
        """Happens only where the invariant does not hold."""
        return p.state.serving > p.state.following, {p.state.serving: 0}

    assert prove(suite).impossible == ("overtake",)


@pytest.mark.parametrize("workers", [1, 2])
def test_out_of_time_is_inconclusive(workers: int) -> None:
    proof = prove(ticket_lock(), workers=workers, budget=0.0)
    assert set(verdicts(proof).values()) == {"inconclusive"}
    assert proof.discharged == 0
    assert proof.failures[0].sentence == "not decided in time: whether the initial state satisfies lemma served_is_given"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_proof_that_is_stopped_is_inconclusive(workers: int) -> None:
    proof = prove(ticket_lock(), workers=workers, should_stop=lambda: True)
    assert set(verdicts(proof).values()) == {"inconclusive"}


def test_a_suite_without_lemmas_or_properties_is_an_error() -> None:
    with pytest.raises(ModelError, match="ticket_lock: induction needs the lemmas"):
        prove(ticket_lock(lemmas=()))
    bare = ticket_lock()
    bare.properties = [p for p in bare.properties if p.kind == "sometimes"]
    with pytest.raises(ModelError, match="ticket_lock: its suite declares no property that induction could prove"):
        prove(bare)


def test_a_variable_that_leaves_its_domain_is_an_error() -> None:
    suite = ticket_lock()
    p = suite.protocol

    @p.step(by="nobody")
    def overflow() -> object:
        """Serves without end."""
        return True, {p.state.serving: p.state.serving + 1}

    with pytest.raises(ModelError, match="action overflow takes serving out of"):
        prove(suite)


# --- the second solver


def test_cvc5_confirms_every_obligation() -> None:
    proof = prove(ticket_lock(), second_solver=True)
    assert proof.confirmed == proof.discharged > 0
    assert proof.verdicts[0].note == "Z3 and cvc5 agree"
    assert proof.verdicts[0].reach["confirmed"] == proof.confirmed


def answering(answer: Answer, to: Callable[[str], bool] = lambda asked: True) -> Callable[[Protocol, Sequence[Any]], Solve]:
    """A second solver that answers so where the question is of that kind, and otherwise as cvc5 does."""

    def solver(protocol: Protocol, assumptions: Sequence[Any]) -> Solve:
        honest = cvc5_solver(protocol, assumptions)

        def solve(formulas: Sequence[Any], seconds: float) -> Answer:
            return answer if to(str(formulas)) else honest(formulas, seconds)

        return solve

    return solver


@pytest.mark.parametrize("workers", [1, 2])
def test_a_disagreement_is_an_error_that_names_the_obligation(workers: int) -> None:
    lies = answering("sat", lambda asked: "ticket[c0] == serving + 1" in asked)
    with pytest.raises(Disagreement) as error:
        prove(ticket_lock(), second_solver=lies, workers=workers)
    assert str(error.value) == (
        "ticket_lock: by the second solver, action leave(c0) does not preserve lemma critical_is_served;"
        " Z3 proves the contrary, one of them is wrong"
    )


def test_what_the_second_solver_does_not_decide_is_not_confirmed() -> None:
    proof = prove(ticket_lock(), second_solver=answering("unknown"))
    assert proof.confirmed == 0
    assert proof.verdicts[0].verdict == "proved"
    assert proof.verdicts[0].note == f"{proof.discharged} obligations by Z3 alone"


# --- against a search that knows nothing of induction


def random_suite(seed: int) -> Suite:
    """A protocol of two small numbers, a flag and a set, with random actions, and one random property that is its lemma."""
    chance = random.Random(seed)
    p = Protocol(f"random_{seed}")
    few = p.universe("few", 2)
    x, y, f, held = p.number("x", 0, 3), p.number("y", -1, 2), p.flag("f"), p.subset("held", few)

    def atom() -> Any:
        numbers = [x == chance.randint(0, 3), x < y + chance.randint(0, 3), y > chance.randint(-1, 1)]
        return chance.choice([*numbers, f, Not(f), held.has(0), held.has(x)])

    for number in range(4):

        def act() -> object:
            """Does something at random."""
            changes = {x: If(x < 3, x + 1, 0), y: If(x > 2, 2, x - 1), f: Not(f), held: held.plus(chance.randint(0, 1))}
            chosen = chance.sample(list(changes.items()), chance.randint(1, 2))
            return Or(atom(), atom()), dict(chosen)

        act.__name__ = f"act_{number}"
        p.step(by="chance")(act)
    suite, claim = Suite(p), Not(And(atom(), atom())) if chance.random() < 0.7 else Or(Not(atom()), atom())

    @suite.always
    def claimed() -> object:
        """Something at random."""
        return claim

    @suite.lemma
    def assumed() -> object:
        """The same."""
        return claim

    return suite


@pytest.mark.long
def test_nothing_is_proved_that_a_search_refutes() -> None:
    tally = {"proved": 0, "violated": 0}
    for seed in range(60):
        suite = random_suite(seed)
        proof = prove(suite, second_solver=seed % 10 == 0)
        verdict = searched(suite, "claimed")
        proved = verdicts(proof)["claimed"] == "proved"
        assert not (proved and verdict == "violated"), seed
        tally["proved"] += proved
        tally["violated"] += verdict == "violated"
    assert min(tally.values()) >= 10, tally  # else the comparison says little
