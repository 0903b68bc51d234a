"""Proof for any number of members of which some are chosen: a watch of some guards, in which one is exchanged for another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from fencepost.checks.engines.any_size.link import AtSize
from fencepost.checks.engines.any_size.proof import GeneralProof, prove_for_any_size
from fencepost.model.any_size.first_order import AnySize, any_size
from fencepost.model.any_size.sizes import Size
from fencepost.model.language import And, ModelError, Not, Protocol, at_least
from fencepost.model.terms.simplification import truth_of
from fencepost.properties.any_size import Case, General, Part, Sizes
from fencepost.properties.vocabulary import Suite
from tests.marking import first_at_once

BUGS = {"nobody_leaves": "who is exchanged stays", "leaves_alone": "who is exchanged leaves, and nobody comes"}


def watch(*, guards: int = 4, watch: int = 3, enough: int = 2, bugs: Iterable[str] = ()) -> Protocol:
    """The first guards stand watch, and may be exchanged. What enough of them see is reported, and what too many do not see."""
    p = Protocol("watch", parameters={"guards": guards, "watch": watch, "enough": enough}, bugs=BUGS, active=bugs)
    guard = p.universe("guard", guards)
    stands, sees = p.subset("stands", guard, init=lambda: guard.first(watch)), p.subset("sees", guard)
    report = p.choice("report", ["none", "seen", "missed"])

    @p.step(by="g", g=guard)
    def see(g: int) -> Any:
        """A guard sees something."""
        return Not(sees.has(g)), {sees: sees.plus(g)}

    @p.step(by="o", o=guard, n=guard)
    def exchange(o: int, n: int) -> Any:
        """A guard that has seen nothing is exchanged for another."""
        left = stands if p.has("nobody_leaves") else stands.minus(o)
        new = left if p.has("leaves_alone") else left.plus(n)
        return And(stands.has(o), Not(stands.has(n)), Not(sees.has(o))), {stands: new}

    @p.step(by="chief")
    def report_it() -> Any:
        """Enough of the watch have seen something."""
        return at_least(enough, (And(stands.has(g), sees.has(g)) for g in guard)), {report: "seen"}

    @p.step(by="chief")
    def miss_it() -> Any:
        """So many of the watch have not that the others are not enough."""
        return at_least(watch - enough + 1, (And(stands.has(g), Not(sees.has(g))) for g in guard)), {report: "missed"}

    return p


def properties(p: Protocol) -> Suite:
    """As many stand watch as should, and whoever asks enough of them meets one of any that are enough."""
    suite, s, guard = Suite(p), p.state, p.universes["guard"]
    size, enough = p.parameters["watch"], p.parameters["enough"]

    @suite.lemma
    def watch_is_no_larger() -> Any:
        """No more guards stand watch than should."""
        return Not(at_least(size + 1, (s.stands.has(g) for g in guard)))

    @suite.lemma
    def watch_is_no_smaller() -> Any:
        """No fewer do."""
        return at_least(size, (s.stands.has(g) for g in guard))

    @suite.always
    def enough_and_too_many_never_agree() -> Any:
        """Not both: enough of the watch see it, and so many do not that the others are not enough."""
        seen = at_least(enough, (And(s.stands.has(g), s.sees.has(g)) for g in guard))
        missed = at_least(size - enough + 1, (And(s.stands.has(g), Not(s.sees.has(g))) for g in guard))
        return Not(And(seen, missed))

    return suite


def settings(guards: Any, least: int, enough: Any) -> dict[str, Any]:
    size = guards - 1 if type(guards) is int else guards.part("watch", least, short=1)
    return {"guards": guards, "watch": size, "enough": enough(size)}


def between(size: Any) -> Any:
    return size - 1 if type(size) is int else size.part("enough", 2, short=1)


GUARDS = Sizes(
    (
        Case(4, lambda guards: settings(guards, 3, between)),
        Case(3, lambda guards: settings(guards, 2, lambda _: 1)),
        Case(3, lambda guards: settings(guards, 2, lambda size: size)),
        Case(2, lambda guards: {"guards": guards, "watch": 1, "enough": 1}),
    ),
    alike=True,
)


def parts(bug: str = "") -> list[Part]:
    def make(parameters: Mapping[str, Any]) -> Suite:
        return properties(watch(**parameters, bugs=[bug] if bug else []))

    return list(General({"guards": GUARDS}, (), lambda *_: "", "").parts(["guards"], make))


def proof(bug: str = "") -> GeneralProof:
    return prove_for_any_size(parts(bug))


@pytest.mark.long
def test_the_size_of_what_is_exchanged_is_proved() -> None:
    result = proof()
    assert [prop.name for prop in result.proved] == ["enough_and_too_many_never_agree"]
    assert (result.unproved, result.refuted, result.doubt, result.impossible) == ((), (), "", ())
    assert result.discharged == result.confirmed
    assert len(result.links) == 8


@pytest.mark.long
@pytest.mark.parametrize(("bug", "lemma"), [("nobody_leaves", "watch_is_no_larger"), ("leaves_alone", "watch_is_no_smaller")])
def test_a_bug_is_refuted_and_not_just_unproved(bug: str, lemma: str) -> None:
    result = proof(bug)
    assert result.proved == ()
    assert lemma in {failure.statement for failure in result.unproved}
    assert lemma in {failure.statement.name for failure in result.refuted if not failure.undecided}


def supposed(part: Part, larger: int) -> Iterator[tuple[str, Any]]:
    """What is supposed of quorums and of the first members, at a size."""
    general, finite = part.general(), part.instance(larger)
    protocol = general.protocol
    assert isinstance(protocol, AnySize)
    _ = [symbol.begins() for symbol in protocol.symbols]  # which speaks of the first
    at = AtSize(protocol, finite, part.sizes(larger))
    for axiom in protocol.assumed:
        yield str(axiom), at.of(axiom)
    guard = protocol.universes["guard"]
    for leaving in range(2):
        for axiom in protocol.exchanged(at.member(guard.sort, leaving), at.member(guard.sort, 1 - leaving)):
            yield str(axiom), at.of(axiom)


@pytest.mark.parametrize("larger", first_at_once([0, 1]))
@pytest.mark.parametrize("case", range(len(GUARDS.cases)))
def test_what_is_supposed_is_true_of_sets(case: int, larger: int) -> None:
    """An axiom that were false at a size would prove anything."""
    axioms = list(supposed(parts()[case], larger))
    assert len(axioms) > 2
    for axiom, at_size in axioms:
        assert truth_of(at_size), axiom


def test_a_part_that_may_be_the_whole_is_not_known() -> None:
    guards = Size.named("guards", 3, alike=True)
    with any_size():
        protocol = watch(guards=guards, watch=guards.part("watch", 2, short=0), enough=1)
        assert isinstance(protocol, AnySize)
        with pytest.raises(ModelError, match="none are known as the first"):
            _ = [symbol.begins() for symbol in protocol.symbols]
