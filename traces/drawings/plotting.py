"""What all plots have in common: SVG whose text stays text, and which the same data give byte for byte."""

from __future__ import annotations

STYLE: dict[str, object] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fencepost",  # without it names are drawn by chance
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
"""Settings of matplotlib."""
