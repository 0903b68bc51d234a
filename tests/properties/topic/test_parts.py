"""What a topic has from its parts by induction: each of its ledgers is the stand-in, and keeps the stand-in's lemmas."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from fencepost.checks.engines.induction.proof import Proof, prove
from fencepost.model.language import Implies, Protocol
from fencepost.model.stand_ins.ledger import stand_in
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from fencepost.properties.topic.variables import Log
from fencepost.properties.vocabulary import Suite
from tests.marking import first_at_once

TOPIC = PROTOCOLS["topic"]
LEMMAS = ("confirmed_was_sent", "unclosed_has_no_end", "closed_has_what_is_confirmed")
INSTANCES = {i.name: i.parameters for size in ("ci", "standard", "deep") for i in TOPIC.sizes[size]}
UNFENCED: Mapping[str, Value] = {**TOPIC.shown_by["close_error_ignored"]}


def alone(entries: int, weak: Collection[str] = ()) -> Suite:
    """A ledger alone, as a topic uses it, with its lemmas."""
    suite = Suite(stand_in(entries, created=False, deletions=True, allows=weak))
    s = suite.protocol.state

    @suite.lemma
    def confirmed_was_sent() -> Any:
        """What is confirmed was sent."""
        return s.confirmed <= s.sent

    @suite.lemma
    def unclosed_has_no_end() -> Any:
        """A ledger that is absent or open has no end."""
        return Implies(s.status.among("absent", "open"), s.end == 0)

    @suite.lemma
    def closed_has_what_is_confirmed() -> Any:
        """A closed ledger has every entry that was confirmed."""
        return Implies(s.status == "closed", s.confirmed <= s.end)

    return suite


def of_its_ledgers(p: Protocol, weak: Collection[str] = ()) -> Suite:
    """That each ledger of a topic is such a ledger, with the lemmas of that."""
    suite, log = Suite(p), Log(p)

    def is_the_ledger(k: int) -> None:
        def seen() -> Mapping[str, Any]:
            """The ledger, as the topic has it."""
            return {"status": log.status[k], "sent": log.sent[k], "confirmed": log.confirmed[k], "end": log.end[k]}

        seen.__name__ = f"ledger_{k}"
        suite.refines(alone(log.capacity, weak), carries=LEMMAS)(seen)

    for k in log.ledger:
        is_the_ledger(k)
    return suite


def proof(parameters: Mapping[str, Value], weak: Collection[str] = ()) -> Proof:
    return prove(of_its_ledgers(TOPIC.build(parameters), weak), workers=1)


@pytest.mark.parametrize("name", first_at_once(list(INSTANCES)))
def test_each_ledger_is_the_stand_in_and_keeps_its_lemmas(name: str) -> None:
    whole = proof(INSTANCES[name])
    assert not whole.failures
    steps = [v for v in whole.verdicts if v.property.kind == "step"]
    assert [v.verdict for v in steps] == ["proved"] * len(steps)
    assert len(steps) == INSTANCES[name].get("ledgers", 3)


def test_with_a_fence_that_does_not_hold_a_lemma_is_lost() -> None:
    """The faithful ledger has no such step; the one that confirms late has it, and loses the lemma."""
    strong, weak = ({f.statement.name for f in proof(UNFENCED, moves).failures} for moves in ((), ["confirm_late"]))
    lemmas = {f"ledger_{k}_closed_has_what_is_confirmed" for k in range(2)}
    assert strong == {"ledger_0", "ledger_1", *lemmas}
    assert weak == lemmas
