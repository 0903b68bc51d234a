"""The scores of the protocols are pinned, and every survivor is explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fencepost.checks.teeth.pinned import idle_properties, pinned
from fencepost.checks.teeth.report import FATES
from fencepost.checks.teeth.run import searched
from fencepost.properties.protocols import PROTOCOLS
from tests.checks.teeth.pin_teeth import measured, summary
from tests.properties.mutants import broken_properties

REFINES = ("is_a_ledger_of_a_topic", "is_a_ledger_to_replicate")
"""That the ledger refines its stand-in, and what must be reached for that: bugs are held to it in test_refinement.py."""

EXPLANATION = (Path(__file__).parents[3] / "docs" / "explanation" / "teeth.md").read_text(encoding="utf-8")


def explained(section: str) -> list[str]:
    """The mutants that a section of the explanation has a line for."""
    text = EXPLANATION.partition(f"### {section}\n")[2].partition("\n### ")[0].partition("\n## ")[0]
    return re.findall(r"^\| `` (.*?) `` \|", text, re.MULTILINE)


@pytest.mark.deep
@pytest.mark.parametrize("name", pinned())
def test_the_score_is_as_pinned(name: str) -> None:
    assert summary(measured(name)) == pinned()[name]


@pytest.mark.parametrize("name", pinned())
def test_the_score_is_at_least_95_percent(name: str) -> None:
    counts = pinned()[name]["counts"]
    assert set(counts) == set(FATES)
    assert counts["not tried"] == 0
    assert counts["survived"] == len(pinned()[name]["survivors"])
    assert counts["killed"] >= 0.95 * (counts["killed"] + counts["survived"])


@pytest.mark.parametrize("name", pinned())
def test_the_explanation_has_the_score_and_every_survivor(name: str) -> None:
    entry = pinned()[name]
    counts = entry["counts"]
    equivalent = counts["proved equivalent"] + counts["same graph"]
    line = f"| `{name}` | {counts['killed']} | {counts['survived']} | {equivalent} | {100 * entry['score']:.1f} % |"
    assert line in EXPLANATION
    assert sorted(explained(name)) == sorted(entry["survivors"])


@pytest.mark.long
@pytest.mark.parametrize("name", pinned())
def test_the_properties_are_those_of_the_protocol(name: str) -> None:
    entry = PROTOCOLS[name]
    instances = [i for i in searched(entry) if i.name in pinned()[name]["instances"]]
    stated = {p.name for i in instances for p in entry.suite(entry.build(i.parameters)).properties}
    every = {name for name in stated if not name.startswith(REFINES)}
    stated_of = broken_properties(name) | set(pinned()[name]["by_bugs"]) | idle_properties(name)
    assert stated_of == every or ("sample" in pinned()[name] and stated_of < every)
    assert not broken_properties(name) & idle_properties(name)
