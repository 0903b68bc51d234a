"""The tables of what settings order and of what they switch on that no model has, from the features themselves."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.checks.settings.switches import Feature

HEAD = "| what | what it means | switched on by | read in |\n|---|---|---|---|\n"


def table(features: Sequence[Feature]) -> str:
    """A line for each feature: what it means, the settings that switch it on, and the methods in which that was read."""
    lines = []
    for feature in features:
        keys = " and ".join(" or ".join(f"`{switch.key}`" for switch in group) for group in feature.needs)
        says = feature.says.replace("{", "`").replace("}", "`")
        mirrors = ", ".join(f"`{name}`" for name in feature.mirrors.split(", ") if name)
        lines.append(f"| {feature.name.replace('_', ' ')} | {says} | {keys} | {mirrors} |\n")
    return HEAD + "".join(lines)
