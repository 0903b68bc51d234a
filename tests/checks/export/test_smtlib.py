"""Proofs by induction as SMT-LIB scripts: Z3 and cvc5 read the text and answer what the proof here says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cvc5
import pytest
import z3

from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.export.smtlib import DOMAINS, scripts
from fencepost.model.language import Implies, ModelError, Not, Or, Protocol
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from fencepost.properties.vocabulary import Suite

CHOSEN: dict[str, dict[str, Value]] = {
    "ledger": {"bookies": 2, "ensemble": 2, "write_quorum": 2, "entries": 1},
    "election": {"brokers": 2, "disconnects": 1},
    "ownership": {"brokers": 2, "releases": 1},
    "unload": {},
    "split": {"hashes": 3},
}
SMALL = {name: CHOSEN.get(name, dict(entry.sizes["ci"][0].parameters)) for name, entry in PROTOCOLS.items()}
"""An instance of each protocol: one that the solvers are done with in seconds, or else the first of its own."""


def by_z3(script: str) -> list[str]:
    context = z3.Context()
    return str(z3.Z3_eval_smtlib2_string(context.ref(), script)).split()


def by_cvc5(script: str) -> list[str]:
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("incremental", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "script")
    answers = ""
    while not (command := parser.nextCommand()).isNull():
        answers += command.invoke(solver, parser.getSymbolManager())
    return answers.split()


Solve = Callable[[str], list[str]]


def refuted(files: Mapping[str, str], solve: Solve) -> set[tuple[str | None, str]]:
    """The obligations that do not hold, by action and statement; each script must answer as many as the index names."""
    refutations = set()
    for script in json.loads(files["index.json"])["scripts"]:
        answers = solve(files[script["file"]])
        assert set(answers) <= {"sat", "unsat"}
        for answer, obligation in zip(answers, script["obligations"], strict=True):
            if answer == "sat":
                refutations.add((script["action"], obligation["statement"]))
    return refutations


def failures(suite: Suite) -> set[tuple[str | None, str]]:
    """What the proof here finds not to hold."""
    return {(f.action and f.action.label, f.statement.name) for f in prove(suite, examples=0).failures}


def suite_of(name: str, *bugs: str) -> Suite:
    entry = PROTOCOLS[name]
    return entry.suite(entry.build(SMALL[name], bugs))


MARKS: dict[str, Any] = {"election": [], "unload": pytest.mark.long}
"""Of the ledger the test below has a bug, and the answers on all of its other obligations."""


@pytest.mark.long
@pytest.mark.parametrize("name", [pytest.param(n, marks=MARKS.get(n, pytest.mark.deep)) for n in SMALL])
def test_both_solvers_answer_what_the_proof_says(name: str) -> None:
    suite = suite_of(name)
    if not suite.has_lemmas:
        with pytest.raises(ModelError, match="induction needs the lemmas"):
            scripts(suite)
        return
    files = scripts(suite)
    assert refuted(files, by_z3) == refuted(files, by_cvc5) == failures(suite)


@pytest.mark.long
@pytest.mark.parametrize(("name", "bug"), [("ledger", "ignores_fence"), ("election", "elected_follows")])
def test_a_bug_breaks_the_same_obligations(name: str, bug: str) -> None:
    suite = suite_of(name, bug)
    files = scripts(suite)
    expected = failures(suite)
    assert expected
    assert refuted(files, by_z3) == refuted(files, by_cvc5) == expected


def lamp(*, lemmas: Sequence[str]) -> Suite:
    """A lamp that burns for three hours at most, with some of the lemmas, one of which is not true."""
    p = Protocol("lamp", doc="A lamp.")
    burns, hours = p.flag("burns"), p.number("hours", 0, 3)

    @p.step(by="hand")
    def light() -> Any:
        """It is lit, with oil for three hours."""
        return Not(burns), {burns: True, hours: 3}

    @p.step(by="time")
    def burn() -> Any:
        """An hour passes, and perhaps it goes out."""
        return burns, {hours: hours - 1, burns: hours > 1}

    suite = Suite(p)

    def dark_without_oil() -> Any:
        """A lamp that burns has oil."""
        return Implies(burns, hours > 0)

    def never_empty() -> Any:
        """There is oil for two hours at least."""
        return Implies(burns, hours >= 2)

    for lemma in (dark_without_oil, never_empty):
        if lemma.__name__ in lemmas:
            suite.lemma(lemma)

    @suite.always
    def burns_with_oil() -> Any:
        """It does not burn without oil."""
        return Or(hours > 0, Not(burns))

    return suite


@pytest.mark.parametrize("solve", [by_z3, by_cvc5])
def test_a_broken_lemma_is_refuted_at_the_action_that_breaks_it(solve: Solve) -> None:
    assert refuted(scripts(lamp(lemmas=["dark_without_oil"])), solve) == set()
    assert refuted(scripts(lamp(lemmas=["dark_without_oil", "never_empty"])), solve) == {("burn", "never_empty")}


def test_that_variables_stay_in_their_domains_is_an_obligation() -> None:
    suite = lamp(lemmas=["dark_without_oil"])
    suite.lemmas.clear()

    @suite.lemma
    def anything() -> Any:
        """Nothing is known."""
        return True

    assert ("burn", DOMAINS) in refuted(scripts(suite), by_cvc5)


def test_the_index_says_what_each_script_is_about_and_what_it_leaves_out() -> None:
    files = scripts(suite_of("election"))
    index = json.loads(files["index.json"])
    assert index["protocol"] == "election"
    assert index["parameters"]["disconnects"] == 1
    assert [script["file"] for script in index["scripts"]] == [name for name in files if name != "index.json"]
    assert {script["file"] for script in index["scripts"][:2]} == {"000-initial.smt2", "001-implied.smt2"}
    statements = {p.name for p in (*suite_of("election").lemmas,)}
    for script in index["scripts"][2:]:
        asked = {obligation["statement"] for obligation in script["obligations"]}
        assert statements <= asked | set(script["frame"])
        assert not asked & set(script["frame"])


def test_a_script_names_what_it_asks() -> None:
    (script,) = (text for name, text in scripts(suite_of("election")).items() if name.endswith("-propose-b0.smt2"))
    assert "; election: action propose(b0) preserves the lemmas" in script
    assert "; can it be false? lemma node_belongs_to_a_session: The node of a present session goes with it." in script
    assert "(declare-const |stage[b0]| (_ BitVec 5)) ; 0: looking, 1: proposing," in script


def test_without_lemmas_there_is_no_proof_to_write() -> None:
    with pytest.raises(ModelError, match="its suite declares none"):
        scripts(lamp(lemmas=[]))
