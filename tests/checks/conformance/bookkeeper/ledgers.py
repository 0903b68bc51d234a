"""Runs of the ledger protocol on BookKeeper's own client and bookies, as the tests take them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fencepost.checks.conformance.bookkeeper.ledger import LedgerAdapter
from fencepost.checks.conformance.bookkeeper.target import LEDGER, start
from fencepost.checks.conformance.running.campaign import Result, campaign
from fencepost.checks.conformance.running.pair import Outcome, Pair
from fencepost.checks.conformance.targets import Asked
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Value
from tests.checks.conformance.real import tools

ENTRY = PROTOCOLS["ledger"]
USUAL = LEDGER.releases[0]


@contextmanager
def running(release: str = USUAL, storage: str = "", *, keep_log: bool = False) -> Iterator[LedgerAdapter]:
    """The harness on a release; the test is skipped without Java."""
    tools()
    with start(Asked(release, storage), keep_log=keep_log) as adapter:
        yield adapter


def held(adapter: LedgerAdapter, *bugs: str, runs: int, seed: int = 1, **parameters: Value) -> Result:
    instances = [parameters] if parameters else LEDGER.instances
    protocols = [ENTRY.build(each, bugs) for each in instances]
    without = [ENTRY.build(each) for each in instances] if bugs else ()
    return campaign(
        protocols,
        adapter,
        runs=runs,
        steps=60,
        seed=seed,
        weights=LEDGER.weights,
        without=without,
        stop_after=1,
        shrink=False,
    )


def follow(adapter: LedgerAdapter, script: str, *bugs: str, **parameters: Value) -> Outcome:
    return Pair(Kernel(ENTRY.build(parameters, bugs)), adapter).follow([label.strip() for label in script.split(";")])
