"""``fencepost policy`` in words, and small snapshots to ask it about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.command import Ran, fencepost

BUNDLES = [f"public/default/0x{place}0000000_0x{place + 1}0000000" for place in range(4)]
MIB = 1024 * 1024


def broker(percent: float, *bundles: str, throughput: float = 0, **others: Any) -> dict[str, Any]:
    usage = {"usage": percent, "limit": 100}
    return {"cpu": usage, "msgThroughputIn": throughput, "bundles": list(bundles), "webServiceUrl": "ignored", **others}


def bundle(throughput: float) -> dict[str, Any]:
    return {"shortTermData": {"msgThroughputIn": throughput, "maxSamples": 10, "numSamples": 3}, "topics": 7}


def snapshot(first: float = 90, **others: Any) -> dict[str, Any]:
    return {
        "brokers": {
            "b1:8080": broker(first, *BUNDLES[:3], throughput=100 * MIB),
            "b2:8080": broker(40, BUNDLES[3], throughput=MIB),
            "b3:8080": broker(40),
        },
        "bundles": {name: bundle(size * MIB) for name, size in zip(BUNDLES, (50, 30, 20, 1), strict=True)},
        "now": 10_000_000,
        **others,
    }


def write(folder: Path, content: object, name: str = "snapshot.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


BY_RULES = ("decide", "check", "place", "simulate", "compare")
"""The questions whose answers follow from the rules of a release."""


def asked(*arguments: str | Path) -> Ran:
    """Asks by the rules of 4.2.4 unless a release is named: there ThresholdShedder sheds where nothing is configured."""
    plain = not {*arguments[:1]} & {*BY_RULES} or {"--pulsar", "--help"} & {*arguments}
    return fencepost("policy", *arguments, *(() if plain else ("--pulsar", "4.2.4")))


def answered(*arguments: str | Path) -> Any:
    status, out, err = asked(*arguments, "--format", "json")
    assert (status, err) == (0, "")
    return json.loads(out)
