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
from fencepost.checks.teeth.run import Teeth, bite, searched
from fencepost.properties.protocols import PROTOCOLS


def measured(name: str) -> Teeth:
    """The teeth of a protocol, in the instances that are searched unless a size is named."""
    entry = PROTOCOLS[name]
    return bite(entry, searched(entry), reporter=Reporter())


def summary(teeth: Teeth) -> dict[str, Any]:
    """What is pinned of it. A property that only a defect of the protocol violates is not idle."""
    caught = importlib.import_module(f"tests.properties.{teeth.protocol}.test_safety").CAUGHT
    assert teeth.score is not None
    by_defects = set(teeth.idle) & set().union(*(by for by, _ in caught.values()))
    return {
        "instances": list(teeth.instances),
        "left_out": list(teeth.left_out),
        "score": round(teeth.score, 4),
        "counts": {fate: teeth.count(fate) for fate in FATES},
        "noticed": sorted(name for name, count in teeth.noticed.items() if count),
        "by_defects": sorted(by_defects),
        "idle": sorted(set(teeth.idle) - by_defects),
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
