"""When lemmas are written out."""

from __future__ import annotations

from typing import Any

from fencepost.model.language import Protocol
from fencepost.properties.vocabulary import Suite


def test_lemmas_left_to_a_function_are_declared_once_and_only_when_asked_for() -> None:
    p = Protocol("switch")
    p.flag("on")
    suite, calls = Suite(p), list[str]()

    def declare() -> None:
        calls.append("declared")

        @suite.lemma
        def is_on_or_off() -> Any:
            """It is on, or it is not."""
            return p.state.on == p.state.on

    assert not suite.has_lemmas
    suite.lemmas_by(declare)
    assert suite.has_lemmas
    assert calls == []
    assert [lemma.name for lemma in suite.lemmas] == ["is_on_or_off"]
    assert len(suite.lemmas) == 1
    assert suite.has_lemmas
    assert calls == ["declared"]
