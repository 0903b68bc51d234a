"""Lemmas are found where they can be said, are proved from their text, and are never printed for what does not hold."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import count

import pytest

from fencepost.checks.commands.lemmas.run import as_text
from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.engines.lemmas import finding
from fencepost.checks.engines.lemmas.finding import Lemmas, Means, Telling, find
from fencepost.checks.engines.lemmas.writing import suite_with
from fencepost.model.language import Not, Or, Protocol, any_of, at_least
from fencepost.properties.bugs import Bug
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Instance, RegistryError
from fencepost.properties.vocabulary import Suite


def key(*, clients: int = 3, bugs: Iterable[str] = ()) -> Protocol:
    """One key that is handed out by messages."""
    p = Protocol("key", parameters={"clients": clients}, bugs={"kept": "it is copied, not handed out"}, active=bugs)
    client = p.universe("client", clients)
    free, on_its_way, holds = p.flag("free", init=True), p.subset("on_its_way", client), p.flag("holds", per=client)

    @p.step(by="c", c=client)
    def send(c: int) -> object:
        """It is sent to a client."""
        return free, {free: p.has("kept"), on_its_way: on_its_way.plus(c)}

    @p.step(by="c", c=client)
    def take(c: int) -> object:
        """It arrives."""
        return on_its_way.has(c), {on_its_way: on_its_way.minus(c), holds[c]: True}

    @p.step(by="c", c=client)
    def give_back(c: int) -> object:
        """The client gives it back."""
        return holds[c], {holds[c]: False, free: True}

    return p


def properties(p: Protocol) -> Suite:
    s, suite, client = p.state, Suite(p), p.universes["client"]

    @suite.always
    def one_has_it() -> object:
        """At most one client has the key."""
        return Not(at_least(2, (s.holds[c] for c in client)))

    @suite.always
    def it_is_somewhere() -> object:
        """The key is not lost."""
        return Or(s.free, any_of(Or(s.holds[c], s.on_its_way.has(c)) for c in client))

    @suite.step
    def it_moves() -> object:
        """No client has it while it is free."""
        return Or(Not(s.free), Not(p.next.free))

    return suite


KEY = Entry(
    name="key",
    summary="a key",
    function=key,
    suite=properties,
    sizes={"ci": (Instance("three", {}),)},
    bugs={"kept": Bug()},
)
USUAL = Instance("three", {})


def _lemmas(name: str, *, literals: int = 2, bugs: tuple[str, ...] = (), telling: Telling | None = None) -> Lemmas:
    return find(KEY, USUAL, name, bugs, Means(literals=literals, workers=1), telling or Telling())


@pytest.mark.parametrize("name", ["one_has_it", pytest.param("it_is_somewhere", marks=pytest.mark.long)])
def test_what_a_property_needs_is_found(name: str) -> None:
    lemmas = _lemmas(name)
    assert lemmas.is_proved
    assert lemmas.is_whole
    protocol = KEY.build({})
    proof = prove(suite_with(protocol, KEY.suite(protocol).named(name), lemmas.text))
    assert [verdict.verdict for verdict in proof.verdicts] == ["proved"]
    assert not proof.failures


@pytest.mark.long
def test_of_many_states_some_are_looked_at_and_the_initial_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clause that holds in these alone is found out by Z3, but may have stood for longer ones that are true."""
    every = _lemmas("one_has_it")
    monkeypatch.setattr(finding, "MOST_STATES", every.states - 1)
    lemmas = _lemmas("one_has_it")
    assert lemmas.is_proved or "no inductive set has it" in lemmas.why
    assert (every.looked_at, lemmas.states) == (every.states, every.states)
    assert 1 <= lemmas.looked_at < every.states
    assert f"clauses tried on {lemmas.looked_at} of them" in as_text(lemmas)


@pytest.mark.long
def test_none_of_the_lemmas_can_be_left_out() -> None:
    lemmas = _lemmas("one_has_it")
    protocol = KEY.build({})
    suite = suite_with(protocol, KEY.suite(protocol).named("one_has_it"), lemmas.text)
    assert len(suite.lemmas) == lemmas.count > 1
    for lemma in suite.lemmas:
        fewer = Suite(protocol)
        fewer.properties.extend(suite.properties)
        fewer.lemmas.extend(other for other in suite.lemmas if other is not lemma)
        assert prove(fewer).failures, lemma.name


def test_what_can_fail_is_not_proved() -> None:
    lemmas = _lemmas("one_has_it", bugs=("kept",))
    assert lemmas.is_reached
    assert not lemmas.is_proved
    assert not lemmas.text


def test_clauses_that_are_too_short_prove_nothing() -> None:
    lemmas = _lemmas("one_has_it", literals=1)
    assert not lemmas.is_proved
    assert not lemmas.is_reached
    assert "no inductive set has it" in lemmas.why


@pytest.mark.long
def test_what_is_found_without_a_proof_is_inductive() -> None:
    """Though it is told to stop at any moment."""
    protocol = KEY.build({})
    partly = 0
    for most in range(0, 800, 23):
        asked = count()
        lemmas = _lemmas("one_has_it", telling=Telling(should_stop=lambda: next(asked) >= most))  # noqa: B023
        if lemmas.is_proved:
            assert partly
            break
        assert lemmas.unfinished
        if lemmas.text:
            partly += 1
            failures = prove(suite_with(protocol, KEY.suite(protocol).named("one_has_it"), lemmas.text)).failures
            assert [failure for failure in failures if failure.statement.kind == "lemma"] == []
    else:
        pytest.fail("it never ends")


def test_only_properties_of_single_states_have_lemmas_of_their_own() -> None:
    with pytest.raises(RegistryError, match="it_moves is not of single states; lemmas can be looked for of one_has_it"):
        _lemmas("it_moves")
    with pytest.raises(RegistryError, match="nobody_has_it is none of its properties"):
        _lemmas("nobody_has_it")


@cache
def _single_owner(workers: int = 1, **parameters: int) -> Lemmas:
    return find(PROTOCOLS["ownership"], Instance("own", parameters), "single_owner", (), Means(workers=workers), Telling())


@pytest.mark.long
@pytest.mark.xdist_group("single owner")
@pytest.mark.parametrize(
    "parameters", [{}, {"disconnects": 1, "releases": 1}, pytest.param({"brokers": 3, "releases": 1}, marks=pytest.mark.deep)]
)
def test_single_owner_is_rediscovered(parameters: dict[str, int]) -> None:
    lemmas = _single_owner(**parameters)
    assert lemmas.is_proved
    assert 'Implies(s.bundle_state[b, u] != "absent", s.owner_holder[u] == b)' in lemmas.text


@pytest.mark.long
@pytest.mark.xdist_group("single owner")
def test_the_number_of_workers_makes_no_difference() -> None:
    assert _single_owner(disconnects=1, releases=1).text == _single_owner(2, disconnects=1, releases=1).text


@pytest.mark.parametrize("bug", ["lost_lock_served", "not_revalidated", "cache_kept_on_disconnect"])
def test_bugs_of_ownership_are_not_proved_away(bug: str) -> None:
    """Neither where one violates the property, nor where it is beside the point."""
    entry = PROTOCOLS["ownership"]
    parameters = {**entry.shown_by[bug]}
    lemmas = find(entry, Instance("bug", parameters), "single_owner", (bug,), Means(literals=2, workers=1), Telling())
    protocol = entry.build(parameters, (bug,))
    if lemmas.is_proved:
        assert not prove(suite_with(protocol, entry.suite(protocol).named("single_owner"), lemmas.text)).failures
    assert lemmas.is_proved != lemmas.is_reached


@pytest.mark.deep
def test_no_truncation_is_rediscovered_for_any_number_of_entries() -> None:
    entry = PROTOCOLS["ledger"]
    lemmas = find(entry, Instance("own", {"readers": 0}), "no_truncation", (), Means(), Telling())
    assert lemmas.is_proved
    assert [(size, findings.failures) for size, findings in lemmas.general if size == "entries"] == [("entries", ())]


@pytest.mark.deep
@pytest.mark.parametrize("bug", ["closes_at_lac", "recovery_reads_do_not_fence", "one_no_such_entry_suffices"])
def test_bugs_of_the_ledger_have_no_proof(bug: str) -> None:
    entry = PROTOCOLS["ledger"]
    lemmas = find(entry, Instance("bug", entry.shown_by[bug]), "no_truncation", (bug,), Means(), Telling())
    assert lemmas.is_reached
    assert not lemmas.text
