"""Pins what ``fencepost teeth`` says of the protocols: ``pin_teeth.py [PROTOCOL...]``, which takes minutes."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from fencepost.checks.console.progress import Reporter
from fencepost.checks.teeth.pinned import PINNED, pinned
from fencepost.checks.teeth.report import FATES
from fencepost.checks.teeth.run import Sample, Teeth, bite, searched
from fencepost.properties.protocols import PROTOCOLS

SAMPLED = {"topic": Sample(300, 1), "replication": Sample(150, 1)}
"""The protocols with too many mutants to search all of them, and the sample that is measured."""


def measured(name: str) -> Teeth:
    """The teeth of a protocol, in the instances that are searched unless a size is named."""
    entry = PROTOCOLS[name]
    return bite(entry, searched(entry), sample=SAMPLED.get(name), reporter=Reporter())


def noticing(teeth: Teeth) -> dict[str, int]:
    """For each property how many mutants it notices; of a sample, how many it was the first to notice, or among the first."""
    if teeth.sampled_of is None:
        return teeth.noticed
    entry = PROTOCOLS[teeth.protocol]
    suites = [entry.suite(entry.build(i.parameters)) for i in searched(entry) if i.name in teeth.instances]
    names = dict.fromkeys(prop.name for suite in suites for prop in suite.properties)
    kills = [mutant.kill.properties for mutant in teeth.mutants if mutant.kill is not None]
    return {name: sum(name in properties for properties in kills) for name in names}


def summary(teeth: Teeth) -> dict[str, Any]:
    """What is pinned of it. A property that only a bug of the protocol violates is not idle, and of a sample none is."""
    caught = importlib.import_module(f"tests.properties.{teeth.protocol}.test_safety").CAUGHT
    assert teeth.score is not None
    noticed = noticing(teeth)
    idle = {name for name, count in noticed.items() if not count}
    by_bugs = idle & set().union(*(by for by, _ in caught.values()))
    sampled = {} if teeth.sampled_of is None else {"sample": [len(teeth.mutants), teeth.sampled_of]}
    return {
        "instances": list(teeth.instances),
        "left_out": list(teeth.left_out),
        **sampled,
        "score": round(teeth.score, 4),
        "counts": {fate: teeth.count(fate) for fate in FATES},
        "noticed": sorted(name for name, count in noticed.items() if count),
        "by_bugs": sorted(by_bugs),
        "idle": [] if sampled else sorted(idle - by_bugs),
        "survivors": [str(m.mistake) for m in teeth.mutants if m.fate == "survived"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("protocols", nargs="*", default=list(PROTOCOLS))
    everything = dict(pinned())
    for name in parser.parse_args().protocols:
        everything[name] = summary(measured(name))
        PINNED.write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
