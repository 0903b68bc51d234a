"""Proof for any size: what holds of every size is proved, what fails at one is refuted there, and nothing by accident."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
import z3

from fencepost.checks.commands.arguments import run
from fencepost.checks.engines.any_size import obligations as engine
from fencepost.checks.engines.any_size.instantiation import Instantiation
from fencepost.checks.engines.any_size.link import link
from fencepost.checks.engines.any_size.proof import GeneralProof, prove_for_any_size
from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.engines.plan import Approach, Task, check
from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.engines.results.verdicts import ExitStatus, exit_status
from fencepost.checks.engines.solvers.second_solver import ground_answer
from fencepost.checks.reports.report import text
from fencepost.model.any_size.first_order import any_size
from fencepost.model.any_size.sizes import Size
from fencepost.model.language import And, Implies, ModelError, Not, Protocol, all_of, any_of
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.nodes import Function, constant
from fencepost.model.terms.sorts import BOOL, INT
from fencepost.model.terms.values import TRUE, conditional, for_all, for_some
from fencepost.properties.any_size import General, sizes_from
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, RegistryError
from fencepost.properties.vocabulary import Suite

LEMMAS = ("flushed_is_written", "acked_is_flushed")


BUGS = {
    "flushes_one_more": "what is not written yet is flushed",
    "acks_what_is_written": "an entry is acknowledged that is not flushed",
    "never_acks": "nothing is acknowledged",
}


def journal(*, entries: int = 2, bugs: Iterable[str] = ()) -> Protocol:
    """A journal, written in order, flushed as a whole and acknowledged in order."""
    p = Protocol("journal", parameters={"entries": entries}, bugs=BUGS, active=bugs)
    entry = p.universe("entry", entries)
    written, acked = p.number("written", -1, entries - 1), p.number("acked", -1, entries - 1)
    flushed = p.subset("flushed", entry)

    @p.step(by="journal", e=entry)
    def write(e: int) -> Any:
        """The next entry is written."""
        return written == e - 1, {written: e}

    @p.step(by="journal")
    def flush() -> Any:
        """All that is written is flushed."""
        beyond = 1 if p.has("flushes_one_more") else 0
        return Not(all_of(Implies(e <= written, flushed.has(e)) for e in entry)), {
            flushed: flushed | entry.where(lambda e: e <= written + beyond)
        }

    @p.step(by="journal", e=entry)
    def ack(e: int) -> Any:
        """The next entry that is flushed is acknowledged."""
        is_flushed = e <= written if p.has("acks_what_is_written") else flushed.has(e)
        return And(acked == e - 1, is_flushed, acked > written if p.has("never_acks") else True), {acked: e}

    return p


def properties(p: Protocol, lemmas: tuple[str, ...] = LEMMAS) -> Suite:
    """What holds of a journal, and the lemmas of these names, from which it follows."""
    suite, entry = Suite(p), p.universes["entry"]
    written, acked, flushed = p.state.written, p.state.acked, p.state.flushed

    def flushed_is_written() -> Any:
        """What is flushed is written."""
        return all_of(Implies(flushed.has(e), e <= written) for e in entry)

    def acked_is_flushed() -> Any:
        """What is acknowledged is flushed."""
        return all_of(Implies(e <= acked, flushed.has(e)) for e in entry)

    for lemma in (flushed_is_written, acked_is_flushed):
        if lemma.__name__ in lemmas:
            suite.lemma(lemma)

    @suite.always
    def acked_is_written() -> Any:
        """Nothing is acknowledged that is not written."""
        return acked <= written

    @suite.always
    def last_acked_is_flushed() -> Any:
        """If anything is acknowledged, then the last of it is flushed."""
        return Implies(acked >= 0, any_of(And(e == acked, flushed.has(e)) for e in entry))

    return suite


def of(size: Any, bug: str = "", lemmas: tuple[str, ...] = LEMMAS) -> Suite:
    return properties(journal(entries=size, bugs=[bug] if bug else []), lemmas)


def general(bug: str = "", lemmas: tuple[str, ...] = LEMMAS) -> Suite:
    with any_size():
        return of(Size.named("entries", 2), bug, lemmas)


ENTRIES = {"entries": sizes_from("entries", 2, 1)}


def proof(bug: str = "", lemmas: tuple[str, ...] = LEMMAS, instance: str | None = None) -> GeneralProof:
    other = bug if instance is None else instance

    def make(parameters: Mapping[str, Any]) -> Suite:
        size = parameters["entries"]
        return of(size, bug if isinstance(size, Size) else other, lemmas)

    return prove_for_any_size(list(General(ENTRIES, (), lambda *_: "", "").parts(["entries"], make)))


def test_what_holds_of_every_size_is_proved_by_both_solvers() -> None:
    result = proof()
    assert [prop.name for prop in result.proved] == ["acked_is_written", "last_acked_is_flushed"]
    assert (result.unproved, result.refuted, result.doubt, result.impossible) == ((), (), "", ())
    assert result.discharged == result.confirmed > 10
    assert list(result.links) == ["entries=2", "entries=3"]
    assert [one.actions for one in result.links.values()] == [5, 7]


@pytest.mark.parametrize("bug", ["flushes_one_more", "acks_what_is_written"])
def test_a_bug_is_refuted_and_not_just_unproved(bug: str) -> None:
    result = proof(bug)
    assert result.proved == ()
    assert result.unproved
    assert {failure.statement.name for failure in result.refuted if not failure.undecided} & set(LEMMAS)
    assert any(failure.example is not None for failure in result.refuted)


def test_without_a_lemma_the_rest_is_not_proved() -> None:
    result = proof(lemmas=("acked_is_flushed",))
    assert [prop.name for prop in result.proved] == ["last_acked_is_flushed"]
    assert {failure.statement for failure in result.unproved} == {"acked_is_written"}


@pytest.mark.long
def test_an_instance_that_is_another_protocol_is_told() -> None:
    result = proof(instance="acks_what_is_written")
    assert "not those of the instance with entries=2: ack(e0)" in result.doubt


def test_an_update_that_differs_is_told() -> None:
    compared = link(general(), of(3, "flushes_one_more"), {"entries": 3})
    assert compared.differing == ("flush",)


def test_a_property_that_differs_is_told() -> None:
    other = of(3)
    other.properties[:] = [p for p in other.properties if p.name != "acked_is_written"]
    assert link(general(), other, {"entries": 3}).differing == ("acked_is_written is not in the instance",)


def test_an_action_that_can_never_happen_is_told() -> None:
    assert [scheme.label for scheme in proof("never_acks").impossible] == ["ack(e)"]


def test_a_solver_that_fails_leaves_everything_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise z3.Z3Exception("out of memory")

    monkeypatch.setattr(engine, "ask", fails)
    result = proof()
    assert result.proved == ()
    assert {failure.statement for failure in result.unproved} >= {*LEMMAS, "acked_is_written"}


def test_a_solver_that_crashes_takes_nothing_else_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "ask", lambda *_, **__: os._exit(139))
    result = proof()
    assert result.proved == ()
    assert result.unproved
    assert result.refuted == ()


JOURNAL = Entry(
    name="journal",
    summary="a journal",
    function=journal,
    suite=properties,
    sizes={},
    general=General(ENTRIES, (Instance("any", {}),), lambda *_: "", "lost disks"),
)


def checked(*bugs: str, any: tuple[str, ...] = ("entries",), **parameters: int) -> Checked:
    instance = Instance("a journal", parameters, any=any)
    return check(Task(JOURNAL, instance, bugs, Approach(second_solver=True)))


@pytest.mark.long
def test_the_verdict_says_what_it_is_of() -> None:
    outcome = checked()
    assert {(v.verdict, v.note) for v in outcome.verdicts} == {
        ("proved for any size", "any number of entries; Z3 and cvc5 agree")
    }
    assert exit_status(outcome.verdicts) == ExitStatus.HOLDS
    assert outcome.protocol.parameters == {"entries": "any"}
    output = text(outcome)
    assert "journal, a journal: entries=any" in output
    assert "proved for any size acked_is_written, last_acked_is_flushed" in output
    assert "this is not of lost disks" in output
    reach = outcome.verdicts[0].reach
    assert reach["confirmed"] == reach["obligations"]
    assert f"by frame, {reach['confirmed']} confirmed by cvc5; 1 more as instances" in output
    assert "link: with entries=3 these formulas are those of the instance: 7 actions" in output


@pytest.mark.long
def test_what_is_not_proved_is_inconclusive_with_the_reason() -> None:
    outcome = checked("acks_what_is_written")
    assert {v.verdict for v in outcome.verdicts} == {"inconclusive"}
    assert exit_status(outcome.verdicts) == ExitStatus.INCONCLUSIVE
    assert outcome.failures[0].startswith("action ack(e")
    assert "does not preserve lemma acked_is_flushed" in outcome.failures[0]


@pytest.mark.parametrize(
    ("any", "parameters", "message"),
    [
        (("brokers",), {}, "journal: of any size can be entries, not brokers"),
        (("entries",), {"entries": 3}, "entries is both set and of any size"),
    ],
)
def test_what_cannot_be_of_any_size_is_refused(any: tuple[str, ...], parameters: dict[str, int], message: str) -> None:
    with pytest.raises(RegistryError, match=message):
        checked(any=any, **parameters)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ledger", "--any", "entries", "--by", "walks"], "--any needs --by induction"),
        (["ledger", "--any", "entries", "--set", "rots=1"], "there is no proof with rots=1; leave it 0"),
        (["ledger", "--any", "entries", "--set", "write_quorum=2"], "there is no proof of striping"),
        (["ledger", "--any", "bookies", "--set", "losses=1"], "any number of bookies there is no proof with losses=1"),
        (["ledger", "--any", "bookies", "--set", "ack_quorum=2"], "ack_quorum is settled by the number of bookies"),
        (["service_unit", "--any", "brokers"], "service_unit: there is no proof of it for any size"),
        (["election", "--any", "brokers", "--set", "lookups=yes"], "there is no proof with lookups; leave lookups=no"),
        (["kafka_controller", "--any", "brokers", "--set", "updates=1"], "there is no proof with updates; leave updates=0"),
        (["ownership", "--any", "brokers", "--set", "migration=yes"], "there is no proof with migration; leave migration=no"),
    ],
)
def test_the_command_line_refuses_what_is_not_proved(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", *arguments, "--quiet"]) == ExitStatus.USAGE
    assert message in capsys.readouterr().err


def settings_one_by_one() -> list[Any]:
    """Each parameter of a protocol that is not of any size, and a value that is not its default."""
    return [
        pytest.param(
            name, parameter.name, value, id=f"{name}-{parameter.name}", marks=[pytest.mark.deep] if name == "ledger" else []
        )
        for name, entry in PROTOCOLS.items()
        if entry.general
        for parameter in entry.parameters
        if parameter.name not in entry.general.sizes and parameter.type is not str
        for value in [not parameter.default if parameter.type is bool else int(parameter.default) + 1]
    ]


@pytest.mark.long
@pytest.mark.parametrize(("protocol", "parameter", "value"), settings_one_by_one())
def test_what_is_said_of_any_number_can_be_said_with_each_setting(protocol: str, parameter: str, value: Any) -> None:
    entry = PROTOCOLS[protocol]
    names = tuple(entry.general.sizes)
    settled = any(parameter in sizes.settles for sizes in entry.general.sizes.values())
    if settled or entry.general.refuses({parameter: value}, names):
        with pytest.raises(RegistryError, match=r"there is no proof with|is settled by"):
            entry.of_any(names, {parameter: value})
    else:
        parts = entry.of_any(names, {parameter: value})
        assert all(part.is_an_instance or part.general().properties for part in parts)


def test_what_is_instantiated_follows_and_no_more() -> None:
    p, n, x = Function("p", INT, BOOL), constant("n", INT), constant("x", INT)
    instantiation = Instantiation([n])
    assert instantiation.supposed(for_all([x], p(x))) is And([p(t) for t in (n, *instantiation.goals(INT))])
    there_is = instantiation.supposed(for_some([x], p(x)))
    assert there_is.detail is p
    assert there_is.arguments[0].is_constant
    solver, printed = z3.Solver(), InZ3()
    goes_on = for_all([x], Implies(p(x), p(x + 1)))
    solver.add(printed(instantiation.supposed(goes_on)), printed(p(n)))
    assert solver.check(printed(instantiation.denied(p(n + 1)))) == z3.unsat
    assert solver.check(printed(instantiation.denied(p(n + 2)))) == z3.sat
    assert solver.check(printed(instantiation.denied(goes_on))) == z3.unsat
    assert ground_answer([p(n), Not(p(n + 0))], 5.0) == "unsat"
    assert ground_answer([p(n), Not(p(n + 1))], 5.0) == "sat"


def test_a_condition_inside_of_a_term_keeps_its_meaning() -> None:
    p, n, x = Function("p", INT, BOOL), constant("n", INT), constant("x", INT)
    value = conditional(for_some([x], p(x)), n, n + 1)
    for given, answer in ((p(n), z3.unsat), (TRUE, z3.sat)):
        instantiation, solver = Instantiation([n]), z3.Solver()
        solver.add(InZ3().all([given, instantiation.denied(value == n), *instantiation.definitions()]))
        assert solver.check() == answer


ALONE = {"bookies": 1, "ensemble": 1, "write_quorum": 1, "ack_quorum": 1, "readers": 0}


def of_ledger(
    parameters: dict[str, Any],
    bugs: tuple[str, ...] = (),
    *,
    any: tuple[str, ...] = ("entries",),
    second_solver: bool = True,
) -> GeneralProof:
    parts = PROTOCOLS["ledger"].of_any(any, parameters, bugs)
    return prove_for_any_size(parts, workers=2, second_solver=second_solver)


@pytest.mark.long
@pytest.mark.parametrize("bug", ["", "closes_at_lac"])
def test_a_ledger_of_any_number_of_entries_on_one_bookie(bug: str) -> None:
    result = of_ledger(ALONE, (bug,) if bug else (), second_solver=False)
    assert result.doubt == ""
    if bug:
        assert "closed_ledger_is_out_of_reach" in {failure.statement for failure in result.unproved}
        assert any(not failure.undecided for failure in result.refuted)
    else:
        assert (result.unproved, result.refuted) == ((), ())
        assert {"no_truncation", "recoveries_agree", "confirmed_entries_are_stored"} <= {prop.name for prop in result.proved}


@pytest.mark.deep
@pytest.mark.parametrize("instance", PROTOCOLS["ledger"].general.instances, ids=lambda one: one.name)
def test_ledgers_of_any_number_of_entries(instance: Any) -> None:
    result = of_ledger(dict(instance.parameters))
    assert (result.unproved, result.refuted, result.doubt, result.impossible) == ((), (), "", ())
    assert "no_truncation" in {prop.name for prop in result.proved}
    assert result.discharged == result.confirmed


@pytest.mark.long
@pytest.mark.parametrize(("changes", "cases"), [(0, 3), pytest.param(1, 4, marks=pytest.mark.deep)])
def test_a_ledger_on_any_number_of_bookies(changes: int, cases: int) -> None:
    parameters = {"entries": 1, "recoverers": 0, "readers": 0, "changes": changes}
    result = of_ledger(parameters, any=("bookies",), second_solver=False)
    assert (result.unproved, result.refuted, result.doubt) == ((), (), "")
    assert {"confirmed_entries_are_stored", "ensembles_are_full"} <= {prop.name for prop in result.proved}
    assert len(result.links) == 2 * cases


@pytest.mark.deep
@pytest.mark.parametrize(
    ("any", "parameters"),
    [
        (("bookies", "recoverers"), {"entries": 1, "readers": 0}),
        (("entries", "bookies"), {"readers": 0}),
        (("entries", "recoverers"), {"readers": 0}),
        (("entries", "bookies", "recoverers"), {"readers": 0}),
        (("bookies", "recoverers"), {"entries": 1, "readers": 0, "changes": 1}),
        (("entries", "bookies"), {"readers": 0, "changes": 1}),
        (("entries", "bookies", "recoverers"), {"readers": 0, "changes": 1}),
    ],
)
def test_ledgers_of_any_size(any: tuple[str, ...], parameters: dict[str, Any]) -> None:
    result = of_ledger(parameters, any=any)
    assert (result.unproved, result.refuted, result.doubt, result.impossible) == ((), (), "", ())
    assert {"no_truncation", "recoveries_agree"} <= {prop.name for prop in result.proved}
    assert result.discharged == result.confirmed or parameters.get("changes")


@pytest.mark.long
def test_what_a_reader_reads_is_justified_however_many_bookies_it_heard_of_it_from() -> None:
    parts = PROTOCOLS["ledger"].of_any(("entries", "bookies", "recoverers"), {}, ())
    suite = next(part for part in parts if part.sizes()["ack_quorum"] == part.sizes()["write_quorum"] == 1).general()
    plan = engine.Plan(suite, 60.0, float("inf"), second_solver=False)
    (task,) = (task for task in range(2, plan.count) if plan.schemes[task - 2].name == "read_tail")
    assert not plan.outcome(task).undecided


NOT_OF_ANY = ("losses", "unclean_shutdowns", "rots")
"""Events of instances of which nothing is proved for any size."""

REFUSED = {"length_of_the_last_entry"}
"""Bugs whose rule goes through all entries to find a number: no formula for any number of them."""


def applicable() -> list[str]:
    entry = PROTOCOLS["ledger"]
    return [
        name
        for name, shown in entry.shown_by.items()
        if not any(shown.get(event) for event in NOT_OF_ANY)
        and shown.get("ensemble", 3) == shown.get("write_quorum", 3)
        and name not in REFUSED
    ]


@pytest.mark.parametrize("bug", sorted(REFUSED))
def test_a_bug_that_cannot_be_said_of_any_number_is_refused(bug: str) -> None:
    parameters = {name: value for name, value in PROTOCOLS["ledger"].shown_by[bug].items() if name != "entries"}
    with pytest.raises(ModelError, match="meant for each member of a universe"):
        PROTOCOLS["ledger"].of_any(("entries",), parameters, (bug,))[0].general()


@pytest.mark.deep
@pytest.mark.parametrize("bug", applicable())
def test_every_applicable_bug_is_refuted(bug: str) -> None:
    entry = PROTOCOLS["ledger"]
    parameters = {name: value for name, value in entry.shown_by[bug].items() if name != "entries"}
    result = of_ledger({**parameters, "readers": 0}, (bug,), second_solver=False)
    instance = entry.suite(entry.build({**parameters, "readers": 0, "entries": 2}, (bug,)))
    failures = [failure for failure in prove(instance, examples=0).failures if not failure.undecided]
    broken = [failure for failure in failures if failure.statement.kind in ("lemma", "always")]
    assert not result.doubt
    assert bool(result.unproved) == bool(broken)  # some bugs break rules of single steps only
    assert bool(broken) == any(not failure.undecided for failure in result.refuted if failure.statement.kind != "step")


def of_any_bookies() -> list[str]:
    return [name for name in applicable() if name != "no_such_entry_threshold_too_low"]


@pytest.mark.deep
@pytest.mark.parametrize("bug", of_any_bookies())
def test_every_applicable_bug_is_refuted_for_any_number_of_bookies(bug: str) -> None:
    shown = PROTOCOLS["ledger"].shown_by[bug]
    settled = PROTOCOLS["ledger"].general.sizes_with(shown)["bookies"].settles
    parameters = {name: value for name, value in shown.items() if name not in settled}
    result = of_ledger({**parameters, "readers": 0}, (bug,), any=("bookies",), second_solver=False)
    refuted = [failure for failure in result.refuted if failure.statement.kind in ("lemma", "always")]
    assert not result.doubt
    assert bool(result.unproved) == bool(refuted)
