"""Proof for any number of members of which a variable holds one or none: walkers and a torch; brokers and owner nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import z3

from fencepost.checks.engines.any_size.link import link
from fencepost.checks.engines.any_size.proof import GeneralProof, prove_for_any_size
from fencepost.checks.engines.induction.proof import prove
from fencepost.model.any_size.first_order import AnySize, any_size
from fencepost.model.any_size.sizes import Size
from fencepost.model.language import And, If, Implies, ModelError, Not, Protocol, all_of, any_of, at_least
from fencepost.model.terms.in_z3 import InZ3
from fencepost.model.terms.nodes import constant
from fencepost.model.terms.values import TRUE, distinct, for_all
from fencepost.properties.any_size import General, sizes_from
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.vocabulary import Suite


class Solver:
    """Z3, asked about terms."""

    def check(self, *terms: Any) -> z3.CheckSatResult:
        solver = z3.SimpleSolver()
        solver.add(InZ3().all(terms))
        return solver.check()


BUGS = {
    "taken_from_another": "a walker takes the torch though another has it",
    "all_are_told": "the taker is told, too",
    "overlooks": "who looks sees nobody",
}


def walk(*, walkers: int = 3, bugs: Iterable[str] = ()) -> Protocol:
    """One torch, which a walker has or nobody; whoever takes it is seen by all others, and shines until it is dropped."""
    p = Protocol("walk", parameters={"walkers": walkers}, bugs=BUGS, active=bugs)
    walker = p.universe("walker", walkers)
    torch = p.choice("torch", walker, none="nobody")
    seen = p.choice("seen", walker, per=walker, none="nobody")
    shines = p.flag("shines", per=walker)

    @p.step(by="w", w=walker)
    def take(w: int) -> Any:
        """A walker takes the torch, and all others see it."""
        watchers = walker if p.has("all_are_told") else walker.but(w)
        is_free = True if p.has("taken_from_another") else torch == "nobody"
        return And(is_free, Not(shines[w])), {torch: w, shines[w]: True, **{seen[o]: w for o in watchers}}

    @p.step(by="w", w=walker)
    def drop(w: int) -> Any:
        """A walker drops the torch, and knows of nobody who has it; others that saw the walker forget, if they look."""
        return torch == w, {
            shines[w]: False,
            torch: If(torch == w, "nobody", torch),
            **{seen[o]: If(seen[o] == torch, "nobody", seen[o]) for o in walker},
        }

    @p.step(by="w", w=walker)
    def look(w: int) -> Any:
        """A walker sees who has the torch, if it is another."""
        return torch != w, {seen[w]: "nobody" if p.has("overlooks") else torch}

    return p


def properties(p: Protocol) -> Suite:
    """At most one has the torch, because only the holder shines."""
    suite, s, n, walker = Suite(p), p.state, p.next, p.universes["walker"]

    @suite.lemma
    def holder_shines() -> Any:
        """The holder shines, and nobody else."""
        return all_of(s.shines[w] == (s.torch == w) for w in walker)

    @suite.lemma
    def nobody_sees_himself() -> Any:
        """Whom a walker sees is another, and has the torch."""
        return all_of(And(s.seen[w] != w, s.seen[w].among("nobody", s.torch)) for w in walker)

    @suite.always
    def one_shines() -> Any:
        """At most one walker shines."""
        return Not(at_least(2, [s.shines[w] for w in walker]))

    @suite.always
    def others_are_dark() -> Any:
        """If one shines, all others are dark."""
        return all_of(Implies(s.shines[w], all_of(Not(s.shines[o]) for o in walker.but(w))) for w in walker)

    @suite.step
    def what_is_seen_anew_is_so() -> Any:
        """Who comes to see another sees who has the torch."""
        return all_of(Implies(n.seen[w] != s.seen[w], n.seen[w] == n.torch) for w in walker)

    return suite


def proof(bug: str = "") -> GeneralProof:
    def make(parameters: Mapping[str, Any]) -> Suite:
        return properties(walk(**parameters, bugs=[bug] if bug else []))

    sizes = {"walkers": sizes_from("walkers", 2, alike=True)}
    return prove_for_any_size(list(General(sizes, (), lambda *_: "", "", steps=True).parts(["walkers"], make)))


def general(bug: str = "") -> Suite:
    with any_size(steps=True):
        return properties(walk(walkers=Size.named("walkers", 2, alike=True), bugs=[bug] if bug else []))


def test_what_holds_of_any_number_is_proved_by_both_solvers() -> None:
    result = proof()
    assert [prop.name for prop in result.proved] == ["one_shines", "others_are_dark", "what_is_seen_anew_is_so"]
    assert (result.unproved, result.refuted, result.doubt, result.impossible) == ((), (), "", ())
    assert result.discharged == result.confirmed > 5
    assert [(size, one.actions, one.differing) for size, one in result.links.items()] == [
        ("walkers=2", 6, ()),
        ("walkers=3", 9, ()),
    ]


@pytest.mark.parametrize(
    ("bug", "broken"),
    [
        ("taken_from_another", "holder_shines"),
        ("all_are_told", "nobody_sees_himself"),
        ("overlooks", "what_is_seen_anew_is_so"),
    ],
)
def test_a_bug_is_refuted_and_not_just_unproved(bug: str, broken: str) -> None:
    result = proof(bug)
    assert broken not in {prop.name for prop in result.proved}
    assert broken in {failure.statement for failure in result.unproved}
    assert broken in {failure.statement.name for failure in result.refuted if not failure.undecided}
    assert not result.doubt


def test_who_is_left_out_of_an_update_is_told_by_the_link() -> None:
    compared = link(general("all_are_told"), properties(walk(walkers=3)), {"walkers": 3})
    assert compared.differing == ("take(w0)", "take(w1)", "take(w2)")


def test_a_rule_of_steps_that_reads_otherwise_is_told_by_the_link() -> None:
    finite = properties(walk(walkers=2))
    finite.properties = [replace(p, formula=TRUE) if p.kind == "step" else p for p in finite.properties]
    assert link(general(), finite, {"walkers": 2}).differing == ("what_is_seen_anew_is_so",)


def test_a_bug_that_breaks_steps_only_leaves_the_states_proved() -> None:
    result = proof("overlooks")
    assert [prop.name for prop in result.proved] == ["one_shines", "others_are_dark"]


def test_a_value_is_a_member_or_none() -> None:
    with any_size():
        p = Protocol("walk")
        walker = p.universe("walker", Size.named("walkers", 2, alike=True))
        torch = p.choice("torch", walker, none="nobody")
        one, other = constant("one", walker.sort), constant("other", walker.sort)
        solver = Solver()
        assert solver.check(torch == one, torch == other, one != other) == z3.unsat
        assert solver.check(torch == one, torch == "nobody") == z3.unsat
        assert solver.check(torch != one, torch != "nobody") == z3.sat
        assert solver.check(torch.among("nobody", one), torch != one, torch != "nobody") == z3.unsat
        with pytest.raises(ValueError, match="'somebody' is not of"):
            _ = torch == "somebody"
        chosen = If(one == other, one, torch)
        assert solver.check(one == other, chosen != one) == z3.unsat


@pytest.mark.parametrize(("alike", "none"), [(True, ""), (False, "nobody")])
def test_a_choice_that_is_never_none_or_of_numbers_is_refused(alike: bool, none: str) -> None:
    with any_size():
        p = Protocol("walk")
        walker = p.universe("walker", Size.named("walkers", 2, alike=alike))
        with pytest.raises(ModelError, match="of the members of walker there are any number"):
            p.choice("torch", walker, none=none)


def test_so_many_are_different_members() -> None:
    with any_size():
        p = Protocol("walk")
        walker = p.universe("walker", Size.named("walkers", 2, alike=True))
        shines = p.flag("shines", per=walker)
        two = at_least(2, [shines[w] for w in walker])
        others = at_least(2, [shines[o] for o in walker.but(constant("one", walker.sort))])
    one, other, third = (constant(name, walker.sort) for name in ("one", "other", "third"))
    solver = Solver()
    assert solver.check(shines[one], shines[other], one != other, Not(two)) == z3.unsat
    assert solver.check(shines[one], Not(two)) == z3.sat
    assert solver.check(shines[one], shines[other], one != other, Not(others)) == z3.sat
    assert solver.check(shines[other], shines[third], distinct(one, other, third), Not(others)) == z3.unsat


def test_others_of_a_member_that_is_gone_through_itself() -> None:
    with any_size():
        p = Protocol("walk")
        walker = p.universe("walker", Size.named("walkers", 2, alike=True))
        shines = p.flag("shines", per=walker)
        other_shines = any_of(shines[o] for w in walker for o in walker.but(w))
    assert isinstance(p, AnySize)
    a, b = constant("a", walker.sort), constant("b", walker.sort)
    assert Solver().check(for_all([a], a == b), shines[b], other_shines) == z3.unsat  # who is alone has no others


def of(
    protocol: str, parameters: Mapping[str, Any], *any: str, bugs: tuple[str, ...] = (), second_solver: bool = False
) -> GeneralProof:
    return prove_for_any_size(PROTOCOLS[protocol].of_any(any, parameters, bugs), workers=2, second_solver=second_solver)


@pytest.mark.long
def test_any_number_of_brokers_have_a_single_owner() -> None:
    result = of("ownership", {"releases": 1}, "brokers", second_solver=True)
    assert (result.unproved, result.refuted, result.doubt, result.impossible) == ((), (), "", ())
    assert {"single_owner", "single_server", "single_owner_up_to_date"} <= {prop.name for prop in result.proved}
    assert result.discharged == result.confirmed
    assert list(result.links) == ["brokers=2", "brokers=3"]


AMONG = {
    "election": {"holder_leads", "followers_know_the_holder", "elections_go_forward"},
    "ownership": {"single_owner_up_to_date", "caches_agree_with_the_store", "locks_go_forward"},
    "unload": {"single_owner_up_to_date", "topic_is_open_once_up_to_date", "locks_go_forward"},
}
"""What is proved in all instances of each."""


def instances() -> list[Any]:
    return [
        pytest.param(name, instance, id=f"{name}, {instance.name}, {len(instance.any)}")
        for name in AMONG
        if (general := PROTOCOLS[name].general) is not None
        for instance in general.instances
    ]


@pytest.mark.deep
def test_any_number_of_brokers_that_are_cut_off_and_shut_down_elect_a_leader() -> None:
    result = of("election", {"disconnects": 1, "closes": 1}, "brokers")
    assert (result.unproved, result.refuted, result.doubt, result.impossible) == ((), (), "", ())
    assert {"leader_holds_the_node", "leaders_up_to_date_are_one"} <= {prop.name for prop in result.proved}


@pytest.mark.deep
@pytest.mark.parametrize(("protocol", "instance"), instances())
def test_brokers_of_any_number(protocol: str, instance: Any) -> None:
    result = of(protocol, instance.parameters, *instance.any, second_solver=True)
    assert (result.unproved, result.refuted, result.doubt, result.impossible) == ((), (), "", ())
    assert {prop.name for prop in result.proved} >= AMONG[protocol]
    assert result.discharged == result.confirmed


def applicable() -> list[tuple[str, str]]:
    return [(name, bug) for name in AMONG for bug, shown in PROTOCOLS[name].shown_by.items() if not shown.get("lookups")]


@pytest.mark.deep
@pytest.mark.parametrize(("protocol", "bug"), applicable())
def test_every_bug_is_refuted(protocol: str, bug: str) -> None:
    entry = PROTOCOLS[protocol]
    parameters = {name: value for name, value in entry.shown_by[bug].items() if name not in ("brokers", "bundles")}
    of_any = ("brokers",) if protocol == "election" else ("brokers", "bundles")
    result = of(protocol, parameters, *of_any, bugs=(bug,))
    instance = entry.suite(entry.build({**parameters, "brokers": 2}, (bug,)))
    provable = ("lemma", "always", "step")
    broken = [failure for failure in prove(instance, examples=0).failures if failure.statement.kind in provable]
    assert not result.doubt
    assert bool(result.unproved) == bool(broken)
    assert not broken or any(not failure.undecided for failure in result.refuted if failure.statement.kind in provable)
