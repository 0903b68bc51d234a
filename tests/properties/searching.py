"""Searches of small instances, as the tests of every protocol need them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

import pytest

from checks.exhaustive import Budget, exhaust
from checks.findings import Findings
from checks.induction import prove
from properties.observed import Observed
from properties.protocols import PROTOCOLS
from properties.registry import Entry, Value


def searched(
    entry: Entry, parameters: Mapping[str, Value], defects: Sequence[str] = (), only: Sequence[str] = ()
) -> Findings:
    """What exhaustive search says of an instance, of all properties or of some."""
    suite = entry.suite(entry.build(dict(parameters), defects))
    chosen = [suite.named(name) for name in only] or suite.properties
    return exhaust(Observed.of(suite, chosen), Budget(workers=2))


def unexpected(findings: Findings) -> dict[str, int]:
    """The properties that are violated although they should not be, and in how many steps."""
    bad = [v for v in findings.verdicts if v.verdict == "violated" and not v.expected and v.property.kind != "sometimes"]
    return {v.property.name: int(v.reach["steps"]) for v in bad}


def controls(findings: Findings) -> dict[str, int]:
    """The negative controls, and in how many steps each is violated."""
    return {v.property.name: int(v.reach["steps"]) for v in findings.verdicts if v.expected}


def counts(findings: Findings) -> tuple[int, int, int]:
    """The states, transitions and depth of a search."""
    reach = findings.verdicts[0].reach
    return int(reach["distinct"]), int(reach["transitions"]), int(reach["depth"])


def each_defect(entry: Entry, deep: Collection[str] = ()) -> pytest.MarkDecorator:
    """One test for each defect; those of one instance are run by one worker, which searches it without a defect only once."""
    parameters = [
        pytest.param(defect, id=defect, marks=[_together(entry, defect), *([pytest.mark.deep] if defect in deep else [])])
        for defect in entry.shown_by
    ]
    return pytest.mark.parametrize("defect", parameters)


def _together(entry: Entry, defect: str) -> pytest.MarkDecorator:
    return pytest.mark.xdist_group(f"{entry.name} {sorted(entry.shown_by[defect].items())}")


def caught(entry: Entry, defect: str) -> tuple[set[str], int | None]:
    """What a defect violates first in its small instance, and in how many steps; without it nothing is violated there."""
    parameters = entry.shown_by[defect]
    suite = entry.suite(entry.build(dict(parameters), [defect]))
    firm = [p.name for p in suite.properties if p.kind != "sometimes" and not p.strict]
    found = unexpected(searched(entry, parameters, [defect], firm))
    assert not unexpected(_faithful(entry.name, tuple(sorted(parameters.items()))))
    (steps,) = set(found.values()) or {None}
    return set(found), steps


@cache
def _faithful(name: str, parameters: tuple[tuple[str, Value], ...]) -> Findings:
    return searched(PROTOCOLS[name], dict(parameters))


def proved(entry: Entry, parameters: Mapping[str, Value]) -> set[str]:
    """The properties that induction proves of an instance; all of its obligations hold."""
    proof = prove(entry.suite(entry.build(dict(parameters))), workers=2)
    assert not proof.failures
    assert all(v.verdict == "proved" for v in proof.verdicts)
    return {v.property.name for v in proof.verdicts}
