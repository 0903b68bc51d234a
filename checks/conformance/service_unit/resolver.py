"""The model's conflict resolver and the class of a release, asked of the same pairs of records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from fencepost.checks.conformance.java_side.harness import RELEASED, harness
from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.session import Session
from fencepost.checks.conformance.policy.code import OPTIONS, pulsar_broker
from fencepost.checks.conformance.service_unit.evaluation import evaluated
from fencepost.checks.conformance.service_unit.pairs import Batch, columns, random_batches, small
from fencepost.model.balance.configuration import Version
from fencepost.model.counts import count_of
from fencepost.model.releases import mirrored_in
from fencepost.model.terms.values import Condition, condition
from fencepost.properties.service_unit.resolver import NEW, OLD, keeps

RELEASES: tuple[Version, ...] = mirrored_in("ServiceUnitStateDataConflictResolver", "pulsar").has
"""Those that have ServiceUnitStateDataConflictResolver."""

STORES: Mapping[str, str] = {"the system topic": "SystemTopic", "the metadata store": "MetadataStore"}
SAID = {"0": "the new one is taken", "1": "the old one is kept", "!": "it throws"}

Ask = Callable[[Mapping[str, object]], Mapping[str, str]]


@dataclass
class Compared:
    """Pairs over one store: which ones, how many, how many differ, and the first that does, in words."""

    store: str
    which: str
    pairs: int = 0
    differing: int = 0
    first: str = ""


@dataclass
class Result:
    """What came of it."""

    compared: list[Compared] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def pairs(self) -> int:
        """How many pairs were compared."""
        return sum(each.pairs for each in self.compared)

    @property
    def differing(self) -> int:
        """How many differ."""
        return sum(each.differing for each in self.compared)


def resolver_of(release: str, own: OwnBuild = RELEASED) -> Session:
    """A JVM with the resolver of a release, or of a build of one's own. Raises ToolchainError or SessionError."""
    main = "fencepost.serviceunit.ResolverBench"
    return Session(harness("resolver", main, pulsar_broker(release), options=OPTIONS, own=own))


def compare(
    ask: Ask,
    *,
    cases: int,
    seed: int,
    bugs: Iterable[str] = (),
    progress: Callable[[Result], None] = lambda result: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Result:
    """Compares all pairs of the small domain over each store, and so many random ones over each."""
    result, began = Result(), time.monotonic()
    for store, storage in STORES.items():
        formula = condition(keeps(OLD, NEW, storage == "SystemTopic", frozenset(bugs)))
        whole = small()
        for which, batches in (
            (f"all pairs of {count_of(len(whole.old), 'record')}", iter([whole])),
            ("random pairs", random_batches(cases, seed)),
        ):
            compared = Compared(store, which)
            result.compared.append(compared)
            for batch in batches:
                if should_stop():
                    result.interrupted = True
                    return result
                _add(compared, batch, formula, storage, ask)
                result.seconds = time.monotonic() - began
                progress(result)
    return result


def _add(compared: Compared, batch: Batch, formula: Condition, storage: str, ask: Ask) -> None:
    """Asks both of every pair of a batch."""
    request = {"store": storage, "old": [one.json for one in batch.old], "new": [one.json for one in batch.new]}
    decisions = ask(request)["kept"]
    model = np.broadcast_to(evaluated(formula, columns(batch)).astype(bool), (len(batch.old), len(batch.new)))
    code = np.frombuffer(decisions.encode("ascii"), dtype="S1").reshape(model.shape)
    differing = np.argwhere(code != np.where(model, b"1", b"0"))
    compared.pairs += batch.pairs
    compared.differing += len(differing)
    if len(differing) and not compared.first:
        row, column = map(int, differing[0])
        there, here = SAID[code[row, column].decode()], SAID["1" if model[row, column] else "0"]
        compared.first = f"{batch.old[row]}, then {batch.new[column]}: in the model {here}, in the code {there}"
