"""Rules that a bug replaces, steps that an instance does not have, and what actions mirror."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from fencepost.model.language import And, ModelError, Not, Protocol

BUGS = {"takes_twice": "a held token is taken", "never_gives": "the token is never given back"}


def token(bugs: Iterable[str] = (), *, only_if: object = True, mirrors: str = "") -> Protocol:
    """Two clients and a token that one of them may hold."""
    p = Protocol("token", bugs=BUGS, active=bugs)
    client = p.universe("client", 2)
    holds = p.flag("holds", per=client)

    @p.rule
    def free(c: int) -> Any:
        """Nobody else holds the token."""
        return Not(holds[1 - c])

    free.instead("takes_twice", lambda c: True)

    @p.step(by="c", c=client, mirrors=mirrors)
    def take(c: int) -> Any:
        """The client takes the token."""
        return free(c), {holds[c]: True}

    @p.step(by="c", c=client, d=client, only_if=False if p.has("never_gives") else only_if)
    def hand_on(c: int, d: int) -> Any:
        """The client hands the token on."""
        return And(c != d, holds[c]), {holds[c]: False, holds[d]: True}

    return p


def labels(p: Protocol) -> list[str]:
    return [action.label for action in p.actions]


def guard_of(p: Protocol, label: str) -> str:
    return next(str(action.guard) for action in p.actions if action.label == label)


def test_a_rule_is_called_by_actions_and_a_bug_takes_its_place() -> None:
    assert guard_of(token(), "take(c0)") == "Not(holds[c1])"
    assert guard_of(token(["takes_twice"]), "take(c0)") == "True"


def test_a_step_that_an_instance_does_not_have_keeps_its_name() -> None:
    assert "hand_on(c0, c1)" in labels(token())
    left_out = token(only_if=0)
    assert labels(left_out) == labels(token(["never_gives"])) == ["take(c0)", "take(c1)"]
    assert left_out.is_action_or_actor("hand_on")


def test_arguments_that_settle_the_guard_leave_no_action() -> None:
    assert [label for label in labels(token()) if label.startswith("hand_on")] == ["hand_on(c0, c1)", "hand_on(c1, c0)"]


def test_a_step_can_be_left_out_for_some_arguments() -> None:
    assert [label for label in labels(token(only_if=lambda c, d: c == 0)) if label.startswith("hand_on")] == ["hand_on(c0, c1)"]


def test_what_an_action_mirrors_is_declared() -> None:
    p = token(mirrors="TokenImpl.take, TokenImpl.Queue.poll")
    assert p.mirrors["take"] == p.actions[0].mirrors == ("TokenImpl.take", "TokenImpl.Queue.poll")
    assert p.mirrors["hand_on"] == ()
    assert token(only_if=False).mirrors.keys() == p.mirrors.keys()


def test_a_mirrored_method_carries_the_condition_that_the_guard_stands_for() -> None:
    p = token(mirrors="TokenImpl.take {free(a, b) &&  !taken}, TokenImpl.Queue.poll")
    assert p.mirrors["take"] == ("TokenImpl.take", "TokenImpl.Queue.poll")
    assert p.conditions["take"] == p.actions[0].conditions == {"TokenImpl.take": "free(a, b) && !taken"}
    assert p.actions[0].in_the_code == ["TokenImpl.take, where free(a, b) && !taken", "TokenImpl.Queue.poll"]


@pytest.mark.parametrize(
    "mirrors", ["take", "TokenImpl", "TokenImpl.Take", "TokenImpl.take,", "TokenImpl take", "TokenImpl.take {free", "{free}"]
)
def test_what_an_action_mirrors_is_a_method_of_a_class(mirrors: str) -> None:
    with pytest.raises(ModelError, match=r"token: action take mirrors '.*', which is not of the form Class.method"):
        token(mirrors=mirrors)


def test_a_rule_needs_a_docstring_and_a_bug_of_its_protocol() -> None:
    p = Protocol("token", bugs=BUGS)
    with pytest.raises(ModelError, match=re.escape("token: rule quiet has no docstring; say which rule it is")):

        @p.rule
        def quiet() -> bool:
            return True

    @p.rule
    def loud() -> bool:
        """It is loud."""
        return True

    with pytest.raises(ModelError, match="token uses bug 'unheard', which it does not list"):
        loud.instead("unheard", lambda: False)


def test_an_action_that_returns_nothing_is_a_mistake() -> None:
    p = Protocol("token")
    p.flag("held")
    with pytest.raises(ModelError, match="an action returns \\(guard, updates\\), and this returns nothing"):

        @p.step(by="client")
        def take() -> Any:
            """Forgets to return."""
