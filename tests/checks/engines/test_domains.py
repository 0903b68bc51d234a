"""Nothing runs a protocol that may leave the domain of a variable: what it found would be made up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.checks.engines.search.sampling import Walks, sample
from fencepost.model.kernel import Kernel
from fencepost.model.kernel.compiler.program import Program
from fencepost.model.language import ModelError, Protocol
from fencepost.properties.machines import Run, machine
from fencepost.properties.observed import Observed
from fencepost.properties.vocabulary import Suite
from fencepost.traces.replay import replay_on
from fencepost.traces.trace import Step, Trace


def tokens(*, guarded: bool) -> Suite:
    """A service that grants tokens, and may forget that it has no more."""
    p = Protocol("tokens")
    granted, token = p.number("granted", 0, 3), p.number("token", 0, 3)

    @p.step(by="service")
    def grant() -> Any:
        """The next token is granted."""
        return granted < 3 if guarded else True, {granted: granted + 1}

    suite = Suite(p)

    @suite.always
    def nobody_has_one() -> Any:
        """No token arrives."""
        return token == 0

    @suite.lemma
    def none_arrived() -> Any:
        """No token arrives."""
        return token == 0

    return suite


def observed(suite: Suite) -> Observed:
    return Observed.of(suite, suite.properties)


WAYS: dict[str, Callable[[Suite], Any]] = {
    "exhaustive": lambda suite: exhaust(observed(suite), Budget(workers=1)),
    "walks": lambda suite: sample(observed(suite), Walks(count=2, steps=9), workers=1),
    "induction": prove,
    "a run that is steered": lambda suite: Run(observed(suite)).take("grant"),
    "Hypothesis": lambda suite: machine(observed(suite)),
    "a program": lambda suite: Program.of(Kernel(suite.protocol)),
    "a step": lambda suite: Kernel(suite.protocol).apply(Kernel(suite.protocol).initial()[0], 0),
    "a fingerprint": lambda suite: Kernel(suite.protocol).fingerprint,
    "a replay": lambda suite: replay_on(Trace("tokens", (0, 0), (Step("grant", (1, 0)),)), suite.protocol, suite),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_protocol_that_leaves_a_domain_is_refused(way: str) -> None:
    with pytest.raises(ModelError, match=r"action grant takes granted out of 0\.\.3: it becomes 4 where granted = 3"):
        WAYS[way](tokens(guarded=False))
    WAYS[way](tokens(guarded=True))
