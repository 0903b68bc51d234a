"""Searches of small instances, as the tests of every protocol need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import pytest

from fencepost.checks.engines.induction.proof import prove
from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.search.exhaustive import Budget, exhaust
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, Value
from fencepost.properties.vocabulary import Property, Suite


def searched(entry: Entry, parameters: Mapping[str, Value], bugs: Sequence[str] = (), only: Sequence[str] = ()) -> Findings:
    """What exhaustive search says of an instance, of all properties or of some."""
    suite = entry.suite(entry.build(dict(parameters), bugs))
    return _judged(suite, [suite.named(name) for name in only] or suite.properties)


def _judged(suite: Suite, properties: Sequence[Property]) -> Findings:
    return exhaust(Observed.of(suite, properties), Budget(workers=2))


def unexpected(findings: Findings) -> dict[str, int]:
    """The properties that are violated although they should not be, and in how many steps."""
    bad = [v for v in findings.verdicts if v.verdict == "violated" and not v.expected and v.property.kind != "sometimes"]
    return {v.property.name: int(v.reach["steps"]) for v in bad}


def unreached(findings: Findings) -> list[str]:
    """The situations in which no reachable state is."""
    return [v.property.name for v in findings.verdicts if v.property.kind == "sometimes" and v.verdict == "violated"]


def controls(findings: Findings) -> dict[str, int]:
    """The negative controls, and in how many steps each is violated."""
    return {v.property.name: int(v.reach["steps"]) for v in findings.verdicts if v.expected}


def counts(findings: Findings) -> tuple[int, int, int]:
    """The states, transitions and depth of a search."""
    reach = findings.verdicts[0].reach
    return int(reach["distinct"]), int(reach["transitions"]), int(reach["depth"])


def faithful(entry: Entry, parameters: Mapping[str, Value]) -> Findings:
    """What exhaustive search says of an instance without bugs, of all properties."""
    return _faithful(entry.name, whole(entry, parameters))


@cache
def _faithful(name: str, parameters: tuple[tuple[str, Value], ...]) -> Findings:
    return searched(PROTOCOLS[name], dict(parameters))


def searched_together(entry: Entry, parameters: Mapping[str, Value]) -> pytest.MarkDecorator:
    """Whatever needs the search of one instance is run by one worker, which then searches it once."""
    return pytest.mark.xdist_group(f"{entry.name} {' '.join(str(value) for _, value in whole(entry, parameters))}")


def whole(entry: Entry, parameters: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    """All parameters of an instance, in their order."""
    return tuple((p.name, parameters.get(p.name, p.default)) for p in entry.parameters)


def caught(entry: Entry, bug: str) -> tuple[set[str], int | None]:
    """What a bug violates first in its small instance, and in how many steps."""
    suite = entry.suite(entry.build(dict(entry.shown_by[bug]), [bug]))
    violations = unexpected(_judged(suite, [p for p in suite.properties if p.kind != "sometimes" and not p.strict]))
    steps = min(violations.values(), default=None)
    return {name for name, length in violations.items() if length == steps}, steps


def firm(entry: Entry, parameters: Mapping[str, Value]) -> set[str]:
    """What induction has to prove of an instance: whatever is of states, of steps or of deadlocks, and no control."""
    suite = entry.suite(entry.build(dict(parameters)))
    return {p.name for p in suite.properties if p.kind in ("always", "step", "deadlock") and not p.strict}


def proved(entry: Entry, parameters: Mapping[str, Value]) -> set[str]:
    """The properties that induction proves of an instance; all of its obligations hold."""
    proof = prove(entry.suite(entry.build(dict(parameters))), workers=2)
    assert not proof.failures
    assert all(v.verdict == "proved" for v in proof.verdicts)
    return {v.property.name for v in proof.verdicts}
